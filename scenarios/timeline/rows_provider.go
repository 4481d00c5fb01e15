package timeline

import (
	"strconv"

	"faultlab/engine"
	"faultlab/faultprovider"
)

// log is what happens at the provider: what it committed, recognised or refused, and
// the requests that no script made.
func (w *rowMaker) log(e faultprovider.Entry) []Row {
	rows := w.logRows(e)
	id, ours := engine.ParseRequestID(e.RequestID)
	for i := range rows {
		rows[i].Request = e.RequestID
		if ours {
			rows[i].Run, rows[i].Step, rows[i].Undo, rows[i].Attempt = id.Run, id.Step, id.Undo, id.Attempt
		}
	}
	return rows
}

func (w *rowMaker) logRows(e faultprovider.Entry) []Row {
	id, ours := engine.ParseRequestID(e.RequestID)
	switch e.Kind {
	case faultprovider.Received:
		if id.Lookup {
			w.lookups[attemptPlace(id.Run, engine.Pos{Step: id.Step, Undo: id.Undo, Attempt: id.Attempt})] = e.At
			return nil
		}
		return w.received(e, !ours)
	case faultprovider.Replay:
		return one(Row{Kind: RowReplay, Tone: ToneWire, Text: "replay", Detail: e.EffectID, Truth: true})
	case faultprovider.Rejected:
		return one(Row{Kind: RowRefused, Tone: ToneBad, Text: "refused", Detail: e.Note, Truth: true})
	case faultprovider.InFlight:
		r := Row{Kind: RowReplay, Tone: ToneWire, Text: "in flight", Detail: e.Note, Truth: true}
		if e.Note == "refused" {
			r.Kind, r.Tone = RowRefused, TonePlain
		}
		return one(r)
	case faultprovider.Commit:
		r := Row{Kind: RowCommit, Tone: ToneTruth, Text: "commit", Detail: e.EffectID, Truth: true}
		if w.over[e.Request] {
			r.Text = "late commit"
		}
		return one(r)
	case faultprovider.Replied, faultprovider.Cut, faultprovider.Reset, faultprovider.GaveUp, faultprovider.Failed:
		w.over[e.Request] = true
		if !ours {
			return one(foreignEnd(e))
		}
	}
	return nil
}

// received is a request that nobody on the caller's side wrote down: one from
// outside, or one that the caller's transport sent again by itself.
func (w *rowMaker) received(e faultprovider.Entry, foreign bool) []Row {
	text := e.Method + " " + PathOf(e.Path, e.Key)
	if foreign {
		return one(Row{Kind: RowSend, Tone: ToneWire, Text: text, Detail: "from outside", Truth: true})
	}
	seen := w.fold.index.seen.of(e.RequestID)
	if seen.reached == 1 {
		return nil
	}
	rows := one(Row{Kind: RowSend, Tone: ToneWire, Text: text, Detail: "again, by the transport itself", Hidden: true, Truth: true})
	if seen.end != nil {
		end := foreignEnd(*seen.end)
		end.Hidden = true
		rows = append([]Row{end}, rows...)
	}
	return rows
}

// foreignEnd is an end as the provider saw it, for requests of which the caller's history has none.
func foreignEnd(e faultprovider.Entry) Row {
	r := endThere(e)
	r.Truth = true
	return r
}

func endThere(e faultprovider.Entry) Row {
	switch e.Kind {
	case faultprovider.Replied:
		return Row{Kind: RowReply, Tone: statusTone(e.Status), Text: strconv.Itoa(e.Status)}
	case faultprovider.Cut:
		return Row{Kind: RowBroken, Tone: ToneUnknown, Text: strconv.Itoa(e.Status) + " body cut"}
	case faultprovider.Reset:
		return Row{Kind: RowBroken, Tone: ToneUnknown, Text: "connection reset"}
	case faultprovider.GaveUp:
		return Row{Kind: RowSilence, Tone: ToneUnknown, Text: "nothing came back"}
	}
	return Row{Kind: RowBroken, Tone: ToneBad, Text: "failed", Detail: e.Note}
}

// note is what was done to the bench.
func (w *rowMaker) note(n Note) []Row {
	r := Row{Kind: RowNote, Tone: TonePlain, Verb: n.Verb, Refused: n.Refused, Text: n.Verb, Detail: n.Text}
	switch {
	case n.Refused:
		r.Tone, r.Text = ToneBad, n.Verb+" refused"
	case n.Reply != nil:
		return nil // its request has rows of its own
	case n.Verb == NoteConsole:
		return one(Row{Kind: RowCall, Tone: ToneQuiet, Text: NoteConsole, Detail: n.Text, Run: n.Run, Step: n.Step, Undo: n.Undo})
	case n.Delivery != nil:
		return one(inbound(*n.Delivery, n.Text))
	case n.Bench != nil && n.Bench.WorkerDown:
		r.Tone = ToneBad
	}
	return one(r)
}

func inbound(d Delivery, text string) Row {
	r := Row{Kind: RowInbound, Tone: TonePlain, Text: text, Run: d.Run, Detail: strconv.Itoa(d.Status)}
	switch {
	case d.Status == 0:
		r.Tone, r.Detail = ToneBad, "no answer: the worker is down"
	case d.Code != "":
		r.Tone, r.Detail = ToneBad, r.Detail+" "+d.Code
	case d.Duplicate:
		r.Detail += " duplicate of " + d.Run
	default:
		r.Detail += " " + d.Run
	}
	return r
}
