package historytest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"faultlab/engine"
)

// question is one that two histories should answer alike.
type question struct {
	what string
	ask  func(h engine.History) (any, error)
}

// Compare says where the answers of two histories differ; nil where they say the same of everything.
func Compare(want, got engine.History) error {
	questions, err := questionsOf(want)
	if err != nil {
		return err
	}
	for _, q := range questions {
		w, err1 := q.ask(want)
		g, err2 := q.ask(got)
		if err := errors.Join(err1, err2); err != nil {
			return fmt.Errorf("%s: %w", q.what, err)
		}
		if !reflect.DeepEqual(w, g) {
			return fmt.Errorf("%s differ:\nwant %+v\n got %+v", q.what, w, g)
		}
	}
	return nil
}

// questionsOf are those that concern what a history holds.
func questionsOf(h engine.History) (all []question, err error) {
	ask := func(what string, f func(h engine.History) (any, error)) { all = append(all, question{what, f}) }
	runs, err := h.Runs(engine.Query{})
	if err != nil {
		return nil, err
	}
	queries := []engine.Query{{}, {Limit: 2}, {Reconcile: true}, {Workflow: "w"}, {Workflow: "w", Reconcile: true}}
	for _, s := range runs {
		queries = append(queries, engine.Query{Before: s.Run, Limit: 2}, engine.Query{Status: s.Status})
	}
	for _, q := range queries {
		ask(fmt.Sprintf("the runs for %+v", q), func(h engine.History) (any, error) { return list(h.Runs(q)) })
	}
	ask("the open runs", func(h engine.History) (any, error) { return list(h.Open()) })
	for _, prefix := range []string{"", "run_", "run_b", "R"} {
		ask("the runs that begin with "+prefix, func(h engine.History) (any, error) { return list(h.Prefix(prefix, 3)) })
	}
	for _, s := range runs {
		ask("the events of "+s.Run, func(h engine.History) (any, error) { return list(h.Events(s.Run)) })
		events, err := h.Events(s.Run)
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			all = append(all, questionsAbout(e)...)
		}
	}
	return all, nil
}

// questionsAbout are those that an event can be found by.
func questionsAbout(e engine.Event) (all []question) {
	if key := engine.SharedKey(e.Fact); key != "" {
		all = append(all, question{"the runs that sent " + key, func(h engine.History) (any, error) { return list(h.KeyRuns(key)) }})
	}
	if at := engine.ProvenAddress(e.Fact); at != "" {
		all = append(all, question{"what was found at " + at, func(h engine.History) (any, error) { return h.FoundAt(at) }})
	}
	a, ok := e.Fact.(engine.Admitted)
	if !ok {
		return all
	}
	all = append(all, question{"the delivery of " + e.Run, func(h engine.History) (any, error) {
		run, digest, ok, err := h.Delivery(a.Workflow, a.Trigger, a.Delivery)
		return []any{run, digest, ok}, err
	}})
	if a.Parent != nil {
		all = append(all, question{"the child " + e.Run, func(h engine.History) (any, error) {
			run, ok, err := h.Child(*a.Parent)
			return []any{run, ok}, err
		}})
	}
	return all
}

// list makes an empty list and none the same answer.
func list[T any](v []T, err error) (any, error) {
	if len(v) == 0 {
		return nil, err
	}
	return v, err
}

// Model tries random scripts on an implementation and on engine.Memory, and wants
// the same tickets and the same answers. reopen closes a history and opens it again;
// nil where an implementation does not persist. open makes an empty one.
func Model(t *testing.T, open func(t *rapid.T) engine.History, reopen func(t *rapid.T, h engine.History) engine.History) {
	rapid.Check(t, func(t *rapid.T) {
		h, model := open(t), engine.NewMemory()
		defer func() { h.Close() }()
		for _, events := range Scripts().Draw(t, "script") {
			write := h.Append
			buffered := rapid.IntRange(0, 2).Draw(t, "buffered") == 0
			if buffered {
				write = h.Buffer
			}
			want, got := model.Append(events...), write(events...)
			if want.Last() != got.Last() {
				t.Fatalf("an append's last place is %d, want %d", got.Last(), want.Last())
			}
			check := func() {
				if w, g := want.Wait(), got.Wait(); !reflect.DeepEqual(w, g) {
					t.Fatalf("an append gives %v, want %v", g, w)
				}
			}
			defer check()
			if !buffered {
				check()
			}
			if reopen != nil && want.Wait() == nil && rapid.IntRange(0, 9).Draw(t, "reopen") == 0 {
				h = reopen(t, h)
			}
		}
		if err := Compare(model, h); err != nil {
			t.Fatal(err)
		}
	})
}
