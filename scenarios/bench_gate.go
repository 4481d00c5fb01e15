package scenarios

import (
	"strings"

	"faultlab/engine/clock"
	"faultlab/scenarios/lang"
)

// gates are the gates at which crash points lie.
var gates = map[clock.Point]string{
	clock.AtSend:   lang.CrashBeforeSend,
	clock.AtReply:  lang.CrashAfterEffect,
	clock.AtRecord: lang.CrashAfterReply,
}

// gate is asked by the clock whenever an actor passes a send, a commit, a reply or a record.
func (b *Bench) gate(p clock.Point, subject string) clock.Verdict {
	if (p == clock.AtSend || p == clock.AtRecord) && b.orphaned(subject) {
		return clock.Pass
	}
	if place, ok := b.placeAt(p, subject); ok && b.takeCrash(place) {
		b.kill(place.String() + ": the worker is gone")
		return clock.Pass
	}
	if b.o.explorer.over() {
		return clock.Park
	}
	if p == clock.AtSend {
		b.inOrder(subject)
	}
	b.mu.Lock()
	stepping := b.stepping
	b.mu.Unlock()
	if stepping {
		return clock.Park
	}
	return clock.Pass
}

// orphaned reports whether the worker that sent a request is dead: it sends and writes nothing any more.
func (b *Bench) orphaned(requestID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok := b.sent[requestID]
	return ok && (b.setting.WorkerDown || s.worker != b.workers)
}

// kill ends the worker as kill -9 does.
func (b *Bench) kill(where string) {
	b.mu.Lock()
	eng, down := b.eng, b.setting.WorkerDown
	b.mu.Unlock()
	if down {
		return
	}
	b.mu.Lock()
	b.crashes.happened++
	b.mu.Unlock()
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
	if err := eng.Recover(); err != nil {
		return err
	}
	b.due(lang.WhenAfterCrash)
	return nil
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
