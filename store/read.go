package store

import "faultlab/engine"

// The reads of a Store wait for what was appended before them.

// Events implements engine.History.
func (s *Store) Events(run string) ([]engine.Event, error) {
	s.flush()
	return s.view.Events(run)
}

// Runs implements engine.History.
func (s *Store) Runs(q engine.Query) ([]engine.Summary, error) {
	s.flush()
	return s.view.Runs(q)
}

// Open implements engine.History.
func (s *Store) Open() ([]string, error) {
	s.flush()
	return s.view.Open()
}

// Prefix implements engine.History.
func (s *Store) Prefix(prefix string, limit int) ([]string, error) {
	s.flush()
	return s.view.Prefix(prefix, limit)
}

// Delivery implements engine.History. It waits only where the answer is on its way to the disk.
func (s *Store) Delivery(workflow, trigger, key string) (run, digest string, ok bool, err error) {
	want := deliveryID{workflow, trigger, key}
	if s.admitting(func(a engine.Admitted) bool { return deliveryOf(a) == want }) {
		s.flush()
	}
	return s.view.Delivery(workflow, trigger, key)
}

// Child implements engine.History. It waits only where the answer is on its way to the disk.
func (s *Store) Child(p engine.Parent) (run string, ok bool, err error) {
	want := childID{p.Run, p.Step, p.Name}
	if s.admitting(func(a engine.Admitted) bool { return a.Parent != nil && childOf(a) == want }) {
		s.flush()
	}
	return s.view.Child(p)
}

// KeyRuns implements engine.History.
func (s *Store) KeyRuns(key string) ([]string, error) {
	s.flush()
	return s.view.KeyRuns(key)
}

// FoundAt implements engine.History.
func (s *Store) FoundAt(address string) (bool, error) {
	s.flush()
	return s.view.FoundAt(address)
}

// Place implements engine.History.
func (s *Store) Place() (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, nil
}

// admitting reports whether such an admission waits for its commit.
func (s *Store) admitting(such func(engine.Admitted) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.waiting() {
		for _, t := range g.appends {
			for i := range t.item {
				if a, ok := t.item[i].Fact.(engine.Admitted); ok && such(a) {
					return true
				}
			}
		}
	}
	return false
}
