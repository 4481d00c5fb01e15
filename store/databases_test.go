package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"faultlab/engine"
)

// database is a file with a table of payment events, and how scripts name it.
func database(t *testing.T) (*Databases, string) {
	t.Helper()
	dir := t.TempDir()
	d := NewDatabases(filepath.Join(dir, "state.db"), nil)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	connection := `{"driver":"sqlite","connection":` + quoteJSON(filepath.Join(dir, "ledger.db")) + `}`
	for _, q := range []string{"CREATE TABLE events (id TEXT PRIMARY KEY, amount INTEGER, paid INTEGER, raw BLOB, ratio REAL)",
		"CREATE TABLE days (a TIMESTAMP, b DATETIME, c DATE)", "INSERT INTO days VALUES ('2026-11-30 12:00:00', 1796060936, 'some day'), ('2026-11-29T12:00:00+01:00', NULL, '2026-11-29')"} {
		if _, err := d.Do(t.Context(), json.RawMessage(connection), "execute", json.RawMessage(`{"text":`+quoteJSON(q)+`}`)); err != nil {
			t.Fatal(err)
		}
	}
	return d, connection
}

func quoteJSON(s string) string { raw, _ := json.Marshal(s); return string(raw) }

func TestDatabaseOperations(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ name, operation, input, want, code string }{
		{"insert once", "execute", `{"text":"INSERT INTO events (id, amount) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING","values":["evt-2",5]}`, `{"rowsAffected":1,"lastInsertId":2}`, ""},
		{"insert again", "execute", `{"text":"INSERT INTO events (id, amount) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING","values":["evt-1",5]}`, `{"rowsAffected":0,"lastInsertId":null}`, ""},
		{"parameters by number", "query", `{"text":"SELECT $2 AS a, $1 AS b","values":[1,2]}`, `{"rowCount":1,"rows":[{"a":2,"b":1}]}`, ""},
		{"parameters by place", "query", `{"text":"SELECT ? AS a, ? AS b","values":[1,2]}`, `{"rowCount":1,"rows":[{"a":1,"b":2}]}`, ""},
		{"booleans are 0 and 1", "query", `{"text":"SELECT ? AS a, ? AS b","values":[true,false]}`, `{"rowCount":1,"rows":[{"a":1,"b":0}]}`, ""},
		{"blobs", "query", `{"text":"SELECT ? AS a","values":[{"bytesBase64":"AQI="}]}`, `{"rowCount":1,"rows":[{"a":{"bytesBase64":"AQI="}}]}`, ""},
		{"null and numbers", "query", `{"text":"SELECT ? AS a, ? AS b","values":[null,1.5]}`, `{"rowCount":1,"rows":[{"a":null,"b":1.5}]}`, ""},
		{"dates are what was written", "read", `{"table":"days"}`,
			`{"rowCount":2,"rows":[{"a":"2026-11-30 12:00:00","b":1796060936,"c":"some day"},{"a":"2026-11-29T12:00:00+01:00","b":null,"c":"2026-11-29"}]}`, ""},
		{"dates in their order", "query", `{"text":"SELECT c, c AS \"a \"\"day\", ? AS n FROM days WHERE a > $2 ORDER BY a LIMIT 5; -- ;","values":[1,""]}`,
			`{"rowCount":2,"rows":[{"c":"2026-11-29","a \"day":"2026-11-29","n":1},{"c":"some day","a \"day":"some day","n":1}]}`, ""},
		{"no number", "query", `{"text":"SELECT 1e999 AS a"}`, "", "QUERY_FAILED"},
		{"read", "read", `{"table":"events","columns":["id","amount"],"where":{"id":"evt-1"}}`, `{"rowCount":1,"rows":[{"id":"evt-1","amount":7}]}`, ""},
		{"insert by columns", "insert", `{"table":"events","values":{"id":"evt-3","paid":true}}`, `{"rowsAffected":1,"lastInsertId":2}`, ""},
		{"update", "update", `{"table":"events","set":{"amount":9},"where":{"id":"evt-1"}}`, `{"rowsAffected":1,"lastInsertId":null}`, ""},
		{"update what is null", "update", `{"table":"events","set":{"amount":9},"where":{"paid":null}}`, `{"rowsAffected":1,"lastInsertId":null}`, ""},
		{"delete", "delete", `{"table":"events","where":{"id":"evt-1"}}`, `{"rowsAffected":1,"lastInsertId":null}`, ""},
		{"transaction", "transaction", `[{"operation":"insert","table":"events","values":{"id":"x"}},{"operation":"query","text":"SELECT count(*) AS n FROM events"}]`,
			`{"results":[{"rowsAffected":1,"lastInsertId":2},{"rowCount":1,"rows":[{"n":2}]}]}`, ""},
		{"update without where", "update", `{"table":"events","set":{"amount":9}}`, "", "INPUT_INVALID"},
		{"delete without where", "delete", `{"table":"events"}`, "", "INPUT_INVALID"},
		{"a query that writes", "query", `{"text":"DELETE FROM events"}`, "", "QUERY_FAILED"},
		{"a constraint", "insert", `{"table":"events","values":{"id":"evt-1"}}`, "", "CONSTRAINT"},
		{"bad SQL", "execute", `{"text":"INSERT INTO nowhere VALUES (1)"}`, "", "STATEMENT_FAILED"},
		{"bad query", "query", `{"text":"SELECT"}`, "", "QUERY_FAILED"},
		{"an integer too large", "query", `{"text":"SELECT 9007199254740993 AS n"}`, "", "QUERY_FAILED"},
		{"too many rows", "query", `{"text":"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c WHERE n < 10001) SELECT n FROM c"}`, "", "ROWS_TOO_LARGE"},
		{"SQL too long", "execute", `{"text":"SELECT ` + strings.Repeat("1,", 140_000) + `1"}`, "", "INPUT_INVALID"},
		{"too many columns", "query", `{"text":"SELECT ` + strings.Repeat("1,", 256) + `1"}`, "", "ROWS_TOO_LARGE"},
		{"a result too large", "query", `{"text":"SELECT hex(zeroblob(2200000)) AS a"}`, "", "ROWS_TOO_LARGE"},
		{"a result as large as may be", "query", `{"text":"SELECT length(hex(zeroblob(2000000))) AS n"}`, `{"rowCount":1,"rows":[{"n":4000000}]}`, ""},
		{"read by pages", "read", `{"table":"events","columns":["id"],"orderBy":"id","limit":1,"offset":1}`, `{"rowCount":0,"rows":[]}`, ""},
		{"a page before the first", "read", `{"table":"events","offset":-1}`, "", "INPUT_INVALID"},
		{"a value too large", "execute", `{"text":"INSERT INTO events (id, amount) VALUES ('a', ?)","values":[9007199254740992]}`, "", "INPUT_INVALID"},
		{"a value that is none", "execute", `{"text":"INSERT INTO events (id) VALUES (?)","values":[["a"]]}`, "", "INPUT_INVALID"},
		{"a blob that is none", "insert", `{"table":"events","values":{"id":"a","raw":{"bytesBase64":"!"}}}`, "", "INPUT_INVALID"},
		{"values that are no list", "query", `{"text":"SELECT 1","values":{"a":1}}`, "", "INPUT_INVALID"},
		{"too few values", "query", `{"text":"SELECT ?, ?","values":[1]}`, "", "QUERY_FAILED"},
		{"no SQL", "query", `{"values":[1]}`, "", "INPUT_INVALID"},
		{"no table", "read", `{}`, "", "INPUT_INVALID"},
		{"no values", "insert", `{"table":"events","values":{}}`, "", "INPUT_INVALID"},
		{"two statements", "execute", `{"text":"DELETE FROM events; DELETE FROM events"}`, "", "INPUT_INVALID"},
		{"one statement and its end", "execute", `{"text":"DELETE FROM events; -- all"}`, `{"rowsAffected":1,"lastInsertId":null}`, ""},
		{"a transaction by hand", "execute", `{"text":" /* x */ commit"}`, "", "INPUT_INVALID"},
		{"another file", "execute", `{"text":"ATTACH 'state.db' AS s"}`, "", "INPUT_INVALID"},
		{"a setting", "execute", `{"text":"PRAGMA foreign_keys=0"}`, "", "INPUT_INVALID"},
		{"a setting, read", "query", `{"text":"SELECT foreign_keys FROM pragma_foreign_keys"}`, `{"rowCount":1,"rows":[{"foreign_keys":1}]}`, ""},
		{"a foreign key", "transaction", `[{"operation":"execute","text":"CREATE TABLE lines (event TEXT REFERENCES events (id) DEFERRABLE INITIALLY DEFERRED)"},{"operation":"insert","table":"lines","values":{"event":"none"}}]`, "", "CONSTRAINT"},
		{"a query that writes, in a transaction", "transaction", `[{"operation":"query","text":"DELETE FROM events RETURNING id"}]`, "", "QUERY_FAILED"},
		{"a transaction by its field", "transaction", `{"operations":[{"operation":"delete","table":"events","where":{"id":"evt-1"}}]}`, `{"results":[{"rowsAffected":1,"lastInsertId":null}]}`, ""},
		{"a transaction in a transaction", "transaction", `[{"operation":"transaction"}]`, "", "INPUT_INVALID"},
		{"a transaction too long", "transaction", `[` + strings.Repeat(`{"operation":"query","text":"SELECT 1"},`, 100) + `{"operation":"query","text":"SELECT 1"}]`, "", "INPUT_INVALID"},
		{"an unknown field", "read", `{"table":"events","wher":{}}`, "", "INPUT_INVALID"},
		{"an unknown operation", "drop", `{}`, "", "INPUT_INVALID"},
		{"an empty transaction", "transaction", `[]`, "", "INPUT_INVALID"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			d, c := database(t)
			if _, err := d.Do(t.Context(), json.RawMessage(c), "insert", json.RawMessage(`{"table":"events","values":{"id":"evt-1","amount":7}}`)); err != nil {
				t.Fatal(err)
			}
			got, err := d.Do(t.Context(), json.RawMessage(c), r.operation, json.RawMessage(r.input))
			if code := codeOf(err); code != r.code {
				t.Fatalf("code %q (%v), want %q", code, err, r.code)
			}
			if r.want != "" && !sameJSON(string(got), r.want) {
				t.Errorf("got %s, want %s", got, r.want)
			}
		})
	}
}

