package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"faultlab/engine/script"
)

// Marks is what a Database may implement beside it where a write commits a mark of
// itself together with what it changes. Whether such a write happened can be looked up
// in its file, so that a crash or a failed commit leaves nothing to guess.
type Marks interface {
	// Marked reports whether the writes of a connection leave marks; why says what
	// prevents it. It looks at the file at most, and waits for nobody.
	Marked(connection json.RawMessage) (why string, ok bool)
	// Write is Do for a write that leaves its mark. A write whose mark is there already
	// is not carried out again: it gives the result that the mark holds.
	Write(ctx context.Context, m Mark, connection json.RawMessage, operation string, input json.RawMessage) (json.RawMessage, error)
	// Find looks a mark up in a file. A nil result of a mark that is there was too large to be kept.
	Find(ctx context.Context, m Mark, file string) (result json.RawMessage, there bool, err error)
	// Ended is told of the end of a call. Once onDisk says so, its mark goes with the next write to its file.
	Ended(m Mark, file string, onDisk func() bool)
	// Sweep is given what says of a mark that an earlier process left whether it may go.
	Sweep(over func(Mark) bool)
}

// Mark names one local write: a call of an attempt of a step.
type Mark struct {
	Run     string
	Step    string // "~ID" for the compensation of step ID
	Attempt int
	Call    int
}

func markOf(run string, p Pos) Mark {
	return Mark{run, node(p.Step, p.Undo), p.Attempt, p.Call}
}

// LocalResultLost is the code of a write that was carried out and whose result is not kept.
const LocalResultLost = "WOML_DATABASE_RESULT_LOST"

// local is what a call of services.db needs to know of the marks of its file.
type local struct {
	marks    Marks
	effect   Effect
	path     string // of the file
	file     string // as the script named it, without its secrets
	unmarked string // why it leaves no mark
}

// localOf is how a write of services.db on this connection is kept track of.
func (h *host) localOf(connection json.RawMessage) local {
	marks, ok := h.e.o.Database.(Marks)
	if !ok {
		return local{effect: UnkeyedWrite}
	}
	why, marked := marks.Marked(place(h.rt.folder(), connection))
	if !marked {
		return local{effect: UnkeyedWrite, unmarked: why}
	}
	var named struct{ Connection string }
	_ = json.Unmarshal(connection, &named) // else it is empty, and the call is refused
	return local{marks: marks, effect: LocalWrite, path: placePath(h.rt.folder(), named.Connection), file: h.clean(named.Connection)}
}

// ended tells the file that the end of a call is written down.
func (l local) ended(m Mark, end Ticket) {
	if l.marks != nil && end != nil {
		l.marks.Ended(m, l.path, func() bool { return end.Done() && end.Wait() == nil })
	}
}

// markIsOver reports whether the history has the end of a call on disk. A run that is
// at work tells of its calls itself: their ends may not be on disk yet.
func (e *Engine) markIsOver(m Mark) bool {
	e.mu.Lock()
	open := e.open[m.Run] != nil
	e.mu.Unlock()
	if open {
		return false
	}
	events, err := e.o.History.Events(m.Run)
	if err != nil { // it may be the run of another state file
		return false
	}
	id, undo := strings.CutPrefix(m.Step, "~")
	c := Fold(events).callAt(Pos{Step: id, Undo: undo, Attempt: m.Attempt, Call: m.Call})
	return c != nil && c.Ended
}

// writtenBefore is the same local write of an earlier attempt of the step, if it was
// carried out: the same name, statement and values, and as often before in its attempt.
// Its result is this one's.
func (r *Run) writtenBefore(p Pos) *Call {
	c := r.callAt(p)
	if c == nil || c.Effect != LocalWrite {
		return nil
	}
	nth := len(r.attempt(p).alike(c, p.Call))
	for n := p.Attempt - 1; n > 0; n-- {
		earlier := p
		earlier.Attempt = n
		a := r.attempt(earlier)
		if same := a.alike(c, len(a.Calls)); len(same) >= nth && same[nth-1].Finding == FoundDone {
			return same[nth-1]
		}
	}
	return nil
}

// alike are the local writes among the first calls of the attempt that are the same as c.
func (a *Attempt) alike(c *Call, first int) (same []*Call) {
	for _, o := range a.Calls[:first] {
		if o.Effect == LocalWrite && o.Operation == c.Operation && o.Name == c.Name && o.Digest == c.Digest {
			same = append(same, o)
		}
	}
	return same
}

// repeated is the end of a local write that an earlier attempt has carried out.
func repeated(c *Call) (CallEnded, script.Completion) {
	if c.Reply == nil {
		return CallEnded{How: HowUnreadable, Replay: true}, script.Completion{Err: &script.ServiceError{Code: LocalResultLost,
			Message: fmt.Sprintf("attempt %d carried this write out, and its result is not kept; give the step's result by hand with --result", c.Attempt)}}
	}
	return CallEnded{How: HowAccepted, Replay: true}, script.Completion{Value: c.Reply}
}

// localEnd says how a local write ended that has a start and no end on disk: its mark
// is looked up in its file. It is done, with its result where the mark holds it, or it
// was rolled back and may be made again. An error says that the file cannot be read.
func (e *Engine) localEnd(r *Run, c *Call) (CallEnded, error) {
	marks, ok := e.o.Database.(Marks)
	if !ok || c.File == "" {
		return CallEnded{}, &Error{Code: "WOML_DATABASE_UNAVAILABLE", Message: "services.db is not available here"}
	}
	file, err := e.reveal(c.File, plainly)
	if err != nil {
		return CallEnded{}, err
	}
	m := markOf(r.ID, c.Pos)
	var result json.RawMessage
	var there bool
	e.clk.Hold(func() { result, there, err = marks.Find(context.Background(), m, placePath(r.Admitted.Folder, file)) })
	switch {
	case err != nil:
		return CallEnded{}, err
	case there:
		rule := callRules[HowAccepted][LocalWrite]
		rows := rowsChanged(result)
		if result == nil { // it was too large to be kept: what was carried out counts
			rows = 1
		}
		return CallEnded{Pos: c.Pos, How: HowAccepted, Finding: rule.finding, Next: rule.next, Rows: rows, Reply: result}, nil
	}
	rule := callRules[HowNeverSent][LocalWrite]
	return CallEnded{Pos: c.Pos, How: HowNeverSent, Finding: rule.finding, Next: rule.next,
		Code: codeCallInterrupted, Message: "the worker stopped before the write was committed: it was rolled back"}, nil
}

// localEnded tells the file of a local write that its end, found after a crash, is written down.
func (e *Engine) localEnded(r *Run, c *Call, end Ticket) {
	marks, ok := e.o.Database.(Marks)
	if !ok || c.Effect != LocalWrite {
		return
	}
	if path, err := e.reveal(c.File, plainly); err == nil {
		local{marks: marks, path: placePath(r.Admitted.Folder, path)}.ended(markOf(r.ID, c.Pos), end)
	}
}

func plainly(secret string) string { return secret }
