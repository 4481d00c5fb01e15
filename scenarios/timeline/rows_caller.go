package timeline

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"faultlab/engine"
	"faultlab/engine/plain"
)

// rowMaker turns entries into rows, once they were folded in. It only ever goes forward: a row, once made, stands.
type rowMaker struct {
	fold    *fold
	keys    map[string]string    // by step of a run, and by step and route: the key of its last write
	over    map[int64]bool       // by ordinal at the provider: the request has ended
	lookups map[string]time.Time // by attempt: when its newest look-up reached the provider
}

// rows of one entry, none for most facts.
func (w *rowMaker) rows(e Entry) []Row {
	var out []Row
	switch {
	case e.Event != nil:
		out = w.event(*e.Event)
	case e.Log != nil:
		out = w.log(*e.Log)
	case e.Note != nil:
		out = w.note(*e.Note)
	}
	for i := range out {
		out[i].Entry = e.N
		if out[i].At.IsZero() {
			out[i].At = e.At
		}
		if e.Event != nil {
			out[i].Run = e.Event.Run
			if p, ok := PosOf(e.Event.Fact); ok {
				out[i].Step, out[i].Undo, out[i].Attempt = p.Step, p.Undo, p.Attempt
			}
		}
	}
	return out
}

func one(r Row) []Row { return []Row{r} }

func (w *rowMaker) event(e engine.Event) []Row {
	i, ok := w.fold.run(e.Run)
	if !ok {
		return nil
	}
	r := w.fold.runs.items[i]
	switch f := e.Fact.(type) {
	case engine.Admitted:
		return one(Row{Kind: RowRun, Tone: ToneQuiet, Text: e.Run, Detail: f.Workflow + admittedBy(f)})
	case engine.AttemptStarted:
		return one(attemptRow(r, f))
	case engine.CallStarted:
		return callRow(f)
	case engine.RequestSent:
		return one(w.sent(r, f))
	case engine.RequestEnded:
		return one(w.ended(requestAt(r, f.Pos)))
	case engine.NotSent:
		return one(Row{Kind: RowNotSent, Tone: ToneQuiet, Text: "not sent", Detail: f.Why, Request: requestAt(r, f.Pos).ID})
	case engine.CallEnded:
		return callEnded(callAt(r, f.Pos), f)
	case engine.AttemptEnded:
		return w.outcome(r, e, f)
	case engine.Waiting:
		if i, ok := w.fold.run(f.Child); ok && w.fold.runs.items[i].Status.Ended() {
			return nil // the run meets a child again that was settled meanwhile
		}
		return one(Row{Kind: RowCall, Tone: ToneQuiet, Text: "waits for " + f.Child})
	case engine.Resumed:
		return one(Row{Kind: RowRun, Tone: ToneQuiet, Text: e.Run, Detail: "goes on: " + f.Settled + " is settled"})
	case engine.CancelAsked:
		return one(Row{Kind: RowDecision, Tone: TonePlain, Text: "cancel asked", Detail: "nothing new starts"})
	case engine.Ended:
		return one(runEnded(e.Run, f))
	case engine.Evidence:
		return w.evidence(e.Run, f)
	case engine.Decided:
		return one(decided(f))
	}
	return nil
}

func admittedBy(f engine.Admitted) string {
	switch {
	case f.RerunOf != "":
		return ", rerun of " + f.RerunOf
	case f.Parent != nil:
		return ", child of " + f.Parent.Run
	}
	return ""
}

// attemptAt is the attempt at a place; an empty one where there is none.
func attemptAt(r *engine.Run, p engine.Pos) *engine.Attempt {
	if s := r.StepAt(p.Step, p.Undo); s != nil && p.Attempt >= 1 && p.Attempt <= len(s.Attempts) {
		return s.Attempts[p.Attempt-1]
	}
	return &engine.Attempt{}
}

// callAt is the call at a place; an empty one where there is none.
func callAt(r *engine.Run, p engine.Pos) *engine.Call {
	if calls := attemptAt(r, p).Calls; p.Call >= 1 && p.Call <= len(calls) {
		return calls[p.Call-1]
	}
	return &engine.Call{}
}

// requestAt is the request at a place; an empty one where there is none.
func requestAt(r *engine.Run, p engine.Pos) *engine.Request {
	for _, q := range callAt(r, p).Requests {
		if q.N == p.Request {
			return q
		}
	}
	return &engine.Request{}
}

