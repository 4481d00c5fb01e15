package script

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Memo remembers what scripts did: for each text and Input, what was asked of the Host and, for each of its answers, what
// followed. A run whose answers are all known asks the same of its Host without a runtime; at the first unknown answer the
// script runs, with the known ones first. So results are those of Run, but the watchdog counts only what is really computed.
// A nil Memo remembers nothing. A Memo may be used by many runs at once.
type Memo struct {
	// Most bounds what is kept, in bytes, roughly: beyond it everything is forgotten. 0 means 16 MiB.
	Most int

	mu   sync.Mutex
	runs map[string]*remembered
	size int
}

// remembered is a script between two of the Host's answers.
type remembered struct {
	ask       func(Host) answer // what it asks next; nil where that is not known
	waits     bool              // it asks for the next completion
	unhandled []ServiceError    // while it waits, should it be stopped
	result    *Result           // it has ended
	next      map[string]*remembered
}

// answer is one of the Host's. Which field counts is known to who asked.
type answer struct {
	at         time.Time
	refusal    *ServiceError
	completion Completion
	secret     string
	ok         bool
	err        error // of Next: the run ends, and nothing is remembered of it
}

// sizeOfNode is what one node of a Memo takes, without texts.
const sizeOfNode = 256

// Run is the function Run, from memory as far as it reaches.
func (m *Memo) Run(ctx context.Context, p *Program, in Input, h Host) Result {
	if m == nil || ctx.Err() != nil {
		return Run(ctx, p, in, h)
	}
	root := m.root(p, &in)
	at := root
	var known []answer
	var open []int
	for {
		m.mu.Lock()
		here := *at
		m.mu.Unlock()
		switch {
		case here.result != nil:
			return here.result.copied()
		case here.ask == nil:
			return m.record(ctx, p, in, h, root, known)
		}
		a := here.ask(h)
		if a.err != nil {
			return Result{Err: cancelled(a.err), Open: open, Unhandled: slices.Clone(here.unhandled)}
		}
		known = append(known, a)
		if ctx.Err() != nil { // where that stops a script, only the script knows
			return m.record(ctx, p, in, h, root, known)
		}
		if here.waits {
			if i := slices.Index(open, a.completion.ID); i >= 0 {
				open = slices.Delete(open, i, i+1)
			}
		} else if a.ok && a.completion.ID > 0 { // a call has begun
			open = append(open, a.completion.ID)
		}
		m.mu.Lock()
		next := at.next[a.key()]
		m.mu.Unlock()
		if next == nil {
			return m.record(ctx, p, in, h, root, known)
		}
		at = next
	}
}

// record runs a script, gives it the known answers first, and remembers what it does.
func (m *Memo) record(ctx context.Context, p *Program, in Input, h Host, root *remembered, known []answer) Result {
	r := &recorder{m: m, host: h, at: root, known: known}
	r.ctx = recorderContext{ctx, r}
	res := runShown(r.ctx, p, in, r, func(rl *realm) { r.realm = rl })
	if res.Err != nil {
		switch res.Err.Code {
		case CodeTimeout, CodeCancelled, CodeCrashed, CodeStackTooDeep: // not by the answers alone
			return res
		}
	}
	kept := res.copied()
	m.mu.Lock()
	r.at.result = &kept
	m.size += len(res.Value)
	m.mu.Unlock()
	return res
}

