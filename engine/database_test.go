package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"faultlab/engine"
)

// failing is a database that refuses everything.
type failing struct{ code, message string }

func (f failing) Do(context.Context, json.RawMessage, string, json.RawMessage) (json.RawMessage, error) {
	if f.code == "" {
		return nil, errors.New(f.message)
	}
	return nil, &engine.Error{Code: f.code, Message: f.message}
}

// working is a database that takes everything.
type working struct{ calls int }

func (w *working) Do(context.Context, json.RawMessage, string, json.RawMessage) (json.RawMessage, error) {
	w.calls++
	return json.RawMessage(`{"rowsAffected":1,"lastInsertId":null,"rows":[],"rowCount":0}`), nil
}

const write = `|await services.db({driver: "sqlite", connection: "x.db"}).execute({text: "INSERT"}, {name: "w"}); `

// The codes of services.db, and what they prove about a write: it is never keyed.
func TestDatabaseFailures(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		code    string
		finding engine.Finding
		next    engine.Next
		read    engine.Next
		outcome engine.Outcome
	}{
		{"WOML_DATABASE_BUSY", engine.FoundNotDone, engine.NextAgain, engine.NextAgain, engine.Failed},
		{"WOML_DATABASE_UNAVAILABLE", engine.FoundNotDone, engine.NextAgain, engine.NextAgain, engine.Failed},
		{"WOML_DATABASE_CONSTRAINT", engine.FoundNotDone, engine.NextStop, engine.NextStop, engine.Failed},
		{"WOML_DATABASE_QUERY_FAILED", engine.FoundNotDone, engine.NextStop, engine.NextStop, engine.Failed},
		{"WOML_DATABASE_STATEMENT_FAILED", engine.FoundNotDone, engine.NextStop, engine.NextStop, engine.Failed},
		{"WOML_DATABASE_ROWS_TOO_LARGE", engine.FoundNotDone, engine.NextStop, engine.NextStop, engine.Failed},
		{"WOML_DATABASE_INPUT_INVALID", engine.FoundNotDone, engine.NextStop, engine.NextStop, engine.Failed},
		{"WOML_DATABASE_PATH_FORBIDDEN", engine.FoundNotDone, engine.NextStop, engine.NextStop, engine.Failed},
		{"", engine.FoundAmbiguous, engine.NextStop, engine.NextAgain, engine.Unknown}, // a commit that nobody can vouch for
	} {
		t.Run(r.code, func(t *testing.T) {
			t.Parallel()
			call := func(step string) (*engine.Run, *engine.Call) {
				l := newLab(t, nil, document("", step))
				l.options = func(o *engine.Options) { o.Database = failing{r.code, "the database says no"} }
				run := l.once(`{}`)
				return run, run.Steps[0].Attempts[0].Calls[0]
			}
			run, c := call(write)
			if c.Effect != engine.UnkeyedWrite || c.Finding != r.finding || c.Next != r.next || run.Steps[0].Last().Outcome != r.outcome {
				t.Errorf("a %s: %s, %s; the attempt %s", c.Effect, c.Finding, c.Next, run.Steps[0].Last().Outcome)
			}
			if code := run.Steps[0].Last().Code; r.code != "" && code != r.code {
				t.Errorf("the attempt's code is %s", code)
			}
			if _, c := call(`|await services.db({driver: "sqlite", connection: "x.db"}).query({text: "SELECT 1"});`); c.Effect != engine.Read || c.Next != r.read {
				t.Errorf("a %s: %s", c.Effect, c.Next)
			}
		})
	}
}

// Each operation of services.db, and what it can do to the world.
func TestDatabaseEffects(t *testing.T) {
	t.Parallel()
	for operation, effect := range map[string]engine.Effect{"query": engine.Read, "read": engine.Read, "execute": engine.UnkeyedWrite, "insert": engine.UnkeyedWrite,
		"update": engine.UnkeyedWrite, "delete": engine.UnkeyedWrite, "transaction": engine.UnkeyedWrite} {
		l := newLab(t, nil, document("", `|await services.db({driver: "sqlite", connection: "x.db"}).`+operation+`({}); return 1;`))
		l.options = func(o *engine.Options) { o.Database = &working{} }
		run := l.once(`{}`)
		if c := run.Steps[0].Attempts[0].Calls[0]; run.Status != engine.StatusSucceeded || c.Effect != effect {
			t.Errorf("%s is a %s, run %s", operation, c.Effect, run.Status)
		}
	}
}

