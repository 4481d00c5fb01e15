package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"faultlab/engine"
)

// kinds are the kinds of events by their numbers in a state file. A number is never changed or given again.
var kinds = []engine.Kind{
	1:  engine.KindAdmitted,
	2:  engine.KindStarted,
	3:  engine.KindAttemptStarted,
	4:  engine.KindCallStarted,
	5:  engine.KindRequestSent,
	6:  engine.KindRequestEnded,
	7:  engine.KindNotSent,
	8:  engine.KindCallEnded,
	9:  engine.KindAttemptEnded,
	10: engine.KindWaiting,
	11: engine.KindCancelAsked,
	12: engine.KindEnded,
	13: engine.KindEvidence,
	14: engine.KindDecided,
	15: engine.KindResumed,
}

// lines are the facts that one commit brings one run, as its row of events holds
// them: see schema/history/3.sql.
type lines struct {
	text []byte
	seq  int64 // of the last line; 0 before the first
	at   int64
}

func (l *lines) add(e *entry) {
	switch {
	case l.text == nil:
		l.text = make([]byte, 0, 1024) // what a run brings before its first request
	case len(l.text) > 0:
		l.text = append(l.text, '\n')
	}
	at := e.At.UnixNano()
	l.text = strconv.AppendInt(l.text, e.Seq-l.seq, 10)
	l.text = strconv.AppendInt(append(l.text, ' '), int64(slices.Index(kinds, e.Fact.Kind())), 10)
	l.text = strconv.AppendInt(append(l.text, ' '), at-l.at, 10)
	l.text = append(append(l.text, ' '), e.data...)
	l.seq, l.at = e.Seq, at
}

// reset makes room for the next row, and keeps no more of it than most rows need.
func (l *lines) reset() {
	if cap(l.text) > 4096 {
		l.text = nil
	}
	*l = lines{text: l.text[:0]}
}

// readLines gives the events of one row.
func readLines(text string, each func(engine.Event)) error {
	var seq, at int64
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.SplitN(line, " ", 4)
		if len(f) != 4 {
			return fmt.Errorf("after place %d: %q is not a place, kind, time and fact", seq, line)
		}
		var n [3]int64
		for i := range n {
			var err error
			if n[i], err = strconv.ParseInt(f[i], 10, 64); err != nil {
				return fmt.Errorf("after place %d: %w", seq, err)
			}
		}
		seq, at = seq+n[0], at+n[2]
		fact, err := factOf(n[1], f[3])
		if err != nil {
			return fmt.Errorf("place %d: %w", seq, err)
		}
		each(engine.Event{Seq: seq, At: time.Unix(0, at).UTC(), Fact: fact})
	}
	return nil
}

func factOf(kind int64, data string) (engine.Fact, error) {
	if kind < 1 || kind >= int64(len(kinds)) {
		return nil, &engine.UnknownKindError{Kind: engine.Kind(fmt.Sprintf("number %d", kind))}
	}
	return engine.DecodeFact(kinds[kind], []byte(data))
}
