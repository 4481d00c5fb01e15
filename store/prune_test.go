package store

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"faultlab/engine"
	"faultlab/engine/historytest"
)

// aged writes runs of all sorts. The hour in a run's name is when it ended.
func aged(t *testing.T, s *Store) {
	t.Helper()
	hour := func(n int) time.Time { return historytest.At.Add(time.Duration(n) * time.Hour) }
	admit := func(run string, a engine.Admitted, ended int, facts ...engine.Fact) {
		a.Workflow, a.Definition, a.Source = "w", "sha256:"+run[:5], "the document of "+run[:5]
		for i, f := range append([]engine.Fact{a, engine.Started{}}, facts...) {
			at := hour(0)
			if i > 1 {
				at = hour(ended)
			}
			if err := s.Append(engine.Event{Run: run, At: at, Fact: f}).Wait(); err != nil {
				t.Fatal(err)
			}
		}
	}
	child := func(parent string) engine.Admitted {
		return engine.Admitted{Parent: &engine.Parent{Run: parent, Step: "s", Name: "of " + parent}}
	}
	done := engine.Ended{Status: engine.StatusSucceeded}
	unknown := engine.Ended{Status: engine.StatusFailed, Reconcile: true}
	sent := engine.RequestSent{Pos: engine.Pos{Step: "s"}, Body: []byte("body")}
	admit("early1", engine.Admitted{Delivery: "k1"}, 1, done)
	admit("early1_unknown", engine.Admitted{Delivery: "k2"}, 1, sent, unknown)
	admit("opened", engine.Admitted{}, 0)
	admit("child1_of_open", child("opened"), 1, done)
	admit("child1_of_that", child("child1_of_open"), 1, done)
	admit("later3", engine.Admitted{}, 3, done)
	admit("early1_parent", engine.Admitted{}, 1, engine.CancelAsked{Inbox: "c-1"}, done)
	admit("child1_of_early", child("early1_parent"), 1, engine.Evidence{Body: []byte("late")}, done)
}

func runsOf(t *testing.T, h engine.History) (ids []string) {
	t.Helper()
	runs, err := h.Runs(engine.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		ids = append(ids, r.Run)
	}
	return ids
}

func TestPruningKeepsWhatIsOpenOrUnreconciled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	aged(t, s)
	all := runsOf(t, s)
	before := historytest.At.Add(2 * time.Hour)

	want := PruneReport{Runs: 3, Events: 11, Open: 1, Unreconciled: 1}
	if got, err := s.Prune(before, true); err != nil || got != want {
		t.Errorf("a dry run says %+v, want %+v (%v)", got, want, err)
	}
	if got := runsOf(t, s); !reflect.DeepEqual(got, all) {
		t.Errorf("a dry run left %v of %v", got, all)
	}
	got, err := s.Prune(before, false)
	got.Freed = 0
	if err != nil || got != want {
		t.Errorf("pruning says %+v, want %+v (%v)", got, want, err)
	}
	stay := []string{"later3", "child1_of_that", "child1_of_open", "opened", "early1_unknown"}
	if got := runsOf(t, s); !reflect.DeepEqual(got, stay) {
		t.Errorf("left are %v, want %v", got, stay)
	}
	checkPruned(t, s)
	if again, err := s.Prune(before, false); err != nil || again.Runs != 0 {
		t.Errorf("pruning again says %+v (%v)", again, err)
	}
}

