package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"faultlab/engine"
)

// Each write of services.db commits a row of this table with what it changes, so that
// its file says whether it happened. A row goes with the next write to the file once
// the history says how the call ended. It has no rowid: last_insert_rowid() stays that
// of the script's own statements.
const (
	marksTable  = "faultlab_calls"
	marksSchema = `faultlab_calls(run TEXT NOT NULL, step TEXT NOT NULL, attempt INTEGER NOT NULL, call INTEGER NOT NULL, result TEXT,
		PRIMARY KEY (run, step, attempt, call)) WITHOUT ROWID`
	maxMarkResult = 64 << 10 // bytes of JSON; of a larger result only that the write happened is kept
)

var _ engine.Marks = (*Databases)(nil)

// marks are what is known of the table of marks of one file.
type marks struct {
	mu    sync.Mutex
	ready bool // nothing else has the table's name
	swept bool // what an earlier process left was looked at
	ended []endedMark
}

// endedMark is a mark of a call that has ended: it may go once the end is on disk.
type endedMark struct {
	engine.Mark
	onDisk func() bool
}

// Marked implements engine.Marks.
func (d *Databases) Marked(connection json.RawMessage) (why string, ok bool) {
	t, err := targetOf(connection)
	switch {
	case err != nil:
		return "", true // the write itself will say so
	case t.Markers != nil && !*t.Markers:
		return "markers: false", false
	}
	path, err := d.locate(t.Connection)
	if err != nil {
		return "", true
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", true // nothing to look at, and nothing is made before the write
	}
	f, err := d.connect(t.Connection)
	if err != nil {
		return "", true
	}
	taken, err := f.taken(context.Background())
	if err != nil || !taken {
		return "", true
	}
	return "the file has a " + marksTable + " of its own", false
}

// taken reports whether the name of the table belongs to something else.
func (f *localFile) taken(ctx context.Context) (taken bool, err error) {
	ready := false
	if f.locked(func() { ready = f.ready }); ready {
		return false, nil
	}
	taken, err = takenIn(ctx, f.DB)
	f.locked(func() { f.ready = err == nil && !taken })
	return taken, err
}

// querier is a pool of connections, or one of them.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func takenIn(ctx context.Context, q querier) (bool, error) {
	var text sql.NullString
	err := q.QueryRowContext(ctx, `SELECT sql FROM main.sqlite_master WHERE lower(name) = ?`, marksTable).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return text.String != "CREATE TABLE "+marksSchema, err
}

// Write implements engine.Marks.
func (d *Databases) Write(ctx context.Context, m engine.Mark, connection json.RawMessage, operation string, input json.RawMessage) (json.RawMessage, error) {
	return d.run(ctx, connection, operation, input, &m)
}

// Find implements engine.Marks. A file that is not there holds no mark, and is not made.
func (d *Databases) Find(ctx context.Context, m engine.Mark, file string) (result json.RawMessage, there bool, err error) {
	path, err := d.locate(file)
	if err != nil {
		return nil, false, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	f, err := d.connect(file)
	if err != nil {
		return nil, false, err
	}
	conn, err := f.Conn(ctx)
	if err != nil {
		return nil, false, located(sqlError(err, "UNAVAILABLE"), file)
	}
	defer conn.Close()
	result, there, err = findMark(ctx, conn, m)
	return result, there, located(err, file)
}

// Ended implements engine.Marks.
func (d *Databases) Ended(m engine.Mark, file string, onDisk func() bool) {
	f, err := d.connect(file)
	if err != nil {
		return // it was written to before: then the mark stays until it can be
	}
	f.locked(func() { f.ended = append(f.ended, endedMark{m, onDisk}) })
}

// Sweep implements engine.Marks.
func (d *Databases) Sweep(over func(engine.Mark) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = over
	for _, f := range d.open {
		f.locked(func() { f.swept = false })
	}
}

// findMark looks a mark up. A result that was too large to keep is nil.
func findMark(ctx context.Context, q querier, m engine.Mark) (result json.RawMessage, there bool, err error) {
	var tables int
	err = q.QueryRowContext(ctx, `SELECT count(*) FROM main.sqlite_master WHERE type = 'table' AND name = ?`, marksTable).Scan(&tables)
	if err != nil {
		return nil, false, sqlError(err, "UNAVAILABLE")
	}
	if tables == 0 {
		return nil, false, nil
	}
	var kept sql.NullString
	err = q.QueryRowContext(ctx, `SELECT result FROM main.faultlab_calls WHERE run = ? AND step = ? AND attempt = ? AND call = ?`,
		m.Run, m.Step, m.Attempt, m.Call).Scan(&kept)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, false, nil
	case err != nil:
		return nil, false, sqlError(err, "UNAVAILABLE")
	case kept.Valid:
		result = json.RawMessage(kept.String)
	}
	return result, true, nil
}