// attemptPlace names an attempt among all runs.
func attemptPlace(run string, p engine.Pos) string {
	return run + "/" + engine.StepName(p.Step, p.Undo) + "/" + strconv.Itoa(p.Attempt)
}

// attemptRow shows the key that the attempt offers, where its script uses it at all.
func attemptRow(r *engine.Run, f engine.AttemptStarted) Row {
	row := Row{Kind: RowAttempt, Text: "attempt " + strconv.Itoa(f.Attempt)}
	switch d, _ := Document([]byte(r.Admitted.Source)); {
	case f.Undo:
		row.Text = "compensate " + f.Step + ", " + row.Text
	case d != nil && len(d.Workflow.Steps) > 1:
		row.Text = f.Step + ", " + row.Text
	}
	if offersKey(r, f.Pos) {
		row.Key = f.Key
		if before := f.Pos; f.Attempt > 1 {
			before.Attempt--
			if attemptAt(r, before).Key == f.Key {
				row.Mark = KeySame
			}
		}
		row.Detail = row.keyed(ShortKey(f.Key))
	}
	if f.By == "resubmit" {
		row.Detail = strings.TrimPrefix(row.Detail+", resubmitted", ", ")
	}
	return row
}

// offersKey reports whether the script of a step uses the key that its attempts offer.
func offersKey(r *engine.Run, p engine.Pos) bool {
	d, _ := Document([]byte(r.Admitted.Source))
	if d == nil {
		return false
	}
	for _, s := range d.Workflow.Steps {
		switch {
		case s.ID != p.Step:
		case p.Undo && s.Compensate != nil:
			return strings.Contains(s.Compensate.Script.Source, "attempt.idempotencyKey")
		default:
			return strings.Contains(s.Script.Source, "attempt.idempotencyKey")
		}
	}
	return false
}

// sent shows a write's key where it is not the one that the attempt offers.
func (w *rowMaker) sent(r *engine.Run, f engine.RequestSent) Row {
	row := Row{Kind: RowSend, Tone: ToneWire, Text: f.Method + " " + PathOf(f.URL, f.Key), Request: f.ID}
	if f.Request > 1 {
		row.Detail = "redirected"
	}
	if isRead(f.Method) {
		return row
	}
	carried := f.Key
	if carried == "" {
		carried = f.Plain
	}
	step := stepPlace(r, f.Pos)
	route := step + " " + row.Text
	last, again := w.keys[route]
	w.keys[step], w.keys[route] = carried, carried
	switch {
	case carried == "":
		row.Mark, row.Detail = KeyMissing, string(KeyMissing)
		return row
	case again && last != carried:
		row.Mark = KeyNew
	case carried == attemptAt(r, f.Pos).Key && offersKey(r, f.Pos):
		return row
	case again:
		row.Mark = KeySame
	}
	row.Key, row.Plain = carried, f.Key == ""
	row.Detail = row.keyed(row.keyLabel())
	return row
}

// stepPlace names a step among all runs.
func stepPlace(r *engine.Run, p engine.Pos) string {
	return r.ID + "/" + engine.StepName(p.Step, p.Undo)
}

// ended is a request's end as the caller saw it.
func (w *rowMaker) ended(q *engine.Request) Row {
	r := Row{Request: q.ID}
	switch {
	case q.Error == "":
		r.Kind, r.Tone, r.Text, r.Replay = RowReply, statusTone(q.Status), strconv.Itoa(q.Status), w.fold.index.seen.of(q.ID).replayed
	case !q.Began:
		r.Kind, r.Tone, r.Text, r.Detail = RowNotSent, ToneQuiet, "not sent", lost(q.Broke, q.Error)
	case q.GaveUp != "":
		r.Kind, r.Tone, r.Text, r.Detail = RowSilence, ToneUnknown, "no reply", gaveUpWords[q.GaveUp]+" after "+plain.Duration(q.EndedAt.Sub(q.SentAt))
		if q.Status != 0 {
			r.Text = strconv.Itoa(q.Status) + ", no whole body"
		}
	case q.Status != 0:
		r.Kind, r.Tone, r.Text = RowBroken, ToneUnknown, strconv.Itoa(q.Status)+" "+lost(q.Broke, q.Error)
	default:
		r.Kind, r.Tone, r.Text = RowBroken, ToneUnknown, lost(q.Broke, q.Error)
	}
	return r
}

