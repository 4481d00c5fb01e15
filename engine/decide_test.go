package engine_test

import (
	"strings"
	"testing"

	"faultlab/engine"
)

// turn is an answer to a write; see answering.
type turn struct {
	path   string // of the write
	answer answer
}

// answering answers the n-th write to a path with the n-th answer for that path, the last one again and again, and
// look-ups by what was made, but the first one with that for "look-up" if there is one.
func (l *lab) answering(turns ...turn) {
	count := map[string]int{}
	l.world.answer = func(_ int, s seen) answer {
		if s.method == "GET" {
			for _, t := range turns {
				if t.path == "look-up" && count[t.path] == 0 {
					count[t.path]++
					return t.answer
				}
			}
			key := s.path[strings.LastIndex(s.path, "/")+1:]
			if body, ok := l.world.effects[key]; ok {
				return answer{status: 200, body: `{"id":"found",` + strings.TrimPrefix(body, "{")}
			}
			return answer{status: 404, body: "{}"}
		}
		last := answer{commit: true, status: 201, body: `{"id":"made"}`}
		n := 0
		for _, t := range turns {
			if t.path != s.path {
				continue
			}
			last = t.answer
			if n++; n > count[s.path] {
				break
			}
		}
		count[s.path]++
		return last
	}
}

func sending(path, key, name string) string {
	return `services.http.request({method: "POST", url: "http://provider.test/` + path + `", json: {orderId: context.payload.orderId},
  idempotency: {header: "Idempotency-Key", value: ` + key + `}}, {name: "` + name + `"})`
}

// decides looks everything up and takes the decisions, each "VERB KEY" or "VERB"; of several keys in doubt one must be named.
func (l *lab) decides(t *testing.T, run string, decisions ...string) (*engine.Run, error) {
	t.Helper()
	for _, d := range decisions {
		verb, key, _ := strings.Cut(d, " ")
		verb, force := strings.CutSuffix(verb, "!")
		var err error
		l.run(func() {
			if _, err = l.eng.Lookup(t.Context(), run, "", engine.LookupOptions{}); err == nil {
				err = l.eng.Resolve(engine.Resolution{Run: run, Key: key, Decision: engine.Decision(verb), Force: force})
			}
		})
		if err != nil {
			return l.get(run), err
		}
	}
	return l.get(run), nil
}

var throttled = answer{status: 429, body: "{}"}

