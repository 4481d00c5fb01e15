package timeline

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"faultlab/engine"
	"faultlab/engine/plain"
)

// ended is a request's end as the caller saw it.
func (w *wire) ended(run string, now time.Time, f engine.RequestEnded) Row {
	at := requestPlace(run, f.Pos)
	r := Row{Request: w.ids[at]}
	if f.Error != "" {
		w.broken[CallPlace(run, f.Pos)] = true
	}
	f.Error = plainer(f.Error)
	switch {
	case f.Error == "":
		r.Kind, r.Tone, r.Text = RowReply, statusTone(f.Status), strings.TrimSpace(strconv.Itoa(f.Status)+" "+w.replies[r.Request])
	case !f.Began:
		r.Kind, r.Tone, r.Text, r.Detail = RowNotSent, ToneQuiet, "not sent", f.Error
	case f.GaveUp != "":
		r.Kind, r.Tone, r.Text, r.Detail = RowSilence, ToneUnknown, "no reply", gaveUpWords[f.GaveUp]+" after "+plain.Duration(now.Sub(w.sentAt[at]))
		if f.Status != 0 {
			r.Text = strconv.Itoa(f.Status) + ", no whole body"
		}
	case f.Status != 0:
		r.Kind, r.Tone, r.Text = RowBroken, ToneUnknown, strconv.Itoa(f.Status)+" "+f.Error
	default:
		r.Kind, r.Tone, r.Text = RowBroken, ToneUnknown, f.Error
	}
	return r
}

// plainer says a transport's error in the wire's words.
func plainer(err string) string {
	switch err {
	case "connection reset by peer":
		return "connection reset"
	case "unexpected EOF":
		return "body cut short"
	case "EOF":
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

// call is a row for what is not HTTP; a request speaks for itself.
func (w *wire) call(run string, f engine.CallStarted) []Row {
	if f.Service == "http" || f.Service == "fetch" {
		return nil
	}
	what := f.Service + " " + f.Operation
	if f.Name != "" {
		what += " " + f.Name
	}
	w.calls[CallPlace(run, f.Pos)] = what
	row := Row{Kind: RowCall, Text: what}
	if f.Unmarked != "" {
		row.Detail = "leaves no marker: " + f.Unmarked
	}
	return one(row)
}

// callEnded is a row where a database statement or a child failed, where a child
// answered, and where a whole reply could not be read.
func (w *wire) callEnded(run string, f engine.CallEnded) []Row {
	at := CallPlace(run, f.Pos)
	if in := attemptPlace(run, f.Pos); f.Code != "" {
		if w.codes[in] == nil {
			w.codes[in] = map[string]bool{}
		}
		w.codes[in][f.Code] = true
	}
	what, ok := w.calls[at]
	broken := w.broken[at]
	delete(w.calls, at)
	delete(w.broken, at)
	switch {
	case f.How == engine.HowUnreadable && !broken && !ok:
		return one(Row{Kind: RowCall, Tone: ToneUnknown, Text: "the reply cannot be read", Detail: f.Code})
	case !ok:
		return nil
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
func (w *wire) outcome(e engine.Event, f engine.AttemptEnded) []Row {
	r := Row{Kind: RowOutcome, Text: string(f.Outcome), Detail: f.Reason}
	switch f.Outcome {
	case engine.Succeeded:
		r.Tone = ToneGood
	case engine.Failed:
		r.Tone = ToneBad
	case engine.Unknown:
		r.Tone, r.Detail = ToneUnknown, "stop, do not resend"
	}
	rows := append(w.ownError(e.Run, f), r)
	if f.Next != engine.NextRetry {
		return rows
	}
	wait := f.Due.Sub(e.At)
	r.Detail = "retry in " + plain.Duration(wait)
	if at := place(e.Run, f.Pos); w.sentKey[at] != "" && w.sentKey[at] == w.offered[at] {
		r.Detail += ", same key"
	}
	rows[len(rows)-1] = r
	return append(rows, Row{Kind: RowWait, Tone: ToneQuiet, Text: plain.Seconds(wait), Wait: wait})
}

// ownError tells of an attempt that failed by what none of its calls met: an error of the script, or a call that was
// refused before anything of it was written down.
func (w *wire) ownError(run string, f engine.AttemptEnded) []Row {
	at := attemptPlace(run, f.Pos)
	met := w.codes[at]
	delete(w.codes, at)
	if f.Outcome != engine.Failed || f.Message == "" || met[f.Code] {
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
func (w *wire) evidence(run string, f engine.Evidence) []Row {
	at := attemptPlace(run, f.Pos)
	rows := []Row{{At: w.lookups[at], Kind: RowSend, Tone: ToneWire, Text: strings.TrimSpace("look up " + ShortKey(f.Key)), Detail: http.MethodGet + " " + PathOf(f.URL, f.Key)}}
	switch {
	case f.Status != 0:
		rows = append(rows, Row{Kind: RowReply, Tone: TonePlain, Text: strconv.Itoa(f.Status)})
	case f.GaveUp != "":
		rows = append(rows, Row{Kind: RowSilence, Tone: ToneUnknown, Text: "no reply", Detail: f.Error})
	case f.Error != "":
		rows = append(rows, Row{Kind: RowBroken, Tone: ToneUnknown, Text: plainer(f.Error)})
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

// timeOf is a moment on the wire's clock.
func timeOf(at, start time.Time) string {
	return strconv.FormatFloat(at.Sub(start).Seconds(), 'f', 3, 64)
}
