package faultprovider

import (
	"encoding/binary"
	"time"

	"faultlab/faultprovider/jsondoc"
)

// row is one effect, taken apart. Its slices are the table's: they must not be changed.
type row struct {
	at    int64       // commit, in Unix nanoseconds
	print fingerprint // of the payload
	op    Operation
	coll  int // place in table.collections

	// What is known under the key that made it, if that is "the record was created" and no more.
	scope  digest // zero: nothing
	first  int64  // first request under the key
	status int    // of the result

	id, key, request, of []byte
	rest                 []byte // the body after its id
}

const (
	opMask  = 0x03
	hasKey  = 0x04 // scope, first and status follow
	headLen = 8 + 8 + 1
)

var operations = [...]Operation{Create, Put, Delete}

func opCode(op Operation) byte {
	for i, o := range operations {
		if o == op {
			return byte(i)
		}
	}
	return 0
}

// size is at most how many bytes encode appends.
func (r *row) size() int {
	return headLen + len(r.scope) + 8*binary.MaxVarintLen32 + len(r.id) + len(r.key) + len(r.request) + len(r.of) + len(r.rest)
}

// encode appends a row: its head, what is known under its key, the lengths of its texts, the texts.
func (r *row) encode(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.at))
	dst = append(dst, r.print[:]...)
	code := opCode(r.op)
	if !r.scope.zero() {
		code |= hasKey
	}
	dst = append(dst, code)
	if code&hasKey != 0 {
		dst = append(dst, r.scope[:]...)
		dst = binary.AppendUvarint(dst, uint64(r.at-r.first))
		dst = binary.AppendUvarint(dst, uint64(r.status))
	}
	dst = binary.AppendUvarint(dst, uint64(r.coll))
	for _, text := range [...][]byte{r.id, r.key, r.request, r.of, r.rest} {
		dst = binary.AppendUvarint(dst, uint64(len(text)))
	}
	for _, text := range [...][]byte{r.id, r.key, r.request, r.of, r.rest} {
		dst = append(dst, text...)
	}
	return dst
}

// decodeRow takes a row apart.
func decodeRow(b []byte) (r row) {
	r.at = int64(binary.LittleEndian.Uint64(b))
	r.print = fingerprint(b[8:16])
	code := b[16]
	r.op = operations[code&opMask]
	b = b[headLen:]
	number := func() int {
		n, size := binary.Uvarint(b)
		b = b[size:]
		return int(n)
	}
	if code&hasKey != 0 {
		r.scope = digest(b)
		b = b[len(r.scope):]
		r.first = r.at - int64(number())
		r.status = number()
	}
	r.coll = number()
	var lengths [5]int
	for i := range lengths {
		lengths[i] = number()
	}
	for i, text := range [...]*[]byte{&r.id, &r.key, &r.request, &r.of, &r.rest} {
		*text, b = b[:lengths[i]:lengths[i]], b[lengths[i]:]
	}
	return r
}

// scopeOf is the scope of an encoded row.
func scopeOf(b []byte) digest {
	if b[headLen-1]&hasKey == 0 {
		return digest{}
	}
	return digest(b[headLen:])
}

// body puts a record's body together.
func (r *row) body() []byte { return append(beginBody(string(r.id), len(r.rest)), r.rest...) }

func (r *row) committed() time.Time { return time.Unix(0, r.at).UTC() }

const idMember = `{"id":`

// beginBody begins a body that goes on for about so many bytes.
func beginBody(id string, more int) []byte {
	body := make([]byte, 0, len(idMember)+2+len(id)+more+8)
	return jsondoc.AppendString(append(body, idMember...), id)
}

// restOf is the part of a body after its id, which beginBody put there.
func restOf(id string, body []byte) []byte {
	n := len(beginBody(id, 0))
	return body[min(n, len(body)):]
}
