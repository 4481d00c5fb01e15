package scenarios

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"faultlab/engine"
	"faultlab/scenarios/explore"
	"faultlab/scenarios/lang"
)

// planted is a fault that somebody could make, and the verdict by which a search must find it.
type planted struct {
	fault    string
	lines    string // of the scenario, before the first delivery
	acts     string // empty: one delivery
	script   string
	second   string // script of a second step
	operator string
	history  func() engine.History
	verdict  string
}

// call is a script's write; %s is its idempotency option.
const call = `await services.http.request({ method: "POST", url: "http://127.0.0.1:4040/jobs", json: { orderId: "order-42" }, timeout: "10s"%s }, { name: "create" });`

func keyedBy(key string) string {
	return fmt.Sprintf(call, `, idempotency: { header: "Idempotency-Key", value: `+key+` }`)
}

var (
	keyedWrite   = keyedBy("attempt.idempotencyKey")
	unkeyedWrite = fmt.Sprintf(call, "")
)

const lookThenCreate = `const seen = await services.http.request({ method: "GET", url: "http://127.0.0.1:4040/jobs/by-idempotency-key/order-42", timeout: "10s", acceptedStatus: { minimum: 200, maximum: 404 } }, { name: "look" });
if (seen.status === 404) { %s }`

// executesWithoutKey lets the provider carry a write without a key out.
const executesWithoutKey = `contract {"extends":"seed","missing":{"do":"execute"}}` + "\n"

func plantedFaults() []planted {
	keyOf := func(key string) string { return keyedBy(key) }
	return []planted{
		{fault: "a new key for each attempt", script: keyOf(`crypto.randomUUID()`), verdict: "duplicate"},
		{fault: "the attempt's number in the key", script: keyOf("`order-42-${attempt.number}`"), verdict: "duplicate"},
		{fault: "the time in the key", script: keyOf("`order-42-${Date.now()}`"), verdict: "duplicate"},
		{fault: "keys counted in a loop", script: "for (const i of [0, 1]) { " + keyOf("`order-42-${attempt.number * 2 + i}`") + " }", verdict: "duplicate"},
		{fault: "catch, and send again under a new key", script: "try { " + keyedWrite + " } catch { " + keyOf(`attempt.idempotencyKey + "-again"`) + " }", verdict: "duplicate"},
		{fault: "catch, and send an unkeyed write again", lines: executesWithoutKey, script: "try { " + unkeyedWrite + " } catch { " + unkeyedWrite + " }", verdict: "duplicate"},
		{fault: "take 404 of a look-up for new work, without a key", lines: executesWithoutKey, script: "try { " + keyOf(`"order-42"`) + " } catch { " + fmt.Sprintf(lookThenCreate, unkeyedWrite) + " }", verdict: "duplicate"},
		{fault: "success although the error was swallowed", script: "try { " + keyedWrite + " } catch {}", verdict: "phantom success"},
		{fault: "success before the effect: not awaited", script: strings.TrimPrefix(keyedWrite, "await "), verdict: "phantom success"},
		{fault: "a step that does not undo the one before it", script: keyedWrite, second: strings.ReplaceAll(keyedWrite, "/jobs", "/charges"), verdict: "half done"},
		{fault: "the provider ignores keys", lines: "contract ignores-key\n", script: keyedWrite, verdict: "duplicate"},
		{fault: "the provider remembers successes only", lines: "contract success-only\n", script: keyedWrite, verdict: "duplicate"},
		{fault: "the provider forgets keys before the retry", lines: `contract {"extends":"seed","retention":{"for":"500ms"}}` + "\n", script: keyedWrite, verdict: "duplicate"},
		{fault: "the provider locks a key after a 500", lines: "contract locked-after-500\n", script: keyedWrite, verdict: "unresolved"},
		{fault: "one key for two operations", script: keyOf(`"order-42"`), acts: "trigger go\nwait\ntrigger go\nwait\n", verdict: "phantom success"},
		{fault: "engine: the start of a request is not on disk", lines: executesWithoutKey, script: unkeyedWrite, history: func() engine.History { return &brokenHistory{Memory: engine.NewMemory(), reads: forgetOpenRequests} }, verdict: "duplicate"},
		{fault: "engine: the journal forgets a call that ended", lines: executesWithoutKey, script: unkeyedWrite, history: func() engine.History { return &brokenHistory{Memory: engine.NewMemory(), reads: forgetCalls} }, verdict: "duplicate"},
		{fault: "engine: the evidence of an earlier look-up is taken again", script: keyedWrite, acts: "trigger go\nwait\ntrigger go\nwait\n", history: func() engine.History { return &brokenHistory{Memory: engine.NewMemory(), stale: true} }, verdict: "phantom success"},
	}
}

