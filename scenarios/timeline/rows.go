package timeline

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// RowKind says how a row of the wire diagram is drawn.
type RowKind int

// The rows of the wire diagram. Caller's lifeline left, provider's right.
const (
	RowRun      RowKind = iota // a run begins or ends; text at the caller's side
	RowAttempt                 // attempt n, with the key and whether it is the same as before
	RowSend                    // arrow from caller to provider: POST /jobs
	RowCommit                  // a diamond on the provider's lifeline: an effect
	RowReplay                  // a hollow diamond there: recognised, no new effect
	RowRefused                 // at the provider: rejected, nothing done
	RowReply                   // arrow from provider to caller: a status
	RowBroken                  // a broken arrow towards the caller: reset, cut, garbled
	RowSilence                 // the caller gave up: timeout or cancel, nothing came back
	RowNotSent                 // at the caller: the request never left
	RowOutcome                 // at the caller: failed, succeeded, unknown, with what follows
	RowWait                    // a span of time at the caller: backoff, a wait
	RowCall                    // at the caller: a database statement or a child workflow
	RowEvidence                // at the caller: what a look-up proved
	RowDecision                // at the caller: what a person decided
	RowInbound                 // at the caller's left: an event was delivered
	RowNote                    // across: what was done to the bench
)

// Tone is the meaning that a row's colour carries; a glyph and a word carry it too.
type Tone int

// The tones.
const (
	TonePlain Tone = iota
	ToneQuiet
	ToneGood
	ToneBad
	ToneUnknown // the loudest
	ToneWire    // a request, a replay
	ToneTruth   // an effect
)

// KeyMark says how the key of a row stands to the last one of the same step, in a word.
type KeyMark string

// The marks. The first key has none.
const (
	KeySame    KeyMark = "same"
	KeyNew     KeyMark = "new"
	KeyMissing KeyMark = "no key" // a write without one
)

// Row is one row of the wire diagram, without geometry.
type Row struct {
	Entry   int // N of the entry that made it
	At      time.Time
	Kind    RowKind
	Tone    Tone
	Key     string  // RowSend, RowAttempt: the key that it is about, whole
	Mark    KeyMark // and how it stands to the one before
	Plain   bool    // the key is in a plain header: the caller made no idempotency option of it
	Text    string  // what stands on the arrow or beside the glyph, as "POST /jobs", "503", "commit"
	Detail  string  // quieter, beside it: "key …c41b same", "retry in 1s, same key", "job_7c1e"
	Run     string
	Step    string
	Undo    bool // it is the compensation of the step
	Attempt int
	Request string        // X-Request-Id, for pairing
	Replay  bool          // RowReply: the provider recognised the key, which only its log says
	Verb    string        // RowNote: what was done to the bench
	Refused bool          // and the bench did not do it
	Hidden  bool          // a request that the transport repeated by itself
	Wait    time.Duration // RowWait: how long
	Truth   bool          // only the provider's side knows it: covered when the truth is covered
}

// Label is what stands on the arrow or beside the glyph.
func (r Row) Label() string {
	if r.Replay {
		return r.Text + " replay"
	}
	return r.Text
}

// keyLabel is the row's key. A new one is told apart from one that looks alike: all beyond ASCII is written as code points.
func (r Row) keyLabel() string {
	if r.Mark == KeyNew && strings.ContainsFunc(r.Key, func(c rune) bool { return c > unicode.MaxASCII }) {
		return visible(r.Key, true)
	}
	return ShortKey(r.Key)
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
	label := []rune(r.keyLabel())
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