func (m *Memo) root(p *Program, in *Input) *remembered {
	b := make([]byte, 0, 1024+len(p.source)+len(in.Payload))
	b = appendPart(b, p.source)
	b = appendPart(b, string(in.Payload))
	for _, fields := range []map[string]json.RawMessage{in.Steps, in.Extra} {
		for _, name := range sortedKeys(fields) {
			b = appendPart(appendPart(b, name), string(fields[name]))
		}
		b = append(b, ';')
	}
	b = appendPart(b, in.Attempt.IdempotencyKey)
	l := in.Limits
	for _, n := range []int64{int64(in.Attempt.Number), int64(in.Attempt.MaxAttempts), in.Seed, int64(l.Time), int64(l.Grace), int64(l.Stack), int64(l.Result), int64(l.Context)} {
		b = append(strconv.AppendInt(b, n, 10), ',')
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	most := m.Most
	if most == 0 {
		most = 16 << 20
	}
	if m.runs == nil || m.size > most {
		m.runs, m.size = map[string]*remembered{}, 0
	}
	n := m.runs[string(b)]
	if n == nil {
		n = &remembered{}
		m.runs[string(b)] = n
		m.size += sizeOfNode + len(b)
	}
	return n
}

// recorder is the Host of a run that is remembered.
type recorder struct {
	m     *Memo
	host  Host
	ctx   recorderContext
	realm *realm
	at    *remembered
	known []answer // that the script has not been given yet
}

// recorderContext is over only once the script has been given the known answers: they came before that end.
type recorderContext struct {
	context.Context
	r *recorder
}

func (c recorderContext) Done() <-chan struct{} {
	if len(c.r.known) > 0 {
		return nil
	}
	return c.Context.Done()
}

func (c recorderContext) Err() error {
	if len(c.r.known) > 0 {
		return nil
	}
	return c.Context.Err()
}

// do answers what the script asks, size bytes of texts, and remembers both.
func (r *recorder) do(size int, ask func(Host) answer) answer { return r.step(false, size, ask) }

func (r *recorder) step(waits bool, size int, ask func(Host) answer) answer {
	var a answer
	if len(r.known) > 0 {
		a, r.known = r.known[0], r.known[1:]
	} else {
		a = ask(r.host)
	}
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	if r.at.ask == nil {
		r.at.ask, r.at.waits, r.at.next = ask, waits, map[string]*remembered{}
		r.m.size += size
		if waits {
			r.at.unhandled = r.realm.unhandled()
		}
	}
	if a.err != nil {
		return a
	}
	key := a.key()
	next := r.at.next[key]
	if next == nil {
		next = &remembered{}
		r.at.next[key] = next
		r.m.size += sizeOfNode + len(key)
	}
	r.at = next
	return a
}

// Now implements Host.
func (r *recorder) Now() time.Time {
	return r.do(0, func(h Host) answer { return answer{at: h.Now()} }).at
}

// Start implements Host.
func (r *recorder) Start(id int, c Call) *ServiceError {
	return r.do(len(c.Input), func(h Host) answer {
		no := h.Start(id, c)
		return answer{refusal: no, ok: no == nil, completion: Completion{ID: id}}
	}).refusal
}

// Timer implements Host.
func (r *recorder) Timer(id int, d time.Duration) {
	r.do(0, func(h Host) answer { h.Timer(id, d); return answer{} })
}

// Cancel implements Host.
func (r *recorder) Cancel(id int) {
	r.do(0, func(h Host) answer { h.Cancel(id); return answer{} })
}

// Next implements Host.
func (r *recorder) Next() (Completion, error) {
	a := r.step(true, 0, func(h Host) answer { c, err := h.Next(); return answer{completion: c, err: err} })
	return a.completion, a.err
}

// Secret implements Host.
func (r *recorder) Secret(name string) (string, bool) {
	a := r.do(0, func(h Host) answer { v, ok := h.Secret(name); return answer{secret: v, ok: ok} })
	return a.secret, a.ok
}

// Log implements Host.
func (r *recorder) Log(level, text string) {
	r.do(len(text), func(h Host) answer { h.Log(level, text); return answer{} })
}

// key is what tells an answer from others to the same question.
func (a *answer) key() string {
	b := make([]byte, 0, 64+len(a.completion.Value)+len(a.completion.Body))
	if !a.at.IsZero() {
		b = strconv.AppendInt(b, a.at.UnixNano(), 10)
	}
	b = strconv.AppendBool(append(b, '|'), a.ok)
	b = strconv.AppendInt(append(b, '|'), int64(a.completion.ID), 10)
	b = appendPart(appendPart(b, a.secret), string(a.completion.Value))
	b = appendPart(b, string(a.completion.Body))
	for _, e := range []*ServiceError{a.refusal, a.completion.Err, a.completion.BodyErr} {
		if b = append(b, ';'); e == nil {
			continue
		}
		for _, text := range []string{e.Code, e.Message, e.Service, e.Operation, e.CallID, string(e.Details), e.Cause} {
			b = appendPart(b, text)
		}
		for _, is := range []bool{e.Retryable, e.Ambiguous, e.UnknownOption} {
			b = strconv.AppendBool(append(b, ','), is)
		}
	}
	return string(b)
}

// appendPart appends a text so that where it ends can be told.
func appendPart(b []byte, text string) []byte {
	b = strconv.AppendInt(append(b, ' '), int64(len(text)), 10)
	return append(append(b, ':'), text...)
}

// copied is a result that its reader may change, save its JSON.
func (r Result) copied() Result {
	r.Open, r.Unhandled = slices.Clone(r.Open), slices.Clone(r.Unhandled)
	if r.Err != nil {
		e := *r.Err
		if e.Service != nil {
			s := *e.Service
			e.Service = &s
		}
		r.Err = &e
	}
	return r
}
