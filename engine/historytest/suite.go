// Package historytest is what every engine.History must do, as one suite that runs
// against each implementation. Compare says where two histories answer differently,
// and Scripts draws histories that a property can be tried on.
package historytest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"faultlab/engine"
)

// Run tries everything that a History promises while it is open. open makes an empty one, which the suite closes.
func Run(t *testing.T, open func(t *testing.T) engine.History) {
	for name, try := range promises {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t)
			defer func() {
				if err := h.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}()
			try(t, h)
		})
	}
}

var promises = map[string]func(t *testing.T, h engine.History){
	"an append gives places in order without a gap":        placesInOrder,
	"a later append is never durable before an earlier":    durableInOrder,
	"what is buffered is written with what comes next":     buffered,
	"appends of many at once keep each one's order":        manyAtOnce,
	"an unknown run is ErrNoRun":                           unknownRun,
	"an append that breaks a rule leaves nothing":          refusals,
	"a closed history takes nothing":                       closed,
	"a delivery is found by workflow, trigger and key":     deliveries,
	"a child is found by parent, step and name":            childRuns,
	"runs are listed newest first and can be selected":     listing,
	"runs that have not ended are open, the oldest first":  openRuns,
	"ids are found by their beginning":                     prefixes,
	"runs are found by the keys that they share":           sharedKeys,
	"an address is proven once a record was found there":   provenAddresses,
	"the place of the newest event is told":                place,
	"a document is kept once and given with its admission": documents,
	"bodies are kept until their step is settled":          bodies,
	"what a read gives belongs to the caller":              ownership,
}

// At is when the events of these tests happen.
var At = time.Date(2026, 3, 1, 12, 0, 0, 1, time.UTC)

func event(run string, f engine.Fact) engine.Event { return engine.Event{Run: run, At: At, Fact: f} }

func admitted(workflow string) engine.Admitted {
	return engine.Admitted{Workflow: workflow, Definition: "sha256:def", Source: "<woml/>", Payload: []byte(`{"n":1}`), Seed: 7}
}

// must appends facts of one run and waits for them.
func must(t *testing.T, h engine.History, run string, facts ...engine.Fact) engine.Ticket {
	t.Helper()
	var events []engine.Event
	for _, f := range facts {
		events = append(events, event(run, f))
	}
	ticket := h.Append(events...)
	if err := ticket.Wait(); err != nil {
		t.Fatalf("append to %s: %v", run, err)
	}
	return ticket
}

