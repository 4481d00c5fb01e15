package faultprovider

import (
	"fmt"
	"slices"
	"strconv"

	"faultlab/faultprovider/jsondoc"
)

// records is the provider's working copy of its ledger: the effects in the order of their commits, and what is known
// under each key. An effect is named by its place in that order. The provider's lock guards it.
type records struct {
	p           *Provider
	effects     []*stored
	collections []string // in order of first use
	byID        map[recordID]int
	keys        map[digest]binding
	pending     map[recordID]bool // records that are about to be committed
}

type recordID struct{ collection, id string }

// stored is an effect with what has become of it since. Nobody changes its bodies.
type stored struct {
	Effect            // as it was committed
	later    []Effect // as a PUT replaced it, the oldest first
	undoneBy int      // the place of the effect that undid it; -1: none
	gone     bool     // the record was deleted
}

// binding is what is known under a key.
type binding struct {
	effect           int // its place; -1: none
	print            fingerprint
	status           int    // of the stored result, 0 if only the effect counts
	body             []byte // of the stored result; nil: the body that the effect was committed with
	locked           bool
	first, completed int64 // Unix nanoseconds
}

func newRecords(p *Provider) *records {
	return &records{p: p, byID: map[recordID]int{}, keys: map[digest]binding{}, pending: map[recordID]bool{}}
}

// now returns an effect as it is now.
func (s *stored) now() *Effect {
	if n := len(s.later); n > 0 {
		return &s.later[n-1]
	}
	return &s.Effect
}

// asOf returns an effect as it was at a moment from its commit on.
func (s *stored) asOf(at int64) *Effect {
	for i := len(s.later) - 1; i >= 0; i-- {
		if s.later[i].CommittedAt.UnixNano() <= at {
			return &s.later[i]
		}
	}
	return &s.Effect
}

func (r *records) at(place int) *stored { return r.effects[place] }

// find returns the place of a record, or -1.
func (r *records) find(collection, id string) int {
	if place, ok := r.byID[recordID{collection, id}]; ok {
		return place
	}
	return -1
}

// owner returns the place of the record with that id, in the collection if it is there, else in any, or -1.
func (r *records) owner(collection, id string) int {
	if place := r.find(collection, id); place >= 0 {
		return place
	}
	for _, other := range r.collections {
		if place := r.find(other, id); place >= 0 {
			return place
		}
	}
	return -1
}

// put adds an effect, or replaces the one with its collection and id, and binds a key to it unless b is nil. It returns
// the effect's place. UndoneBy is not looked at: see undo.
func (r *records) put(e Effect, scope digest, b *binding) int {
	e.UndoneBy, e.Body = "", slices.Clip(e.Body)
	id := recordID{e.Collection, e.ID}
	place, there := r.byID[id]
	if there {
		s := r.effects[place]
		s.later = append(s.later, e)
		s.undoneBy, s.gone = -1, e.Gone
	} else {
		if place = len(r.effects); !slices.Contains(r.collections, e.Collection) {
			r.collections = append(r.collections, e.Collection)
		}
		r.effects = append(r.effects, &stored{Effect: e, undoneBy: -1})
		r.byID[id] = place
	}
	if b != nil {
		b.effect = place
		r.bind(scope, *b)
	}
	return place
}

// bind sets what is known under a key.
func (r *records) bind(scope digest, b binding) { r.keys[scope] = b }

// known returns what is known under a key.
func (r *records) known(scope digest) (binding, bool) {
	b, ok := r.keys[scope]
	return b, ok
}

// undo marks a record as undone by another.
func (r *records) undo(place, by int, gone bool) {
	s := r.effects[place]
	s.undoneBy, s.gone = by, s.gone || gone
}

// effect returns a copy of an effect, as it is now.
func (r *records) effect(place int) Effect {
	s := r.effects[place]
	e := *s.now()
	e.Gone = e.Operation == Delete || s.gone
	if s.undoneBy >= 0 {
		e.UndoneBy = r.effects[s.undoneBy].ID
	}
	return e
}

// all returns copies of all effects in the order of their commits, as they are now.
func (r *records) all() []Effect {
	out := make([]Effect, len(r.effects))
	for place := range out {
		out[place] = r.effect(place)
	}
	return out
}

