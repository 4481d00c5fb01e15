package script

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestResultsThatAreJSON(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{`return null`, `null`},
		{`return ""`, `""`},
		{`return [true, false, 0, -1.5, "x"]`, `[true,false,0,-1.5,"x"]`},
		{`return -0`, `0`},
		{`return [0.1, 1e21, 1e-7, 123456789012345680000, 9007199254740993]`, `[0.1,1e+21,1e-7,123456789012345680000,9007199254740992]`},
		{`return { b: 1, a: { } , 2: "two", 1: [] }`, `{"1":[],"2":"two","b":1,"a":{}}`},
		{`return { "__proto__x": 1, ["__proto__"]: 2 }`, `{"__proto__x":1,"__proto__":2}`},
		{`return "\"\\\b\f\n\r\t\u0001\u2028é😀</script>"`, `"\"\\\b\f\n\r\t\u0001` + "\u2028" + `é😀</script>"`},
		{`return "\ud800 alone, \ud83d\ude00 together"`, `"\ud800 alone, 😀 together"`},
		{`return Object.assign(Object.create(null), { a: 1 })`, `{"a":1}`},
		{`return Object.freeze([1, Object.freeze({ a: 1 })])`, `[1,{"a":1}]`},
		{`const shared = { a: 1 }; return [shared, shared]`, `[{"a":1},{"a":1}]`},
		{`return context.payload`, `{"n":[1,{"deep":null}]}`},
		{`return (await services.http.request({ url: "x" }))`, `{"status":200}`},
		{`return JSON.parse('{"a":[1]}')`, `{"a":[1]}`},
		{`return structuredClone({ a: [1] })`, `{"a":[1]}`},
		{`let deep = []; for (let i = 1; i < 1000; i++) deep = [deep]; return deep`, strings.Repeat("[", 1000) + strings.Repeat("]", 1000)},
	} {
		h := newHost()
		h.answer = value(`{"status":200}`)
		got := runWith(t, h, c[0], Input{Payload: json.RawMessage(`{"n":[1,{"deep":null}]}`)})
		if got.Err != nil || string(got.Value) != c[1] {
			t.Errorf("%s gives %.100s %v, want %.100s", c[0], got.Value, got.Err, c[1])
		}
	}
}

func TestResultsThatAreNotJSONSayWhereAndWhatToDo(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{``, `the script returned nothing; return a JSON value, or null`},
		{`return undefined`, `the script returned nothing; return a JSON value, or null`},
		{`return { a: undefined }`, `result.a is undefined; leave it out or use null`},
		{`return { items: [{ price: 1 }, { price: undefined }] }`, `result.items[1].price is undefined; leave it out or use null`},
		{`return { "odd key": { "": NaN } }`, `result["odd key"][""] is NaN, which JSON does not have`},
		{`return [1, Infinity]`, `result[1] is infinite, which JSON does not have`},
		{`return -1 / 0`, `result is infinite, which JSON does not have`},
		{`return 1n`, `result is a bigint; use String(value) or Number(value)`},
		{`return { f() {} }`, `result.f is a function, which JSON does not have`},
		{`return class {}`, `result is a function, which JSON does not have`},
		{`return Symbol("s")`, `result is a symbol, which JSON does not have`},
		{`return { [Symbol("s")]: 1 }`, `result has a symbol as a key, which JSON does not have`},
		{`return { at: new Date(0) }`, `result.at is a Date, not a plain object; return its data`},
		{`return new Map([[1, 2]])`, `result is a Map; use Object.fromEntries(map)`},
		{`return { tags: new Set() }`, `result.tags is a Set; use [...set]`},
		{`return { p: Promise.resolve(1) }`, `result.p is a promise; await it first`},
		{`return { e: new RangeError("x") }`, `result.e is an Error, which JSON does not have`},
		{`return /x/`, `result is a RegExp, which JSON does not have`},
		{`return new Uint8Array(2)`, `result is an Uint8Array, not a plain object; return its data`},
		{`class Order {}; return new Order()`, `result is an Order, not a plain object; return its data`},
		{`return Object.create({ a: 1 })`, `result is an Object, not a plain object; return its data`},
		{`return Object(1)`, `result is a Number, not a plain object; return its data`},
		{`class List extends Array {}; return new List()`, `result is a List, not a plain object; return its data`},
		{`return (function () { return arguments })()`, `result is an Object, not a plain object; return its data`},
		{`return [1, , 3]`, `result[1] is a hole; arrays must have all their elements`},
		{`return new Array(1e9)`, `result[0] is a hole; arrays must have all their elements`},
		{`const list = [1]; list.total = 1; return { list }`, `result.list is an array with properties beside its elements, which JSON does not have`},
		{`return "x".match(/x/)`, `result is an array with properties beside its elements, which JSON does not have`},
		{`const o = {}; o.self = { o }; return o`, `result.self.o contains itself`},
		{`const a = []; a.push(a); return a`, `result[0] contains itself`},
		{`return { get total() { throw new Error("the getter ran") } }`, `result.total is an accessor (get or set), not data`},
		{`return { a: [Object.defineProperty({}, "x", { enumerable: true, get: () => 1 })] }`, `result.a[0].x is an accessor (get or set), not data`},
		{`return Object.defineProperty([0], 0, { get: () => 1 })`, `result[0] is an accessor (get or set), not data`},
		{`return { set total(x) {} }`, `result.total is undefined; leave it out or use null`},
		{`return Object.defineProperty({}, "hidden", { value: 1 })`, `result has a property that is not enumerable, so JSON would lose it`},
		{`return new Proxy({}, {})`, `result is a Proxy, which JSON does not have`},
		{`return secrets`, `result is the secrets object; name one: secrets.NAME`},
		{`return services.http`, `result is a service, which JSON does not have`},
		{`let deep = []; for (let i = 0; i < 1001; i++) deep = [deep]; return deep`, `result is nested more than 1000 deep`},
		{`let deep = 1n; for (let i = 0; i < 30; i++) deep = { x: deep }; return deep`, `result…` + strings.Repeat(".x", 20) + ` is a bigint; use String(value) or Number(value)`},
	} {
		got := run(t, newHost(), c[0])
		if got.Err == nil || got.Err.Code != CodeNonJSONResult {
			t.Errorf("%s gives %s %v, want %s", c[0], got.Value, got.Err, CodeNonJSONResult)
			continue
		}
		if text := strings.TrimPrefix(got.Err.Message, "the script's result is not JSON: "); text != c[1] {
			t.Errorf("%s says %q, want %q", c[0], text, c[1])
		}
	}
}

