package store

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	for _, q := range []string{"CREATE TABLE events (id TEXT PRIMARY KEY, amount INTEGER, paid INTEGER, raw BLOB, ratio REAL)"} {
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
		`{"driver":"postgres","connection":"x"}`:                                                    "INPUT_INVALID",
		`{}`:                                                                                        "INPUT_INVALID",
	} {
		if _, err := d.Do(t.Context(), json.RawMessage(connection), "query", json.RawMessage(`{"text":"SELECT 1"}`)); codeOf(err) != code {
			t.Errorf("%s: %v, want %s", connection, err, code)
		}
	}
}
