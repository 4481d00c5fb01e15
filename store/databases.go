package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"faultlab/engine"
)

// Databases carries out services.db on SQLite files. It implements engine.Database.
// A write that fails changes nothing: each is a transaction of its own.
type Databases struct {
	forbidden string                            // the engine's own state file, never to be touched
	place     func(path string) (string, error) // where a script's path really is; nil leaves it

	patience time.Duration // how long a statement waits for another process's lock

	mu   sync.Mutex
	open map[string]*localFile
	over func(engine.Mark) bool // whether the history has the end of a call; nil where nobody knows
}

// localFile is a file of scripts, open.
type localFile struct {
	*sql.DB
	marks
	writer chan struct{} // full while a write of this process is carried out: SQLite's own waiting is for other processes, and not in order
}

// Limits of services.db.
const (
	maxSQL           = 256 << 10
	maxResultRows    = 10_000
	maxResultColumns = 256
	maxResult        = 4 << 20 // bytes of JSON
	maxOperations    = 100
	lockPatience     = 2 * time.Second
	maxSafe          = 1<<53 - 1
)

// NewDatabases refuses the engine's own state file to scripts. place, which may be
// nil, says where a script's path really is, or refuses it.
func NewDatabases(state string, place func(path string) (string, error)) *Databases {
	return &Databases{forbidden: real(state), place: place, patience: lockPatience, open: map[string]*localFile{}}
}

// Close lets go of the files.
func (d *Databases) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, db := range d.open {
		errs = append(errs, db.Close())
	}
	clear(d.open)
	return errors.Join(errs...)
}

func problem(code, format string, args ...any) error {
	return &engine.Error{Code: "WOML_DATABASE_" + code, Message: fmt.Sprintf(format, args...)}
}

// Do implements engine.Database.
func (d *Databases) Do(ctx context.Context, connection json.RawMessage, operation string, input json.RawMessage) (json.RawMessage, error) {
	return d.run(ctx, connection, operation, input, nil)
}

// run carries one operation out and commits mark, which may be nil, with it.
func (d *Databases) run(ctx context.Context, connection json.RawMessage, operation string, input json.RawMessage, mark *engine.Mark) (result json.RawMessage, err error) {
	d.mu.Lock()
	u := unit{mark: mark, over: d.over}
	d.mu.Unlock()
	if u.ops, u.many, err = operations(operation, input); err != nil {
		return nil, err
	}
	target, err := targetOf(connection)
	if err != nil {
		return nil, err
	}
	name := target.Connection
	if u.file, err = d.connect(name); err != nil {
		return nil, err
	}
	if !readOnly(operation) {
		select {
		case u.file.writer <- struct{}{}:
			defer func() { <-u.file.writer }()
		case <-ctx.Done():
			return nil, located(sqlError(context.Cause(ctx), "UNAVAILABLE"), name)
		}
	}
	conn, err := u.file.Conn(ctx)
	if err != nil {
		return nil, located(sqlError(err, "UNAVAILABLE"), name)
	}
	defer conn.Close()
	if result, err = u.perform(ctx, conn, readOnly(operation)); err != nil {
		return nil, located(err, name)
	}
	return result, nil
}

func readOnly(operation string) bool { return operation == "query" || operation == "read" }

// unit is the operations of one call: one transaction of one file.
type unit struct {
	file *localFile
	ops  []statement
	many bool         // they were asked for as a transaction
	mark *engine.Mark // committed with them; nil where none is

	over  func(engine.Mark) bool
	sweep bool          // the marks of earlier processes are looked at
	gone  []engine.Mark // that go with this transaction
}

// perform runs all operations or none. A read cannot write, whatever its SQL says.
func (u *unit) perform(ctx context.Context, conn *sql.Conn, only bool) (result json.RawMessage, err error) {
	begin := "BEGIN IMMEDIATE"
	if only {
		begin = "BEGIN"
	}
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return nil, sqlError(err, "UNAVAILABLE")
	}
	// What follows is not given up halfway: whether it is committed must be known.
	sure := context.WithoutCancel(ctx)
	open := true
	defer func() {
		if open {
			_, _ = conn.ExecContext(sure, "ROLLBACK") // SQLite may have done it already
		}
	}()
	if u.mark != nil {
		if kept, there, err := findMark(sure, conn, *u.mark); err != nil || there {
			return u.file.again(kept, err)
		}
	}
	if result, err = u.statements(ctx, conn); err != nil {
		return nil, err
	}
	if u.mark != nil {
		if err := u.leave(sure, conn, result); err != nil {
			return nil, err
		}
	}
	if _, err := conn.ExecContext(sure, "COMMIT"); err != nil {
		return u.afterCommit(sure, conn, commitError(err), result)
	}
	open = false
	u.committed()
	return result, nil
}