func TestADatabaseWriteIsNotRepeatedByARetry(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", strings.Replace(write, "|", `retry="3"|`, 1)+`throw new Error("afterwards");`))
	db := &working{}
	l.options = func(o *engine.Options) { o.Database = db }
	run := l.once(`{}`)
	if a := run.Steps[0].Attempts; len(a) != 1 || db.calls != 1 || !strings.Contains(a[0].Reason, "without a key") {
		t.Errorf("%d attempts and %d writes: %s", len(a), db.calls, a[0].Reason)
	}
}

func TestADatabaseThatIsNotThere(t *testing.T) {
	t.Parallel()
	run := newLab(t, nil, document("", write)).once(`{}`)
	if a := run.Steps[0].Last(); a.Code != "WOML_DATABASE_UNAVAILABLE" || len(a.Calls) != 0 {
		t.Errorf("%s with %d calls", a.Code, len(a.Calls))
	}
	l := newLab(t, nil, document("", `|await services.db({driver: "sqlite", connection: "x"}).execute({text: "x".repeat(1100000)});`))
	l.options = func(o *engine.Options) { o.Database = &working{} }
	if a := l.once(`{}`).Steps[0].Last(); a.Code != "WOML_DATABASE_INPUT_INVALID" || len(a.Calls) != 0 {
		t.Errorf("an input too large: %s with %d calls", a.Code, len(a.Calls))
	}
}

// Nobody can be asked about a statement: the sentences say what can be done instead.
func TestAnUnknownStatement(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		decision engine.Decision
		result   string
		force    bool
		says     string // the refusal
		status   engine.Status
		belief   engine.Belief
	}{
		{engine.Record, "", true, "--result", engine.StatusFailed, engine.BeliefUnknown},
		{engine.Record, `{"n":1}`, false, "nobody can be asked", engine.StatusFailed, engine.BeliefUnknown},
		{engine.Record, `{"n":1}`, true, "", engine.StatusSucceeded, engine.BeliefDone},
		{engine.Resubmit, "", false, "no key", engine.StatusFailed, engine.BeliefUnknown},
		{engine.Abandon, "", false, "nobody can be asked", engine.StatusFailed, engine.BeliefUnknown},
		{engine.Abandon, "", true, "", engine.StatusFailed, engine.BeliefNotDone},
		{engine.Escalate, "", false, "", engine.StatusFailed, engine.BeliefUnknown},
	} {
		l := newLab(t, nil, document("", write+`return 1;`))
		l.options = func(o *engine.Options) { o.Database = failing{"", "the disk went away"} }
		run := l.once(`{}`)
		if !run.Reconcile {
			t.Fatal("nothing is unknown")
		}
		var asked, refused error
		l.run(func() {
			_, asked = l.eng.Lookup(t.Context(), run.ID, "", engine.LookupOptions{})
			refused = l.eng.Resolve(engine.Resolution{Run: run.ID, Decision: r.decision, Result: json.RawMessage(r.result), Force: r.force, Reason: "by the test"})
		})
		if !isRefused(asked) || !strings.Contains(asked.Error(), "services.db.execute") {
			t.Errorf("the look-up: %v", asked)
		}
		if (refused != nil) != (r.says != "") || refused != nil && !strings.Contains(refused.Error(), r.says) {
			t.Errorf("%s: %v, want %q", r.decision, refused, r.says)
		}
		run = l.get(run.ID)
		if b := run.StepBelief(run.Steps[0]); run.Status != r.status || b != r.belief {
			t.Errorf("%s: run %s, believes %s; want %s, %s", r.decision, run.Status, b, r.status, r.belief)
		}
	}
}

// A write that a person recorded stands in the verdict, although nobody knows how many rows it changed.
func TestARecordedStatementStands(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", write+`return 1;`, `|throw new Error("later");`))
	l.options = func(o *engine.Options) { o.Database = failing{"", "the disk went away"} }
	id := l.once(`{}`).ID
	l.run(func() {
		if err := l.eng.Resolve(engine.Resolution{Run: id, Decision: engine.Record, Result: json.RawMessage(`1`), Force: true}); err != nil {
			t.Error(err)
		}
	})
	run := l.get(id)
	if v, err := run.BelievedVerdict(l.hist); err != nil || run.Status != engine.StatusFailed || v != engine.RunFailedThoughDone {
		t.Errorf("run %s, %s (%v)", run.Status, v, err)
	}
}
