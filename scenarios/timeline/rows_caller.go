package timeline

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"faultlab/engine"
	"faultlab/engine/woml"
	"faultlab/faultprovider"
)

// wire turns entries into rows. It only ever goes forward: a row, once made, stands.
type wire struct {
	docs     map[string]*woml.Document      // by run; nil where it cannot be read
	offered  map[string]string              // by run and step: attempt.idempotencyKey
	sentKey  map[string]string              // by run and step: the key of its last write
	routeKey map[string]string              // by run, step and route: likewise
	codes    map[string]map[string]bool     // by attempt: the codes that its calls ended in
	calls    map[string]string              // by call: what one that is no HTTP is called
	broken   map[string]bool                // by call: the wire showed already how its reply was lost
	ids      map[string]string              // by request: its X-Request-Id
	sentAt   map[string]time.Time           // by request
	replies  map[string]string              // by X-Request-Id: what the provider said about a repeat, as "replay"
	reached  map[string]int                 // by X-Request-Id: how often it reached the provider
	lastEnd  map[string]faultprovider.Entry // by X-Request-Id: how it last ended there
	over     map[int64]bool                 // by ordinal at the provider: the request has ended
	lookups  map[string]time.Time           // by step of a run and attempt: when its newest look-up reached the provider
}

func newWire() *wire {
	return &wire{docs: map[string]*woml.Document{}, offered: map[string]string{}, sentKey: map[string]string{}, routeKey: map[string]string{}, codes: map[string]map[string]bool{}, calls: map[string]string{},
		broken: map[string]bool{}, ids: map[string]string{}, sentAt: map[string]time.Time{}, replies: map[string]string{},
		reached: map[string]int{}, lastEnd: map[string]faultprovider.Entry{}, over: map[int64]bool{}, lookups: map[string]time.Time{}}
}

// rows of one entry, none for most facts.
func (w *wire) rows(e Entry) []Row {
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

func (w *wire) event(e engine.Event) []Row {
	switch f := e.Fact.(type) {
	case engine.Admitted:
		w.docs[e.Run], _ = Document([]byte(f.Source))
		return one(Row{Kind: RowRun, Tone: ToneQuiet, Text: e.Run, Detail: f.Workflow + admittedBy(f)})
	case engine.AttemptStarted:
		return one(w.attempt(e.Run, f))
	case engine.CallStarted:
		return w.call(e.Run, f)
	case engine.RequestSent:
		return one(w.sent(e.Run, e.At, f))
	case engine.RequestEnded:
		return one(w.ended(e.Run, e.At, f))
	case engine.NotSent:
		return one(Row{Kind: RowNotSent, Tone: ToneQuiet, Text: "not sent", Detail: f.Why, Request: w.ids[requestPlace(e.Run, f.Pos)]})
	case engine.CallEnded:
		return w.callEnded(e.Run, f)
	case engine.AttemptEnded:
		return w.outcome(e, f)
	case engine.Waiting:
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

// place names a step of a run, its compensation apart.
func place(run string, p engine.Pos) string {
	if p.Undo {
		return run + "/~" + p.Step
	}
	return run + "/" + p.Step
}

func CallPlace(run string, p engine.Pos) string {
	return attemptPlace(run, p) + "/" + strconv.Itoa(p.Call)
}

func attemptPlace(run string, p engine.Pos) string {
	return place(run, p) + "/" + strconv.Itoa(p.Attempt)
}

func requestPlace(run string, p engine.Pos) string {
	return CallPlace(run, p) + "/" + strconv.Itoa(p.Request)
}

// attempt shows the key that the attempt offers, where the document uses it at all.
func (w *wire) attempt(run string, f engine.AttemptStarted) Row {
	r := Row{Kind: RowAttempt, Text: "attempt " + strconv.Itoa(f.Attempt)}
	switch d := w.docs[run]; {
	case f.Undo:
		r.Text = "compensate " + f.Step + ", " + r.Text
	case d != nil && len(d.Workflow.Steps) > 1:
		r.Text = f.Step + ", " + r.Text
	}
	at := place(run, f.Pos)
	if w.offers(run, f.Pos) {
		r.Key = f.Key
		if w.offered[at] == f.Key {
			r.Mark = KeySame
		}
		r.Detail = r.keyed(ShortKey(f.Key))
	}
	if f.By == "resubmit" {
		r.Detail = strings.TrimPrefix(r.Detail+", resubmitted", ", ")
	}
	w.offered[at] = f.Key
	return r
}

// offers reports whether the script of a step uses the key that its attempts offer.
func (w *wire) offers(run string, p engine.Pos) bool {
	d := w.docs[run]
	if d == nil {
		return false
	}
	for _, s := range d.Workflow.Steps {
		script := s.Script.Source
		if s.ID != p.Step {
			continue
		}
		if p.Undo && s.Compensate != nil {
			script = s.Compensate.Script.Source
		}
		return strings.Contains(script, "attempt.idempotencyKey")
	}
	return false
}

// sent shows a write's key where it is not the one that the attempt offers.
func (w *wire) sent(run string, now time.Time, f engine.RequestSent) Row {
	r := Row{Kind: RowSend, Tone: ToneWire, Text: f.Method + " " + PathOf(f.URL, f.Key), Request: f.ID}
	here := requestPlace(run, f.Pos)
	w.ids[here], w.sentAt[here] = f.ID, now
	if f.Request > 1 {
		r.Detail = "redirected"
	}
	if isRead(f.Method) {
		return r
	}
	at := place(run, f.Pos)
	carried := f.Key
	if carried == "" {
		carried = f.Plain
	}
	w.sentKey[at] = carried
	route := at + " " + f.Method + " " + PathOf(f.URL, f.Key)
	last, again := w.routeKey[route]
	w.routeKey[route] = carried
	switch {
	case carried == "":
		r.Mark, r.Detail = KeyMissing, string(KeyMissing)
		return r
	case again && last != carried:
		r.Mark = KeyNew
	case w.offers(run, f.Pos) && carried == w.offered[at]:
		return r
	case again:
		r.Mark = KeySame
	}
	r.Key, r.Plain = carried, f.Key == ""
	r.Detail = r.keyed(r.label())
	return r
}

// keyed is what a row says of its key, under the label that it has room for.
func (r Row) keyed(label string) string {
	text := strings.TrimSpace("key " + label + " " + string(r.Mark))
	if r.Plain {
		text += ", in a plain header"
	}
	return text
}

// DetailWithin is the row's detail in at most room cells: a key is cut at its beginning, but never left out.
func (r Row) DetailWithin(room int) string {
	if r.Kind != RowSend || r.Key == "" || utf8.RuneCountInString(r.Detail) <= room {
		return r.Detail
	}
	r.Plain = r.Plain && room > 30
	label := []rune(r.label())
	for n := len(label); n >= 4; n-- {
		cut := string(label)
		if n < len(label) {
			cut = "…" + string(label[len(label)-n:])
		}
		if text := r.keyed(cut); utf8.RuneCountInString(text) <= room || n == 4 {
			return text
		}
	}
	return r.Detail
}

// PosOf is where in its run a fact happened; false for facts about the whole run.
func PosOf(f engine.Fact) (engine.Pos, bool) {
	if f, ok := f.(interface{ Where() engine.Pos }); ok {
		return f.Where(), true
	}
	return engine.Pos{}, false
}
