package historytest

import (
	"fmt"
	"testing"
	"time"

	"faultlab/engine"
)

func deliveries(t *testing.T, h engine.History) {
	delivered := func(run, workflow, trigger, key string) {
		t.Helper()
		got, digest, ok, err := h.Delivery(workflow, trigger, key)
		if err != nil || ok != (run != "") || ok && (got != run || digest != "sha256:payload") {
			t.Errorf("delivery %q to %s of %s: %q %q %v %v, want run %q", key, trigger, workflow, got, digest, ok, err, run)
		}
	}
	a := admitted("w")
	a.Trigger, a.Delivery, a.Digest = "hook", "key-1", "sha256:payload"
	ticket := h.Append(event("run_a", a))
	delivered("run_a", "w", "hook", "key-1") // found at once, durable or not: two deliveries can come together
	delivered("", "w", "hook", "key-2")
	delivered("", "w", "other", "key-1")
	delivered("", "v", "hook", "key-1")
	if err := ticket.Wait(); err != nil {
		t.Fatal(err)
	}
	for n := range 100 {
		run := fmt.Sprintf("run_%d", n)
		b := admitted("w")
		b.Delivery, b.Digest, b.Parent = run, a.Digest, &engine.Parent{Run: "run_a", Step: "s", Name: run}
		h.Append(event(run, b))
		delivered(run, "w", "", run)
		if child, _, err := h.Child(*b.Parent); child != run || err != nil {
			t.Fatalf("just appended, %s is found as child %q (%v)", run, child, err)
		}
	}
	must(t, h, "run_b", admitted("w"))
	must(t, h, "run_c", admitted("w"))
	delivered("", "w", "", "") // a delivery without a key
	delivered("run_a", "w", "hook", "key-1")
}

