package store

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"faultlab/engine"
)

// view answers from what is committed, on a connection of its own beside the writer's: SQLite's log lets both go on.
type view struct {
	path  string
	flush func() // has what was appended before a read committed; nil for a Reader

	reading sync.Mutex
	conn    *conn
	over    bool
}

func newView(path, mode string) (*view, error) {
	c, err := dial(path, mode, "busy_timeout(5000)", "query_only(1)", "cache_size(-512)")
	return &view{path: path, conn: c}, err
}

// Close waits for a query that runs.
func (v *view) Close() error {
	v.reading.Lock()
	defer v.reading.Unlock()
	if v.over {
		return nil
	}
	v.over = true
	return v.conn.Close()
}

func (v *view) rows(query string, f func(row []driver.Value) error, args ...driver.Value) error {
	if v.flush != nil {
		v.flush()
	}
	v.reading.Lock()
	defer v.reading.Unlock()
	if v.over {
		return engine.ErrHistoryClosed
	}
	return v.conn.rows(query, f, args...)
}

const summaryColumns = `id, workflow, status, reconcile, admitted, ended, rerun`

func summaryOf(row []driver.Value) engine.Summary {
	s := engine.Summary{Run: text(row[0]), Workflow: text(row[1]), Status: engine.Status(text(row[2])), Reconcile: row[3] != int64(0),
		Admitted: at(row[4]), RerunOf: text(row[6])}
	if row[5] != nil {
		s.Ended = at(row[5])
	}
	return s
}

// text is a text or, where it is NULL, empty.
func text(v driver.Value) string { s, _ := v.(string); return s }

func at(v driver.Value) time.Time { n, _ := v.(int64); return time.Unix(0, n).UTC() }

// Events are those of one run; see engine.History.
func (v *view) Events(run string) ([]engine.Event, error) {
	var events []engine.Event
	var source string
	bodies := map[int64][]byte{}
	// One statement, so that all of it is of one moment.
	err := v.rows(`
		WITH RECURSIVE this AS (SELECT num, document, last FROM runs WHERE id = ?),
			row(seq, data, before) AS (SELECT seq, data, before FROM this JOIN events ON seq = last
				UNION ALL SELECT e.seq, e.data, e.before FROM row JOIN events e ON e.seq = row.before)
		SELECT 1, 0, source FROM this JOIN documents ON documents.num = document
		UNION ALL SELECT 2, seq, data FROM this JOIN bodies ON run = num
		UNION ALL SELECT 3, seq, data FROM row
		ORDER BY 1, 2`,
		func(row []driver.Value) error {
			switch row[0] {
			case int64(1):
				source = text(row[2])
			case int64(2):
				b, _ := row[2].([]byte)
				bodies[row[1].(int64)] = append([]byte{}, b...) // an empty one is not the same as none
			default:
				err := readLines(text(row[2]), func(e engine.Event) {
					e.Run, e.Fact = run, whole(e, source, bodies)
					events = append(events, e)
				})
				if err != nil {
					return fmt.Errorf("%s: %w", v.path, err)
				}
			}
			return nil
		}, run)
	switch {
	case err != nil:
		return nil, err
	case len(events) == 0:
		return nil, engine.ErrNoRun
	case events[0].Fact.Kind() != engine.KindAdmitted:
		return nil, &FileError{v.path, Damaged, fmt.Errorf("the history of run %s has lost its beginning", run)}
	}
	return events, nil
}

// whole is an event's fact with what is kept apart.
func whole(e engine.Event, source string, bodies map[int64][]byte) engine.Fact {
	if a, ok := e.Fact.(engine.Admitted); ok {
		a.Source = source
		if assumed, document, ok := strings.Cut(source, "\x00"); ok && a.Assume != "" {
			a.Assumed, a.Source = assumed, document
		}
		return a
	}
	if b, ok := bodies[e.Seq]; ok {
		return engine.WithBody(e.Fact, b)
	}
	return e.Fact
}

