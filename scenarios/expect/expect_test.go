package expect

import (
	"encoding/json"
	"errors"
	"faultlab/engine"
	"faultlab/faultprovider"
	"faultlab/faultprovider/fault"
	"faultlab/scenarios/lang"
	"faultlab/scenarios/timeline"
	"testing"
	"time"
)

const second = time.Second

var start = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// attemptOf is the n-th attempt of a step, open if it has no outcome.
func attemptOf(n int, outcome engine.Outcome, from, to time.Duration, calls ...*engine.Call) *engine.Attempt {
	a := &engine.Attempt{N: n, Outcome: outcome, StartedAt: start.Add(from), Calls: calls}
	if outcome != "" {
		a.EndedAt = start.Add(to)
	}
	return a
}

func effect(collection, id, key, request, body string) faultprovider.Effect {
	return faultprovider.Effect{Collection: collection, ID: id, Key: key, RequestID: request, Body: json.RawMessage(body)}
}

// logOf is a provider's log of requests, each of which arrives, has its key read, and is decided.
func logOf(requests ...faultprovider.Entry) (log []faultprovider.Entry) {
	for i, r := range requests {
		decision := r
		r.Request, r.Kind, r.Key = int64(i+1), faultprovider.Received, ""
		if decision.Request = r.Request; decision.Kind == "" {
			decision.Kind = faultprovider.Looked
		}
		log = append(log, r, decision)
	}
	return log
}

// twoRuns is a world of two runs for one order: the first did it at its second attempt, the rerun under a new key lost the
// reply of its only one, and was looked up.
func twoRuns() World {
	charge := &engine.Call{Status: 200, Key: "k1", Write: "charge", Target: "POST /jobs", Requests: []*engine.Request{{ID: "run_a/pay/2/2"}}}
	charge.Step = "pay"
	lost := &engine.Call{Code: "WOML_HTTP_TIMED_OUT", Key: "k2", Evidence: []engine.EvidenceAt{
		{Evidence: engine.Evidence{Found: engine.FoundNoRecord}, Seq: 7}, {Evidence: engine.Evidence{Found: engine.FoundRecord, Match: engine.Incomparable}, Seq: 9}}}
	at := func(d time.Duration) time.Time { return start.Add(d) }
	v := &timeline.View{Start: start,
		Runs: []*engine.Run{
			{ID: "run_a", Status: engine.StatusSucceeded, Steps: []*engine.Step{
				{ID: "pay", Done: true, Result: json.RawMessage(`{"jobId":"job_1","amount":1.0,"tags":["a"],"note":null}`), Attempts: []*engine.Attempt{
					attemptOf(1, engine.Failed, 0, second/10, &engine.Call{Status: 503, Code: "WOML_HTTP_STATUS_REJECTED", Key: "k1"}),
					attemptOf(2, engine.Succeeded, second+second/10, 2*second, charge),
				}},
			}},
			{ID: "run_b", Status: engine.StatusFailed, Reconcile: true, Code: "WOML_STEP_FAILED", Steps: []*engine.Step{
				{ID: "pay", Attempts: []*engine.Attempt{attemptOf(1, engine.Unknown, 5*second, 15*second, lost)}},
				{ID: "pay", Undo: true, Attempts: []*engine.Attempt{attemptOf(1, "", 16*second, 0)}},
			}},
		},
		Operations: []timeline.Operation{
			{Step: "pay", Subject: "order-42", Runs: []string{"run_a", "run_b"}, Keys: []string{"k1", "k2"}, Belief: engine.BeliefUnknown, Verdict: engine.Duplicate},
			{Step: "ship", Write: "invoice", Route: "POST /invoices", Subject: "order-42", Runs: []string{"run_a"}, Keys: []string{"k3"}, Belief: engine.BeliefDone, Verdict: engine.OneEffect},
		},
		Log: logOf(
			faultprovider.Entry{Kind: faultprovider.NewOperation, RequestID: "run_a/pay/1/1", Method: "POST", Path: "/jobs", Key: "k1", Fault: "commit-then-error", At: at(0)},
			faultprovider.Entry{Kind: faultprovider.Replay, RequestID: "run_a/pay/2/2", Method: "POST", Path: "/jobs", Key: "k1", Collection: "jobs", EffectID: "job_1", At: at(second)},
			faultprovider.Entry{Kind: faultprovider.NewOperation, RequestID: "run_b/pay/1/1", Method: "POST", Path: "/jobs", Key: "k2", Fault: "commit-then-drop", At: at(second + 20*time.Millisecond)},
			faultprovider.Entry{RequestID: "run_b/pay/1/l1", Method: "GET", Path: "/jobs/by-idempotency-key/k2?region=eu", Key: "k2", At: at(15 * second)},
			faultprovider.Entry{RequestID: "run_b/~pay/1/1", Method: "DELETE", Path: "/jobs/job_2", At: at(16 * second)},
			faultprovider.Entry{Method: "GET", Path: "/jobs", At: at(9 * second)},
		),
		Effects: []faultprovider.Effect{effect("jobs", "job_1", "k1", "run_a/pay/2/2", `{"id":"job_1","amount":120}`),
			effect("jobs", "job_2", "k2", "", `{"id":"job_2","amount":120.0}`), effect("refunds", "ref_1", "k4", "", "")},
		Deliveries: []timeline.Delivery{{Status: 202}, {Status: 200, Duplicate: true}, {Status: 409, Code: "WOML_IDEMPOTENCY_CONFLICT"}},
		Replies:    []timeline.Reply{{Status: 201, Body: `{"id":"job_9"}`}, {}},
		Refusals:   []timeline.Note{{Verb: "record", Text: "the evidence is older than the last request"}},
	}
	untaken, _ := fault.Named("commit-then-drop")
	v.RunVerdicts = make([]timeline.RunVerdict, len(v.Runs))
	return World{View: v, Exact: true, Crashes: Crashes{Happened: 2}, Untaken: []fault.Fault{untaken}, Rows: rowsOf}
}