// statements runs the operations and gives the result that the script gets.
func (u *unit) statements(ctx context.Context, conn *sql.Conn) (json.RawMessage, error) {
	var results []any
	for i, op := range u.ops {
		out, err := one(ctx, conn, op)
		if err != nil {
			if len(u.ops) > 1 {
				err = numbered(err, i)
			}
			return nil, err
		}
		results = append(results, out)
	}
	if u.many {
		return json.Marshal(map[string]any{"results": results})
	}
	return json.Marshal(results[0])
}

// one runs one operation within the transaction.
func one(ctx context.Context, conn *sql.Conn, op statement) (out any, err error) {
	if !op.rows {
		return execute(ctx, conn, op)
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA query_only=1"); err != nil {
		return nil, sqlError(err, "UNAVAILABLE")
	}
	defer func() {
		if _, e := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA query_only=0"); e != nil && err == nil {
			err = sqlError(e, "UNAVAILABLE")
		}
	}()
	return queryRows(ctx, conn, op)
}

// commitError is coded where SQLite guarantees that nothing was committed. Any other
// one is plain: then nobody knows.
func commitError(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_FULL:
			return sqlError(err, "STATEMENT_FAILED")
		}
	}
	return fmt.Errorf("commit: %w", err)
}

// located says which file it is that cannot be had: SQLite does not.
func located(err error, name string) error {
	var e *engine.Error
	if errors.As(err, &e) && e.Code == "WOML_DATABASE_UNAVAILABLE" {
		return problem("UNAVAILABLE", "%s: %s", name, e.Message)
	}
	return err
}

func numbered(err error, i int) error {
	var e *engine.Error
	if errors.As(err, &e) {
		return &engine.Error{Code: e.Code, Message: fmt.Sprintf("operation %d of the transaction: %s", i+1, e.Message)}
	}
	return err
}

// localTarget is the target of services.db as scripts write it.
type localTarget struct {
	Driver     string `json:"driver"`
	Connection string `json:"connection"`
	Markers    *bool  `json:"markers"` // false: writes leave no marks
}

func targetOf(raw json.RawMessage) (t localTarget, err error) {
	if err := json.Unmarshal(raw, &t); err != nil || t.Driver != "sqlite" || t.Connection == "" {
		return t, problem("INPUT_INVALID", `services.db takes {driver: "sqlite", connection: PATH}`)
	}
	return t, nil
}

// locate is where the file that a script named really is.
func (d *Databases) locate(name string) (path string, err error) {
	if name == ":memory:" || strings.HasPrefix(name, "file:") || strings.ContainsAny(name, "\x00?") {
		return "", problem("PATH_FORBIDDEN", "the connection %q is not the path of a file", name)
	}
	path = name
	if d.place != nil {
		if path, err = d.place(path); err != nil {
			return "", problem("PATH_FORBIDDEN", "%s", err)
		}
	}
	path = real(path)
	if d.forbidden != "" && (path == d.forbidden || strings.HasPrefix(path, d.forbidden+"-") || strings.HasPrefix(path, d.forbidden+".")) {
		return "", problem("PATH_FORBIDDEN", "the connection %q is faultlab's own state file", name)
	}
	return path, nil
}

// connect finds or opens the file that a script named.
func (d *Databases) connect(name string) (*localFile, error) {
	path, err := d.locate(name)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.open[path]; f != nil {
		return f, nil
	}
	db, err := sql.Open("sqlite", fmt.Sprintf("file:%s?_pragma=busy_timeout(%d)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)",
		(&url.URL{Path: path}).EscapedPath(), d.patience.Milliseconds()))
	if err != nil {
		return nil, problem("UNAVAILABLE", "open %s: %s", name, err)
	}
	// Once, and before anybody else uses the file: SQLite does not wait for its turn to
	// change this. Where it cannot be changed now the file does as it is.
	_, _ = db.Exec("PRAGMA journal_mode=WAL")
	d.open[path] = &localFile{DB: db, writer: make(chan struct{}, 1)}
	return d.open[path], nil
}

// sqlError gives SQLite's failures their codes; other is the code of those that have none of their own.
func sqlError(err error, other string) error {
	code := other
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			code = "BUSY"
		case sqlite3.SQLITE_CONSTRAINT:
			code = "CONSTRAINT"
		case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FULL:
			code = "UNAVAILABLE"
		}
	}
	if errors.Is(err, os.ErrNotExist) {
		code = "UNAVAILABLE"
	}
	return problem(code, "%s", err)
}

