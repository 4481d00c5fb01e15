package engine

import (
	"fmt"
	"strings"
	"testing"
)

// made is one call of an attempt in a test: "NAME METHOD PATH BODY KEY FINDING", with - for nothing.
func made(t *testing.T, text string) (CallStarted, CallEnded) {
	t.Helper()
	w := strings.Fields(text)
	if len(w) != 6 {
		t.Fatalf("%q has not six words", text)
	}
	for i := range w {
		if w[i] == "-" {
			w[i] = ""
		}
	}
	started := CallStarted{Service: "http", Operation: "request", Name: w[0], Effect: KeyedWrite, Target: w[1] + " http://p.test" + w[2] + "?n=1", Content: w[3], Digest: text, Key: w[4]}
	if w[1] == "GET" {
		started.Effect = Read
	}
	if w[1] == "db.execute" {
		started.Effect, started.Target = UnkeyedWrite, w[1]
	}
	ended := CallEnded{How: HowNoReply, Finding: Finding(strings.ReplaceAll(w[5], "_", " "))}
	if ended.Finding == FoundDone {
		ended.How, ended.Status = HowAccepted, 201
	}
	return started, ended
}

// attempts folds a run of one step whose attempts made these calls, one after another.
func attempts(t *testing.T, all ...[]string) *Run {
	t.Helper()
	r := &Run{}
	seq := int64(0)
	apply := func(f Fact) {
		seq++
		r.Apply(Event{Seq: seq, Run: "run_1", Fact: f})
	}
	apply(Admitted{Workflow: "w"})
	apply(Started{})
	for n, calls := range all {
		p := Pos{Step: "s", Attempt: n + 1}
		apply(AttemptStarted{Pos: p, Max: len(all)})
		for i, text := range calls {
			p.Call = i + 1
			started, ended := made(t, text)
			started.Pos, ended.Pos = p, p
			apply(started)
			apply(ended)
		}
		p.Call = 0
		apply(AttemptEnded{Pos: p, Outcome: Failed, Next: NextStop})
	}
	apply(Ended{Status: StatusFailed})
	return r
}

func TestOperationsByWrite(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name     string
		attempts [][]string
		want     string // the operations: name, number of calls, belief
	}{
		{"one write", [][]string{{"create POST /jobs b k done"}}, "create 1 done"},
		{"no write", [][]string{{"look GET /jobs - - -"}}, " 0 not-done"},
		{"an invoice and a payment", [][]string{{"- POST /invoices b i done", "- POST /payments b p ambiguous"}}, "POST /invoices 1 done; POST /payments 1 unknown"},
		{"an invoice and a payment under one key", [][]string{{"invoice POST /invoices b k done", "payment POST /payments b k unproven"}}, "invoice 1 done; payment 1 unknown"},
		{"a local write before a payment", [][]string{{"mark db.execute - - - done", "pay POST /payments b p unproven"}}, "mark 1 done; pay 1 unknown"},
		{"a retry under the same name", [][]string{{"create POST /jobs b k unproven"}, {"create POST /jobs b k done"}}, "create 2 done"},
		{"a retry under another key", [][]string{{"create POST /jobs b k1 unproven"}, {"create POST /jobs b k2 done"}}, "create 2 done"},
		{"a retry with another body", [][]string{{"create POST /jobs b1 k unproven"}, {"create POST /jobs b2 k done"}}, "create 2 done"},
		{"a retry under another name", [][]string{{"first POST /jobs b k unproven"}, {"second POST /jobs b k done"}}, "first 2 done"},
		{"caught and sent again under a new key", [][]string{{"create POST /jobs b k1 ambiguous", "again POST /jobs b k2 done"}}, "create 2 done"},
		{"caught and sent again, and it went out twice at once", [][]string{{"create POST /jobs b k1 unproven", "again POST /jobs b k2 unproven"}}, "create 2 unknown"},
		{"a loop over two items", [][]string{{"- POST /items a ka done", "- POST /items b kb ambiguous"}}, "POST /items 1 done; POST /items #2 1 unknown"},
		{"a loop over two items that are alike", [][]string{{"- POST /items a k1 done", "- POST /items a k2 done"}}, "POST /items 1 done; POST /items #2 1 done"},
		{"a loop over two items, tried again", [][]string{{"- POST /items a ka done", "- POST /items b kb unproven"}, {"- POST /items a ka done", "- POST /items b kb done"}},
			"POST /items 2 done; POST /items #2 2 done"},
		{"a loop over two items that are alike, tried again", [][]string{{"- POST /items a k1 done", "- POST /items a k2 unproven"}, {"- POST /items a k1 done", "- POST /items a k2 done"}},
			"POST /items 2 done; POST /items #2 2 done"},
		{"a loop over two items, tried again the other way round", [][]string{{"- POST /items a ka done", "- POST /items b kb unproven"}, {"- POST /items b kb done", "- POST /items a ka done"}},
			"POST /items 2 done; POST /items #2 2 done"},
		{"a loop of which the first item is caught and sent again", [][]string{{"- POST /items a k1 unproven", "- POST /items a k2 done", "- POST /items b k3 unproven"}, {"- POST /items a k1 done", "- POST /items b k3 done"}},
			"POST /items 3 done; POST /items #2 2 done"},
		{"a retry that skips what is done", [][]string{{"- POST /invoices b i done", "- POST /payments b p unproven"}, {"- POST /payments b p done"}}, "POST /invoices 1 done; POST /payments 2 done"},
		{"one name for two writes", [][]string{{"create POST /invoices b i done", "create POST /payments b p not_done"}}, "create 1 done; create #2 1 not-done"},
		{"an operation that a later attempt leaves out", [][]string{{"pay POST /payments b p unproven"}, {"bill POST /invoices b i done"}}, "pay 1 unknown; bill 1 done"},
	} {
		run := attempts(t, r.attempts...)
		var got []string
		for _, o := range run.Operations(run.Steps[0]) {
			got = append(got, fmt.Sprintf("%s %d %s", o.Write, len(o.Calls), run.BeliefOf(o)))
			for _, c := range o.Calls {
				if of := run.OperationOf(c); of == nil || of.Write != o.Write {
					t.Errorf("%s: call %d of attempt %d is not of %s", r.name, c.Call, c.Attempt, o.Write)
				}
			}
		}
		if strings.Join(got, "; ") != r.want {
			t.Errorf("%s: %s\nwant %s", r.name, strings.Join(got, "; "), r.want)
		}
	}
}

// What one operation is in doubt about says nothing about another one of its step.
func TestDoubtsAreOfAnOperation(t *testing.T) {
	t.Parallel()
	run := attempts(t, []string{"mark db.execute - - - done", "bill POST /invoices b k done", "pay POST /payments b k ambiguous"})
	var doubts []string
	for _, c := range run.Doubts(run.Steps[0]) {
		doubts = append(doubts, c.Write)
	}
	if got := strings.Join(doubts, " "); got != "pay" || !run.needsReconciling() || run.StepBelief(run.Steps[0]) != BeliefUnknown {
		t.Errorf("in doubt: %q, the step is %s", got, run.StepBelief(run.Steps[0]))
	}
}