func rowsOf(database, table string) (int, error) {
	if database == "app.db" && table == "events" {
		return 3, nil
	}
	return 0, errors.New("no such table: " + table)
}

func TestExpectationsThatAreMet(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"run succeeded run=1", "run failed reconcile needed run=run_b", "run succeeded reconcile not-needed run=1", "not run cancelled", "runs 2", "runs >=1",
		"step pay succeeded run=1", "step pay unknown run=2", "step ~pay running run=2", "not step ~pay succeeded", "step ship not-started", "not step pay failed",
		"attempts 4", "attempts 2 run=1", "attempts 1 step=~pay", "attempts 3 step=pay", "attempts 0 step=ship", "not attempts 3",
		"calls 3", "calls 1 attempt=2", "calls <=1 run=2",
		"requests 5", "requests 1 step=~pay", "requests 3 step=pay", "requests 2 run=1", "requests 3 method=post", "requests 1 key=k2", "requests 1 path=/jobs method=GET", "requests 3 attempt=1", "lookups 1", "lookups 0 run=1", "lookups 1 path=/jobs/by-idempotency-key/k2", "lookups 1 path=/jobs/by-idempotency-key/k2?region=eu", "lookups 0 path=/jobs/by-idempotency-key/k2?region=us",
		"effects 3", "jobs 2", "refunds 1", "effects 0 collection=charges", "jobs 1 key=k2",
		"log REPLAY", "log NEW times 2", "log key=k1 times <=2", "not log REJECTED", "log REJECTED times 0", "not log NEW times 1",
		"outcome 1 failed run=1", "outcome 2 succeeded", "outcome 1 unknown run=2 step=pay", "not outcome 1 succeeded",
		"belief unknown step=pay", "belief done subject=order-42 step=ship", "verdict duplicate key=k2", "verdict one-effect key=k3", "not verdict clean-failure", "verdict duplicate run=2",
		"delay 1 2 1s", "delay 1 2 >=900ms", "delay 1 2 <=1s run=1", "not delay 1 2 2s",
		"key same run=1", "key same 1 2 run=1", "not key same", "not key different", "key different 1 1",
		"status 200 run=1", "status 503 attempt=1 run=1", "status none run=2 step=pay", "not status 500 run=1",
		"code WOML_HTTP_TIMED_OUT", "code WOML_STEP_FAILED run=2", "code WOML_IDEMPOTENCY_CONFLICT", "not code WOML_STEP_FAILED run=1", "not code WOML_IDEMPOTENCY_CONFLICT run=2", "not code WOML_STEP_FAILED step=pay",
		"evidence found", "evidence found cannot-be-compared step=pay", "not evidence no-record step=pay",
		"refused record", "refused record older than", "not refused abandon", "not refused record outlived",
		`result /jobId "job_1" run=1`, "result /jobId effect", "result /amount 1", "result /tags/0 a", "result /note null", "result /note", "not result /nothing",
		`result {"note":null,"tags":["a"],"amount":1,"jobId":"job_1"}`, "not result /amount effect", "not result /tags/1", "not result /jobId job_2",
		"delivery 409", "delivery 200 duplicate n=2", "delivery 202 n=1", "not delivery 202 duplicate n=1", "not delivery 200",
		"reply none", "reply 201 n=1 contains=job_9", "not reply 200",
		"rows app.db events 3", "not rows app.db events 2",
		"verdict one-effect write=invoice", `belief done write="POST /invoices"`, "not verdict duplicate write=invoice", "calls 1 write=charge", `status 200 write="POST /jobs"`, "jobs 1 write=charge", "effects 1 step=pay", "effects 0 write=refund",
		"record jobs/job_1", "record jobs/job_1 /amount 120", "record jobs/* /amount 120", "record jobs/* /id", "not record jobs/job_2 /amount 121", `record jobs/job_1 {"amount":120,"id":"job_1"}`,
		"crashed", "crashed 2", "crashed >=1", "not crashed 1", "not faults taken",
		"peak 2 within 20ms", "peak 1 within 19ms", "peak 5 within 1m", "peak 2 within 1h run=2",
	} {
		if f := Compare(expectation(t, line), twoRuns()); f != nil {
			t.Errorf("%s: %v", line, f)
		}
	}
}