// Runs lists runs, the newest first; see engine.History.
func (v *view) Runs(q engine.Query) ([]engine.Summary, error) {
	query, args := `SELECT `+summaryColumns+` FROM runs WHERE 1`, []driver.Value{}
	where := func(condition string, arg driver.Value) {
		query += " AND " + condition
		args = append(args, arg)
	}
	if q.Before != "" {
		row, err := v.first(`SELECT num FROM runs WHERE id = ?`, q.Before)
		if row == nil {
			return nil, errors.Join(err, fmt.Errorf("list the runs before %s: %w", q.Before, engine.ErrNoRun))
		}
		where("num < ?", row[0])
	}
	if q.Status != "" {
		where("status = ?", string(q.Status))
	}
	if q.Workflow != "" {
		where("workflow = ?", q.Workflow)
	}
	if q.Reconcile {
		where("reconcile = ?", true)
	}
	query += " ORDER BY num DESC"
	if q.Limit > 0 {
		query += " LIMIT ?"
		args = append(args, int64(q.Limit))
	}
	var found []engine.Summary
	err := v.rows(query, func(row []driver.Value) error {
		found = append(found, summaryOf(row))
		return nil
	}, args...)
	return found, err
}

// first is the first row of a query, nil where there is none.
func (v *view) first(query string, args ...driver.Value) (first []driver.Value, err error) {
	err = v.rows(query, func(row []driver.Value) error {
		first = slices.Clone(row)
		return nil
	}, args...)
	return first, err
}

// Open lists the runs that have not ended; see engine.History.
func (v *view) Open() ([]string, error) {
	return v.ids(`SELECT id FROM runs WHERE open ORDER BY num`)
}

// Delivery finds the run of a delivery; see engine.History.
func (v *view) Delivery(workflow, trigger, key string) (run, digest string, ok bool, err error) {
	row, err := v.first(`SELECT r.id, d.digest FROM deliveries d JOIN runs r ON r.num = d.run
		WHERE d.workflow = ? AND d."trigger" = ? AND d."key" = ?`, workflow, trigger, key)
	if row == nil {
		return "", "", false, err
	}
	return text(row[0]), text(row[1]), true, nil
}

// Child finds the run of a parent's call; see engine.History.
func (v *view) Child(p engine.Parent) (run string, ok bool, err error) {
	row, err := v.first(`SELECT r.id FROM children c JOIN runs r ON r.num = c.run WHERE c.parent = ? AND c.step = ? AND c.name = ?`,
		p.Run, p.Step, p.Name)
	if row == nil {
		return "", false, err
	}
	return text(row[0]), true, nil
}

// Prefix finds runs by the beginning of their id; see engine.History.
func (v *view) Prefix(prefix string, limit int) ([]string, error) {
	// Text is compared byte by byte, and no UTF-8 has a byte 0xff.
	return v.ids(`SELECT id FROM runs WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`, prefix, prefix+"\xff", int64(max(limit, 0)))
}

// KeyRuns finds the runs that sent a shared key; see engine.History.
func (v *view) KeyRuns(key string) ([]string, error) {
	return v.ids(`SELECT r.id FROM keys k JOIN runs r ON r.num = k.run WHERE k.key = ? ORDER BY r.num`, key)
}

// FoundAt reports whether a look-up at this address has found a record; see engine.History.
func (v *view) FoundAt(address string) (bool, error) {
	row, err := v.first(`SELECT 1 FROM addresses WHERE address = ?`, address)
	return row != nil, err
}

// Place is that of the newest event on disk; see engine.History.
func (v *view) Place() (last int64, err error) {
	row, err := v.first(`SELECT max((SELECT coalesce(max(seq), 0) FROM events), (SELECT coalesce(max(seq), 0) FROM pruned))`)
	if err == nil {
		last, _ = row[0].(int64)
	}
	return last, err
}

func (v *view) ids(query string, args ...driver.Value) (ids []string, err error) {
	err = v.rows(query, func(row []driver.Value) error {
		ids = append(ids, text(row[0]))
		return nil
	}, args...)
	return ids, err
}