// Record answers for the operation, wherever its calls stand: a recorded job is never refunded, and the run goes on.
func TestRecordAnswersForTheOperation(t *testing.T) {
	t.Parallel()
	once := `const r = await ` + sending("jobs", "attempt.idempotencyKey", "create") + `; return {job: r.data.id};`
	either := `let r; try { r = await ` + sending("jobs", `"k-a"`, "a") + `; } catch (e) { r = await ` + sending("jobs", `"k-b"`, "b") + `; } return {job: r.data.id};`
	both := `await Promise.all([` + sending("a", `"k-a"`, "a") + `, ` + sending("b", `"k-b"`, "b") + `]); return {job: "both"};`
	alone := func(a answer) answer { a.commit = false; return a }
	for _, r := range []struct {
		name, step string
		turns      []turn
		decisions  []string
		paths      string
	}{
		{"dropped", "|" + once, []turn{{"/jobs", dropped}}, []string{"record"}, "P/charges P/jobs P/notes"},
		{"after 504, then 400", `retry="2"|` + once, []turn{{"/jobs", hidden}, {"/jobs", answer{status: 400, body: "{}"}}}, []string{"record"}, "P/charges P/jobs P/jobs P/notes"},
		{"after 503, then 429, no attempts left", `retry="2"|` + once, []turn{{"/jobs", hidden}, {"/jobs", throttled}}, []string{"record"}, "P/charges P/jobs P/jobs P/notes"},
		{"after a throttled resubmit", "|" + once, []turn{{"/jobs", dropped}, {"/jobs", throttled}, {"look-up", answer{status: 404, body: "{}"}}}, []string{"resubmit", "record"}, "P/charges P/jobs P/jobs P/notes"},
		{"two keys of one operation, one found and one abandoned", "|" + either, []turn{{"/jobs", lost}, {"/jobs", dropped}}, []string{"record k-b", "abandon k-a"}, "P/charges P/jobs P/jobs P/notes"},
		{"in the other order", "|" + either, []turn{{"/jobs", lost}, {"/jobs", dropped}}, []string{"abandon k-a", "record k-b"}, "P/charges P/jobs P/jobs P/notes"},
		{"two writes, each recorded", "|" + both, []turn{{"/a", dropped}, {"/b", dropped}}, []string{"record k-b", "record k-a"}, "P/charges P/a P/b P/notes"},
		{"the next write is throttled, and the policy goes on", retry3 + `await ` + sending("a", `"k-a"`, "a") + `; await ` + sending("b", `"k-b"`, "b") + `; return {job: 1};`,
			[]turn{{"/a", dropped}, {"/b", throttled}, {"/b", created}}, []string{"record"}, "P/charges P/a P/b P/b P/notes"},
		{"beside a write that was throttled, and the policy goes on", retry3 + both, []turn{{"/a", dropped}, {"/b", throttled}, {"/b", created}}, []string{"record"}, "P/charges P/a P/b P/b P/notes"},
		{"the script makes another key each time", retry3 + strings.Replace(once, "attempt.idempotencyKey", `"k-" + attempt.number + secrets.N`, 1), []turn{{"/jobs", dropped}}, []string{"record"}, "P/charges P/jobs P/notes"},
		{"beside a read that a timer outran", retry3 + `await ` + sending("a", `"k-a"`, "a") + `; await new Promise(done => setTimeout(done, 1000)); return {};`, []turn{{"/a", alone(dropped)}, {"/a", dropped}}, []string{"resubmit", "record"}, "P/charges P/a P/a P/notes"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", "|"+doing("charges")+"~~~"+doing("refunds"), r.step, "|"+doing("notes")))
			n := 0
			l.options = func(o *engine.Options) {
				o.Secrets = func(string) (string, bool) { n++; return string(rune('0' + n)), true }
			}
			l.answering(r.turns...)
			run, err := l.decides(t, l.once(`{"orderId":"o1"}`).ID, r.decisions...)
			if err != nil {
				t.Fatal(err)
			}
			if got := l.written(); got != r.paths || run.Status != engine.StatusSucceeded || run.Reconcile {
				t.Errorf("%s; run %s (%s), reconcile %v\nwant %s, succeeded", got, run.Status, run.Message, run.Reconcile, r.paths)
			}
		})
	}
}

// written are the paths of the writes that arrived.
func (l *lab) written() string {
	var p []string
	for _, s := range l.world.seen {
		if s.method != "GET" {
			p = append(p, s.method[:1]+s.path)
		}
	}
	return strings.Join(p, " ")
}

