package engine

import (
	"fmt"

	"faultlab/engine/assume"
)

// assumptions are the sets of contracts that runs were admitted with. What is assumed of
// an origin stays with a run, whoever settles it later and whatever is assumed then.
type assumptions struct {
	digest string                 // of the set that new runs get; empty where none was declared
	sets   map[string]*assume.Set // by digest: a cache, guarded by Engine.mu
}

func newAssumptions(now *assume.Set) assumptions {
	a := assumptions{sets: map[string]*assume.Set{}}
	if text := now.Text(); text != "" {
		a.digest = digest([]byte(text))
		a.sets[a.digest] = now
	}
	return a
}

// assumed are the contracts that a run was admitted with; where none was declared then, those of this engine.
func (e *Engine) assumed(a Admitted) (*assume.Set, error) {
	e.mu.Lock()
	set := e.assumes.sets[a.Assume]
	e.mu.Unlock()
	if set != nil {
		return set, nil
	}
	set, err := a.assumedFrom(e.o.Assume)
	if err == nil && a.Assumed != "" {
		e.mu.Lock()
		e.assumes.sets[a.Assume] = set
		e.mu.Unlock()
	}
	return set, err
}

func (a Admitted) assumedFrom(declared *assume.Set) (*assume.Set, error) {
	if a.Assumed == "" {
		return declared, nil
	}
	set, err := assume.Parse([]byte(a.Assumed))
	if err != nil {
		return nil, fmt.Errorf("read what the run was admitted to assume: %w", err)
	}
	return set, nil
}

// Assumed are the contracts that the run goes by: those that it was admitted with or,
// where none was declared then, those that are declared now.
func (r *Run) Assumed(declared *assume.Set) *assume.Set {
	set, err := r.Admitted.assumedFrom(declared)
	if err != nil {
		return declared
	}
	return set
}
