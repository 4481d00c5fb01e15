package scenarios

import (
	"fmt"
	"strings"

	"faultlab/engine"
	"faultlab/engine/clock"
)

// crashPoint is where the worker is to be killed.
type crashPoint struct {
	point   string // as the crash verb names it
	step    string // empty: any
	attempt int    // 0: any
}

// Crash points, as the crash verb names them.
const (
	crashNow         = "now"
	crashBeforeSend  = "before-send"
	crashAfterEffect = "after-effect"
	crashAfterReply  = "after-reply"
	crashInBackoff   = "during-backoff"
)

// gates are the gates at which the crash points lie.
var gates = map[clock.Point]string{
	clock.AtSend:   crashBeforeSend,
	clock.AtReply:  crashAfterEffect,
	clock.AtRecord: crashAfterReply,
}

// gate is asked by the clock whenever an actor passes a send, a commit, a reply or a record.
func (b *Bench) gate(p clock.Point, subject string) clock.Verdict {
	if (p == clock.AtSend || p == clock.AtRecord) && b.orphaned(subject) {
		return clock.Pass
	}
	if b.crashesAt(gates[p], subject) {
		id, _ := engine.ParseRequestID(subject) // it fits the crash, so it is one
		b.kill(fmt.Sprintf("%s, in attempt %d of %s: the worker is gone", gates[p], id.Attempt, stepName(id.Step, id.Undo)))
		return clock.Pass
	}
	b.mu.Lock()
	stepping := b.stepping
	b.mu.Unlock()
	if stepping {
		return clock.Park
	}
	return clock.Pass
}

// sent is a request that a worker wrote down.
type sent struct {
	what   string // "POST /jobs"
	worker int    // which of the bench's workers
}

// orphaned reports whether the worker that sent a request is dead: it sends and writes nothing any more.
func (b *Bench) orphaned(requestID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok := b.sent[requestID]
	return ok && (b.setting.WorkerDown || s.worker != b.workers)
}

// crashesAt reports whether the worker is to be killed at this point of this request, and disarms the crash.
func (b *Bench) crashesAt(point, requestID string) bool {
	id, ok := engine.ParseRequestID(requestID)
	if !ok || id.Lookup {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.crash
	if c == nil || c.point != point || !c.fits(id.Step, id.Attempt) {
		return false
	}
	if point == crashAfterEffect && !b.committed[requestID] {
		return false
	}
	b.crash = nil
	return true
}

func (c *crashPoint) fits(step string, attempt int) bool {
	return (c.step == "" || c.step == step) && (c.attempt == 0 || c.attempt == attempt)
}

// watchBackoff kills the worker once a retry is due, if that was asked for. It is called by the engine, which must not be called back: an actor does it.
func (b *Bench) watchBackoff(events []engine.Event) {
	for _, e := range events {
		f, ok := e.Fact.(engine.AttemptEnded)
		if !ok || f.Next != engine.NextRetry {
			continue
		}
		b.mu.Lock()
		hit := b.crash != nil && b.crash.point == crashInBackoff && b.crash.fits(f.Step, f.Attempt)
		if hit {
			b.crash = nil
		}
		b.mu.Unlock()
		if hit {
			b.clk.Go("crash", func() {
				b.kill(fmt.Sprintf("%s, after attempt %d of %s: the worker is gone", crashInBackoff, f.Attempt, stepName(f.Step, f.Undo)))
			})
		}
	}
}

// kill ends the worker as kill -9 does.
func (b *Bench) kill(where string) {
	b.mu.Lock()
	eng, down := b.eng, b.setting.WorkerDown
	b.mu.Unlock()
	if down {
		return
	}
	b.set("crash", where, func(s *Setting) { s.WorkerDown = true })
	eng.Kill()
}

// restart starts a new worker on the same history.
func (b *Bench) restart() error {
	eng := b.newEngine()
	b.mu.Lock()
	b.eng = eng
	b.mu.Unlock()
	b.set("restart", "the worker is back on the same history", func(s *Setting) { s.WorkerDown = false })
	return eng.Recover()
}

// parked lists what is held at a gate, as "send POST /jobs".
func (b *Bench) parked() []string {
	if b.virtual == nil {
		return nil
	}
	var out []string
	for _, p := range b.virtual.Parked() {
		b.mu.Lock()
		what := b.sent[p.Subject].what
		b.mu.Unlock()
		if what == "" {
			what = p.Subject
		}
		out = append(out, strings.TrimSpace(string(p.Point)+" "+what))
	}
	return out
}

// stepOn lets the actor that was held first go on to the next gate; everything else stays held.
func (b *Bench) stepOn() {
	b.mu.Lock()
	b.stepping = true
	b.mu.Unlock()
	if p := b.virtual.Parked(); len(p) > 0 {
		b.virtual.Release(p[0].ID)
	}
	b.virtual.Resume()
	b.changed()
}

// resume ends a pause and the stepping.
func (b *Bench) resume() {
	b.mu.Lock()
	b.stepping = false
	b.mu.Unlock()
	for _, p := range b.virtual.Parked() {
		b.virtual.Release(p.ID)
	}
	b.virtual.Resume()
	b.changed()
}
