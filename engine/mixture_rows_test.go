package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"faultlab/engine"
	"faultlab/engine/clock"
)

// commitEnd is what a rowFile does with one write.
type commitEnd string

const (
	rowCommitted   commitEnd = "committed"
	rowTooLarge    commitEnd = "committed, with a result that is not kept"
	rowBusy        commitEnd = "busy"
	rowRefused     commitEnd = "refused"
	rowDiesBefore  commitEnd = "the process dies before the commit"
	rowDiesAfter   commitEnd = "the process dies after the commit"
	rowLostBefore  commitEnd = "rolled back, and the caller is not told" // only without marks: else the mark tells
	rowLostAfter   commitEnd = "committed, and the caller is not told"
	unmarkedReason           = "markers: false"
)

var commitEnds = []commitEnd{rowCommitted, rowCommitted, rowCommitted, rowTooLarge, rowBusy, rowRefused, rowDiesBefore, rowDiesAfter, rowLostBefore, rowLostAfter}

// rowFile is a SQLite file in memory as the engine sees it: a write commits its row
// together with its mark, and takes the marks away whose calls have ended on disk.
type rowFile struct {
	ends  []commitEnd // of the writes, in turn
	die   func()      // ends the process; nil while it may not die
	asked int
	rows  map[string]int // how often each row was committed
	marks map[engine.Mark]json.RawMessage
	ended map[engine.Mark]func() bool // of this process
	over  func(engine.Mark) bool      // of marks that an earlier process left

	clk   clock.Clock
	mu    sync.Mutex
	taken bool          // a statement is at work
	queue []clock.Event // of statements that wait for it
}

// Turn lets one statement work at a time, in the order in which they were asked for.
func (f *rowFile) Turn() (done func()) {
	f.mu.Lock()
	if !f.taken {
		f.taken = true
		f.mu.Unlock()
		return f.next
	}
	mine := f.clk.NewEvent("the file")
	f.queue = append(f.queue, mine)
	f.mu.Unlock()
	mine.Wait()
	return f.next
}

func (f *rowFile) next() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.taken = len(f.queue) > 0; f.taken {
		f.queue[0].Set()
		f.queue = f.queue[1:]
	}
}

func (f *rowFile) end() commitEnd {
	f.asked++
	return f.ends[(f.asked-1)%len(f.ends)]
}

func (f *rowFile) commit(input json.RawMessage) json.RawMessage {
	var in struct{ Values []string }
	_ = json.Unmarshal(input, &in)
	f.rows[strings.Join(in.Values, " ")]++
	return json.RawMessage(fmt.Sprintf(`{"rowsAffected":1,"n":%d}`, f.asked))
}

// Do is a write without a mark.
func (f *rowFile) Do(_ context.Context, _ json.RawMessage, _ string, input json.RawMessage) (json.RawMessage, error) {
	switch end := f.end(); {
	case end == rowBusy || end == rowRefused:
		return nil, f.refusal(end)
	case end == rowLostBefore, end == rowDiesBefore && f.die != nil:
		f.dies(end)
		return nil, errors.New("the disk went away")
	case end == rowLostAfter, end == rowDiesAfter && f.die != nil:
		f.commit(input)
		f.dies(end)
		return nil, errors.New("the disk went away")
	}
	return f.commit(input), nil
}

func (f *rowFile) refusal(end commitEnd) error {
	if end == rowBusy {
		return &engine.Error{Code: "WOML_DATABASE_BUSY", Message: "the file is busy"}
	}
	return &engine.Error{Code: "WOML_DATABASE_CONSTRAINT", Message: "the file refuses the row"}
}

func (f *rowFile) dies(end commitEnd) {
	if end == rowDiesBefore || end == rowDiesAfter {
		f.die()
	}
}

func (f *rowFile) Marked(connection json.RawMessage) (string, bool) {
	if strings.Contains(string(connection), `"markers":false`) {
		return unmarkedReason, false
	}
	return "", true
}

func (f *rowFile) Write(_ context.Context, m engine.Mark, _ json.RawMessage, _ string, input json.RawMessage) (json.RawMessage, error) {
	if kept, there := f.marks[m]; there {
		return keptResult(kept)
	}
	end := f.end()
	switch {
	case end == rowBusy || end == rowRefused:
		return nil, f.refusal(end)
	case end == rowDiesBefore && f.die != nil:
		f.die()
		return nil, errors.New("the process is gone")
	}
	f.mu.Lock()
	ended := maps.Clone(f.ended)
	f.mu.Unlock()
	maps.DeleteFunc(f.marks, func(m engine.Mark, _ json.RawMessage) bool {
		onDisk := ended[m]
		return onDisk != nil && onDisk() || f.over(m)
	})
	result := f.commit(input)
	f.marks[m] = result
	if end == rowTooLarge {
		f.marks[m] = nil
	}
	if end == rowDiesAfter && f.die != nil {
		f.die()
	}
	return result, nil
}

func keptResult(kept json.RawMessage) (json.RawMessage, error) {
	if kept == nil {
		return nil, &engine.Error{Code: engine.LocalResultLost, Message: "the result is not kept"}
	}
	return kept, nil
}

func (f *rowFile) Find(_ context.Context, m engine.Mark, _ string) (json.RawMessage, bool, error) {
	kept, there := f.marks[m]
	return kept, there, nil
}

func (f *rowFile) Ended(m engine.Mark, _ string, onDisk func() bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended[m] = onDisk
}

// Sweep is called by a process that begins.
func (f *rowFile) Sweep(over func(engine.Mark) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended, f.over = map[engine.Mark]func() bool{}, over
}

var _ engine.Marks = (*rowFile)(nil)