func codeOf(err error) string {
	var e *engine.Error
	if errors.As(err, &e) {
		return strings.TrimPrefix(e.Code, "WOML_DATABASE_")
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

func TestATransactionIsAllOrNothing(t *testing.T) {
	t.Parallel()
	d, c := database(t)
	_, err := d.Do(t.Context(), json.RawMessage(c), "transaction", json.RawMessage(`[{"operation":"insert","table":"events","values":{"id":"a"}},{"operation":"insert","table":"events","values":{"id":"a"}}]`))
	if codeOf(err) != "CONSTRAINT" || !strings.Contains(err.Error(), "operation 2") {
		t.Errorf("the second insert: %v", err)
	}
	got, err := d.Do(t.Context(), json.RawMessage(c), "query", json.RawMessage(`{"text":"SELECT count(*) AS n FROM events"}`))
	if err != nil || !sameJSON(string(got), `{"rowCount":1,"rows":[{"n":0}]}`) {
		t.Errorf("%s are left, %v", got, err)
	}
}

func TestForbiddenConnections(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state := filepath.Join(dir, "state.db")
	if err := os.WriteFile(state, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(state, filepath.Join(dir, "innocent.db")); err != nil {
		t.Fatal(err)
	}
	d := NewDatabases(state, nil)
	defer d.Close()
	for connection, code := range map[string]string{
		`{"driver":"sqlite","connection":":memory:"}`:                                               "PATH_FORBIDDEN",
		`{"driver":"sqlite","connection":"file:x.db?mode=memory"}`:                                  "PATH_FORBIDDEN",
		`{"driver":"sqlite","connection":` + quoteJSON(state) + `}`:                                 "PATH_FORBIDDEN",
		`{"driver":"sqlite","connection":` + quoteJSON(state+"-wal") + `}`:                          "PATH_FORBIDDEN",
		`{"driver":"sqlite","connection":` + quoteJSON(filepath.Join(dir, ".", "state.db")) + `}`:   "PATH_FORBIDDEN",
		`{"driver":"sqlite","connection":` + quoteJSON(filepath.Join(dir, "innocent.db")) + `}`:     "PATH_FORBIDDEN",
		`{"driver":"sqlite","connection":` + quoteJSON(filepath.Join(dir, "no", "such", "f")) + `}`: "UNAVAILABLE",
		`{"driver":"sqlite","connection":` + quoteJSON(dir) + `}`:                                   "UNAVAILABLE",
		`{"driver":"sqlite","connection":` + quoteJSON(state+".inbox") + `}`:                        "PATH_FORBIDDEN",
		`{"driver":"sqlite","connection":""}`:                                                       "INPUT_INVALID",
		`{"driver":"postgres","connection":"x"}`:                                                    "INPUT_INVALID",
		`{}`:                                                                                        "INPUT_INVALID",
	} {
		if _, err := d.Do(t.Context(), json.RawMessage(connection), "query", json.RawMessage(`{"text":"SELECT 1"}`)); codeOf(err) != code {
			t.Errorf("%s: %v, want %s", connection, err, code)
		}
	}
}

// Deliveries that come at the same moment, to a file that nobody has opened yet: each
// waits for its turn, and one of them makes the row.
func TestManyInsertsAtOnceMakeOneRow(t *testing.T) {
	t.Parallel()
	for range 20 {
		path := filepath.Join(t.TempDir(), "ledger.db")
		made, err := sql.Open("sqlite", path)
		if err == nil {
			_, err = made.Exec("CREATE TABLE events (id TEXT PRIMARY KEY)")
		}
		if err != nil || made.Close() != nil {
			t.Fatal(err)
		}
		c := `{"driver":"sqlite","connection":` + quoteJSON(path) + `}`
		d := NewDatabases("", nil)
		var inserted atomic.Int64
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				out, err := d.Do(t.Context(), json.RawMessage(c), "execute", json.RawMessage(`{"text":"INSERT INTO events (id) VALUES ($1) ON CONFLICT (id) DO NOTHING","values":["evt-1"]}`))
				var r struct{ RowsAffected int64 }
				if err != nil || json.Unmarshal(out, &r) != nil {
					t.Errorf("an insert: %s, %v", out, err)
				}
				inserted.Add(r.RowsAffected)
			})
		}
		all.Wait()
		if n := inserted.Load(); n != 1 {
			t.Fatalf("%d inserts made the row", n)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAFileThatIsNoDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	d := NewDatabases("", nil)
	defer d.Close()
	for operation, input := range map[string]string{"query": `{"text":"SELECT * FROM x"}`, "execute": `{"text":"CREATE TABLE x (a)"}`} {
		_, err := d.Do(t.Context(), json.RawMessage(`{"driver":"sqlite","connection":`+quoteJSON(path)+`}`), operation, json.RawMessage(input))
		if codeOf(err) != "UNAVAILABLE" || err.Error() != path+": file is not a database (26)" {
			t.Errorf("%s: %v", operation, err)
		}
	}
}

// What is wrong with an input is said in the words of scripts.
func TestDatabaseInputInWords(t *testing.T) {
	t.Parallel()
	d, c := database(t)
	for input, want := range map[string]string{
		`"SELECT 1"`:                 "an operation takes an object, not a string",
		`{"text":1}`:                 "the field text must not be a number",
		`{"text":"SELECT -1e999 a"}`: `column "a": it is infinite, which JSON does not have`,
		`{"txt":"SELECT 1"}`:         `unknown field "txt"`,
	} {
		if _, err := d.Do(t.Context(), json.RawMessage(c), "query", json.RawMessage(input)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", input, err, want)
		}
	}
}

func TestALockThatOthersHold(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, q := range []string{"CREATE TABLE x (a)", "BEGIN EXCLUSIVE"} {
		other.SetMaxOpenConns(1)
		if _, err := other.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	d := NewDatabases("", nil)
	d.patience = time.Millisecond
	defer d.Close()
	write := func() error {
		_, err := d.Do(t.Context(), json.RawMessage(`{"driver":"sqlite","connection":`+quoteJSON(path)+`}`), "insert", json.RawMessage(`{"table":"x","values":{"a":1}}`))
		return err
	}
	if err := write(); codeOf(err) != "BUSY" {
		t.Errorf("while it is locked: %v", err)
	}
	if _, err := other.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := write(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// Writers of one process wait for each other, however long that takes: the patience is for other programs.
func TestManyWritersOfOneFile(t *testing.T) {
	t.Parallel()
	_, c := database(t)
	d := NewDatabases("", nil)
	d.patience = 0
	defer d.Close()
	var writers sync.WaitGroup
	for i := range 64 {
		writers.Go(func() {
			input := fmt.Sprintf(`{"table":"events","values":{"id":"e%d","amount":1}}`, i)
			if _, err := d.Do(t.Context(), json.RawMessage(c), "insert", json.RawMessage(input)); err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	writers.Wait()
}

func TestStatements(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		text, word string
		rest       bool
	}{
		{"", "", false}, {" ; ;", "", false}, {"-- only a comment", "", false}, {"/* open", "", false},
		{"select 1", "SELECT", false}, {"SELECT 1;", "SELECT", false}, {"SELECT 1; -- x\n ;", "SELECT", false},
		{"SELECT 1; SELECT 2", "SELECT", true}, {";SELECT 1", "SELECT", false}, {"SELECT 1;;x", "SELECT", true},
		{"SELECT ';' , \";\", `;`, [;] -- ;\n", "SELECT", false}, {"SELECT 'it''s; fine'; DROP", "SELECT", true}, {"SELECT 'open; ", "SELECT", false},
		{"/* a */-- b\nInsert into x values(1)", "INSERT", false}, {"(SELECT 1)", "(", false},
		{"CREATE TRIGGER t AFTER INSERT ON x BEGIN DELETE FROM y; DELETE FROM z; END", "CREATE", false},
		{"CREATE TEMP TRIGGER t AFTER INSERT ON x BEGIN DELETE FROM y; END;", "CREATE", false},
		{"CREATE TABLE x (a); DROP TABLE trigger", "CREATE", true},
	} {
		if word, rest := firstStatement(r.text); word != r.word || rest != r.rest {
			t.Errorf("%q begins with %q, and more follows: %v; want %q, %v", r.text, word, rest, r.word, r.rest)
		}
	}
}

// Whatever the text is, it is read to its end and no further.
func FuzzStatements(f *testing.F) {
	for _, s := range []string{"SELECT 'a;b'", "CREATE TRIGGER x BEGIN; END", "/*", "--", "[", "\xff;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for rest := text; rest != ""; {
			n, _ := sqlToken(rest)
			if n < 1 || n > len(rest) {
				t.Fatalf("%q: a token of %d bytes", rest, n)
			}
			rest = rest[n:]
		}
		if word, rest := firstStatement(text); rest && word == "" {
			t.Fatalf("%q: more follows what is not there", text)
		}
	})
}

// SQLite keeps the number of changes of an earlier statement after one that changes no rows.
func TestAStatementThatChangesNoRowsSaysSo(t *testing.T) {
	t.Parallel()
	d, c := database(t)
	for n, s := range []struct {
		text string
		rows int
	}{
		{"INSERT INTO events (id) VALUES ('a')", 1},
		{"CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY)", 0},
		{"UPDATE events SET amount = 1 WHERE 0", 0},
		{"CREATE TABLE other (id TEXT PRIMARY KEY)", 0},
		{"UPDATE events SET amount = 1", 1},
	} {
		out, err := d.Write(t.Context(), engine.Mark{Run: "r", Step: "s", Attempt: 1, Call: n + 1}, json.RawMessage(c), "execute", json.RawMessage(`{"text":`+quoteJSON(s.text)+`}`))
		if want := fmt.Sprintf(`"rowsAffected":%d,`, s.rows); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %s, %v; want %s", s.text, out, err, want)
		}
	}
}