// A resubmit sends one key; every other call answers from the journal and from evidence, or is not sent.
func TestAResubmitSendsTheSameKeyOrNothing(t *testing.T) {
	t.Parallel()
	unkeyed := `await services.http.request({method: "POST", url: "http://provider.test/a", json: {n: 1}}, {name: "a"}); `
	keyed := func(path string) string { return `await ` + sending(path, `"k-`+path+`"`, path) + `; ` }
	both := `await Promise.all([` + sending("a", `"k-a"`, "a") + `, ` + sending("b", `"k-b"`, "b") + `]); return 1;`
	read := `const rate = await services.http.request({url: "http://provider.test/rate"}, {name: "rate"}); `
	for _, r := range []struct {
		name, script string
		turns        []turn
		decisions    []string
		paths        string
		code         string // of the last attempt; empty where the run succeeded
		reconcile    bool
	}{
		{"the same key", keyed("b") + "return 1;", []turn{{"/b", lost}, {"/b", created}}, []string{"resubmit"}, "P/b P/b", "", false},
		{"an unkeyed write that is done answers from the journal", unkeyed + keyed("b") + "return 1;", []turn{{"/b", lost}, {"/b", created}}, []string{"resubmit"}, "P/a P/b P/b", "", false},
		{"a keyed write that is done too", keyed("a") + keyed("b") + "return 1;", []turn{{"/b", lost}, {"/b", created}}, []string{"resubmit"}, "P/a P/b P/b", "", false},
		{"a recorded one gets its evidence", both, []turn{{"/a", dropped}, {"/b", lost}, {"/b", created}}, []string{"record k-a", "resubmit k-b"}, "P/a P/b P/b", "", false},
		{"an abandoned one is not sent", both, []turn{{"/a", lost}, {"/b", lost}, {"/b", created}}, []string{"abandon k-a", "resubmit k-b"}, "P/a P/b P/b", "FAULTLAB_KEY_ABANDONED", false},
		{"an undecided one is not sent", both, []turn{{"/a", lost}, {"/b", lost}, {"/b", created}}, []string{"resubmit k-b"}, "P/a P/b P/b", "FAULTLAB_KEY_UNDECIDED", true},
		{"one after the other", both, []turn{{"/a", lost}, {"/a", created}, {"/b", lost}, {"/b", created}}, []string{"resubmit k-b", "resubmit k-a"}, "P/a P/b P/b P/a", "", false},
		{"a write that was refused is sent", both, []turn{{"/a", throttled}, {"/a", created}, {"/b", lost}, {"/b", created}}, []string{"resubmit"}, "P/a P/b P/a P/b", "", false},
		{"a write that was never made is sent", keyed("a") + keyed("b") + "return 1;", []turn{{"/a", lost}, {"/a", created}}, []string{"resubmit"}, "P/a P/a P/b", "", false},
		{"a key made of the attempt's number is not sent", strings.Replace(keyed("b"), `"k-b"`, `"k-" + attempt.number`, 1) + "return 1;", []turn{{"/b", lost}}, []string{"resubmit"}, "P/b", "FAULTLAB_KEY_NOT_REPEATABLE", true},
		{"unless that is forced", strings.Replace(keyed("b"), `"k-b"`, `"k-" + attempt.number`, 1) + "return 1;", []turn{{"/b", lost}, {"/b", created}}, []string{"resubmit!"}, "P/b P/b", "", false},
		{"a script that swallows the refusal is not believed", "try { " + strings.Replace(keyed("b"), `"k-b"`, `"k-" + attempt.number`, 1) + "} catch (e) {} return 1;", []turn{{"/b", lost}}, []string{"resubmit"}, "P/b", "FAULTLAB_OPERATION_UNKNOWN", true},
		{"the policy does not follow it", keyed("b") + "return 1;", []turn{{"/b", lost}, {"/b", throttled}}, []string{"resubmit"}, "P/b P/b", "WOML_HTTP_STATUS_REJECTED", true},
		{"what was read answers from the journal", read + keyed("b") + "return rate.data.n;", []turn{{"/b", lost}, {"/b", created}}, []string{"resubmit"}, "P/b P/b", "", false},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", retry3+r.script))
			l.answering(r.turns...)
			write, reads := l.world.answer, 0
			l.world.answer = func(n int, s seen) answer {
				if s.path == "/rate" {
					reads++
					return answer{status: 200, body: `{"n":` + string(rune('0'+reads)) + `}`}
				}
				return write(n, s)
			}
			run, err := l.decides(t, l.once(`{"orderId":"o1"}`).ID, r.decisions...)
			if err != nil {
				t.Fatal(err)
			}
			code := run.Steps[0].Last().Code
			if got := l.written(); got != r.paths || code != r.code || run.Reconcile != r.reconcile || reads > 1 {
				t.Errorf("%s; %s; run %s (%s), reconcile %v, %d reads\nwant %s; %s; reconcile %v", got, code, run.Status, run.Message, run.Reconcile, reads, r.paths, r.code, r.reconcile)
			}
		})
	}
}

// A resubmit that was not sent is not advised again: that would repeat itself for ever.
func TestAResubmitOfAnotherKeyIsNotAdvisedAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", "|await "+sending("b", `"k-" + attempt.number`, "b")+"; return 1;"))
	l.answering(turn{"/b", lost}, turn{"/b", created})
	run, err := l.decides(t, l.once(`{"orderId":"o1"}`).ID, "resubmit")
	if err != nil || l.written() != "P/b" {
		t.Fatal(l.written(), err)
	}
	now, err := l.eng.Situation(run, run.Doubts(run.Steps[0])[0])
	if err != nil || now.Advice() == engine.AdviseResubmit || now.Ruling(engine.Resubmit, false).Permission != engine.Forced {
		t.Errorf("advised: %v, the ruling %v, %v", now.Advice(), now.Ruling(engine.Resubmit, false), err)
	}
	if _, err = l.decides(t, run.ID, "resubmit"); !isRefused(err) {
		t.Errorf("a second resubmit gave %v", err)
	}
	run, err = l.decides(t, run.ID, "resubmit!")
	if d := run.Steps[0].Last().Decided; err != nil || run.Status != engine.StatusSucceeded || d.Forced == "" {
		t.Errorf("forced: %v, run %s, %+v", err, run.Status, d)
	}
}
