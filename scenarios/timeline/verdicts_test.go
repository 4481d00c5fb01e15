package timeline_test

import (
	"strings"
	"testing"

	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

// send is a write of a test's script: a POST to a path, under a key.
func send(path, name, key, body string) string {
	return strings.NewReplacer("PATH", path, "NAME", name, "KEY", key, "BODY", body).Replace(
		`await services.http.request({ method: "POST", url: "http://127.0.0.1:4040PATH", json: BODY, timeout: "10s", idempotency: { header: "Idempotency-Key", value: KEY } }, { name: "NAME" });`)
}

// making is a script that makes one record of a collection under the attempt's key.
func making(collection string) string {
	return "const made = " + send("/"+collection, collection, "attempt.idempotencyKey", "{ order: 1 }") + " return { id: made.data.id };"
}

// refunding is a compensation that names the charge which it takes back.
func refunding(step string) string {
	return "await null; " + send("/refunds", "refund", "attempt.idempotencyKey", "{ charge: context.steps."+step+".id }") + " return {};"
}

// steps are those of a document: "ID: script" or "ID: script ~~~ compensation".
func steps(all ...string) string {
	var b strings.Builder
	for _, s := range all {
		id, script, _ := strings.Cut(s, ": ")
		script, undo, compensated := strings.Cut(script, "~~~")
		b.WriteString(`<step id="` + id + `"><script>` + script + `</script>`)
		if compensated {
			b.WriteString(`<compensate><script>` + undo + `</script></compensate>`)
		}
		b.WriteString("</step>\n")
	}
	return b.String()
}

func flow(id, steps string) string {
	return `<woml><workflow id="` + id + `" name="A flow"><triggers><manual id="` + id + `Go" /></triggers><steps>` + steps + `</steps></workflow></woml>`
}

// expectAll replays lines over documents and reports each expectation that is not met.
func expectAll(t *testing.T, lines string, documents ...string) {
	t.Helper()
	text := "title A verdict\n" + strings.ReplaceAll(lines, "|", "\n") + "\n"
	for i, d := range documents {
		text += "-- flow" + string(rune('a'+i)) + ".woml --\n" + d + "\n"
	}
	s, err := lang.Parse("verdict.txtar", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.Replay(t.Context(), s, scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Complaints() {
		t.Error(c)
	}
}

const refuseJobs = `|fault {"name":"bad-request","on":{"collection":"jobs"}}|`

func TestVerdictsOfPairsAndRuns(t *testing.T) {
	t.Parallel()
	charged := steps("charge: "+making("charges")+"~~~"+refunding("charge"), "job: "+making("jobs"))
	const local = `const db = services.db({ driver: "sqlite", connection: "x.db" }); await db.execute({ text: "CREATE TABLE IF NOT EXISTS t (a)" }, { name: "table" }); await db.execute({ text: "INSERT INTO t VALUES (1)" }, { name: "row" });`
	for _, c := range []struct{ name, lines, flow string }{
		{"everything stands", "trigger aGo|wait|expect run-verdict whole|expect verdict one-effect", charged},
		{"undone", refuseJobs + "trigger aGo|wait|expect verdict compensated step=charge|expect run-verdict nothing", charged},
		{"the inverse is refused", refuseJobs + `fault {"name":"bad-request","on":{"collection":"refunds"}}|trigger aGo|wait|expect verdict uncompensated step=charge|expect run-verdict half-done`, charged},
		{"the inverse is unknown", refuseJobs + `fault {"name":"commit-then-drop","on":{"collection":"refunds"}}|trigger aGo|wait|expect verdict unresolved step=charge|expect run-verdict unresolved`, charged},
		{"the inverse is open", refuseJobs + `fault {"name":"hang-before-commit","on":{"collection":"refunds"}}|trigger aGo|advance 1s|expect not verdict one-effect step=charge|expect not run-verdict whole`, charged},
		{"the inverse swallows a refusal", refuseJobs + `fault {"name":"bad-request","on":{"collection":"refunds"}}|trigger aGo|wait|expect belief not-done step=~charge|expect verdict uncompensated step=charge|expect run-verdict half-done`,
			steps("charge: "+making("charges")+"~~~ try { "+refunding("charge")+" } catch (e) { return {}; }", "job: "+making("jobs"))},
		{"the inverse sends nothing and returns", refuseJobs + `trigger aGo|wait|expect verdict uncompensated step=charge|expect run-verdict half-done`,
			steps("charge: "+making("charges")+"~~~ await null; return {};", "job: "+making("jobs"))},
		{"the inverse is a local write", refuseJobs + `trigger aGo|wait|expect verdict uncompensated step=charge`,
			steps("charge: "+making("charges")+"~~~"+local+" return {};", "job: "+making("jobs"))},
		{"the inverse is unproven to the end, after a local write", refuseJobs + `fault {"name":"fail-before-commit","on":{"collection":"refunds","times":9}}|trigger aGo|wait|expect refunds 0|expect run failed reconcile needed|expect belief unknown step=~charge write=refund|expect verdict unresolved step=charge|expect run-verdict unresolved`,
			steps("charge: "+making("charges")+"~~~"+local+refunding("charge"), "job: "+making("jobs"))},
		{"an inverse that names nothing", refuseJobs + "trigger aGo|wait|expect verdict compensated step=book|expect run-verdict nothing",
			steps("book: "+making("bookings")+"~~~"+send("/releases", "release", "attempt.idempotencyKey", "{}")+" return {};", "job: "+making("jobs"))},
		{"one compensation for a step's two writes", refuseJobs + "trigger aGo|wait|expect verdict compensated step=both|expect run-verdict nothing",
			steps("both: "+send("/invoices", "invoice", `"i"`, "{}")+making("charges")+"~~~"+refunding("both"), "job: "+making("jobs"))},
		{"two inverses of two writes, one refused", refuseJobs + `fault {"name":"bad-request","on":{"collection":"voids"}}|trigger aGo|wait|expect verdict compensated step=both write=charges|expect verdict uncompensated step=both write=invoice|expect run-verdict half-done`,
			steps("both: "+send("/invoices", "invoice", `"i"`, "{}")+strings.Replace(making("charges"), "attempt.idempotencyKey", `"c"`, 1)+"~~~"+strings.Replace(refunding("both"), "return {};", send("/voids", "void", `"v"`, "{}"), 1), "job: "+making("jobs"))},
		{"undone twice", refuseJobs + "trigger aGo|wait|expect refunds 2|expect run-verdict duplicate",
			steps("charge: "+making("charges")+"~~~"+strings.Replace(refunding("charge"), "return {};", strings.Replace(refunding("charge"), "attempt.idempotencyKey", `"again"`, 1), 1), "job: "+making("jobs"))},
		{"an effect of a step that threw", "trigger aGo|wait|expect verdict one-effect|expect run-verdict failed-though-done", steps("charge: " + strings.Replace(making("charges"), "return", `throw new Error("no"); return`, 1))},
		{"throws before the last step", "trigger aGo|wait|expect run-verdict half-done", steps("charge: "+strings.Replace(making("charges"), "return", `throw new Error("no"); return`, 1), "job: "+making("jobs"))},
		{"a write that never went out", "trigger aGo|wait|expect run-verdict half-done", steps("charge: "+making("charges"), "job: "+strings.Replace(making("jobs"), "127.0.0.1:4040", "127.0.0.1:4999", 1))},
		{"nothing was sent", "trigger aGo|wait|expect run-verdict whole", steps("idle: await null; return {};")},
		{"nothing was sent, and it failed", "trigger aGo|wait|expect run-verdict nothing", steps(`idle: throw new Error("no");`)},
		{"told of another's record", "trigger aGo|wait|trigger aGo|wait|expect run-verdict whole run=1|expect run-verdict phantom-success run=2", steps("job: " + strings.Replace(making("jobs"), "attempt.idempotencyKey", `"k"`, 1))},
		{"a local row stands", "trigger aGo|wait|expect run-verdict failed-though-done", steps("mark: "+local+" return {};", `job: throw new Error("no");`)},
		{"a local table is nothing that stands", "trigger aGo|wait|expect run-verdict nothing", steps("mark: "+strings.Replace(local, `await db.execute({ text: "INSERT INTO t VALUES (1)" }, { name: "row" });`, "", 1)+" return {};", `job: throw new Error("no");`)},
		{"two keys for one write", "fault commit-then-error|trigger aGo|wait|expect verdict duplicate|expect run-verdict duplicate",
			steps("job: try { " + making("jobs") + " } catch (e) { " + strings.Replace(making("jobs"), "attempt.idempotencyKey", `"again"`, 1) + " }")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			expectAll(t, c.lines, flow("a", c.flow))
		})
	}
}

// What a child did counts in its own run and, as its verdict, for the call; what a child
// of a compensation did is the inverse of the step that is compensated.
func TestVerdictsOverChildren(t *testing.T) {
	t.Parallel()
	const back = `await services.workflows.call("b", { charge: context.steps.charge.id }); return {};`
	const calls = `await services.workflows.call("b", {}); return {};`
	refund := steps("refund: " + send("/refunds", "refund", "attempt.idempotencyKey", "{ charge: context.payload.charge }") + " return {};")
	release := steps("release: " + send("/releases", "release", "attempt.idempotencyKey", "{}") + " return {};")
	for _, c := range []struct{ name, lines, parent, child string }{
		{"a child makes the inverse", refuseJobs + "trigger aGo|wait|expect refunds 1|expect verdict compensated step=charge|expect run-verdict nothing run=1|expect run-verdict whole run=2",
			steps("charge: "+making("charges")+"~~~"+back, "job: "+making("jobs")), refund},
		{"a child makes an inverse that names nothing", refuseJobs + "trigger aGo|wait|expect verdict compensated step=charge|expect run-verdict nothing run=1",
			steps("charge: "+making("charges")+"~~~"+back, "job: "+making("jobs")), release},
		{"a child makes no inverse", refuseJobs + `fault {"name":"bad-request","on":{"collection":"refunds"}}|trigger aGo|wait|expect verdict uncompensated step=charge|expect run-verdict half-done run=1|expect run-verdict nothing run=2`,
			steps("charge: "+making("charges")+"~~~"+back, "job: "+making("jobs")), refund},
		{"a child is half done", refuseJobs + "trigger aGo|wait|expect run-verdict half-done", steps("call: " + calls), steps("hold: "+making("holds"), "job: "+making("jobs"))},
		{"a child is whole", "trigger aGo|wait|expect run-verdict whole", steps("call: " + calls), steps("job: " + making("jobs"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			expectAll(t, c.lines, flow("a", c.parent), flow("b", c.child))
		})
	}
}
