package engine_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"faultlab/engine"
)

// slowHistory knows the place up to which somebody has waited for what was appended.
type slowHistory struct {
	engine.History
	onDisk atomic.Int64
}

type slowTicket struct {
	engine.Ticket
	h *slowHistory
}

func (t slowTicket) Wait() error {
	t.h.onDisk.Store(max(t.h.onDisk.Load(), t.Last()))
	return t.Ticket.Wait()
}

func (h *slowHistory) Append(events ...engine.Event) engine.Ticket {
	return slowTicket{h.History.Append(events...), h}
}

func (h *slowHistory) Buffer(events ...engine.Event) engine.Ticket {
	return slowTicket{h.History.Buffer(events...), h}
}

// A worker that dies while a script sleeps has the replies that the script got on disk.
func TestAReplyIsOnDiskWhileTheScriptSleeps(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", `|const r = await services.http.request({method: "POST", url: "http://provider.test/jobs", json: {},
		idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey}}); await new Promise(done => setTimeout(done, 3000)); return r.data.id;`))
	l.replies(created)
	h := &slowHistory{History: l.hist}
	l.hist = h
	l.start()
	l.run(func() {
		r, err := l.eng.Admit(engine.Delivery{Workflow: "orders", Payload: json.RawMessage(`{}`)})
		if err != nil {
			t.Error(err)
			return
		}
		_ = l.clk.Sleep(context.Background(), time.Second)
		if c := l.get(r.Run).Steps[0].Attempts[0].Calls[0]; !c.Ended || h.onDisk.Load() < c.EndSeq {
			t.Errorf("the reply has place %d (ended: %v), and the disk has the history up to %d", c.EndSeq, c.Ended, h.onDisk.Load())
		}
	})
}
