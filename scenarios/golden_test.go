package scenarios

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"faultlab/engine"
	"faultlab/scenarios/lang"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s\n--- want ---\n%s", file, got, want)
	}
}

// pictured are the scenarios whose wire diagrams are kept as text: together they have every kind of row.
var pictured = []string{
	"a-fail-before-commit", "b-commit-then-error", "c2-look-up-then-record", "d-new-key-per-attempt", "e-changed-payload", "f-drop-before-commit",
	"late-commit-under-the-same-key", "cancelled-in-flight", "body-cut", "body-not-json", "connection-refused", "409-behind-it-another-payload",
	"in-flight-409", "look-up-stale", "crash-after-the-effect", "unique-insert", "webhook-with-a-changed-body", "transport-repeats-by-itself",
	"redirect-turns-post-into-get", "compensation", "events-out-of-order",
}

func TestTheWireAsText(t *testing.T) {
	t.Parallel()
	kinds := map[RowKind]bool{}
	for _, name := range pictured {
		s, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		r := replay(t, s, Options{})
		for _, row := range r.View.Wire {
			kinds[row.Kind] = true
		}
		golden(t, "wire/"+name+".txt", WireText(r.View.Wire, r.View.Start))
	}
	for k := RowRun; k <= RowNote; k++ {
		if !kinds[k] {
			t.Errorf("no picture has a row of kind %d", k)
		}
	}
}

func TestACrowdIsCounted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"herd-without-jitter", "herd-with-jitter", "a-fail-before-commit"} {
		s, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		r := replay(t, s, Options{})
		text := ArrivalsText(r.View)
		var b bytes.Buffer
		if err := r.WriteMarkdown(&b); err != nil || strings.Contains(b.String(), "### Arrivals") != (text != "") {
			t.Errorf("%s: %v, the report counts other arrivals than\n%s", name, err, text)
		}
		if name == "a-fail-before-commit" {
			if text != "" {
				t.Errorf("two requests are no crowd:\n%s", text)
			}
			continue
		}
		golden(t, "arrivals/"+name+".txt", text)
	}
}

func TestOnlyTheProvidersSideIsTruth(t *testing.T) {
	t.Parallel()
	truth := map[RowKind]bool{RowCommit: true, RowReplay: true, RowRefused: true}
	there := func(r Row) bool { // also requests that no caller of ours made, and those that its transport repeated
		foreign := r.Run == "" && (r.Kind == RowSend || r.Kind == RowReply)
		return truth[r.Kind] || r.Hidden || foreign
	}
	for _, name := range pictured {
		s, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range replay(t, s, Options{}).View.Wire {
			if row.Truth != there(row) {
				t.Errorf("%s: a row of kind %d, %q, says truth %v", name, row.Kind, row.Text, row.Truth)
			}
		}
	}
}

func TestWhatATransportRepeatsIsCountedAsARequest(t *testing.T) {
	t.Parallel()
	s, err := Find("transport-repeats-by-itself")
	if err != nil {
		t.Fatal(err)
	}
	r := replay(t, s, Options{})
	if c, want := r.View.Counts(r.View.Runs[0]), (Counts{Attempts: 1, Calls: 2, Requests: 3, ByTransport: 1}); c != want {
		t.Errorf("counted %+v, want %+v", c, want)
	}
	if got := r.View.Repeats; len(got) != 1 || got[0].Run != r.View.Runs[0].ID || got[0].Step != "createFulfillment" || got[0].Attempt != 1 {
		t.Errorf("repeated %+v", got)
	}
	var b bytes.Buffer
	if err := r.WriteMarkdown(&b); err != nil || !strings.Contains(b.String(), "1 attempt, 2 calls, 3 requests, 1 of them by the transport itself") {
		t.Errorf("%v, the report says\n%s", err, b.String())
	}
	if text := reportText(t, r); !strings.Contains(text, `"calls":2,"requests":3,"byTransport":1`) {
		t.Errorf("the report for machines says\n%s", text)
	}
}

// TestRowsSayWhoseTheyAre: several steps' rows, and those of compensations, are told apart by nothing else.
func TestRowsSayWhoseTheyAre(t *testing.T) {
	t.Parallel()
	for _, s := range Catalogue() {
		for _, row := range replay(t, s, Options{}).View.Wire {
			switch {
			case row.Kind == RowRun, row.Kind == RowInbound, row.Kind == RowNote, row.Detail == "nothing new starts":
				continue // of the run, or of the bench
			case row.Kind == RowSend && row.Detail == "from outside", row.Run == "" && strings.HasPrefix(row.Request, "outside-"):
				continue
			}
			compensates := strings.HasPrefix(row.Text, "compensate ")
			if row.Run == "" || row.Step == "" || row.Attempt == 0 && row.Text != NoteConsole || compensates && !row.Undo {
				t.Errorf("%s: the row %q %q is of run %q, step %q, undo %v, attempt %d", s.Name, row.Text, row.Detail, row.Run, row.Step, row.Undo, row.Attempt)
			}
			if id, ok := engine.ParseRequestID(row.Request); ok && (id.Step != row.Step || id.Undo != row.Undo || id.Attempt != row.Attempt) {
				t.Errorf("%s: the row %q of the request %s is of step %q, undo %v, attempt %d", s.Name, row.Text, row.Request, row.Step, row.Undo, row.Attempt)
			}
		}
	}
}