func execute(ctx context.Context, conn *sql.Conn, op statement) (any, error) {
	before, err := changesOf(ctx, conn)
	if err != nil {
		return nil, sqlError(err, "STATEMENT_FAILED")
	}
	r, err := conn.ExecContext(ctx, op.text, op.values...)
	if err != nil {
		return nil, sqlError(err, "STATEMENT_FAILED")
	}
	n, err := r.RowsAffected()
	if err != nil {
		return nil, sqlError(err, "STATEMENT_FAILED")
	}
	after, err := changesOf(ctx, conn)
	if err != nil {
		return nil, sqlError(err, "STATEMENT_FAILED")
	}
	if after == before {
		n = 0 // SQLite tells the number of an earlier statement of the connection after one that changes no rows
	}
	out := struct {
		RowsAffected int64  `json:"rowsAffected"`
		LastInsertID *int64 `json:"lastInsertId"`
	}{RowsAffected: n}
	if op.inserts() && n > 0 {
		if id, err := r.LastInsertId(); err == nil {
			out.LastInsertID = &id
		}
	}
	return out, nil
}

// changesOf is how many rows the connection has changed in all.
func changesOf(ctx context.Context, conn *sql.Conn) (n int64, err error) {
	err = conn.QueryRowContext(ctx, "SELECT total_changes()").Scan(&n)
	return n, err
}

func queryRows(ctx context.Context, conn *sql.Conn, op statement) (any, error) {
	rows, err := queryAsStored(ctx, conn, op)
	if err != nil {
		return nil, sqlError(err, "QUERY_FAILED")
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, sqlError(err, "QUERY_FAILED")
	}
	if len(names) > maxResultColumns {
		return nil, problem("ROWS_TOO_LARGE", "the result has %d columns; at most %d are taken", len(names), maxResultColumns)
	}
	out, size := []json.RawMessage{}, 0
	cells, targets := make([]any, len(names)), make([]any, len(names))
	for i := range cells {
		targets[i] = &cells[i]
	}
	for rows.Next() {
		if len(out) == maxResultRows {
			return nil, problem("ROWS_TOO_LARGE", "the result has more than %d rows: ask for fewer with LIMIT", maxResultRows)
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, sqlError(err, "QUERY_FAILED")
		}
		row, err := encodeRow(names, cells)
		if err != nil {
			return nil, err
		}
		if size += len(row); size > maxResult {
			return nil, problem("ROWS_TOO_LARGE", "the result has more than %d bytes: ask for fewer columns, or for fewer rows with LIMIT", maxResult)
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		return nil, sqlError(err, "QUERY_FAILED")
	}
	return map[string]any{"rows": out, "rowCount": len(out)}, nil
}

// queryAsStored asks for rows. The driver makes times of texts in columns that are
// declared as dates: then it is asked again in a form in which no column is declared,
// so that a script reads what it wrote.
func queryAsStored(ctx context.Context, conn *sql.Conn, op statement) (*sql.Rows, error) {
	rows, err := conn.QueryContext(ctx, op.text, op.values...)
	if err != nil {
		return nil, err
	}
	columns, err := rows.ColumnTypes()
	if err == nil && !slices.ContainsFunc(columns, declaredDate) {
		return rows, nil
	}
	if err := errors.Join(err, rows.Close()); err != nil {
		return nil, err
	}
	undeclared := make([]string, len(columns))
	for i, c := range columns {
		undeclared[i] = "NULL AS " + quote(c.Name())
	}
	return conn.QueryContext(ctx, "SELECT "+strings.Join(undeclared, ", ")+" WHERE 0 UNION ALL SELECT * FROM (\n"+bare(op.text)+"\n)", op.values...)
}

func declaredDate(c *sql.ColumnType) bool {
	switch c.DatabaseTypeName() {
	case "DATE", "DATETIME", "TIMESTAMP":
		return true
	}
	return false
}

// encodeRow keeps the columns' order.
func encodeRow(names []string, cells []any) (json.RawMessage, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, problem("QUERY_FAILED", "column %q: %s", name, err)
		}
		value, err := encodeCell(cells[i])
		if err != nil {
			return nil, problem("QUERY_FAILED", "column %q: %s", name, err)
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func encodeCell(v any) (json.RawMessage, error) {
	switch v := v.(type) {
	case int64:
		if v > maxSafe || v < -maxSafe {
			return nil, fmt.Errorf("%d is not an integer that JavaScript can hold", v)
		}
	case float64:
		if math.IsInf(v, 0) {
			return nil, errors.New("it is infinite, which JSON does not have")
		}
	case []byte:
		return json.Marshal(map[string][]byte{"bytesBase64": v})
	}
	return json.Marshal(v)
}
