package store

import "faultlab/engine"

// entry is one event and its written form.
type entry struct {
	engine.Event
	data []byte
}

// Append implements engine.History.
func (s *Store) Append(events ...engine.Event) engine.Ticket {
	entries, refused := encode(events)
	return s.append(entries, len(events), refused)
}

// Buffer implements engine.History.
func (s *Store) Buffer(events ...engine.Event) engine.Ticket {
	entries, refused := encode(events)
	return s.buffer(entries, len(events), refused)
}

func encode(events []engine.Event) ([]entry, error) {
	entries := make([]entry, len(events))
	for i, e := range events {
		data, err := engine.EncodeFact(e.Fact)
		if err != nil {
			return nil, &engine.RefusedError{Run: e.Run, Why: err.Error()}
		}
		entries[i] = entry{e, data}
	}
	return entries, nil
}
