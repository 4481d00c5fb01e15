package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"faultlab/engine"
)

// ledger is a file with a table of events, and a mark for each write of the test.
type ledgerFile struct {
	t    *testing.T
	d    *Databases
	path string
}

func newLedger(t *testing.T) *ledgerFile {
	t.Helper()
	l := &ledgerFile{t: t, d: databasesOf(t), path: filepath.Join(t.TempDir(), "ledger.db")}
	l.exec("CREATE TABLE events (id TEXT PRIMARY KEY)")
	return l
}

func databasesOf(t *testing.T) *Databases {
	t.Helper()
	d := NewDatabases("", nil)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (l *ledgerFile) connection() json.RawMessage {
	return json.RawMessage(`{"driver":"sqlite","connection":` + quoteJSON(l.path) + `}`)
}

// exec changes the file as another program would.
func (l *ledgerFile) exec(statements ...string) {
	l.t.Helper()
	db, err := sql.Open("sqlite", l.path)
	if err != nil {
		l.t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			l.t.Fatal(err)
		}
	}
}

// value is what a query of another program gives.
func (l *ledgerFile) value(query string) (v string) {
	l.t.Helper()
	db, err := sql.Open("sqlite", l.path)
	if err != nil {
		l.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query).Scan(&v); err != nil {
		l.t.Fatal(err)
	}
	return v
}

func call(n int) engine.Mark { return engine.Mark{Run: "run_a", Step: "one", Attempt: 1, Call: n} }

func (l *ledgerFile) insert(m engine.Mark, id string) (string, error) {
	out, err := l.d.Write(context.Background(), m, l.connection(), "execute",
		json.RawMessage(`{"text":"INSERT INTO events VALUES ($1) ON CONFLICT DO NOTHING","values":[`+quoteJSON(id)+`]}`))
	return string(out), err
}

const markCount, eventCount = "SELECT count(*) FROM faultlab_calls", "SELECT count(*) FROM events"

// A write and its mark are one: whoever asks again gets the first answer, and nothing is done twice.
func TestAWriteLeavesItsMark(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	if result, there, err := l.d.Find(t.Context(), call(1), l.path); there || err != nil {
		t.Errorf("before any write: %s, %v, %v", result, there, err)
	}
	first, err := l.insert(call(1), "evt-1")
	if err != nil || !strings.Contains(first, `"rowsAffected":1`) {
		t.Fatalf("the write gives %s, %v", first, err)
	}
	if result, there, err := l.d.Find(t.Context(), call(1), l.path); !there || err != nil || string(result) != first {
		t.Errorf("the mark holds %s, %v, %v; want %s", result, there, err, first)
	}
	if again, err := l.insert(call(1), "evt-1"); err != nil || again != first {
		t.Errorf("the same call again gives %s, %v; want %s", again, err, first)
	}
	if second, err := l.insert(call(2), "evt-1"); err != nil || !strings.Contains(second, `"rowsAffected":0`) {
		t.Errorf("another call gives %s, %v", second, err)
	}
	if _, err := l.d.Write(t.Context(), call(3), l.connection(), "insert", json.RawMessage(`{"table":"events","values":{"id":"evt-1"}}`)); codeOf(err) != "CONSTRAINT" {
		t.Errorf("a constraint: %v", err)
	}
	if _, there, err := l.d.Find(t.Context(), call(3), l.path); there || err != nil {
		t.Errorf("a write that changed nothing has a mark: %v, %v", there, err)
	}
	if n := l.value(eventCount); n != "1" {
		t.Errorf("%s events", n)
	}
}

// The mark is written after the script's statements, and is no row that they could see.
func TestAMarkChangesNothingThatAScriptSees(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	if _, err := l.insert(call(1), "evt-1"); err != nil {
		t.Fatal(err)
	}
	out, err := l.d.Write(t.Context(), call(2), l.connection(), "transaction", json.RawMessage(`[{"operation":"insert","table":"events","values":{"id":"evt-2"}},
		{"operation":"query","text":"SELECT last_insert_rowid() AS id, changes() AS n"}]`))
	if want := `{"results":[{"rowsAffected":1,"lastInsertId":2},{"rowCount":1,"rows":[{"id":2,"n":1}]}]}`; err != nil || !sameJSON(string(out), want) {
		t.Errorf("%s, %v; want %s", out, err, want)
	}
}

func TestMarksGoOnceTheEndIsOnDisk(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	onDisk := map[int]bool{}
	for n := 1; n <= 2; n++ {
		if _, err := l.insert(call(n), "evt-"+string(rune('0'+n))); err != nil {
			t.Fatal(err)
		}
		l.d.Ended(call(n), l.path, func() bool { return onDisk[n] })
	}
	there := func() (left []int) {
		for n := range 6 {
			if _, is, _ := l.d.Find(t.Context(), call(n), l.path); is {
				left = append(left, n)
			}
		}
		return left
	}
	for _, r := range []struct {
		name string
		do   func() error
		want []int
	}{
		{"before another write", func() error { onDisk[1] = true; return nil }, []int{1, 2}},
		{"after a write that failed", func() error {
			_, err := l.d.Write(t.Context(), call(3), l.connection(), "execute", json.RawMessage(`{"text":"INSERT INTO nowhere VALUES (1)"}`))
			if err != nil {
				return nil
			}
			return context.Canceled
		}, []int{1, 2}},
		{"after another write", func() error { _, err := l.insert(call(4), "evt-4"); return err }, []int{2, 4}},
		{"after one that follows the other end", func() error { onDisk[2] = true; _, err := l.insert(call(5), "evt-5"); return err }, []int{4, 5}},
	} {
		if err := r.do(); err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		if left := there(); !slices.Equal(left, r.want) {
			t.Errorf("%s: marks %v are there, want %v", r.name, left, r.want)
		}
	}
}

