package store

import (
	"database/sql/driver"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// The fields of a record in a ledger of version 1, in their order, and the kind of each:
//
//	s  text: its length (uvarint), then the bytes
//	b  bytes: their number plus one, 0 for none; j the same, of a JSON value
//	n  number: varint
//	f  flag: one byte
//	t  time: a flag that it is there, then nanoseconds since 1970 (varint)
//	?  an object: a flag that it is there, then its fields
//
// A change is three lists, each a count and that many records; a record is its length and its fields. Fields at the end
// may be missing.
const (
	effectV1 = "id:s collection:s operation:s key:s requestId:s of:s undoneBy:s fingerprint:s body:j committedAt:t gone:f"
	keyV1    = "scope:s key:s fingerprint:s effectId:s collection:s status:n body:b locked:f firstSeen:t completed:t"
	entryV1  = "seq:n at:t kind:s request:n requestId:s method:s path:s collection:s key:s fault:s effectId:s status:n note:s cause:s scope:?"
	scopeV1  = "account:s method:s route:s fields:s"
)

// rewriteChanges copies the changes of version 1 into the table of version 2, as JSON.
func rewriteChanges(c *conn) error {
	err := c.rows(`SELECT seq, data FROM binary_changes ORDER BY seq`, func(row []driver.Value) error {
		data, _ := row[1].([]byte)
		change, err := decodeChangeV1(data)
		if err != nil {
			return &FileError{c.path, Damaged, fmt.Errorf("change %d: %w", row[0], err)}
		}
		written, err := encodeChange(change)
		if err != nil {
			return fmt.Errorf("change %d: %w", row[0], err)
		}
		return c.exec(`INSERT INTO changes VALUES (?, ?)`, row[0], written)
	})
	if err != nil {
		return err
	}
	return c.script(`DROP TABLE binary_changes`)
}

// decodeChangeV1 gives a change by the names of its JSON.
func decodeChangeV1(data []byte) (map[string]any, error) {
	d := &decoderV1{data: data}
	change := map[string]any{}
	for _, list := range []struct{ name, fields string }{{"effects", effectV1}, {"keys", keyV1}, {"entries", entryV1}} {
		var records []any
		for range d.length(0) {
			record := &decoderV1{data: d.next(d.length(0))}
			records = append(records, record.object(list.fields))
			if d.broken = d.broken || record.broken; d.broken {
				break
			}
		}
		change[list.name] = records
	}
	if d.broken {
		return nil, errors.New("it is cut off or garbled")
	}
	return change, nil
}

// decoderV1 takes fields from the front of data. broken tells that the data ended within one.
type decoderV1 struct {
	data   []byte
	broken bool
}

func (d *decoderV1) object(fields string) map[string]any {
	o := map[string]any{}
	for field := range strings.FieldsSeq(fields) {
		name, kind, _ := strings.Cut(field, ":")
		if len(d.data) == 0 {
			break
		}
		switch kind {
		case "s":
			o[name] = string(d.next(d.length(0)))
		case "b", "j":
			if n := d.length(1); n > 0 {
				o[name] = append([]byte{}, d.next(n-1)...)
			}
			if body, ok := o[name].([]byte); ok && kind == "j" {
				o[name] = json.RawMessage(body)
			}
		case "n":
			o[name] = d.number()
		case "f":
			o[name] = d.flag()
		case "t":
			if d.flag() {
				o[name] = time.Unix(0, d.number()).UTC()
			}
		case "?":
			if d.flag() {
				o[name] = d.object(scopeV1)
			}
		}
	}
	return o
}

// length reads a length of what follows, counted from plus.
func (d *decoderV1) length(plus uint64) int {
	n, size := binary.Uvarint(d.data)
	if size <= 0 || n > uint64(len(d.data)-size)+plus {
		d.data, d.broken = nil, true
		return 0
	}
	d.data = d.data[size:]
	return int(n)
}

func (d *decoderV1) next(n int) []byte {
	taken := d.data[:min(n, len(d.data))]
	d.data = d.data[len(taken):]
	return taken
}

func (d *decoderV1) number() int64 {
	n, size := binary.Varint(d.data)
	if size <= 0 {
		d.data, d.broken = nil, true
		return 0
	}
	d.data = d.data[size:]
	return n
}

func (d *decoderV1) flag() bool {
	taken := d.next(1)
	return len(taken) == 1 && taken[0] != 0
}
