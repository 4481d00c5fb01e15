package faultprovider

import (
	"encoding/json"
	"strconv"
	"strings"

	"faultlab/engine/plain"
)

// log is the latest entries, in a ring.
type log struct {
	size   int
	ring   []Entry
	oldest int           // place of the oldest entry
	seq    int64         // of the latest entry
	more   chan struct{} // closed at the next entry; nil while nobody waits
}

// add numbers an entry and keeps it.
func (l *log) add(e *Entry) {
	l.seq++
	e.Seq = l.seq
	l.keep(*e)
}

func (l *log) keep(e Entry) {
	l.seq = e.Seq
	if len(l.ring) < l.size {
		l.ring = append(l.ring, e)
	} else {
		l.ring[l.oldest] = e
		l.oldest = (l.oldest + 1) % l.size
	}
	l.wake()
}

func (l *log) wake() {
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
}

// news is closed when there is more than now.
func (l *log) news() <-chan struct{} {
	if l.more == nil {
		l.more = make(chan struct{})
	}
	return l.more
}

// after returns the remembered entries with a Seq above after.
func (l *log) after(after int64) []Entry {
	n := int(min(max(0, l.seq-after), int64(len(l.ring))))
	out := make([]Entry, 0, n)
	for i := len(l.ring) - n; i < len(l.ring); i++ {
		out = append(out, l.ring[(l.oldest+i)%len(l.ring)])
	}
	return out
}

func (l *log) clear() {
	l.ring, l.oldest, l.seq = nil, 0, 0
	l.wake()
}

// Text is the line that the fixture would log for a decision, without its "[provider] ", or a line like it; also one that
// says why the ledger failed. "" for any other entry, and for a request that was refused without a key.
func (e Entry) Text() string {
	switch e.Kind {
	case NewOperation:
		return e.keyText() + " NEW fault=" + e.Fault
	case Replay:
		if e.EffectID == "" {
			return e.keyText() + " REPLAY"
		}
		return e.keyText() + " REPLAY " + recordName(e.Collection) + "=" + e.EffectID
	case Rejected:
		if e.Key == "" {
			return "" // the fixture says nothing of a request without a key
		}
		return e.keyText() + " REJECTED (" + e.Note + ")"
	case InFlight:
		return e.keyText() + " IN FLIGHT (" + e.Note + ")"
	case Failed:
		return e.keyText() + " FAILED (" + e.Note + ")"
	}
	return ""
}

// keyText is key=K; a key with characters that could disturb a terminal or a reader is quoted.
func (e Entry) keyText() string {
	if e.Key == "" {
		return "key=-"
	}
	if strings.ContainsFunc(e.Key, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return "key=" + strconv.Quote(e.Key)
	}
	return "key=" + e.Key
}

// MarshalJSON adds the member text where there is one. What could disturb a terminal is escaped: the log is printed.
func (e Entry) MarshalJSON() ([]byte, error) {
	type fields Entry
	text, err := json.Marshal(struct {
		fields
		Text string `json:"text,omitempty"`
	}{fields(e), e.Text()})
	return plain.EscapeJSON(text), err
}