// lost says how a connection ended, or its error where that is all that is known.
func lost(how engine.Broke, err string) string {
	switch how {
	case engine.BrokeReset:
		return "connection reset"
	case engine.BrokeCut:
		return "body cut short"
	case engine.BrokeClosed:
		return "connection closed"
	}
	return err
}

// gaveUpWords say why the caller stopped waiting.
var gaveUpWords = map[engine.GaveUp]string{
	engine.GaveUpTimeout:    "gave up",
	engine.GaveUpRunTimeout: "the run's timeout",
	engine.GaveUpCancel:     "cancelled",
	engine.GaveUpScript:     "the script aborted it",
	engine.GaveUpKilled:     "the worker stopped",
}

func statusTone(status int) Tone {
	switch {
	case status >= 200 && status < 300:
		return ToneGood
	case status >= 400:
		return ToneBad
	}
	return TonePlain
}

// overHTTP reports whether a service sends requests: they speak for themselves.
func overHTTP(service string) bool { return service == "http" || service == "fetch" }

// callRow is a row for what is not HTTP.
func callRow(f engine.CallStarted) []Row {
	if overHTTP(f.Service) {
		return nil
	}
	row := Row{Kind: RowCall, Text: called(f.Service, f.Operation, f.Name)}
	if f.Unmarked != "" {
		row.Detail = "leaves no marker: " + f.Unmarked
	}
	return one(row)
}

func called(service, operation, name string) string {
	return strings.TrimSpace(service + " " + operation + " " + name)
}

// callEnded is a row where a database statement or a child failed, where a child answered, and where a whole reply could
// not be read.
func callEnded(c *engine.Call, f engine.CallEnded) []Row {
	what := called(c.Service, c.Operation, c.Name)
	switch {
	case c.Service == "":
		return nil
	case overHTTP(c.Service):
		lost := slices.ContainsFunc(c.Requests, func(q *engine.Request) bool { return q.Error != "" && !q.NotSent })
		if f.How != engine.HowUnreadable || lost {
			return nil
		}
		return one(Row{Kind: RowCall, Tone: ToneUnknown, Text: "the reply cannot be read", Detail: f.Code})
	case f.Code != "":
		return one(Row{Kind: RowCall, Tone: ToneBad, Text: what + " failed", Detail: f.Code})
	case f.Child != "":
		return one(Row{Kind: RowCall, Tone: ToneQuiet, Text: what, Detail: f.Child})
	case f.Replay:
		return one(Row{Kind: RowCall, Tone: ToneQuiet, Text: what, Detail: "written by an earlier attempt: its result again"})
	}
	return nil
}

// outcome is an attempt's end and, where a retry is due, the wait before it.
func (w *rowMaker) outcome(run *engine.Run, e engine.Event, f engine.AttemptEnded) []Row {
	r := Row{Kind: RowOutcome, Text: string(f.Outcome), Detail: f.Reason}
	switch f.Outcome {
	case engine.Succeeded:
		r.Tone = ToneGood
	case engine.Failed:
		r.Tone = ToneBad
	case engine.Unknown:
		r.Tone, r.Detail = ToneUnknown, "stop, do not resend"
	}
	a := attemptAt(run, f.Pos)
	rows := ownError(a, f)
	if f.Next != engine.NextRetry {
		return append(rows, r)
	}
	wait := f.Due.Sub(e.At)
	r.Detail = "retry in " + plain.Duration(wait)
	if sent := w.keys[stepPlace(run, f.Pos)]; sent != "" && sent == a.Key {
		r.Detail += ", same key"
	}
	return append(rows, r, Row{Kind: RowWait, Tone: ToneQuiet, Text: plain.Seconds(wait), Wait: wait})
}

// ownError tells of an attempt that failed by what none of its calls met: an error of the script, or a call that was
// refused before anything of it was written down.
func ownError(a *engine.Attempt, f engine.AttemptEnded) []Row {
	met := slices.ContainsFunc(a.Calls, func(c *engine.Call) bool { return c.Code == f.Code })
	if f.Outcome != engine.Failed || f.Message == "" || met {
		return nil
	}
	text := "script failed"
	if refusedInput[f.Code] {
		text = "call refused"
	}
	return one(Row{Kind: RowCall, Tone: ToneBad, Text: text, Detail: f.Message})
}