func get[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func placesInOrder(t *testing.T, h engine.History) {
	first := must(t, h, "run_a", admitted("w"), engine.Started{})
	other := must(t, h, "run_b", admitted("w"))
	last := must(t, h, "run_a", engine.CancelAsked{}, engine.Ended{Status: engine.StatusCancelled})
	equal(t, "places of the appends' last events", []int64{first.Last(), other.Last(), last.Last()}, []int64{2, 3, 5})
	if !last.Done() {
		t.Error("a ticket that was waited for is not done")
	}
	var kinds []string
	for _, e := range get[[]engine.Event](t)(h.Events("run_a")) {
		kinds = append(kinds, fmt.Sprintf("%d %s %s %s", e.Seq, e.Run, e.Fact.Kind(), e.At.Format(time.RFC3339Nano)))
	}
	equal(t, "the run's events", kinds, []string{
		"1 run_a admitted 2026-03-01T12:00:00.000000001Z",
		"2 run_a started 2026-03-01T12:00:00.000000001Z",
		"4 run_a cancel.asked 2026-03-01T12:00:00.000000001Z",
		"5 run_a ended 2026-03-01T12:00:00.000000001Z",
	})
}

func durableInOrder(t *testing.T, h engine.History) {
	var tickets []engine.Ticket
	for i := range 200 {
		tickets = append(tickets, h.Append(event(fmt.Sprintf("run_%03d", i), admitted("w"))))
	}
	for i := len(tickets) - 1; i >= 0; i -= 50 {
		if err := tickets[i].Wait(); err != nil {
			t.Fatal(err)
		}
		for j, earlier := range tickets[:i] {
			if !earlier.Done() {
				t.Fatalf("append %d is durable and %d, made before it, is not", i, j)
			}
		}
	}
}

func buffered(t *testing.T, h engine.History) {
	first := h.Buffer(event("run_a", admitted("w")))
	equal(t, "events that a read sees of what was buffered before it", len(get[[]engine.Event](t)(h.Events("run_a"))), 1)
	second, third := h.Buffer(event("run_a", engine.Started{})), h.Buffer(event("run_b", admitted("w")))
	fourth := h.Append(event("run_a", engine.CancelAsked{}))
	fifth := h.Buffer(event("run_c", admitted("w")))
	if err := fourth.Wait(); err != nil {
		t.Fatal(err)
	}
	for i, ticket := range []engine.Ticket{first, second, third, fourth} {
		if !ticket.Done() || ticket.Last() != int64(i+1) {
			t.Errorf("append %d has place %d; is it durable: %v", i+1, ticket.Last(), ticket.Done())
		}
	}
	if err := fifth.Wait(); err != nil || fifth.Last() != 5 { // to wait for it is to ask for it
		t.Errorf("the fifth append has place %d (%v)", fifth.Last(), err)
	}
}

func manyAtOnce(t *testing.T, h engine.History) {
	const runs, appends = 8, 25
	var all sync.WaitGroup
	for n := range runs {
		all.Go(func() {
			run := fmt.Sprintf("run_%d", n)
			h.Append(event(run, admitted("w")))
			for i := range appends {
				ticket := h.Append(
					event(run, engine.NotSent{Pos: engine.Pos{Request: 2*i + 1}}), event(run, engine.NotSent{Pos: engine.Pos{Request: 2*i + 2}}))
				if err := ticket.Wait(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	seen := map[int64]bool{}
	for n := range runs {
		events := get[[]engine.Event](t)(h.Events(fmt.Sprintf("run_%d", n)))
		if len(events) != 1+2*appends {
			t.Fatalf("run %d has %d events, want %d", n, len(events), 1+2*appends)
		}
		for i, e := range events {
			seen[e.Seq] = true
			if i > 0 && (e.Seq <= events[i-1].Seq || e.Fact.(engine.NotSent).Request != i) {
				t.Fatalf("run %d: event %d is %+v after place %d", n, i, e, events[i-1].Seq)
			}
			if i > 0 && i%2 == 0 && e.Seq != events[i-1].Seq+1 {
				t.Fatalf("run %d: a gap within an append, between places %d and %d", n, events[i-1].Seq, e.Seq)
			}
		}
	}
	if len(seen) != runs*(1+2*appends) {
		t.Errorf("%d different places for %d events", len(seen), runs*(1+2*appends))
	}
}

func unknownRun(t *testing.T, h engine.History) {
	must(t, h, "run_a", admitted("w"))
	if _, err := h.Events("run_b"); !errors.Is(err, engine.ErrNoRun) {
		t.Errorf("events of an unknown run: %v", err)
	}
	if _, err := h.Runs(engine.Query{Before: "run_b"}); !errors.Is(err, engine.ErrNoRun) {
		t.Errorf("runs before an unknown run: %v", err)
	}
}

func refusals(t *testing.T, h engine.History) {
	delivered, child := admitted("w"), admitted("w")
	delivered.Trigger, delivered.Delivery = "hook", "key-1"
	child.Parent = &engine.Parent{Run: "run_a", Step: "s", Name: "c"}
	must(t, h, "run_a", admitted("w"))
	must(t, h, "run_b", delivered)
	must(t, h, "run_c", child)
	broken := admitted("w")
	broken.Payload = []byte(`{"n":`)
	for _, c := range []struct {
		what string
		run  string
		fact engine.Fact
	}{
		{engine.RefusedUnknownRun, "run_x", engine.Started{}},
		{engine.RefusedKnownRun, "run_a", admitted("w")},
		{engine.RefusedDelivery, "run_x", delivered},
		{engine.RefusedChild, "run_x", child},
		{"malformed JSON in it", "run_x", broken},
	} {
		ticket := h.Append(event("run_a", engine.Started{}), event(c.run, c.fact))
		var refused *engine.RefusedError
		if err := ticket.Wait(); !errors.As(err, &refused) {
			t.Errorf("%s: the append gives %v", c.what, err)
		}
		next := h.Append(event("run_b", engine.Started{}))
		if err := next.Wait(); err != nil || next.Last() != ticket.Last()+1 {
			t.Errorf("%s: the append after it has place %d after %d, and gives %v", c.what, next.Last(), ticket.Last(), err)
		}
	}
	for n := range 50 { // the second comes while the first is on its way to the disk
		first, again := fmt.Sprintf("run_%d", n), fmt.Sprintf("run_again_%d", n)
		d, c := delivered2(first), admitted("v")
		c.Parent = &engine.Parent{Run: "run_a", Step: "s", Name: first}
		tickets := []engine.Ticket{h.Append(event(first, d)), h.Append(event(again, d)), h.Append(event(first+"c", c)), h.Append(event(again+"c", c))}
		var errs []bool
		for _, ticket := range tickets {
			errs = append(errs, ticket.Wait() != nil)
		}
		equal(t, "whether a delivery, the same again, a child and the same again are refused", errs, []bool{false, true, false, true})
	}
	twice := h.Append(event("run_y", delivered2("key-2")), event("run_z", delivered2("key-2")))
	if twice.Wait() == nil {
		t.Error("one append made two runs of one delivery")
	}
	equal(t, "events of the run that every refused append also named", len(get[[]engine.Event](t)(h.Events("run_a"))), 1)
	equal(t, "runs made of 103 that were not refused", len(get[[]engine.Summary](t)(h.Runs(engine.Query{}))), 103)
}

func delivered2(key string) engine.Admitted {
	a := admitted("w")
	a.Delivery = key
	return a
}

func closed(t *testing.T, h engine.History) {
	must(t, h, "run_a", admitted("w"))
	for range 2 {
		if err := h.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if err := h.Append(event("run_a", engine.Started{})).Wait(); !errors.Is(err, engine.ErrHistoryClosed) {
		t.Errorf("append to a closed history: %v", err)
	}
}

func ids(runs []engine.Summary) (ids []string) {
	for _, s := range runs {
		ids = append(ids, s.Run)
	}
	return ids
}

func ownership(t *testing.T, h engine.History) {
	events := []engine.Event{event("run_a", admitted("w")), event("run_a", engine.Started{})}
	if err := h.Append(events...).Wait(); err != nil {
		t.Fatal(err)
	}
	events[0].Fact = engine.Started{}
	first := get[[]engine.Event](t)(h.Events("run_a"))
	want := slices.Clone(first)
	first[0], first[1] = engine.Event{}, engine.Event{}
	equal(t, "events after the caller overwrote what it gave and got", get[[]engine.Event](t)(h.Events("run_a")), want)
	if want[0].Fact.Kind() != engine.KindAdmitted {
		t.Errorf("the first event is %v", want[0])
	}
}
