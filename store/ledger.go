package store

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"faultlab/faultprovider"
)

// Ledger keeps what a provider commits, in a file of its own. It implements faultprovider.Ledger.
type Ledger struct {
	*pipeline[string]
	file *file
}

var _ faultprovider.Ledger = (*Ledger)(nil)

// ErrLedgerClosed is what appending to a closed ledger gives.
var ErrLedgerClosed = errors.New("the ledger is closed")

// OpenLedger takes a ledger's file over, as Open does a state file.
func OpenLedger(path string, o Options) (*Ledger, error) {
	f, err := own(path, ledger, o.Command)
	if err != nil {
		return nil, err
	}
	last, err := f.conn.number(`SELECT max(seq) FROM changes`)
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	l := &Ledger{file: f}
	l.pipeline = newPipeline("the ledger", l.commit)
	l.start(last)
	return l, nil
}

// Append implements faultprovider.Ledger.
func (l *Ledger) Append(c faultprovider.Change) faultprovider.Ticket {
	data, err := encodeChange(c)
	return l.append(data, 1, err)
}

// encodeChange writes a change as one row keeps it, the bodies to the byte.
func encodeChange(change any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(change)
	return strings.TrimSuffix(b.String(), "\n"), err
}

var insertChanges = inserts("changes", 2)

func (l *Ledger) commit(g *group[string]) error {
	var rows []driver.Value
	for _, t := range g.appends {
		rows = append(rows, t.last, t.item)
	}
	return l.file.conn.transaction(func() error { return l.file.conn.bulk(insertChanges, rows) })
}

// Load implements faultprovider.Ledger: one Change an Append.
func (l *Ledger) Load(yield func(faultprovider.Change) error) error {
	l.flush()
	c, err := dial(l.file.path, "ro", "busy_timeout(5000)")
	if err != nil {
		return err
	}
	err = c.rows(`SELECT seq, data FROM changes ORDER BY seq`, func(row []driver.Value) error {
		var change faultprovider.Change
		if err := json.Unmarshal([]byte(text(row[1])), &change); err != nil {
			return &FileError{l.file.path, Damaged, fmt.Errorf("change %d: %w", row[0], err)}
		}
		return yield(change)
	})
	return errors.Join(err, c.Close())
}

// Reset implements faultprovider.Ledger. What was appended before is forgotten with the rest.
func (l *Ledger) Reset() error {
	l.flush()
	return l.between(func() error { return l.file.conn.exec(`DELETE FROM changes`) })
}

// Close makes what was appended durable, then gives the file up.
func (l *Ledger) Close() error {
	if !l.stop(ErrLedgerClosed) {
		return nil
	}
	return l.file.close()
}
