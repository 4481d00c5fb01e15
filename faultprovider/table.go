package faultprovider

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
)

// table is the working copy of the ledger. A provider may be asked to remember millions of keys, so an effect and the
// key that made it are one row of bytes in an arena, and the indexes hold the numbers of rows.
type table struct {
	arena       arena
	places      [][]place // of the rows, as they were committed
	n           int       // rows
	collections []string
	byName      map[string]int

	seed maphash.Seed
	ids  index // collection and id: 1 + row
	keys index // scoped key: 1 + row, or -1 - place in loose

	loose  []looseKey      // what is known under keys that is more than their row says
	later  map[int][]place // rows that were replaced (PUT), as they were from then on
	undone map[int]int     // rows that another one undid, by that one
	gone   map[int]bool    // rows whose record was deleted
}

// binding is what is known under a key.
type binding struct {
	row              int // -1: no effect
	print            fingerprint
	status           int    // of the stored result, 0 if only the effect counts
	body             []byte // of the stored result; nil: the body that the effect was committed with
	locked           bool
	first, completed int64 // Unix nanoseconds
}

type looseKey struct {
	scope digest
	binding
}

func newTable() *table {
	t := &table{byName: map[string]int{}, seed: maphash.MakeSeed(), later: map[int][]place{}, undone: map[int]int{}, gone: map[int]bool{}}
	t.ids.hash = func(n int32) uint64 {
		r := t.row(int(n) - 1)
		return t.hash(r.coll, string(r.id))
	}
	t.keys.hash = func(n int32) uint64 { return t.scope(n).hash() }
	return t
}

const placesChunk = 4096

// row is a row as it was committed.
func (t *table) row(i int) row { return decodeRow(t.arena.from(t.place(i))) }

func (t *table) place(i int) place { return t.places[i/placesChunk][i%placesChunk] }

// now is a row as it is now.
func (t *table) now(i int) row {
	if places := t.later[i]; len(places) > 0 {
		return decodeRow(t.arena.from(places[len(places)-1]))
	}
	return t.row(i)
}

// asOf is a row as it was at a moment from its commit on.
func (t *table) asOf(i int, at int64) row {
	for _, p := range slices.Backward(t.later[i]) {
		if r := decodeRow(t.arena.from(p)); r.at <= at {
			return r
		}
	}
	return t.row(i)
}

func (t *table) write(r *row) place {
	room, at := t.arena.room(r.size())
	b := r.encode(room)
	t.arena.keep(b)
	return at
}

func (t *table) hash(coll int, id string) uint64 {
	return maphash.String(t.seed, id) ^ uint64(coll)*0x9e3779b97f4a7c15
}

func (d digest) hash() uint64 { return binary.LittleEndian.Uint64(d[:]) }

// scope is the scoped key that a number of the index of keys is about.
func (t *table) scope(n int32) digest {
	if n < 0 {
		return t.loose[-1-n].scope
	}
	return scopeOf(t.arena.from(t.place(int(n) - 1)))
}

// find returns the row of a record, or -1.
func (t *table) find(collection, id string) int {
	coll, ok := t.byName[collection]
	if !ok {
		return -1
	}
	n, ok := t.ids.get(t.hash(coll, id), func(n int32) bool {
		r := t.row(int(n) - 1)
		return r.coll == coll && string(r.id) == id
	})
	if !ok {
		return -1
	}
	return int(n) - 1
}

// owner returns the row of the record with that id, in the collection if it is there, else in any, or -1.
func (t *table) owner(collection, id string) int {
	if i := t.find(collection, id); i >= 0 {
		return i
	}
	for _, collection := range t.collections {
		if i := t.find(collection, id); i >= 0 {
			return i
		}
	}
	return -1
}

