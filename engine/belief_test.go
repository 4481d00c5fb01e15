package engine

import (
	"strings"
	"testing"
)

// one folds a run of one step with these calls, one attempt each, and ends it.
func one(ended bool, calls ...*Call) (*Run, *Step) {
	s := &Step{ID: "step1"}
	r := &Run{Steps: []*Step{s}, Status: StatusRunning}
	for i, c := range calls {
		c.Pos = Pos{Step: "step1", Attempt: i + 1, Call: 1}
		s.Attempts = append(s.Attempts, &Attempt{N: i + 1, Outcome: Failed, Next: NextStop, Calls: []*Call{c}})
	}
	if ended {
		r.Status = StatusFailed
	}
	return r, s
}

func keyed(key string, f Finding, decisions ...Decision) *Call {
	c := write(KeyedWrite, f)
	c.Key = key
	for _, d := range decisions {
		c.Decisions = append(c.Decisions, DecidedAt{Decided: Decided{Decision: d}})
	}
	return c
}

func TestBeliefTable(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name  string
		calls []*Call
		want  Belief
	}{
		{"nothing was sent", nil, BeliefNotDone},
		{"a call done", []*Call{keyed("k", FoundDone)}, BeliefDone},
		{"done after an unproven one", []*Call{keyed("k", FoundUnproven), keyed("k", FoundDone)}, BeliefDone},
		{"done before one that failed", []*Call{keyed("k", FoundDone), keyed("k", FoundNotDone)}, BeliefDone},
		{"every write not done", []*Call{keyed("k", FoundNotDone), keyed("k", FoundNotDone)}, BeliefNotDone},
		{"the budget ended on 5xx answers", []*Call{keyed("k", FoundUnproven), keyed("k", FoundUnproven)}, BeliefUnknown},
		{"no answer", []*Call{keyed("k", FoundAmbiguous)}, BeliefUnknown},
		{"an unproven one, then one not done", []*Call{keyed("k", FoundUnproven), keyed("k", FoundNotDone)}, BeliefUnknown},
		{"recorded", []*Call{keyed("k", FoundAmbiguous, Record)}, BeliefDone},
		{"abandoned", []*Call{keyed("k", FoundAmbiguous, Abandon)}, BeliefNotDone},
		{"abandoned under the same key", []*Call{keyed("k", FoundUnproven), keyed("k", FoundAmbiguous, Abandon)}, BeliefNotDone},
		{"abandoned under another key", []*Call{keyed("k", FoundUnproven), keyed("j", FoundAmbiguous, Abandon)}, BeliefUnknown},
		{"escalated", []*Call{keyed("k", FoundAmbiguous, Escalate)}, BeliefUnknown},
		{"resubmitted, and no answer again", []*Call{keyed("k", FoundAmbiguous, Resubmit), keyed("k", FoundAmbiguous)}, BeliefUnknown},
		{"a call without an end", []*Call{{Effect: KeyedWrite}}, BeliefUnknown},
	} {
		run, step := one(true, r.calls...)
		if got := run.StepBelief(step); got != r.want {
			t.Errorf("%s: %s, want %s", r.name, got, r.want)
		}
	}
}

func TestBeliefIsOpenWhileSomethingIsDue(t *testing.T) {
	t.Parallel()
	run, step := one(false, keyed("k", FoundUnproven))
	for name, open := range map[string]func(*Attempt){
		"an attempt runs": func(a *Attempt) { a.Outcome = "" },
		"a retry is due":  func(a *Attempt) { a.Outcome, a.Next = Failed, NextRetry },
	} {
		open(step.Attempts[0])
		if got := run.StepBelief(step); got != BeliefOpen {
			t.Errorf("%s: %s, want open", name, got)
		}
	}
}