func childRuns(t *testing.T, h engine.History) {
	must(t, h, "run_p", admitted("w"))
	a := admitted("v")
	a.Parent = &engine.Parent{Run: "run_p", Step: "s", Name: "c", Depth: 1, Wait: true}
	ticket := h.Append(event("run_a", a))
	for range 2 { // not durable perhaps, then durable
		for p, want := range map[engine.Parent]string{
			{Run: "run_p", Step: "s", Name: "c"}: "run_a",
			{Run: "run_p", Step: "s", Name: "d"}: "",
			{Run: "run_p", Step: "t", Name: "c"}: "",
			{Run: "run_a", Step: "s", Name: "c"}: "",
		} {
			if run, ok, err := h.Child(p); err != nil || ok != (want != "") || ok && run != want {
				t.Errorf("child of %+v: %q %v %v, want %q", p, run, ok, err, want)
			}
		}
		if err := ticket.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

func listing(t *testing.T, h engine.History) {
	failed := engine.Ended{Status: engine.StatusFailed, Reconcile: true}
	must(t, h, "run_1", admitted("w"), engine.Started{}, engine.Ended{Status: engine.StatusSucceeded})
	must(t, h, "run_4", admitted("v"), engine.Started{}, failed) // ids are not in the order of admission
	must(t, h, "run_2", admitted("w"), engine.Started{}, failed)
	rerun := admitted("w")
	rerun.RerunOf = "run_1"
	must(t, h, "run_3", rerun)
	for _, c := range []struct {
		q    engine.Query
		want []string
	}{
		{engine.Query{}, []string{"run_3", "run_2", "run_4", "run_1"}},
		{engine.Query{Limit: 2}, []string{"run_3", "run_2"}},
		{engine.Query{Limit: 2, Before: "run_2"}, []string{"run_4", "run_1"}},
		{engine.Query{Status: engine.StatusFailed}, []string{"run_2", "run_4"}},
		{engine.Query{Status: engine.StatusFailed, Limit: 1}, []string{"run_2"}},
		{engine.Query{Reconcile: true, Workflow: "v"}, []string{"run_4"}},
		{engine.Query{Workflow: "w", Before: "run_3"}, []string{"run_2", "run_1"}},
		{engine.Query{Status: engine.StatusCancelled}, nil},
	} {
		equal(t, fmt.Sprintf("runs for %+v", c.q), ids(get[[]engine.Summary](t)(h.Runs(c.q))), c.want)
	}
	must(t, h, "run_2", engine.Decided{Decision: engine.Record})
	equal(t, "the newest two", get[[]engine.Summary](t)(h.Runs(engine.Query{Limit: 2})), []engine.Summary{
		{Run: "run_3", Workflow: "w", Status: engine.StatusQueued, Admitted: At, RerunOf: "run_1"},
		{Run: "run_2", Workflow: "w", Status: engine.StatusRunning, Admitted: At},
	})
	later := At.Add(-time.Hour) // the clock was set back
	if err := h.Append(engine.Event{Run: "run_2", At: later, Fact: engine.Ended{Status: engine.StatusSucceeded}}).Wait(); err != nil {
		t.Fatal(err)
	}
	equal(t, "the run that goes on, when it ends again", get[[]engine.Summary](t)(h.Runs(engine.Query{Limit: 1, Before: "run_3"})),
		[]engine.Summary{{Run: "run_2", Workflow: "w", Status: engine.StatusSucceeded, Admitted: At, Ended: later}})
}

func openRuns(t *testing.T, h engine.History) {
	check := func(want ...string) {
		t.Helper()
		equal(t, "open runs", get[[]string](t)(h.Open()), want)
	}
	check()
	for _, run := range []string{"run_3", "run_1", "run_2"} {
		must(t, h, run, admitted("w"))
	}
	check("run_3", "run_1", "run_2")
	must(t, h, "run_1", engine.Started{}, engine.Waiting{Child: "run_2"})
	must(t, h, "run_3", engine.Started{}, engine.Ended{Status: engine.StatusFailed, Reconcile: true})
	check("run_1", "run_2")
	must(t, h, "run_2", engine.CancelAsked{}, engine.Ended{Status: engine.StatusCancelled})
	check("run_1")
	must(t, h, "run_3", engine.Decided{Decision: engine.Abandon})
	check("run_1")
	must(t, h, "run_3", engine.Decided{Decision: engine.Resubmit})
	check("run_3", "run_1")
}

func prefixes(t *testing.T, h engine.History) {
	for _, run := range []string{"run_b2", "run_a", "run_b1", "run%b", "run_b\U0010ffff", "Run_b"} {
		must(t, h, run, admitted("w"))
	}
	for _, c := range []struct {
		prefix string
		limit  int
		want   []string
	}{
		{"run_b", 10, []string{"run_b1", "run_b2", "run_b\U0010ffff"}},
		{"run_b", 2, []string{"run_b1", "run_b2"}},
		{"run_a", 2, []string{"run_a"}},
		{"run%", 2, []string{"run%b"}},
		{"R", 2, []string{"Run_b"}},
		{"", 1, []string{"Run_b"}},
		{"run_c", 2, nil},
		{"run_", 0, nil},
	} {
		got := get[[]string](t)(h.Prefix(c.prefix, c.limit))
		if len(got)+len(c.want) > 0 {
			equal(t, fmt.Sprintf("at most %d runs that begin with %q", c.limit, c.prefix), got, c.want)
		}
	}
}

func documents(t *testing.T, h engine.History) {
	source := func(run string) string {
		return get[[]engine.Event](t)(h.Events(run))[0].Fact.(engine.Admitted).Source
	}
	bare := admitted("w")
	bare.Source = ""
	must(t, h, "run_a", bare)
	must(t, h, "run_b", admitted("w"))
	other := admitted("w")
	other.Definition, other.Source = "sha256:other", "<woml>2</woml>"
	must(t, h, "run_c", other)
	must(t, h, "run_d", bare)
	for run, want := range map[string]string{"run_a": "<woml/>", "run_b": "<woml/>", "run_c": "<woml>2</woml>", "run_d": "<woml/>"} {
		equal(t, "the document of "+run, source(run), want)
	}
}

func bodies(t *testing.T, h engine.History) {
	kept := func(want ...string) {
		t.Helper()
		var got []string
		for _, e := range get[[]engine.Event](t)(h.Events("run_a")) {
			if b := engine.Body(e.Fact); b != nil {
				got = append(got, string(b))
			}
		}
		equal(t, "bodies", got, want)
	}
	at := func(step string, undo bool) engine.Pos {
		return engine.Pos{Step: step, Undo: undo, Attempt: 1, Call: 1}
	}
	sent := func(step, body string) engine.RequestSent {
		return engine.RequestSent{Pos: at(step, false), Body: []byte(body)}
	}
	must(t, h, "run_a", admitted("w"), engine.Started{}, sent("a", "a1"), sent("b", "b1"))
	must(t, h, "run_a", engine.CallEnded{Pos: at("a", false), Reply: []byte("a2")}, sent("b", ""))
	kept("a1", "b1", "a2", "") // an empty body is not the same as none
	must(t, h, "run_a", engine.AttemptEnded{Pos: at("a", false), Outcome: engine.Failed})
	must(t, h, "run_a", engine.AttemptEnded{Pos: at("b", true), Outcome: engine.Succeeded}) // a compensation settles nothing
	kept("a1", "b1", "a2", "")
	must(t, h, "run_a", sent("a", "a3"), engine.AttemptEnded{Pos: at("a", false), Outcome: engine.Succeeded})
	kept("b1", "")
	must(t, h, "run_a", sent("a", "a4"))
	must(t, h, "run_a", engine.Ended{Status: engine.StatusFailed, Reconcile: true})
	must(t, h, "run_a", engine.Evidence{Pos: at("b", false), Body: []byte("record")})
	kept("b1", "", "a4", "record")
	must(t, h, "run_a", engine.Decided{Decision: engine.Record}, sent("b", "b2"), engine.Ended{Status: engine.StatusSucceeded})
	kept()
	must(t, h, "run_a", engine.Evidence{Pos: at("b", false), Body: []byte("later")})
	kept("later")
}

func sharedKeys(t *testing.T, h engine.History) {
	sent := func(run, key string, shared bool) {
		t.Helper()
		must(t, h, run, engine.RequestSent{Pos: engine.Pos{Step: "s", Attempt: 1, Call: 1, Request: 1}, Key: key, Shared: shared})
	}
	runs := func(key string, want ...string) {
		t.Helper()
		got := get[[]string](t)(h.KeyRuns(key))
		if len(got)+len(want) > 0 {
			equal(t, "the runs that sent "+key, got, want)
		}
	}
	for _, run := range []string{"run_c", "run_a", "run_b"} {
		must(t, h, run, admitted("w"))
	}
	runs("order-1")
	sent("run_b", "order-1", true)
	sent("run_c", "order-1", true)
	sent("run_b", "order-1", true)
	sent("run_a", "order-2", true)
	sent("run_a", "sha256:own", false)
	sent("run_a", "", true)
	runs("order-1", "run_c", "run_b") // in the order of their admission
	runs("order-2", "run_a")
	runs("order-")
	runs("sha256:own")
	runs("")
}

func provenAddresses(t *testing.T, h engine.History) {
	must(t, h, "run_a", admitted("w"))
	const at = "http://p.test/jobs/by-idempotency-key/{key}"
	proven := func(address string, want bool) {
		t.Helper()
		if got := get[bool](t)(h.FoundAt(address)); got != want {
			t.Errorf("a record was found at %q: %v, want %v", address, got, want)
		}
	}
	must(t, h, "run_a", engine.Evidence{Address: at, Found: engine.FoundNoRecord}, engine.Evidence{Address: at, Found: engine.FoundNoAnswer},
		engine.Evidence{Found: engine.FoundRecord})
	proven(at, false)
	proven("", false)
	must(t, h, "run_a", engine.Evidence{Address: at, Found: engine.FoundRecord}, engine.Evidence{Address: at, Found: engine.FoundRecord})
	must(t, h, "run_a", engine.Evidence{Address: at + "2", Found: engine.FoundSeveral})
	proven(at, true)
	proven(at+"2", true)
	proven(at+"3", false)
}

func place(t *testing.T, h engine.History) {
	equal(t, "the place in an empty history", get[int64](t)(h.Place()), int64(0))
	ticket := h.Append(event("run_a", admitted("w")), event("run_a", engine.Started{}))
	equal(t, "the place after an append", get[int64](t)(h.Place()), ticket.Last())
	ticket = h.Buffer(event("run_a", engine.CancelAsked{}))
	equal(t, "the place after what was buffered", get[int64](t)(h.Place()), ticket.Last())
}
