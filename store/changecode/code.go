// Package changecode is the form of a provider's changes on disk, made for many small
// ones. It gives every byte back, where JSON would change a key that is not UTF-8.
//
// A change is the lists of effects, keys and log entries, each a count and that many
// records. A record is its length and its fields, in the order below; new fields go to
// the end, where an older record has nothing and an older program looks no further.
//
//	text     its length in bytes, then the bytes
//	bytes    their number plus one, or 0 for nil; then the bytes
//	number   a signed varint
//	flag     one byte
//	time     a flag that it is not zero; then nanoseconds since 1970, UTC
package changecode

import (
	"encoding/binary"
	"errors"
	"time"

	"faultlab/faultprovider"
)

// Encode gives the form of a change on disk.
func Encode(c *faultprovider.Change) []byte {
	e := &encoder{}
	encodeList(e, c.Effects, effectFields)
	encodeList(e, c.Keys, keyFields)
	encodeList(e, c.Entries, entryFields)
	return e.data
}

// Decode reads what Encode gave. What is cut off or garbled is an error.
func Decode(data []byte) (c faultprovider.Change, err error) {
	d := &decoder{data: data}
	c.Effects = decodeList(d, effectFields)
	c.Keys = decodeList(d, keyFields)
	c.Entries = decodeList(d, entryFields)
	if d.broken {
		err = errors.New("it is cut off or garbled")
	}
	return c, err
}

// coder is an encoder or a decoder, so that one list of fields does for both.
type coder interface {
	text(*string)
	bytes(*[]byte)
	number(*int64)
	flag(*bool)
}

func effectFields(c coder, e *faultprovider.Effect) {
	texts(c, &e.ID, &e.Collection, (*string)(&e.Operation), &e.Key, &e.RequestID, &e.Of, &e.UndoneBy, &e.Fingerprint)
	c.bytes((*[]byte)(&e.Body))
	moment(c, &e.CommittedAt)
	c.flag(&e.Gone)
}

func keyFields(c coder, k *faultprovider.KeyRecord) {
	texts(c, &k.Scope, &k.Key, &k.Fingerprint, &k.EffectID, &k.Collection)
	integer(c, &k.Status)
	c.bytes(&k.Body)
	c.flag(&k.Locked)
	moment(c, &k.FirstSeen)
	moment(c, &k.Completed)
}

func entryFields(c coder, e *faultprovider.Entry) {
	c.number(&e.Seq)
	moment(c, &e.At)
	c.text((*string)(&e.Kind))
	c.number(&e.Request)
	texts(c, &e.RequestID, &e.Method, &e.Path, &e.Collection, &e.Key, &e.Fault, &e.EffectID)
	integer(c, &e.Status)
	c.text(&e.Note)
	c.text((*string)(&e.Cause))
	is := e.Scope != nil
	if c.flag(&is); is {
		if e.Scope == nil {
			e.Scope = &faultprovider.KeyScope{}
		}
		texts(c, &e.Scope.Account, &e.Scope.Method, &e.Scope.Route, &e.Scope.Fields)
	}
}

func texts(c coder, all ...*string) {
	for _, s := range all {
		c.text(s)
	}
}

func integer(c coder, n *int) {
	wide := int64(*n)
	c.number(&wide)
	*n = int(wide)
}

func moment(c coder, t *time.Time) {
	is, n := !t.IsZero(), int64(0)
	if is {
		n = t.UnixNano()
	}
	c.flag(&is)
	if !is {
		*t = time.Time{}
		return
	}
	c.number(&n)
	*t = time.Unix(0, n).UTC()
}

type encoder struct{ data []byte }

func (e *encoder) text(s *string) {
	e.data = append(binary.AppendUvarint(e.data, uint64(len(*s))), *s...)
}

func (e *encoder) bytes(b *[]byte) {
	if *b == nil {
		e.data = append(e.data, 0)
		return
	}
	e.data = append(binary.AppendUvarint(e.data, uint64(len(*b))+1), *b...)
}

func (e *encoder) number(n *int64) { e.data = binary.AppendVarint(e.data, *n) }

func (e *encoder) flag(is *bool) {
	b := byte(0)
	if *is {
		b = 1
	}
	e.data = append(e.data, b)
}

func encodeList[T any](e *encoder, list []T, fields func(coder, *T)) {
	e.data = binary.AppendUvarint(e.data, uint64(len(list)))
	for i := range list {
		record := &encoder{}
		fields(record, &list[i])
		e.data = append(binary.AppendUvarint(e.data, uint64(len(record.data))), record.data...)
	}
}

// decoder reads zeros past the end. broken means that the end came within a field.
type decoder struct {
	data   []byte
	broken bool
}

func (d *decoder) length() int {
	n, size := binary.Uvarint(d.data)
	if len(d.data) == 0 {
		return 0
	}
	if size <= 0 || n > uint64(len(d.data)-size)+1 { // bytes are counted plus one
		d.data, d.broken = nil, true
		return 0
	}
	d.data = d.data[size:]
	return int(n)
}

func (d *decoder) take(n int) []byte {
	if n > len(d.data) {
		d.data, d.broken = nil, true
		return nil
	}
	taken := d.data[:n]
	d.data = d.data[n:]
	return taken
}

func (d *decoder) text(s *string) { *s = string(d.take(d.length())) }

func (d *decoder) bytes(b *[]byte) {
	*b = nil
	if n := d.length(); n > 0 {
		*b = append([]byte{}, d.take(n-1)...)
	}
}

func (d *decoder) number(n *int64) {
	if len(d.data) == 0 {
		*n = 0
		return
	}
	v, size := binary.Varint(d.data)
	if size <= 0 {
		d.data, d.broken = nil, true
		return
	}
	*n, d.data = v, d.data[size:]
}

func (d *decoder) flag(is *bool) {
	*is = false
	if len(d.data) > 0 {
		*is, d.data = d.data[0] != 0, d.data[1:]
	}
}

func decodeList[T any](d *decoder, fields func(coder, *T)) (list []T) {
	for range d.length() {
		d.broken = d.broken || len(d.data) == 0
		record := &decoder{data: d.take(d.length())}
		if d.broken {
			return nil
		}
		var v T
		fields(record, &v)
		d.broken = d.broken || record.broken
		list = append(list, v)
	}
	return list
}