// visible reports whether a record was there at a moment of the past or present.
func (r *records) visible(place int, at int64) bool {
	s := r.effects[place]
	if s.CommittedAt.UnixNano() > at || s.Operation == Delete {
		return false
	}
	return !s.gone || s.undoneBy >= 0 && r.effects[s.undoneBy].CommittedAt.UnixNano() > at
}

// inCollection calls each for the places of a collection's effects, deletions included, in the order of their commits.
func (r *records) inCollection(collection string, each func(place int)) {
	for place, s := range r.effects {
		if s.Collection == collection {
			each(place)
		}
	}
}

// inFlight returns the request that is under way under a key.
func (r *records) inFlight(scope digest) (flight, bool) {
	f, ok := r.p.flights[scope]
	if !ok {
		return flight{}, false
	}
	return f.flight, true
}

// newID is the next free id for a request. A request that does not say who it is counts by its number.
func (r *records) newID(q *Request, collection, key string) string {
	request := q.ID
	if request == "" {
		request = "#" + strconv.FormatInt(r.p.requests, 10)
	}
	for n := 0; ; n++ {
		id := newID(r.p.seed, collection, key, request, n)
		if !r.pending[recordID{collection, id}] && r.find(collection, id) < 0 {
			return id
		}
	}
}

// load reads the ledger.
func (r *records) load(l Ledger) error {
	undone := map[int]string{}
	if err := l.Load(func(c Change) error { return r.change(&c, undone) }); err != nil {
		return err
	}
	for place, by := range undone {
		if i := r.owner(r.effects[place].Collection, by); i >= 0 {
			r.effects[place].undoneBy = i
		}
	}
	return nil
}

// change folds one change of the ledger in; undone collects the ids of what undid the effects at a place.
func (r *records) change(c *Change, undone map[int]string) error {
	for i := range c.Effects {
		e := &c.Effects[i]
		if _, err := parseFingerprint(e.Fingerprint); err != nil {
			return fmt.Errorf("effect %s/%s: %w", e.Collection, e.ID, err)
		}
		scope, b, err := r.keyOf(e, c.Keys)
		if err != nil {
			return err
		}
		place := r.put(*e, scope, b)
		if delete(undone, place); e.UndoneBy != "" {
			undone[place] = e.UndoneBy
			r.effects[place].gone = e.Gone
		}
	}
	for i := range c.Keys {
		scope, b, err := r.parseKey(&c.Keys[i])
		if err != nil {
			return err
		}
		r.bind(scope, b)
	}
	for _, e := range c.Entries {
		r.p.log.keep(e)
		r.p.requests = max(r.p.requests, e.Request)
	}
	return nil
}

// keyOf finds the key that an effect was committed with.
func (r *records) keyOf(e *Effect, keys []KeyRecord) (digest, *binding, error) {
	for i := range keys {
		if keys[i].EffectID == e.ID && keys[i].Collection == e.Collection {
			scope, b, err := r.parseKey(&keys[i])
			return scope, &b, err
		}
	}
	return digest{}, nil, nil
}

func (r *records) parseKey(k *KeyRecord) (scope digest, b binding, err error) {
	if scope, err = parseDigest(k.Scope); err != nil {
		return scope, b, fmt.Errorf("key %q: %w", k.Key, err)
	}
	b = binding{effect: -1, status: k.Status, body: k.Body, locked: k.Locked, first: k.FirstSeen.UnixNano(), completed: k.Completed.UnixNano()}
	if b.print, err = parseFingerprint(k.Fingerprint); err != nil {
		return scope, b, fmt.Errorf("key %q: %w", k.Key, err)
	}
	if k.EffectID != "" {
		b.effect = r.find(k.Collection, k.EffectID)
	}
	return scope, b, nil
}

const idMember = `{"id":`

// beginBody begins a body that goes on for about so many bytes.
func beginBody(id string, more int) []byte {
	body := make([]byte, 0, len(idMember)+2+len(id)+more+8)
	return jsondoc.AppendString(append(body, idMember...), id)
}
