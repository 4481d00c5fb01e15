package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net/url"
	"strings"

	"modernc.org/sqlite"
)

// conn is one connection to SQLite with its prepared statements kept. One goroutine
// at a time uses it, so that nothing of database/sql's pool is needed.
type conn struct {
	driver.Conn
	path  string
	stmts map[string]driver.Stmt
	args  []driver.NamedValue
}

// immutable is the mode to read a file that nobody writes, without locks and without a log.
const immutable = "immutable"

// dsn names a file to SQLite. mode is ro or rw, https://www.sqlite.org/uri.html, or immutable. Pragmas are written as name(value).
func dsn(path, mode string, pragmas ...string) string {
	q := url.Values{"mode": {mode}, "_pragma": pragmas}
	if mode == immutable {
		q = url.Values{"mode": {"ro"}, "immutable": {"1"}, "_pragma": pragmas}
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

func dial(path, mode string, pragmas ...string) (*conn, error) {
	connector, err := sqlite.NewConnector(dsn(path, mode, pragmas...))
	if err != nil {
		return nil, err
	}
	c, err := connector.Connect(context.Background())
	if err != nil {
		return nil, explain(path, err)
	}
	return &conn{Conn: c, path: path, stmts: map[string]driver.Stmt{}}, nil
}

func (c *conn) Close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.Conn.Close())...)
}

// script runs several statements, which are not kept.
func (c *conn) script(text string) error {
	_, err := c.Conn.(driver.ExecerContext).ExecContext(context.Background(), text, nil)
	return explain(c.path, err)
}

func (c *conn) exec(query string, args ...driver.Value) error {
	s, err := c.prepare(query, args)
	if err != nil {
		return err
	}
	_, err = s.(driver.StmtExecContext).ExecContext(context.Background(), c.args)
	return explain(c.path, err)
}

// rows gives each row of a query to f, which must not keep it.
func (c *conn) rows(query string, f func(row []driver.Value) error, args ...driver.Value) error {
	s, err := c.prepare(query, args)
	if err != nil {
		return err
	}
	rows, err := s.(driver.StmtQueryContext).QueryContext(context.Background(), c.args)
	if err != nil {
		return explain(c.path, err)
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case err == io.EOF:
			return nil
		case err != nil:
			return explain(c.path, err)
		}
		if err := f(row); err != nil {
			return err
		}
	}
}

// number is the first value of the first row, 0 where there is none or it is NULL.
func (c *conn) number(query string, args ...driver.Value) (n int64, err error) {
	err = c.rows(query, func(row []driver.Value) error {
		n, _ = row[0].(int64)
		return nil
	}, args...)
	return n, err
}

// transaction does something whole or not at all.
func (c *conn) transaction(do func() error) error {
	if err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do()
	if err == nil {
		err = c.exec("COMMIT")
	}
	if err != nil {
		c.exec("ROLLBACK") // SQLite may have done so by itself, and then this fails
	}
	return err
}

// prepare leaves the arguments in c.args.
func (c *conn) prepare(query string, args []driver.Value) (driver.Stmt, error) {
	c.args = c.args[:0]
	for i, a := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	if s := c.stmts[query]; s != nil {
		return s, nil
	}
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(context.Background(), query)
	if err != nil {
		return nil, explain(c.path, err)
	}
	c.stmts[query] = s
	return s, nil
}

// maxRows is how many rows one statement takes, at most. Each power of two up to it is a statement of its own.
const maxRows = 64

// bulk is one statement for 1, 2, 4 and up to maxRows rows.
type bulk struct {
	columns int
	texts   []string
}

// newBulk repeats row, with a mark for each value, between head and tail.
func newBulk(head, row, tail string) bulk {
	b := bulk{columns: strings.Count(row, "?")}
	for n := 1; n <= maxRows; n *= 2 {
		b.texts = append(b.texts, head+strings.TrimSuffix(strings.Repeat(row+",", n), ",")+tail)
	}
	return b
}

// inserts is a bulk that adds rows to a table.
func inserts(table string, columns int) bulk {
	return newBulk("INSERT INTO "+table+" VALUES ", "("+strings.TrimSuffix(strings.Repeat("?,", columns), ",")+")", "")
}

// bulk does it for rows, given one after the other, in as few statements as it can.
func (c *conn) bulk(b bulk, values []driver.Value) error {
	for len(values) > 0 {
		n := 0
		for n < len(b.texts)-1 && b.columns<<(n+1) <= len(values) {
			n++
		}
		size := b.columns << n
		if err := c.exec(b.texts[n], values[:size]...); err != nil {
			return err
		}
		values = values[size:]
	}
	return nil
}