func TestExpectationsThatAreNotMet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, seen string }{
		{"run succeeded", "run 1 succeeded, run 2 failed reconcile needed (WOML_STEP_FAILED)"},
		{"not run failed", "run 1 succeeded, run 2 failed reconcile needed (WOML_STEP_FAILED)"},
		{"run failed reconcile not-needed run=2", "run 2 failed reconcile needed (WOML_STEP_FAILED)"},
		{"run succeeded run=3", "no run"},
		{"not run succeeded run=3", "no run"},
		{"runs 1", "2 runs"},
		{"step pay failed run=2", "pay unknown in run 2"},
		{"attempts 2", "4 attempts"},
		{"attempts 2 run=2 step=pay", "1 attempt"},
		{"calls 1", "3 calls"},
		{"requests 4", "5 requests"},
		{"requests 1 run=7", "0 requests"},
		{"lookups 0", "1 look-up"},
		{"jobs 1", "2 effects in jobs"},
		{"not refunds 1", "1 effect in refunds"},
		{"effects 2", "3 effects"},
		{"log REJECTED", `no such line among 3, the last is "key=k2 NEW fault=commit-then-drop"`},
		{"log NEW times 1", "2 such lines"},
		{"not log REPLAY", "1 such line"},
		{"outcome 1 failed step=pay", "attempt 1 of pay in run 1 failed, attempt 1 of pay in run 2 unknown"},
		{"not outcome 9 failed", "no attempt 9"},
		{"outcome 1 failed step=~pay", "attempt 1 of ~pay in run 2 open"},
		{"belief done", "unknown for pay of order-42, done for ship (invoice) of order-42"},
		{"not verdict duplicate", "duplicate for pay of order-42, one-effect for ship (invoice) of order-42"},
		{"not verdict duplicate step=nothing", "no operation"},
		{"delay 1 2 2s", "1s before attempt 2 of pay in run 1"},
		{"delay 1 3 1s", "no step with attempts 1 and 3"},
		{"key same", "2 keys in 3 attempts of pay"},
		{"key different", "2 keys in 3 attempts of pay"},
		{"not key same run=2", "no two attempts that sent a key"},
		{"status 200", "none"},
		{"not status 200 run=9", "no call"},
		{"code WOML_OTHER run=1", "WOML_HTTP_STATUS_REJECTED"},
		{"code WOML_OTHER run=1 attempt=2", "no code"},
		{"evidence no-record step=pay", "found cannot-be-compared for pay"},
		{"evidence found matches step=pay", "found cannot-be-compared for pay"},
		{"not evidence found step=ship", "no evidence"},
		{"refused abandon", "record refused: the evidence is older than the last request"},
		{"result /jobId job_2", `"job_1" in run 1`},
		{"result /other", "nothing at /other in run 1"},
		{"result /amount \"1\"", "1.0 in run 1"},
		{"not result /jobId run=2", "no result"},
		{"delivery 202", "409 (WOML_IDEMPOTENCY_CONFLICT)"},
		{"delivery 202 duplicate n=1", "202"},
		{"not delivery 200 n=9", "no such delivery"},
		{"reply 201", "none"},
		{"reply 201 n=1 contains=job_8", `201 {"id":"job_9"}`},
		{"verdict one-effect write=payment", "no operation"},
		{"jobs 1 write=payment", "0 effects in jobs"},
		{"record jobs/job_1 /amount 121", "120 in jobs/job_1"},
		{"record jobs/* /amount 120.5", "120 in jobs/job_1, 120.0 in jobs/job_2"},
		{"record jobs/job_3", "no record jobs/job_3"},
		{"record refunds/ref_1 /amount", "nothing at /amount in refunds/ref_1"},
		{"crashed 1", "2 crashes"},
		{"not crashed", "2 crashes"},
		{"faults taken", "not taken: commit-then-drop"},
		{"rows app.db events 4", "3 rows"},
		{"not rows app.db other 4", "no answer: no such table: other"},
		{"peak 3 within 20ms", "2 requests"},
	} {
		f := Compare(expectation(t, c.line), twoRuns())
		switch {
		case f == nil:
			t.Errorf("%s is met, but should not be", c.line)
		case f.Seen != c.seen || f.Expected != c.line || f.Line != 1 || f.What != "expect "+c.line:
			t.Errorf("%s\nsaid %+v\nwant %s", c.line, *f, c.seen)
		}
	}
}

