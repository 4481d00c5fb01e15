package faultprovider

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"strings"
	"time"

	"faultlab/faultprovider/jsondoc"
)

// table is the working copy of the ledger. A provider may be asked to remember millions of keys, so an effect and the
// key that made it are one row with one string, and the indexes hold numbers.
type table struct {
	chunks      [][]row
	n           int
	collections []string // by row.coll
	byName      map[string]uint32

	seed  maphash.Seed
	ids   map[uint64]int32 // hash of collection and id: the latest row of that hash, the others by row.next
	keys  map[digest]int32 // scoped key: its row, or ^ its place in loose
	loose []binding        // what is known under keys whose result is not just "the row was created"

	latest map[int]row // rows that changed since their commit, as they are now
}

// row is one effect. Until something else is known under its key, it is also the key's binding.
type row struct {
	text     string // lengths of id, key, request and of, as uvarints; then these; then the body after its id
	at       int64  // commit, in Unix nanoseconds
	first    int64  // first request under the key, likewise
	print    digest // of the payload
	next     int32  // 1 + the row before with the same hash of collection and id
	undoneBy int32  // 1 + the row that undid this one
	coll     uint32
	status   uint16 // of the result under the key; 0 as long as no key is bound to the row
	op       opCode
	gone     bool
}

type opCode uint8

var opCodes = [...]Operation{Create, Put, Delete}

func codeOf(op Operation) opCode {
	for i, o := range opCodes {
		if o == op {
			return opCode(i)
		}
	}
	return 0
}

// binding is what is known under a key.
type binding struct {
	row              int // -1: no effect
	print            digest
	status           int    // of the stored result, 0 if only the effect counts
	body             []byte // of the stored result; nil: the effect's
	locked           bool
	first, completed int64
}

func newTable() *table {
	return &table{byName: map[string]uint32{}, seed: maphash.MakeSeed(), ids: map[uint64]int32{}, keys: map[digest]int32{}, latest: map[int]row{}}
}

const chunkSize = 1024

func (t *table) row(i int) *row { return &t.chunks[i/chunkSize][i%chunkSize] }

// parts takes a row's text apart.
func (r *row) parts() (id, key, request, of, rest string) {
	text := r.text
	var length [4]int
	at := 0
	for i := range length {
		n, size := uvarint(text[at:])
		length[i], at = n, at+size
	}
	cut := func(n int) string { at += n; return text[at-n : at] }
	id, key, request, of = cut(length[0]), cut(length[1]), cut(length[2]), cut(length[3])
	return id, key, request, of, text[at:]
}

func uvarint(s string) (n, size int) {
	for shift := 0; ; shift += 7 {
		b := s[size]
		size++
		n |= int(b&0x7f) << shift
		if b < 0x80 {
			return n, size
		}
	}
}

func packRow(id, key, request, of string, rest []byte) string {
	var lengths [4 * binary.MaxVarintLen64]byte
	head := lengths[:0]
	for _, n := range [...]int{len(id), len(key), len(request), len(of)} {
		head = binary.AppendUvarint(head, uint64(n))
	}
	var b strings.Builder
	b.Grow(len(head) + len(id) + len(key) + len(request) + len(of) + len(rest))
	b.Write(head)
	for _, part := range [...]string{id, key, request, of} {
		b.WriteString(part)
	}
	b.Write(rest)
	return b.String()
}

const idMember = `{"id":`

// bodyOf puts a record's body together.
func bodyOf(id, rest string) []byte { return append(beginBody(id, len(rest)), rest...) }

// beginBody begins a body that goes on for about so many bytes.
func beginBody(id string, more int) []byte {
	body := make([]byte, 0, len(idMember)+2+len(id)+more+8)
	return jsondoc.AppendString(append(body, idMember...), id)
}

// restOf is the part of a body after its id, which bodyOf put there.
func restOf(id string, body []byte) []byte {
	n := len(idMember) + 2 + len(id)
	if bytes.IndexByte(body[len(idMember):min(n, len(body))], '\\') >= 0 { // the id has escapes
		n = len(beginBody(id, 0))
	}
	return body[min(n, len(body)):]
}

func (t *table) hash(coll uint32, id string) uint64 {
	return maphash.String(t.seed, id) ^ uint64(coll)*0x9e3779b97f4a7c15
}