// brokenHistory is a history with one of the faults that the engine's rules guard against.
type brokenHistory struct {
	*engine.Memory
	reads func([]engine.Event) []engine.Event
	stale bool
	found *engine.Evidence
}

func (h *brokenHistory) Events(run string) ([]engine.Event, error) {
	events, err := h.Memory.Events(run)
	if h.reads != nil {
		events = h.reads(events)
	}
	return events, err
}

func (h *brokenHistory) Append(events ...engine.Event) engine.Ticket {
	for i, e := range events {
		f, ok := e.Fact.(engine.Evidence)
		switch {
		case !ok || !h.stale:
		case h.found != nil:
			f.Found, f.Records, f.Status, f.Body, f.Error, f.Match, f.Unproven = h.found.Found, h.found.Records, h.found.Status, h.found.Body, "", h.found.Match, false
			events[i].Fact = f
		case f.Found == engine.FoundRecord:
			h.found = &f
		}
	}
	return h.Memory.Append(events...)
}

func (h *brokenHistory) Buffer(events ...engine.Event) engine.Ticket { return h.Append(events...) }

// forgetOpenRequests leaves out the requests that nobody wrote an end of, with their calls.
func forgetOpenRequests(events []engine.Event) []engine.Event {
	n := len(events)
	for n > 0 {
		switch events[n-1].Fact.(type) {
		case engine.RequestSent, engine.CallStarted:
			n--
			continue
		}
		break
	}
	return events[:n]
}

// forgetCalls leaves out what an attempt without an end wrote down about its calls.
func forgetCalls(events []engine.Event) []engine.Event {
	last := 0
	for i, e := range events {
		if _, ok := e.Fact.(engine.AttemptStarted); ok {
			last = i + 1
		}
	}
	for _, e := range events[last:] {
		if _, ok := e.Fact.(engine.AttemptEnded); ok {
			return events
		}
	}
	return events[:last]
}

func (p planted) scenario(t *testing.T) *lang.Scenario {
	t.Helper()
	acts := p.acts
	if acts == "" {
		acts = "trigger go\nwait\n"
	}
	step := func(id, script string) string {
		return `<step id="` + id + `" retry="3" retry-backoff="exponential" retry-delay="1s" retry-max-delay="10s"><script>` + script + ` return { ok: true };</script></step>`
	}
	text := "title Planted\n" + p.lines + acts + `-- w.woml --
<woml><workflow id="w" name="W"><config timeout="10m" /><triggers><manual id="go" /></triggers><steps>` + step("a", p.script)
	if p.second != "" {
		text += step("b", p.second)
	}
	s, err := lang.Parse("planted.txtar", []byte(text+"</steps></workflow></woml>\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// find searches within a growing bound until the verdict of a planted fault is met, and returns the row that says so.
func (p planted) find(t *testing.T) string {
	for _, bound := range []explore.Bound{{}, {explore.Fault: 1}, {explore.Crash: 1}, {explore.Fault: 1, explore.Crash: 1}, {explore.Fault: 2}, {explore.Fault: 2, explore.Crash: 1}} {
		x, err := NewExploration(p.scenario(t), p.operator, "")
		if err != nil {
			t.Fatal(err)
		}
		x.history = p.history
		r, err := explore.Search(t.Context(), x, explore.Options{Bound: bound, Jobs: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, hit := range r.Hits {
			if hit.Verdict == p.verdict {
				return fmt.Sprintf("//\t%-58s  %-15s  %6d  %7d  %9d", p.fault, p.verdict, bound[explore.Fault], bound[explore.Crash], r.Schedules)
			}
		}
	}
	t.Errorf("%s: not found", p.fault)
	return ""
}

// Each planted fault is found within two faults and one crash, and the table in doc.go says at which bound.
// UPDATE=1 rewrites the table.
func TestPlantedFaultsAreFound(t *testing.T) {
	t.Parallel()
	rows := make([]string, len(plantedFaults()))
	t.Run("each", func(t *testing.T) {
		for i, p := range plantedFaults() {
			t.Run(p.fault, func(t *testing.T) {
				t.Parallel()
				rows[i] = p.find(t)
			})
		}
	})
	for _, row := range rows {
		if row == "" { // not found, or not among those that -run selected
			return
		}
	}
	const file, heading, end = "doc.go", "//\tplanted fault ", "//\n// It never lets"
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(src), heading)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no table of planted faults", file)
	}
	table := fmt.Sprintf("//\t%-58s  %-15s  %6s  %7s  %9s\n%s\n", "planted fault", "verdict", "faults", "crashes", "schedules", strings.Join(rows, "\n"))
	want := before + table + end + after
	if want == string(src) {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("the table in %s is not what the search finds; UPDATE=1 rewrites it. It finds\n%s", file, table)
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