func checkPruned(t *testing.T, s *Store) {
	t.Helper()
	if _, _, ok, err := s.Delivery("w", "", "k1"); ok || err != nil {
		t.Errorf("the delivery of a pruned run is found (%v)", err)
	}
	if run, _, ok, err := s.Delivery("w", "", "k2"); !ok || run != "early1_unknown" {
		t.Errorf("the delivery of a run that stays gives %q (%v)", run, err)
	}
	if _, ok, err := s.Child(engine.Parent{Run: "early1_parent", Step: "s", Name: "of early1_parent"}); ok || err != nil {
		t.Errorf("a pruned child is found (%v)", err)
	}
	events, err := s.Events("early1_unknown")
	if err != nil || string(engine.Body(events[2].Fact)) != "body" || events[0].Fact.(engine.Admitted).Source != "the document of early" {
		t.Errorf("a run that stays: %+v (%v)", events, err)
	}
	for query, want := range map[string]int64{
		"SELECT count(*) FROM documents": 4, "SELECT count(*) FROM commands": 0, "SELECT count(*) FROM bodies": 1, "SELECT count(*) FROM children": 2} {
		if err := s.between(func() error {
			n, err := s.file.conn.number(query)
			if n != want {
				t.Errorf("%s: %d, want %d", query, n, want)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPrunedPlacesAndKeysAfterwards(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	for n := range 3 * pruneAtOnce {
		for _, events := range typical(n) {
			s.Append(events...)
		}
	}
	admit(t, s, "run_open")
	last, size := s.last, int64(0)
	report, err := s.Prune(historytest.At.Add(24*time.Hour), false)
	if err != nil || report.Runs != 3*pruneAtOnce || report.Freed <= 0 {
		t.Fatalf("%+v %v", report, err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Size() > 100_000 {
		t.Errorf("the file still has %d bytes (%v)", size, err)
	}
	if err := s.Append(typical(1)[0]...).Wait(); err != nil { // its document went, and is kept again
		t.Error(err)
	}
	if events, err := s.Events(typical(1)[0][0].Run); err != nil || events[0].Seq != last+1 || events[0].Fact.(engine.Admitted).Source == "" {
		t.Errorf("the run anew: %+v (%v)", events, err)
	}
	if err := s.Append(engine.Event{Run: "run_open", At: historytest.At, Fact: engine.Ended{Status: engine.StatusSucceeded}}).Wait(); err != nil {
		t.Error(err)
	}
	if _, err := s.Prune(historytest.At.Add(24*time.Hour), false); err != nil {
		t.Fatal(err)
	}
	last = s.last
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s = open(t, path); s.last != last {
		t.Errorf("places up to %d were given; opened again, the last one is %d", last, s.last)
	}
}

// Appends go on while runs are pruned.
func TestPruningBesideAppends(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "state.db"))
	for n := range 2 * pruneAtOnce {
		for _, events := range typical(n) {
			s.Append(events...)
		}
	}
	pruned := make(chan error)
	go func() {
		_, err := s.Prune(historytest.At.Add(24*time.Hour), false)
		pruned <- err
	}()
	for n := range 60 {
		admit(t, s, fmt.Sprintf("run_new_%d", n))
	}
	if err := <-pruned; err != nil {
		t.Fatal(err)
	}
	if open, err := s.Open(); err != nil || len(open) != 60 {
		t.Errorf("%d runs are open (%v)", len(open), err)
	}
}

// A family goes together: nothing goes whose child or parent, near or far, stays.
func TestAFamilyIsPrunedTogether(t *testing.T) {
	t.Parallel()
	const opened = "" // never ended
	for _, r := range []struct {
		name string
		last [3]engine.Status // how grandparent, parent and child ended
		rec  int              // which of them is unreconciled; 0 for none, counted from 1
		left int
	}{
		{"all ended", [3]engine.Status{engine.StatusFailed, engine.StatusSucceeded, engine.StatusSucceeded}, 0, 0},
		{"the child is open", [3]engine.Status{engine.StatusFailed, engine.StatusFailed, opened}, 0, 3},
		{"the child's outcome is unknown", [3]engine.Status{engine.StatusFailed, engine.StatusFailed, engine.StatusFailed}, 3, 3},
		{"the grandparent is open", [3]engine.Status{opened, engine.StatusSucceeded, engine.StatusSucceeded}, 0, 3},
		{"the parent is unreconciled", [3]engine.Status{engine.StatusFailed, engine.StatusFailed, engine.StatusSucceeded}, 2, 3},
	} {
		s := open(t, filepath.Join(t.TempDir(), "state.db"))
		for i, status := range r.last {
			a := admission(fmt.Sprintf("run_%d", i+1))
			if i > 0 {
				fact := a.Fact.(engine.Admitted)
				fact.Parent = &engine.Parent{Run: fmt.Sprintf("run_%d", i), Step: "s", Name: "call w", Depth: i, Wait: true}
				a.Fact = fact
			}
			facts := []engine.Event{a}
			if status != opened {
				facts = append(facts, engine.Event{Run: a.Run, At: historytest.At, Fact: engine.Ended{Status: status, Reconcile: r.rec == i+1}})
			}
			if err := s.Append(facts...).Wait(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Prune(historytest.At.Add(time.Hour), false); err != nil {
			t.Fatal(err)
		}
		if left := runsOf(t, s); len(left) != r.left {
			t.Errorf("%s: left are %v, want %d of 3", r.name, left, r.left)
		}
	}
}