func TestTheReportForAReviewer(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"b-commit-then-error", "compensation-held-back"} {
		s, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := replay(t, s, Options{}).WriteMarkdown(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, "report/"+name+".md", b.String())
	}
}

// failing is the report of a scenario whose expectations are not met and whose subject is hostile.
func failing(t *testing.T) *Report {
	t.Helper()
	src, err := catalogueFiles.ReadFile("catalogue/a-fail-before-commit.txtar")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(src), "expect jobs 1", "expect jobs 2", 1)
	text = strings.Replace(text, "group  The guide", "group  The guide\nsubject orderId", 1)
	text = strings.Replace(text, "order-42", "order|<b>`*\u202e\u061c]]>\\\\|![x](http://127.0.0.1/)", 1)
	s, err := lang.Parse("mine.txtar", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r := replay(t, s, Options{})
	r.Real = 12 * time.Millisecond
	return r
}

func TestTheReportForMachines(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := failing(t).WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n != 1 {
		t.Errorf("the object takes %d lines", n)
	}
	var got struct {
		Scenario string
		Passed   bool
		Failures []struct{ Line int }
		Runs     []struct {
			Status             string
			Attempts, Requests int
		}
		Operations []struct{ Verdict, Why string }
		Effects    []struct{ Collection string }
		Timeline   []struct {
			N    int
			Side string
			Kind string
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	switch {
	case got.Scenario != "mine" || got.Passed || len(got.Failures) != 1 || got.Failures[0].Line == 0:
		t.Errorf("what failed: %+v", got)
	case len(got.Runs) != 1 || got.Runs[0].Attempts != 2 || got.Runs[0].Requests != 2 || got.Runs[0].Status != "succeeded":
		t.Errorf("the runs: %+v", got.Runs)
	case len(got.Operations) != 1 || got.Operations[0].Verdict != "one effect" || got.Operations[0].Why == "":
		t.Errorf("the operations: %+v", got.Operations)
	case len(got.Effects) != 1 || got.Effects[0].Collection != "jobs":
		t.Errorf("the ledger: %+v", got.Effects)
	}
	sides := map[string]bool{}
	for i, e := range got.Timeline {
		if sides[e.Side] = true; e.N != i+1 || e.Kind == "" {
			t.Errorf("entry %d: %+v", i, e)
		}
	}
	if len(sides) != 3 {
		t.Errorf("the timeline has the sides %v", sides)
	}
}

func TestTheReportForCI(t *testing.T) {
	t.Parallel()
	s, err := Find("b-commit-then-error")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteJUnit(&b, []Result{{Report: replay(t, s, Options{})}, {Report: failing(t)}, {Unread: &Unread{"cases/bad.txtar", errors.New("cases/bad.txtar:3:1: unknown verb\ncases/bad.txtar:4:1: and more")}}}); err != nil {
		t.Fatal(err)
	}
	var got junitSuite
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if got.Tests != 3 || got.Failures != 1 || got.Errors != 1 || got.Time != "0.012" || len(got.Cases) != 3 || got.Cases[0].Failure != nil {
		t.Fatalf("the suite is %+v", got)
	}
	if f := got.Cases[1].Failure; f == nil || !strings.Contains(f.Message, "mine.txtar:") || !strings.Contains(f.Message, "expected jobs 2, seen 1 effect in jobs") {
		t.Errorf("the failure is %+v", f)
	}
	if c := got.Cases[2]; c.Failure != nil || c.Error == nil || c.Class != "faultlab.cases" || c.Name != "bad" ||
		c.Error.Message != "cases/bad.txtar:3:1: unknown verb" || !strings.Contains(c.Error.Text, "cases/bad.txtar:4:1: and more") {
		t.Errorf("the file that could not be read is %+v", c)
	}
}

func TestAHostilePayloadCannotBreakAReport(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := failing(t).WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	want := "| createFulfillment | order\\|&lt;b>'\\*\\\\u202e\\\\u061c\\]\\]>\\\\\\|!\\[x\\](http://127.0.0.1/) | done | 1 | **one effect** |\n"
	if s := b.String(); !strings.Contains(s, want) {
		t.Errorf("the report has no line %q:\n%s", want, s)
	}
}

// A parent that goes on meets its child again, and does not wait for what is settled.
func TestWhoGoesOnWaitsForNothingSettled(t *testing.T) {
	t.Parallel()
	s, err := Find("a-child-holds-the-refund")
	if err != nil {
		t.Fatal(err)
	}
	r := replay(t, s, Options{})
	_, after, found := strings.Cut(WireText(r.View.Wire, r.View.Start), "goes on: ")
	if !found || strings.Contains(after, "waits for") || !strings.Contains(after, "succeeded") {
		t.Errorf("after it goes on the wire has:\n%s", after)
	}
}
