package script
import ("testing";"fmt";"encoding/json";"context")
func TestX(t *testing.T) {
	for _, s := range []string{
		`return {a:[1,"x",null,true,-0,1e21,0.1]}`,
		`return context`,
		`context.payload.x = 1; return 1`,
		`const r = await services.http.request({url:"http://x/", method:"POST", json:{a:undefined,b:1}}, {name:"create"}); return r`,
		`return undefined`, `return {a:{b:[1,undefined]}}`, `return new Date()`,
		`return [1,,2]`, `return {get a(){return 1}}`,
		`throw new Error("boom")`, "\n\n   throw new TypeError('x')", `throw 5`, `null.x`,
		`return [new Date().toISOString(), Math.random(), crypto.randomUUID()]`,
		`await new Promise(()=>{}); return 1`,
		`await new Promise(r=>setTimeout(r,100)); return Date.now()`,
		`await new Promise(r=>setTimeout(r,6000)); return Date.now()`,
		`return new URL("../a b?x=1&y=é#f", "HTTP://Ex.com:80/p/q/r").href`,
		`const r = await fetch("http://x/", {method:"post", body:new Uint8Array([1,2,3])}); return [r.status, await r.text()]`,
		`return atob(btoa("hello"))`,
		`return new TextDecoder().decode(new TextEncoder().encode("héllo"))`,
		`console.log("%s is %d", "a", 3, {a:1,b:[new Map()]}, secrets.TOKEN); return 1`,
		`return structuredClone({a:new Date(0), b:new Map([[1,2]])}).b.get(1)`,
		`function f(){f()} f()`,
		`return secrets.NOPE`,
		`return JSON.stringify(secrets) + String(secrets)`,
		`return typeof fetch + typeof nope + typeof services`,
		`services.http = 1`, `services.foo=1`, `attempt.number=4`, `return attempt`,
	} {
		h := newHost(); h.secrets["TOKEN"]="s3cret"
		h.answer = value(`{"status":200,"headers":{}}`)
		p, err := Compile(s)
		if err != nil { fmt.Println(s, "=> COMPILE", err); continue }
		r := Run(context.Background(), p, Input{Payload: json.RawMessage(`{"a":1,"__proto__":{"x":[1,2]}}`), Steps: map[string]json.RawMessage{"b":json.RawMessage(`1`),"a":json.RawMessage(`"\ud800x"`)}}, h)
		fmt.Printf("%-70.70q => %s %+v %v %v\n", s, r.Value, r.Err, r.Open, h.events)
		for _, c := range h.started { fmt.Printf("      %+v %s\n", c, c.Input) }
		for _, c := range h.logs { fmt.Printf("      %s\n", c) }
		if r.Err != nil { fmt.Println("      at",r.Err.Line,r.Err.Column)}
	}
}
func BenchmarkRun(b *testing.B) {
	p := mustCompile(b, `const r = await services.http.request({url:"http://127.0.0.1:4040/jobs", method:"POST", json:{orderId: context.payload.orderId}, timeout:"10s", idempotency:{header:"Idempotency-Key", value: attempt.idempotencyKey}}, {name:"create"}); return {jobId: r.data.id, key: attempt.idempotencyKey, n: attempt.number}`)
	b.ReportAllocs()
	for b.Loop() {
		h := newHost(); h.answer = value(`{"status":201,"ok":true,"headers":{"content-type":"application/json"},"data":{"id":"job_1","orderId":"order-42"},"url":"http://127.0.0.1:4040/jobs","redirected":false}`)
		r := Run(context.Background(), p, Input{Payload: json.RawMessage(`{"orderId":"order-42","paymentId":"pay-42","amount":120}`), Attempt: Attempt{1,3,"sha256:123"}}, h)
		if r.Err != nil { b.Fatal(r.Err) }
	}
}