// put adds an effect, or replaces the one with its collection and id, and binds a key to it unless b is nil. It returns
// the row. UndoneBy is not looked at: see undo.
func (t *table) put(e *Effect, p fingerprint, scope digest, b *binding) int {
	r := row{
		at: e.CommittedAt.UnixNano(), print: p, op: e.Operation, coll: t.collection(e.Collection),
		id: []byte(e.ID), key: []byte(e.Key), request: []byte(e.RequestID), of: []byte(e.Of), rest: restOf(e.ID, e.Body),
	}
	i := t.find(e.Collection, e.ID)
	if i >= 0 {
		t.later[i] = append(t.later[i], t.write(&r))
		delete(t.undone, i)
		delete(t.gone, i)
		if e.Gone {
			t.gone[i] = true
		}
	} else {
		if b != nil && b.body == nil && !b.locked && b.completed == r.at && b.print == p && b.first <= r.at {
			r.scope, r.first, r.status = scope, b.first, b.status
		}
		i = t.add(&r)
	}
	if b != nil {
		b.row = i
		t.bind(scope, *b)
	}
	return i
}

func (t *table) collection(name string) int {
	coll, ok := t.byName[name]
	if !ok {
		coll = len(t.collections)
		t.collections = append(t.collections, name)
		t.byName[name] = coll
	}
	return coll
}

func (t *table) add(r *row) int {
	i := t.n
	last := len(t.places) - 1
	switch {
	case i == 0:
		t.places, last = append(t.places, nil), 0 // grows as it is needed
	case i%placesChunk == 0:
		t.places, last = append(t.places, make([]place, 0, placesChunk)), last+1
	}
	t.places[last] = append(t.places[last], t.write(r))
	t.n++
	t.ids.set(t.hash(r.coll, string(r.id)), int32(i+1), func(int32) bool { return false })
	return i
}

// bind sets what is known under a key.
func (t *table) bind(scope digest, b binding) {
	is := func(n int32) bool { return t.scope(n) == scope }
	if b.row >= 0 {
		r := t.row(b.row)
		if own := r.binding(b.row); r.scope == scope && own.equal(&b) {
			t.keys.set(scope.hash(), int32(b.row+1), is)
			return
		}
	}
	if n, ok := t.keys.get(scope.hash(), is); ok && n < 0 {
		t.loose[-1-n].binding = b
		return
	}
	t.loose = append(t.loose, looseKey{scope, b})
	t.keys.set(scope.hash(), int32(-len(t.loose)), is)
}

// binding is what a row says of the key that made it.
func (r *row) binding(i int) binding {
	return binding{row: i, print: r.print, status: r.status, first: r.first, completed: r.at}
}

func (b *binding) equal(other *binding) bool {
	return b.row == other.row && b.print == other.print && b.status == other.status && b.first == other.first &&
		b.completed == other.completed && other.body == nil && !other.locked
}

// known returns what is known under a key.
func (t *table) known(scope digest) (binding, bool) {
	n, ok := t.keys.get(scope.hash(), func(n int32) bool { return t.scope(n) == scope })
	switch {
	case !ok:
		return binding{}, false
	case n < 0:
		return t.loose[-1-n].binding, true
	}
	r := t.row(int(n) - 1)
	return r.binding(int(n) - 1), true
}

// undo marks a record as undone by another.
func (t *table) undo(row, by int, gone bool) {
	t.undone[row] = by
	if gone {
		t.gone[row] = true
	}
}

// effect puts an effect together, as it is now.
func (t *table) effect(i int) Effect {
	r := t.now(i)
	e := Effect{
		ID: string(r.id), Collection: t.collections[r.coll], Operation: r.op, Key: string(r.key), RequestID: string(r.request),
		Of: string(r.of), Fingerprint: r.print.hex(), Body: r.body(), CommittedAt: r.committed(),
		Gone: r.op == Delete || t.gone[i],
	}
	if by, ok := t.undone[i]; ok {
		e.UndoneBy = string(t.row(by).id)
	}
	return e
}

// visible reports whether a record was there at a moment of the past or present.
func (t *table) visible(i int, at int64) bool {
	r := t.row(i)
	if r.at > at || r.op == Delete {
		return false
	}
	by, undone := t.undone[i]
	return !t.gone[i] || undone && t.row(by).at > at
}

// rows calls each for the effects of a collection, deletions included, in the order of their commits.
func (t *table) rows(collection string, each func(row int)) {
	coll, ok := t.byName[collection]
	if !ok {
		return
	}
	for i := range t.n {
		if t.row(i).coll == coll {
			each(i)
		}
	}
}