func TestSettling(t *testing.T) {
	t.Parallel()
	at := func(method, url string) []*Request { return []*Request{{Method: method, URL: url}} }
	reply := func(c Call) *Call {
		c.How, c.Ended = HowAccepted, true
		if c.Status == 0 {
			c.Status = 200
		}
		if c.Effect == Read && c.Reply == nil {
			c.Reply = []byte(`{"data":{"orderId":"o1"}}`)
		}
		if c.Effect != Read {
			c.Finding = FoundDone
		}
		return &c
	}
	told := func(body string, c Call) *Call {
		c.Reply = []byte(`{"data":` + body + `}`)
		return reply(c)
	}
	const key = "order:42/a"
	jobs := at("POST", "http://p.test/jobs")
	jobs[0].Body = []byte(`{"orderId":"o1"}`)
	for _, r := range []struct {
		name string
		by   *Call
		want bool
	}{
		{"a write under the same key", reply(Call{Effect: KeyedWrite, Key: key, Requests: jobs}), true},
		{"a write under another key", reply(Call{Effect: KeyedWrite, Key: "other", Requests: jobs}), false},
		{"a write under the same key, which nobody enforces", reply(Call{Effect: UnkeyedWrite, Key: key, Requests: jobs}), false},
		{"another write of the step under the same key", reply(Call{Effect: KeyedWrite, Key: key, Write: "invoice"}), false},
		{"a local write", reply(Call{Effect: UnkeyedWrite, Service: "db", Write: "mark"}), false},
		{"a read of the key as it stands", reply(Call{Effect: Read, Requests: at("GET", "http://p.test/jobs/by-key/order:42/a")}), true},
		{"a read of the key that is told 404", reply(Call{Effect: Read, Status: 404, Requests: at("GET", "http://p.test/jobs/by-key/order:42/a")}), false},
		{"a read of the key that is told 202", reply(Call{Effect: Read, Status: 202, Requests: at("GET", "http://p.test/jobs/by-key/order:42/a")}), false},
		{"a read of the key that finds an empty list", told(`[]`, Call{Effect: Read, Requests: at("GET", "http://p.test/jobs?key=order:42/a")}), false},
		{"a read of the key that finds a list of it", told(`{"data":[{"orderId":"o1"}]}`, Call{Effect: Read, Requests: at("GET", "http://p.test/jobs?key=order:42/a")}), true},
		{"a read of the key that finds another order", told(`{"orderId":"o2"}`, Call{Effect: Read, Requests: at("GET", "http://p.test/jobs?key=order:42/a")}), false},
		{"a read of the key that finds what cannot be compared", told(`{"id":"job_1"}`, Call{Effect: Read, Requests: at("GET", "http://p.test/jobs?key=order:42/a")}), true},
		{"a read of the key that finds a text", told(`"ok"`, Call{Effect: Read, Requests: at("GET", "http://p.test/jobs?key=order:42/a")}), false},
		{"a read of the key, percent-encoded", reply(Call{Effect: Read, Requests: at("GET", "http://p.test/jobs/by-key/order:42%2Fa")}), true},
		{"a read of the key in a query", reply(Call{Effect: Read, Requests: at("GET", "http://p.test/jobs?key=order%3A42%2Fa")}), true},
		{"a read of the key in quotes", reply(Call{Effect: Read, Requests: at("GET", "http://p.test/jobs?key=%22order%3A42%2Fa%22")}), true},
		{"a read of a longer key", reply(Call{Effect: Read, Requests: at("GET", "http://p.test/jobs/by-key/order:42%2Fab")}), false},
		{"a read of a key that ends like it", reply(Call{Effect: Read, Requests: at("GET", "http://p.test/jobs/by-key/re-order:42/a")}), false},
		{"a read of a longer key and of the key", reply(Call{Effect: Read, Requests: at("GET", "http://p.test/jobs/order:42/a2?key=order:42/a")}), true},
		{"a read of another origin", reply(Call{Effect: Read, Requests: at("GET", "http://q.test/jobs/order:42/a")}), false},
		{"a read of something else", reply(Call{Effect: Read, Requests: at("GET", "http://p.test/jobs")}), false},
	} {
		for _, f := range []Finding{FoundAmbiguous, FoundUnproven} {
			for _, order := range []string{"after", "before", "in an attempt after", "in an attempt before"} {
				lost := keyed(key, f)
				lost.Requests = jobs
				by := *r.by
				calls := []*Call{lost, &by}
				if strings.HasSuffix(order, "before") {
					calls = []*Call{&by, lost}
				}
				s := &Step{ID: "step1", Attempts: []*Attempt{{N: 1}, {N: 2}}}
				for i, c := range calls {
					c.Pos = Pos{Step: "step1", Attempt: 1, Call: i + 1}
					if strings.Contains(order, "attempt") {
						c.Pos = Pos{Step: "step1", Attempt: i + 1, Call: 1}
					}
					s.Attempts[c.Attempt-1].Calls = append(s.Attempts[c.Attempt-1].Calls, c)
					if body, _ := c.replyBody(); c.Effect == Read {
						c.Readings = s.readingsBy(c, lookupReply{status: c.Status, body: body})
					} else if c == lost {
						c.Readings = s.readingsOf(c, lookupReply{})
					}
					s.settle(c)
				}
				if got := lost.SettledBy == by.Pos; got != r.want {
					t.Errorf("%s, %s, settles one that is %s: %v, want %v", r.name, order, f, got, r.want)
				}
			}
		}
	}
}