func TestNothingIsMetByAnEmptyWorldButCounts(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"run succeeded", "not run failed", "step s not-started", "not step s failed", "not outcome 1 failed", "not belief done", "not verdict duplicate",
		"not delay 1 2 1s", "not key same", "not status 200", "not evidence found", "not result 1", "record jobs/job_1", "not record jobs/*", "crashed", "not delivery 202", "not reply 200"} {
		if f := Compare(expectation(t, line), World{View: &timeline.View{}}); f == nil {
			t.Errorf("%s is met where nothing has happened", line)
		}
	}
	for _, line := range []string{"runs 0", "attempts 0", "calls 0", "requests 0", "lookups 0", "effects 0", "jobs 0", "log x times 0", "not log x", "not code X", "not refused record", "not crashed", "faults taken", "peak 0 within 1s"} {
		if f := Compare(expectation(t, line), World{View: &timeline.View{}}); f != nil {
			t.Errorf("%s: %v", line, f)
		}
	}
}

func TestAnArmedCrashThatNeverHappenedFails(t *testing.T) {
	t.Parallel()
	w := World{View: &timeline.View{}, Crashes: Crashes{Happened: 1, Armed: []string{"after-reply step=pay"}}}
	for line, seen := range map[string]string{"crashed": "1 crash, still armed: after-reply step=pay", "crashed 1": "1 crash, still armed: after-reply step=pay"} {
		if f := Compare(expectation(t, line), w); f == nil || f.Seen != seen {
			t.Errorf("%s: %v, want seen %s", line, f, seen)
		}
	}
}

func TestADelayMayBeLongerOnTheWallClock(t *testing.T) {
	t.Parallel()
	w := twoRuns()
	second := w.Runs[0].Steps[0].Attempts[1]
	second.StartedAt = second.StartedAt.Add(7 * time.Millisecond)
	e := expectation(t, "delay 1 2 1s")
	if f := Compare(e, w); f == nil || f.Seen != "1.007s before attempt 2 of pay in run 1" {
		t.Errorf("on the virtual clock: %v", f)
	}
	w.Exact = false
	if f := Compare(e, w); f != nil {
		t.Errorf("on the wall clock: %v", f)
	}
	if Compare(expectation(t, "delay 1 2 <=1s"), w) == nil {
		t.Error("a delay that is longer than its limit is met on the wall clock")
	}
	second.StartedAt = second.StartedAt.Add(-8 * time.Millisecond)
	if Compare(e, w) == nil {
		t.Error("a delay that is too short is met on the wall clock")
	}
}

func TestEveryExpectationCanBeCompared(t *testing.T) {
	t.Parallel()
	for _, e := range lang.Expectations {
		if observers[e.Name] == nil {
			t.Errorf("nothing compares %s", e.Name)
		}
	}
	if len(observers) != len(lang.Expectations) {
		t.Errorf("%d observers for %d expectations", len(observers), len(lang.Expectations))
	}
}

func expectation(t *testing.T, text string) *lang.Expectation {
	t.Helper()
	l, err := lang.ParseLine("expect " + text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return l.Expect
}

// Whatever can be written can be compared.
func FuzzCompare(f *testing.F) {
	for _, line := range []string{"run succeeded run=2", "not jobs 1 write=x", "peak 3 within 1s", "result /a/0 effect", "key different 1 2", "record jobs/* /x 1", "delivery 202 n=2", "delay 1 2 <=1s"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if l, err := lang.ParseLine("expect " + text); err == nil && l.Expect != nil {
			Compare(l.Expect, twoRuns())
		}
	})
}
