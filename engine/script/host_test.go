package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// fakeHost is the world of a test: a clock that only it moves, and a service that answers as the test says.
type fakeHost struct {
	now     time.Time
	started []Call
	logs    []string
	events  []string // what the script asked, in order
	secrets map[string]string

	// answer decides how a call ends, and after how long; without it a call ends after a millisecond with {}.
	answer func(id int, c Call) (after time.Duration, done Completion)
	refuse func(c Call) *ServiceError
	// stop is what Next returns once nothing is due before stopAt has passed.
	stop   error
	stopAt time.Duration

	queue []scheduled
}

type scheduled struct {
	at   time.Time
	done Completion
	call bool
}

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newHost() *fakeHost { return &fakeHost{now: epoch, secrets: map[string]string{}} }

func (h *fakeHost) Now() time.Time { return h.now }

func (h *fakeHost) Start(id int, c Call) *ServiceError {
	if h.refuse != nil {
		if e := h.refuse(c); e != nil {
			return e
		}
	}
	h.started = append(h.started, c)
	h.events = append(h.events, fmt.Sprintf("start %d %s.%s", id, c.Service, c.Operation))
	after, done := time.Millisecond, Completion{Value: json.RawMessage(`{}`)}
	if h.answer != nil {
		after, done = h.answer(id, c)
	}
	done.ID = id
	h.push(scheduled{h.now.Add(after), done, true})
	return nil
}

func (h *fakeHost) Timer(id int, d time.Duration) {
	h.events = append(h.events, fmt.Sprintf("timer %d %v", id, d))
	h.push(scheduled{h.now.Add(d), Completion{ID: id}, false})
}

func (h *fakeHost) push(s scheduled) {
	h.queue = append(h.queue, s)
	slices.SortStableFunc(h.queue, func(a, b scheduled) int { return a.at.Compare(b.at) })
}

func (h *fakeHost) Cancel(id int) {
	h.events = append(h.events, fmt.Sprintf("cancel %d", id))
	for i, s := range h.queue {
		if s.done.ID == id && !s.call {
			h.queue = slices.Delete(h.queue, i, i+1)
			return
		}
	}
}

func (h *fakeHost) Next() (Completion, error) {
	if h.stop != nil && (len(h.queue) == 0 || h.queue[0].at.After(epoch.Add(h.stopAt))) {
		return Completion{}, h.stop
	}
	if len(h.queue) == 0 {
		return Completion{}, errors.New("the test's host waits for ever")
	}
	s := h.queue[0]
	h.queue = h.queue[1:]
	h.now = s.at
	return s.done, nil
}

func (h *fakeHost) Secret(name string) (string, bool) {
	v, ok := h.secrets[name]
	return v, ok
}

func (h *fakeHost) Log(level, text string) { h.logs = append(h.logs, level+": "+text) }

func mustCompile(t testing.TB, src string) *Program {
	t.Helper()
	p, err := Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func run(t testing.TB, h Host, src string) Result { return runWith(t, h, src, Input{}) }

func runWith(t testing.TB, h Host, src string, in Input) Result {
	t.Helper()
	return Run(context.Background(), mustCompile(t, src), in, h)
}

// value answers every call with the same JSON.
func value(text string) func(int, Call) (time.Duration, Completion) {
	return func(int, Call) (time.Duration, Completion) {
		return time.Millisecond, Completion{Value: json.RawMessage(text)}
	}
}

func failing(e ServiceError) func(int, Call) (time.Duration, Completion) {
	return func(int, Call) (time.Duration, Completion) { return time.Millisecond, Completion{Err: &e} }
}

// echo gives a payload back as the result.
func echo(payload []byte) Result {
	p, err := Compile("return context.payload")
	if err != nil {
		return Result{Err: err.(*Error)}
	}
	limits := Limits{Result: 8 << 20, Context: 8 << 20}
	return Run(context.Background(), p, Input{Payload: payload, Limits: limits}, newHost())
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }
