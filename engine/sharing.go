package engine

import (
	"errors"
	"fmt"
	"slices"

	"faultlab/engine/assume"
)

// Runs that send the same key share what is done under it. While another run's use of a
// key is unknown, a run that used the key too undoes nothing.

// waitsFor remembers a run whose end waits for another run's use of a key.
func (e *Engine) waitsFor(run string, w Wait) {
	if w.Key == "" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Contains(e.sharing[w.Run], run) {
		e.sharing[w.Run] = append(e.sharing[w.Run], run)
	}
}

// wakeSharing lets those go on that wait for a run's use of a key: those that this engine
// knows of and, where a decision was taken about the run, those that sent a key of it.
func (e *Engine) wakeSharing(rt *running) error {
	e.mu.Lock()
	waiting := e.sharing[rt.id]
	delete(e.sharing, rt.id)
	e.mu.Unlock()
	r := rt.snapshot()
	if !r.ResumedAt.IsZero() || slices.ContainsFunc(r.Steps, func(s *Step) bool { return s.someCall(func(c *Call) bool { return c.Decision() != nil }) }) {
		for _, key := range r.sharedKeys() {
			ids, err := e.sharers(key)
			if err != nil {
				return err
			}
			waiting = append(waiting, ids...)
		}
	}
	slices.Sort(waiting)
	for _, id := range slices.Compact(waiting) {
		if id == rt.id {
			continue
		}
		if err := leftForNeeds(e.resume(id)); err != nil {
			return err
		}
	}
	return nil
}

// sharers are the runs that sent a key, and those that wait for one of them.
func (e *Engine) sharers(key string) (ids []string, err error) {
	runs, err := e.o.History.KeyRuns(key)
	if err != nil {
		return nil, fmt.Errorf("find the runs that sent the key %s: %w", key, err)
	}
	for _, id := range runs {
		for id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
			r, err := e.Get(id)
			if errors.Is(err, ErrNoRun) {
				break
			}
			if err != nil {
				return nil, err
			}
			id = ""
			if p := r.Admitted.Parent; p != nil && p.Wait {
				id = p.Run
			}
		}
	}
	return ids, nil
}

// sharedDoubt is another run whose use of a key that the run or a child of it sent is unknown, or nil.
func (e *Engine) sharedDoubt(r *Run) (*Wait, error) {
	family, err := e.family(r)
	if err != nil {
		return nil, err
	}
	for _, own := range family {
		for _, key := range own.sharedKeys() {
			ids, err := e.o.History.KeyRuns(key)
			if err != nil {
				return nil, fmt.Errorf("find the runs that sent the key %s: %w", key, err)
			}
			for _, id := range ids {
				if slices.ContainsFunc(family, func(f *Run) bool { return f.ID == id }) {
					continue
				}
				other, err := e.Get(id)
				if errors.Is(err, ErrNoRun) {
					continue
				}
				if err != nil {
					return nil, err
				}
				if other.doubtsKey(key) && own.sharesOrigin(other, key) {
					return &Wait{Run: id, Key: key}, nil
				}
			}
		}
	}
	return nil, nil
}

// family is the run and all runs below it for which it or one of them waited.
func (e *Engine) family(r *Run) ([]*Run, error) {
	family := []*Run{r}
	for i := 0; i < len(family); i++ {
		ids, err := family[i].children(e.o.History)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			child, err := e.Get(id)
			if errors.Is(err, ErrNoRun) { // pruned
				continue
			}
			if err != nil {
				return nil, err
			}
			family = append(family, child)
		}
	}
	return family, nil
}

// sharedKeys are the keys that the run sent and that other runs may send too.
func (r *Run) sharedKeys() (keys []string) {
	r.eachRequest(func(_ *Call, q *Request) {
		if q.Shared && !q.NotSent && !slices.Contains(keys, q.Key) {
			keys = append(keys, q.Key)
		}
	})
	return keys
}

// sharesOrigin reports whether two runs sent a key to the same provider.
func (r *Run) sharesOrigin(other *Run, key string) (same bool) {
	origins := map[string]bool{}
	r.eachRequest(func(_ *Call, q *Request) {
		if q.Key == key {
			origins[assume.Origin(q.URL)] = true
		}
	})
	other.eachRequest(func(_ *Call, q *Request) {
		same = same || q.Key == key && origins[assume.Origin(q.URL)]
	})
	return same
}

// doubtsKey reports whether something that the run sent under a key is unknown, were the run to end now.
func (r *Run) doubtsKey(key string) bool {
	for _, s := range r.Steps {
		for _, o := range r.Operations(s) {
			if slices.ContainsFunc(r.doubts(o, true), func(c *Call) bool { return c.Key == key }) {
				return true
			}
		}
	}
	return false
}