// find returns the row of a record, or -1.
func (t *table) find(collection, id string) int {
	coll, ok := t.byName[collection]
	if !ok {
		return -1
	}
	i, ok := t.ids[t.hash(coll, id)]
	if !ok {
		return -1
	}
	for n := int(i); ; {
		r := t.row(n)
		if found, _, _, _, _ := r.parts(); found == id && r.coll == coll {
			return n
		}
		if r.next == 0 {
			return -1
		}
		n = int(r.next) - 1
	}
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

// put adds an effect, or replaces the one with its collection and id, and returns its row. It does not look at
// UndoneBy: see undo.
func (t *table) put(e *Effect, print digest) int {
	coll, ok := t.byName[e.Collection]
	if !ok {
		coll = uint32(len(t.collections))
		t.collections = append(t.collections, e.Collection)
		t.byName[e.Collection] = coll
	}
	fresh := row{
		text: packRow(e.ID, e.Key, e.RequestID, e.Of, restOf(e.ID, e.Body)),
		at:   e.CommittedAt.UnixNano(), print: print, coll: coll, op: codeOf(e.Operation), gone: e.Gone,
	}
	if i := t.find(e.Collection, e.ID); i >= 0 {
		t.latest[i] = fresh
		return i
	}
	return t.add(fresh, e.ID)
}

func (t *table) add(fresh row, id string) int {
	i := t.n
	t.n++
	if i%chunkSize == 0 {
		t.chunks = append(t.chunks, make([]row, chunkSize))
	}
	h := t.hash(fresh.coll, id)
	if before, ok := t.ids[h]; ok {
		fresh.next = before + 1
	}
	t.ids[h] = int32(i)
	*t.row(i) = fresh
	return i
}

// bind sets what is known under a key.
func (t *table) bind(scope digest, b binding) {
	if b.row >= 0 && b.body == nil && !b.locked {
		r := t.row(b.row)
		if r.status == 0 { // nobody's yet
			r.status, r.first = uint16(b.status), b.first
		}
		if r.print == b.print && int(r.status) == b.status && r.first == b.first && r.at == b.completed {
			t.keys[scope] = int32(b.row)
			return
		}
	}
	if n, ok := t.keys[scope]; ok && n < 0 {
		t.loose[^n] = b
		return
	}
	t.loose = append(t.loose, b)
	t.keys[scope] = ^int32(len(t.loose) - 1)
}

func (t *table) binding(n int32) binding {
	if n < 0 {
		return t.loose[^n]
	}
	r := t.row(int(n))
	return binding{row: int(n), print: r.print, status: int(r.status), first: r.first, completed: r.at}
}

// known returns what is known under a key.
func (t *table) known(scope digest) (binding, bool) {
	n, ok := t.keys[scope]
	if !ok {
		return binding{}, false
	}
	return t.binding(n), true
}

// now is a row as it is now; it must not be changed.
func (t *table) now(i int) *row {
	if len(t.latest) > 0 {
		if r, ok := t.latest[i]; ok {
			return &r
		}
	}
	return t.row(i)
}

// undo marks a record as undone by another.
func (t *table) undo(i, by int, gone bool) {
	r := *t.now(i)
	r.undoneBy = int32(by) + 1
	r.gone = r.gone || gone
	t.latest[i] = r
}

// effect puts a row together, as it is now.
func (t *table) effect(i int) Effect {
	r := t.now(i)
	id, key, request, of, rest := r.parts()
	e := Effect{
		ID: id, Collection: t.collections[r.coll], Operation: opCodes[r.op], Key: key, RequestID: request, Of: of,
		Fingerprint: r.print.hex(), Body: bodyOf(id, rest), CommittedAt: time.Unix(0, r.at).UTC(), Gone: r.gone,
	}
	if r.undoneBy > 0 {
		e.UndoneBy, _, _, _, _ = t.row(int(r.undoneBy) - 1).parts()
	}
	return e
}

// body is the body of a row as it is now, first the one that its commit made.
func (t *table) body(i int) []byte {
	id, _, _, _, rest := t.now(i).parts()
	return bodyOf(id, rest)
}

func (t *table) first(i int) []byte {
	id, _, _, _, rest := t.row(i).parts()
	return bodyOf(id, rest)
}

// visible reports whether a record was there at a moment of the past or present.
func (t *table) visible(i int, at int64) bool {
	r := t.now(i)
	if t.row(i).at > at || r.op == codeOf(Delete) {
		return false
	}
	return !r.gone || r.undoneBy > 0 && t.row(int(r.undoneBy)-1).at > at
}

// rows calls each for the records of a collection, deletions included, in the order of their commits.
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