// refusedInput are the codes of calls that were not begun because of what they ask for.
var refusedInput = map[string]bool{"WOML_HTTP_INPUT_INVALID": true, "WOML_DATABASE_INPUT_INVALID": true, "WOML_WORKFLOW_INPUT_INVALID": true,
	"WOML_WORKFLOW_CALL_OPTIONS_INVALID": true, "WOML_WORKFLOW_PAYLOAD_INVALID": true, "WOML_WORKFLOW_TARGET_INVALID": true,
	"WOML_FETCH_INPUT_INVALID": true, "FAULTLAB_CALL_LIMIT": true}

func runEnded(run string, f engine.Ended) Row {
	r := Row{Kind: RowRun, Tone: ToneQuiet, Text: run + " " + string(f.Status)}
	switch {
	case f.Waits != nil:
		r.Tone, r.Detail = ToneUnknown, "waits for "+f.Waits.Run
	case f.Reconcile:
		r.Tone, r.Detail = ToneUnknown, "needs reconciling"
	case f.Status == engine.StatusSucceeded:
		r.Tone = ToneGood
	case f.Status == engine.StatusFailed:
		r.Tone, r.Detail = ToneBad, f.Code
	}
	return r
}

// evidence is the look-up, what came back, and what it proves. The history has no entry
// of its own for the request of a look-up: its row says when it reached the provider.
func (w *rowMaker) evidence(run string, f engine.Evidence) []Row {
	at := attemptPlace(run, f.Pos)
	rows := []Row{{At: w.lookups[at], Kind: RowSend, Tone: ToneWire, Text: strings.TrimSpace("look up " + ShortKey(f.Key)), Detail: http.MethodGet + " " + PathOf(f.URL, f.Key)}}
	switch {
	case f.Status != 0:
		rows = append(rows, Row{Kind: RowReply, Tone: TonePlain, Text: strconv.Itoa(f.Status)})
	case f.GaveUp != "":
		rows = append(rows, Row{Kind: RowSilence, Tone: ToneUnknown, Text: "no reply", Detail: f.Error})
	case f.Error != "":
		rows = append(rows, Row{Kind: RowBroken, Tone: ToneUnknown, Text: lost(f.Broke, f.Error)})
	}
	delete(w.lookups, at)
	r := Row{Kind: RowEvidence, Text: string(f.Found)}
	switch f.Found {
	case engine.FoundRecord:
		r.Tone, r.Detail = ToneGood, foundDetail(f)
		if f.Match == engine.Contradicts {
			r.Tone = ToneBad
		}
	case engine.FoundSeveral:
		r.Tone, r.Detail = ToneUnknown, strconv.Itoa(f.Records)+" records: which of them was meant is not known"
	case engine.FoundNoRecord:
		r.Tone, r.Detail = TonePlain, "yet: a late request can still arrive"
		if f.Unproven {
			r.Tone, r.Detail = ToneUnknown, "yet, and unproven: the address is only assumed"
		}
	case engine.FoundNoAnswer:
		r.Tone, r.Detail = ToneUnknown, "nobody knows more than before"
	}
	return append(rows, r)
}

func foundDetail(f engine.Evidence) string {
	switch f.Match {
	case engine.Matches:
		return "matches what was sent"
	case engine.Contradicts:
		return "contradicts what was sent: " + strings.Join(f.Conflicts, ", ")
	}
	return string(f.Match)
}

var decisionDetail = map[engine.Decision]string{
	engine.Record:   "the record found stands for the reply",
	engine.Resubmit: "once more, same key",
	engine.Abandon:  "not wanted any more",
	engine.Escalate: "stays unknown, for a person",
}

func decided(f engine.Decided) Row {
	r := Row{Kind: RowDecision, Tone: TonePlain, Text: string(f.Decision), Detail: decisionDetail[f.Decision]}
	if f.Reason != "" {
		r.Detail += ": " + f.Reason
	}
	if f.Forced != "" {
		r.Tone, r.Detail = ToneBad, "forced, although "+f.Forced
	}
	return r
}

// PosOf is where in its run a fact happened; false for facts about the whole run.
func PosOf(f engine.Fact) (engine.Pos, bool) {
	if f, ok := f.(interface{ Where() engine.Pos }); ok {
		return f.Where(), true
	}
	return engine.Pos{}, false
}