// What a process left that was killed goes with the first write of the next one, where
// the history has the end of the call; the marks of another state file stay.
func TestMarksOfAKilledProcessAreSwept(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	for n := 1; n <= 3; n++ {
		if _, err := l.insert(call(n), "evt"); err != nil {
			t.Fatal(err)
		}
	}
	next := databasesOf(t)
	next.Sweep(func(m engine.Mark) bool { return m.Call == 2 })
	l.d = next
	if _, err := l.insert(call(4), "evt"); err != nil {
		t.Fatal(err)
	}
	if left := l.value("SELECT group_concat(call) FROM faultlab_calls"); left != "1,3,4" {
		t.Errorf("marks %s are left", left)
	}
}

func TestALargeResultIsNotKept(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	for n, size := range map[int]int{1: maxMarkResult / 2, 2: maxMarkResult} {
		input := json.RawMessage(`[{"operation":"query","text":"SELECT hex(zeroblob(` + string(quoteNumber(size/2)) + `)) AS a"}]`)
		out, err := l.d.Write(t.Context(), call(n), l.connection(), "transaction", input)
		if err != nil || len(out) < size {
			t.Fatalf("the script gets %d bytes, %v", len(out), err)
		}
		result, there, err := l.d.Find(t.Context(), call(n), l.path)
		if want := n == 1; !there || err != nil || (result != nil) != want {
			t.Errorf("a result of %d bytes: there %v, kept %v, %v; kept is to be %v", len(out), there, result != nil, err, want)
		}
		if _, err := l.d.Write(t.Context(), call(n), l.connection(), "transaction", input); n == 2 && codeOf(err) != "RESULT_LOST" {
			t.Errorf("the same call again: %v", err)
		}
	}
}

func quoteNumber(n int) []byte { raw, _ := json.Marshal(n); return raw }

func TestWhichWritesLeaveMarks(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name   string
		before []string // what another program made
		target string   // beside driver and connection
		why    string   // no marks
	}{
		{"a file like any other", nil, "", ""},
		{"asked for", nil, `,"markers":true`, ""},
		{"not wanted", nil, `,"markers":false`, "markers: false"},
		{"another table of that name", []string{"CREATE TABLE faultlab_calls (a)"}, "", "of its own"},
		{"in other letters", []string{"CREATE TABLE FaultLab_Calls (a)"}, "", "of its own"},
		{"a view of that name", []string{"CREATE VIEW faultlab_calls AS SELECT 1"}, "", "of its own"},
		{"the table, made before", []string{"CREATE TABLE IF NOT EXISTS main." + marksSchema}, "", ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t)
			l.exec(r.before...)
			connection := json.RawMessage(`{"driver":"sqlite","connection":` + quoteJSON(l.path) + r.target + `}`)
			for _, when := range []string{"before the first write", "after it"} {
				why, ok := l.d.Marked(connection)
				if ok != (r.why == "") || !strings.Contains(why, r.why) {
					t.Errorf("%s: %v, %q", when, ok, why)
				}
				if r.why == "" {
					if _, err := l.insert(call(len(when)), "evt-1"); err != nil {
						t.Errorf("the write: %v", err)
					}
				}
			}
		})
	}
	l := newLedger(t)
	if _, ok := l.d.Marked(l.connection()); !ok {
		t.Fatal("no marks")
	}
	l.exec("CREATE TABLE faultlab_calls (a)")
	if _, err := l.insert(call(1), "evt-1"); codeOf(err) != "UNAVAILABLE" {
		t.Errorf("a write where the name was taken meanwhile: %v", err)
	}
	if why, ok := l.d.Marked(l.connection()); ok || l.value(eventCount) != "0" {
		t.Errorf("afterwards: %q, %v, %s events", why, ok, l.value(eventCount))
	}
}

func TestAScriptMayNotTouchTheMarks(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	if _, err := l.insert(call(1), "evt-1"); err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct{ operation, input string }{
		{"execute", `{"text":"DELETE FROM faultlab_calls"}`},
		{"execute", `{"text":"DROP TABLE main . \"FAULTLAB_calls\""}`},
		{"execute", `{"text":"INSERT INTO 'faultlab_calls' VALUES ('r', 's', 1, 1, '{}')"}`},
		{"execute", `{"text":"ALTER TABLE events RENAME TO [faultlab_calls]"}`},
		{"query", "{\"text\":\"SELECT * FROM `faultlab_calls`\"}"},
		{"delete", `{"table":"faultlab_calls","where":{"run":"run_a"}}`},
		{"transaction", `[{"operation":"update","table":"faultlab_calls","set":{"result":"x"},"where":{"run":"run_a"}}]`},
	} {
		if _, err := l.d.Do(t.Context(), l.connection(), r.operation, json.RawMessage(r.input)); codeOf(err) != "TABLE_RESERVED" {
			t.Errorf("%s %s: %v", r.operation, r.input, err)
		}
	}
	for _, text := range []string{"SELECT 1 AS my_faultlab_calls", "SELECT 'about faultlab_calls' AS a -- faultlab_calls"} {
		if _, err := l.d.Do(t.Context(), l.connection(), "query", json.RawMessage(`{"text":`+quoteJSON(text)+`}`)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if n := l.value(markCount); n != "1" {
		t.Errorf("%s marks", n)
	}
}
