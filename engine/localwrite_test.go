package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"faultlab/engine"
)

// marking is a database in memory whose writes leave marks.
type marking struct {
	unmarked  string                          // why it leaves none
	marks     map[engine.Mark]json.RawMessage // nil: the result was too large
	writes    int                             // carried out
	large     bool                            // results are too large to keep
	lost      error                           // why the file cannot be read after a crash
	committed func()                          // once the write is
}

func (m *marking) Do(context.Context, json.RawMessage, string, json.RawMessage) (json.RawMessage, error) {
	m.writes++
	return m.result(), nil
}

func (m *marking) result() json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"rowsAffected":1,"n":%d}`, m.writes))
}

func (m *marking) Marked(json.RawMessage) (string, bool) { return m.unmarked, m.unmarked == "" }

func (m *marking) Write(_ context.Context, k engine.Mark, _ json.RawMessage, _ string, _ json.RawMessage) (json.RawMessage, error) {
	if kept, there := m.marks[k]; there {
		return kept, nil
	}
	if m.marks == nil {
		m.marks = map[engine.Mark]json.RawMessage{}
	}
	m.writes++
	m.marks[k] = m.result()
	if m.large {
		m.marks[k] = nil
	}
	if m.committed != nil {
		m.committed()
	}
	return m.result(), nil
}

func (m *marking) Find(_ context.Context, k engine.Mark, file string) (json.RawMessage, bool, error) {
	if file != "x.db" {
		return nil, false, fmt.Errorf("another file: %q", file)
	}
	kept, there := m.marks[k]
	return kept, there, m.lost
}

func (m *marking) Ended(engine.Mark, string, func() bool) {}
func (m *marking) Sweep(func(engine.Mark) bool)           {}

var _ engine.Marks = (*marking)(nil)

// A step that writes a row and then fails may be retried: the row is not written again,
// and the script gets the first result.
func TestALocalWriteIsKeyedOverAttempts(t *testing.T) {
	t.Parallel()
	insert := func(name, values string) string {
		return `await db.execute({text: "INSERT", values: ` + values + `}, {name: "` + name + `"});`
	}
	const throwFirst = `if (attempt.number === 1) throw new Error("later"); return r;`
	for _, r := range []struct {
		name, script string
		unmarked     string
		attempts     int
		writes       int
		result       string
	}{
		{"the same write", `const r = ` + insert("w", `[1]`) + throwFirst, "", 2, 1, `{"rowsAffected":1,"n":1}`},
		{"another name", `const r = ` + insert("w\" + attempt.number + \"", `[1]`) + throwFirst, "", 2, 2, `{"rowsAffected":1,"n":2}`},
		{"other values", `const r = ` + insert("w", `[attempt.number]`) + throwFirst, "", 2, 2, `{"rowsAffected":1,"n":2}`},
		{"twice in each attempt", insert("w", `[1]`) + `const r = ` + insert("w", `[1]`) + throwFirst, "", 2, 2, `{"rowsAffected":1,"n":2}`},
		{"once more in the second", `let r = ` + insert("w", `[1]`) + `if (attempt.number === 2) r = ` + insert("w", `[1]`) + throwFirst, "", 2, 2, `{"rowsAffected":1,"n":2}`},
		{"without marks", `const r = ` + insert("w", `[1]`) + throwFirst, "markers: false", 1, 1, ``},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", retry3+`const db = services.db({driver: "sqlite", connection: "x.db"}); `+r.script))
			db := &marking{unmarked: r.unmarked}
			l.options = func(o *engine.Options) { o.Database = db }
			s := l.once(`{}`).Steps[0]
			if len(s.Attempts) != r.attempts || db.writes != r.writes || string(s.Result) != r.result {
				t.Errorf("%d attempts, %d writes, result %s; want %d, %d, %s", len(s.Attempts), db.writes, s.Result, r.attempts, r.writes, r.result)
			}
			for _, c := range s.Last().Calls {
				if c.Unmarked != r.unmarked || (c.Effect == engine.LocalWrite) != (r.unmarked == "") {
					t.Errorf("the call is a %s, unmarked because of %q", c.Effect, c.Unmarked)
				}
			}
		})
	}
}

// After a crash in the middle of a local write its file says what became of it.
func TestALocalWriteAfterACrash(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name      string
		committed bool
		large     bool
		lost      error
		how       engine.How
		finding   engine.Finding
		status    engine.Status
		writes    int
	}{
		{"before it was committed: it is made again", false, false, nil, engine.HowAccepted, engine.FoundDone, engine.StatusSucceeded, 2},
		{"once it was committed: its result is the answer", true, false, nil, engine.HowAccepted, engine.FoundDone, engine.StatusSucceeded, 1},
		{"once it was committed, with a large result: a person is needed", true, true, nil, engine.HowAccepted, engine.FoundDone, engine.StatusFailed, 1},
		{"and the file cannot be read any more", true, false, errors.New("the disk is gone"), engine.HowNoReply, engine.FoundAmbiguous, engine.StatusFailed, 1},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", write+`return 1;`))
			db := &marking{large: r.large}
			l.options = func(o *engine.Options) { o.Database = db }
			eng := l.start()
			db.committed = func() {
				eng.Kill()
				if !r.committed { // the transaction goes with the process
					db.marks = nil
				}
			}
			var id string
			l.run(func() {
				receipt, err := eng.Admit(engine.Delivery{Workflow: "orders", Payload: json.RawMessage(`{}`)})
				if err != nil {
					t.Error(err)
				}
				id = receipt.Run
			})
			db.committed, db.lost = nil, r.lost
			run := l.restart(id)
			c := run.Steps[0].Attempts[0].Calls[0]
			if c.How != r.how || c.Finding != r.finding || db.writes != r.writes {
				t.Errorf("the call ended %q, %q after %d writes; want %q, %q, %d", c.How, c.Finding, db.writes, r.how, r.finding, r.writes)
			}
			if counts := r.committed && r.lost == nil; (c.Rows > 0) != counts && r.writes == 1 {
				t.Errorf("%d rows count as changed", c.Rows)
			}
			if r.lost != nil && !strings.Contains(c.Message, "x.db cannot be asked") {
				t.Errorf("it says %q", c.Message)
			}
			if run.Status != r.status || run.Reconcile != (r.status == engine.StatusFailed) {
				t.Errorf("run %s (%s), needs a person: %v", run.Status, run.Message, run.Reconcile)
			}
		})
	}
}