func TestTheResultHasALimit(t *testing.T) {
	t.Parallel()
	limits := Limits{Result: 20}
	for src, want := range map[string]string{
		`return "x".repeat(18)`:            "",
		`return "x".repeat(19)`:            CodeResultTooLarge,
		`return Array(10).fill(1)`:         CodeResultTooLarge,
		`return Array(9).fill(1)`:          "",
		`return {a: {b: "x".repeat(100)}}`: CodeResultTooLarge,
	} {
		got := runWith(t, newHost(), src, Input{Limits: limits})
		if code := codeOf(got); code != want {
			t.Errorf("%s: code %q, want %q", src, code, want)
		}
	}
	if got := run(t, newHost(), `return "x".repeat((1 << 20) - 2)`); got.Err != nil {
		t.Errorf("a result of one MiB is refused: %v", got.Err)
	}
	if got := run(t, newHost(), `return "x".repeat((1 << 20) - 1)`); codeOf(got) != CodeResultTooLarge {
		t.Errorf("a result of more than one MiB gives %v", got.Err)
	}
}

func codeOf(r Result) string {
	if r.Err == nil {
		return ""
	}
	return r.Err.Code
}

// Whatever JSON goes in as a payload comes out as a result, the same value.
func TestJSONSurvivesThePassageThroughAScript(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := jsonValue(3).Draw(t, "value")
		text, _ := json.Marshal(in)
		got := echo(text)
		var out any
		if got.Err != nil || json.Unmarshal(got.Value, &out) != nil || !reflect.DeepEqual(in, out) {
			t.Fatalf("%s comes out as %s %v", text, got.Value, got.Err)
		}
	})
}

func jsonValue(depth int) *rapid.Generator[any] {
	leaf := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(),
		rapid.Float64().Filter(func(f float64) bool { return !math.IsInf(f, 0) && f != 0 }).AsAny(),
		rapid.Map(rapid.Int64Range(-1<<53, 1<<53), func(n int64) any { return float64(n) }),
	}
	if depth == 0 {
		return rapid.OneOf(leaf...)
	}
	inner := jsonValue(depth - 1)
	return rapid.OneOf(append(leaf,
		rapid.Map(rapid.SliceOfN(inner, 0, 4), func(s []any) any { return s }),
		rapid.Map(rapid.MapOfN(rapid.String(), inner, 0, 4), func(m map[string]any) any { return m }),
	)...)
}

// A payload comes from outside: one whose names come twice at every level must not cost twice as much at each.
func TestRepeatedNamesAreReadOnce(t *testing.T) {
	t.Parallel()
	got := echo([]byte(strings.Repeat(`{"a":1,"b":2,"a":`, 1000) + `3` + strings.Repeat(`}`, 1000)))
	want := strings.Repeat(`{"a":`, 1000) + `3` + strings.Repeat(`,"b":2}`, 1000)
	if string(got.Value) != want {
		t.Errorf("gives %.100s %v, want %.100s", got.Value, got.Err, want)
	}
}

func FuzzResult(f *testing.F) {
	for _, seed := range []string{`null`, `-0`, `[1e999]`, `{"a":"\ud800"}`, `{"__proto__":{}}`, `"\u0000"`, `[[[]]]`, `{"2":1,"1":2}`, `{"a":1,"b":{"a":1},"a":[2],"a":{"b":3}}`, `1.0`, "\"\xff\""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) || len(text) > 1<<16 {
			return
		}
		got := echo(text)
		if got.Err != nil {
			if got.Err.Code == CodeNonJSONResult && strings.Contains(got.Err.Message, "infinite") {
				return // 1e999
			}
			t.Fatalf("%q: %v", text, got.Err)
		}
		var in, out any
		if err := json.Unmarshal(got.Value, &out); err != nil {
			t.Fatalf("%q comes out as %q: %v", text, got.Value, err)
		}
		if err := json.Unmarshal(text, &in); err != nil || !reflect.DeepEqual(positive(in), out) {
			t.Fatalf("%q comes out as %q", text, got.Value)
		}
		if again := echo(got.Value); string(again.Value) != string(got.Value) {
			t.Fatalf("%q comes out as %q, and that as %q", text, got.Value, again.Value)
		}
	})
}

// positive makes 0 of -0.
func positive(v any) any {
	switch v := v.(type) {
	case float64:
		return v + 0
	case []any:
		for i := range v {
			v[i] = positive(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = positive(v[k])
		}
	}
	return v
}