// again is the result of a write whose mark was found, or cannot be looked for.
func (f *localFile) again(kept json.RawMessage, err error) (json.RawMessage, error) {
	switch {
	case err != nil:
		f.forget()
		return nil, err
	case kept == nil:
		return nil, &engine.Error{Code: engine.LocalResultLost, Message: fmt.Sprintf("the write was committed, and its result, larger than %d bytes, is not kept", maxMarkResult)}
	}
	return kept, nil
}

// leave writes the unit's mark into its transaction, and takes those away that nobody needs any more.
func (u *unit) leave(ctx context.Context, conn *sql.Conn, result json.RawMessage) (err error) {
	m, f := *u.mark, u.file
	if _, err := conn.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS main.`+marksSchema); err != nil {
		return sqlError(err, "UNAVAILABLE")
	}
	u.gone = f.over()
	f.locked(func() { u.sweep = !f.swept })
	if u.sweep && u.over != nil {
		left, err := marksIn(ctx, conn)
		if err != nil {
			return err
		}
		u.gone = append(u.gone, slices.DeleteFunc(left, func(m engine.Mark) bool { return !u.over(m) })...)
	}
	var kept any
	if len(result) <= maxMarkResult {
		kept = string(result)
	}
	if _, err := conn.ExecContext(ctx, `INSERT INTO main.faultlab_calls VALUES (?, ?, ?, ?, ?)`, m.Run, m.Step, m.Attempt, m.Call, kept); err != nil {
		f.forget()
		return sqlError(err, "UNAVAILABLE")
	}
	for _, old := range u.gone {
		if _, err := conn.ExecContext(ctx, `DELETE FROM main.faultlab_calls WHERE run = ? AND step = ? AND attempt = ? AND call = ?`,
			old.Run, old.Step, old.Attempt, old.Call); err != nil {
			return sqlError(err, "UNAVAILABLE")
		}
	}
	return nil
}

// committed forgets the marks that went with the unit's transaction.
func (u *unit) committed() {
	if u.mark == nil {
		return
	}
	u.file.locked(func() {
		u.file.swept = u.file.swept || u.sweep
		u.file.ended = slices.DeleteFunc(u.file.ended, func(e endedMark) bool { return slices.Contains(u.gone, e.Mark) })
	})
}

// maxSwept bounds the marks of earlier processes that are looked at within one write.
const maxSwept = 500

// marksIn are marks that stand in a file.
func marksIn(ctx context.Context, conn *sql.Conn) (left []engine.Mark, err error) {
	rows, err := conn.QueryContext(ctx, `SELECT run, step, attempt, call FROM main.faultlab_calls LIMIT ?`, maxSwept)
	if err != nil {
		return nil, sqlError(err, "UNAVAILABLE")
	}
	defer rows.Close()
	for rows.Next() {
		var m engine.Mark
		if err := rows.Scan(&m.Run, &m.Step, &m.Attempt, &m.Call); err != nil {
			return nil, sqlError(err, "UNAVAILABLE")
		}
		left = append(left, m)
	}
	if err := rows.Err(); err != nil {
		return nil, sqlError(err, "UNAVAILABLE")
	}
	return left, nil
}

// locked runs what looks at the marks or changes them.
func (m *marks) locked(do func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	do()
}

// forget has the name of the table looked at anew.
func (m *marks) forget() { m.locked(func() { m.ready = false }) }

// over are the marks of the calls whose end is on disk.
func (m *marks) over() (gone []engine.Mark) {
	m.locked(func() {
		for _, e := range m.ended {
			if e.onDisk() {
				gone = append(gone, e.Mark)
			}
		}
	})
	return gone
}

// afterCommit is what became of a unit whose COMMIT failed: the mark, where there is
// one, says it.
func (u *unit) afterCommit(ctx context.Context, conn *sql.Conn, failed error, result json.RawMessage) (json.RawMessage, error) {
	var coded *engine.Error
	if u.mark == nil || errors.As(failed, &coded) {
		return nil, failed
	}
	_, _ = conn.ExecContext(ctx, "ROLLBACK") // SQLite may have done it already
	_, there, err := findMark(ctx, u.file, *u.mark)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w, and the file cannot be read: %w", failed, err)
	case there:
		return result, nil
	}
	return nil, problem("UNAVAILABLE", "%s", strings.TrimPrefix(failed.Error(), "commit: "))
}
