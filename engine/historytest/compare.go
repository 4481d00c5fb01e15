package historytest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"faultlab/engine"
)

// Compare says where the answers of two histories differ; nil where they say the same of everything.
func Compare(want, got engine.History) error {
	runs, err := want.Runs(engine.Query{})
	if err != nil {
		return err
	}
	for _, q := range queries(runs) {
		if err := same(fmt.Sprintf("the runs for %+v", q), first(want.Runs(q)), first(got.Runs(q))); err != nil {
			return err
		}
	}
	if err := same("the open runs", first(want.Open()), first(got.Open())); err != nil {
		return err
	}
	for _, prefix := range []string{"", "run_", "run_b", "R"} {
		if err := same("the runs that begin with "+prefix, first(want.Prefix(prefix, 3)), first(got.Prefix(prefix, 3))); err != nil {
			return err
		}
	}
	for _, s := range runs {
		if err := compareRun(want, got, s.Run); err != nil {
			return err
		}
	}
	return nil
}

func queries(runs []engine.Summary) []engine.Query {
	qs := []engine.Query{{}, {Limit: 2}, {Reconcile: true}, {Workflow: "w"}, {Workflow: "w", Reconcile: true}}
	for _, s := range runs {
		qs = append(qs, engine.Query{Before: s.Run, Limit: 2}, engine.Query{Status: s.Status})
	}
	return qs
}

func compareRun(want, got engine.History, run string) error {
	events, err := want.Events(run)
	if err != nil {
		return err
	}
	if err := same("the events of "+run, answer{events, nil}, first(got.Events(run))); err != nil {
		return err
	}
	for _, e := range events {
		if key := engine.SharedKey(e.Fact); key != "" {
			if err := same("the runs that sent "+key, first(want.KeyRuns(key)), first(got.KeyRuns(key))); err != nil {
				return err
			}
		}
		if at := engine.ProvenAddress(e.Fact); at != "" {
			if err := same("what was found at "+at, found(want, at), found(got, at)); err != nil {
				return err
			}
		}
		a, ok := e.Fact.(engine.Admitted)
		if !ok {
			continue
		}
		if err := same("the delivery of "+run, delivery(want, a), delivery(got, a)); err != nil {
			return err
		}
		if a.Parent == nil {
			continue
		}
		if err := same("the child "+run, child(want, *a.Parent), child(got, *a.Parent)); err != nil {
			return err
		}
	}
	return nil
}

type answer struct {
	value any
	err   error
}

func first[T any](v []T, err error) answer {
	if len(v) == 0 {
		return answer{nil, err}
	}
	return answer{v, err}
}

func delivery(h engine.History, a engine.Admitted) answer {
	run, digest, ok, err := h.Delivery(a.Workflow, a.Trigger, a.Delivery)
	return answer{[]any{run, digest, ok}, err}
}

func found(h engine.History, address string) answer {
	ok, err := h.FoundAt(address)
	return answer{ok, err}
}

func child(h engine.History, p engine.Parent) answer {
	run, ok, err := h.Child(p)
	return answer{[]any{run, ok}, err}
}

func same(what string, want, got answer) error {
	if want.err != nil || got.err != nil {
		return fmt.Errorf("%s: %w", what, errors.Join(want.err, got.err))
	}
	if !reflect.DeepEqual(want.value, got.value) {
		return fmt.Errorf("%s differ:\nwant %+v\n got %+v", what, want.value, got.value)
	}
	return nil
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
			if buffered {
				defer check()
			} else {
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
