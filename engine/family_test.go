package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"faultlab/engine"
	"faultlab/engine/clock"
)

// household is a saga of a charge, a child and a note in a world that keeps the seed contract.
type household struct {
	*lab
	rt     *rapid.T
	broken string // what an observer saw
	parent string
}

// Whatever becomes of a child or of a child's child, and whenever workers die, somebody
// cancels or decides: nothing is undone while something below is not settled, what is not
// settled is listed, what the evidence bears is accepted, and in the end the charge stands
// exactly where its run has succeeded.
func TestFamilies(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		levels := rapid.IntRange(1, 2).Draw(rt, "levels")
		script := rapid.SampledFrom([]string{calls, calls, catches, hurries}).Draw(rt, "script")
		l := family(t, levels, script, created)
		defer l.clk.Close()
		h := &household{lab: l, rt: rt}
		l.docs[levels].Workflow.Steps[0].Retry.Max = rapid.IntRange(1, 3).Draw(rt, "attempts")
		answers := rapid.SliceOfN(rapid.SampledFrom(schedule), 1, 8).Draw(rt, "answers")
		jobs := 0
		seed := l.world.answer
		l.world.answer = func(n int, s seen) answer {
			if _, known := l.world.effects[s.key]; s.path != "/jobs" || known {
				if known {
					return replay
				}
				return seed(n, s)
			}
			jobs++
			return append(answers, created)[min(jobs-1, len(answers))]
		}
		l.options = func(o *engine.Options) {
			o.Observe, o.Assume = h.observe, declare(t, `{"origins":{"http://provider.test":{"enforces":true}}}`)
		}
		for life := range rapid.IntRange(1, 3).Draw(rt, "lives") {
			h.live(life == 0, rapid.IntRange(-9_000, 9_000).Draw(rt, "ms before a cancel; none below 0"))
		}
		h.live(false, -1)
		h.atRest()
		for range 40 {
			if !h.decide() {
				h.settled(script)
				return
			}
			h.atRest()
		}
	})
}

// live lets a worker go on for a while and kills it; the last one comes to rest.
func (h *household) live(first bool, cancel int) {
	eng := h.start()
	countdown := rapid.IntRange(0, 14).Draw(h.rt, "gates before the crash")
	h.clk.SetGate(func(clock.Point, string) clock.Verdict {
		if countdown--; countdown == 0 && cancel != -1 {
			eng.Kill()
		}
		return clock.Pass
	})
	life := time.Duration(rapid.IntRange(1, 15_000).Draw(h.rt, "ms before the crash")) * time.Millisecond
	h.run(func() {
		if first {
			h.parent, _ = h.admit("orders", "", `{"orderId":"o1"}`)
		} else if err := eng.Recover(); err != nil && !errors.Is(err, engine.ErrKilled) {
			h.rt.Fatal(err)
		}
		if cancel >= 0 {
			h.clk.Go("cancel", func() {
				_ = h.clk.Sleep(context.Background(), time.Duration(cancel)*time.Millisecond)
				if err := eng.Cancel(engine.Cancellation{Run: h.parent}); err != nil && !isRefused(err) && !errors.Is(err, engine.ErrKilled) {
					h.rt.Fatal(err)
				}
			})
		}
		if cancel != -1 {
			_ = h.clk.Sleep(context.Background(), life)
			eng.Kill()
		}
	})
	h.clk.SetGate(nil)
}

// observe looks below a run at the moment at which it begins to undo.
func (h *household) observe(events []engine.Event) {
	for _, e := range events {
		if a, ok := e.Fact.(engine.AttemptStarted); ok && a.Undo && h.broken == "" {
			h.broken = h.unsettledBelow(e.Run)
		}
	}
}

func (h *household) unsettledBelow(run string) string {
	for _, s := range h.get(run).Steps {
		for _, a := range s.Attempts {
			for _, c := range a.Calls {
				if c.Child == "" {
					continue
				}
				if child := h.get(c.Child); !child.Status.Ended() || child.Reconcile {
					return fmt.Sprintf("%s is undone while %s is %s, reconcile %v", run, c.Child, child.Status, child.Reconcile)
				}
				if why := h.unsettledBelow(c.Child); why != "" {
					return why
				}
			}
		}
	}
	return ""
}

func (h *household) runs() []engine.Summary {
	runs, err := h.hist.Runs(engine.Query{})
	if err != nil {
		h.rt.Fatal(err)
	}
	return runs
}

// atRest checks the family once nothing moves: all have ended, and what is not settled is listed up to its parent.
func (h *household) atRest() {
	if h.broken != "" {
		h.rt.Fatal(h.broken)
	}
	seen := map[string]bool{}
	for _, s := range h.world.seen {
		if seen[s.id] && s.method != "GET" {
			h.rt.Fatalf("request %s arrived twice", s.id)
		}
		seen[s.id] = true
	}
	for _, s := range h.runs() {
		run := h.get(s.Run)
		h.listed(h.rt, s.Run)
		switch {
		case !run.Status.Ended():
			h.rt.Fatalf("run %s is %s, and nothing is left to do", run.ID, run.Status)
		case run.Reconcile && run.Waits == nil && len(run.Unsettled()) == 0:
			h.rt.Fatalf("run %s needs reconciling, and there is nothing to decide: %s", run.ID, run.Message)
		case run.Waits != nil && !h.get(run.Waits.Run).Reconcile:
			h.rt.Fatalf("run %s waits for %s, which is settled", run.ID, run.Waits.Run)
		}
		if p := run.Admitted.Parent; run.Reconcile && p != nil && !h.get(p.Run).Reconcile {
			h.rt.Fatalf("run %s is unknown, and its parent is not listed", run.ID)
		}
	}
}

// decide looks an unknown operation up and decides what its evidence bears. The worker may
// die meanwhile. It reports whether there was one.
func (h *household) decide() bool {
	var run *engine.Run
	for _, s := range h.runs() {
		if r := h.get(s.Run); r.Reconcile && r.Waits == nil {
			run = r
		}
	}
	if run == nil {
		return false
	}
	eng, killed := h.eng, false
	countdown := rapid.IntRange(0, 10).Draw(h.rt, "gates before the crash while deciding")
	h.clk.SetGate(func(clock.Point, string) clock.Verdict {
		if countdown--; countdown == 0 {
			killed = true
			eng.Kill()
		}
		return clock.Pass
	})
	abandons := rapid.Bool().Draw(h.rt, "it is not wanted any more")
	var err error
	h.run(func() {
		var found []engine.EvidenceAt
		if found, err = eng.Lookup(context.Background(), run.ID, "", engine.LookupOptions{}); err != nil {
			return
		}
		d := engine.Resubmit
		switch {
		case found[0].Found == engine.FoundRecord:
			d = engine.Record
		case !found[0].Undo && (abandons && run.ID != h.parent || run.CancelAsked):
			d = engine.Abandon
		}
		err = eng.Resolve(engine.Resolution{Run: run.ID, Key: found[0].Key, Decision: d})
	})
	h.clk.SetGate(nil)
	switch {
	case killed:
		h.live(false, -1)
	case err != nil:
		h.rt.Fatalf("%s: %v", run.ID, err)
	}
	return true
}

// settled checks what holds once nothing is unknown: the charge stands where its run has
// succeeded, and the job with it, unless the run was cancelled or the script does without it.
func (h *household) settled(script string) {
	made := func(path string) (n int) {
		for _, s := range h.world.seen {
			if _, there := h.world.effects[s.key]; there && s.path == "/"+path && s.method == "POST" {
				n = 1
			}
		}
		return n
	}
	run := h.get(h.parent)
	whole := run.Status == engine.StatusSucceeded
	switch {
	case made("charges")-made("refunds") != map[bool]int{true: 1}[whole]:
		h.rt.Fatalf("run %s, %d charges, %d refunds: %s", run.Status, made("charges"), made("refunds"), run.Message)
	case whole != (made("notes") == 1):
		h.rt.Fatalf("run %s, %d notes", run.Status, made("notes"))
	case script != catches && !run.CancelAsked && whole != (made("jobs") == 1):
		h.rt.Fatalf("run %s, %d jobs: %s", run.Status, made("jobs"), run.Message)
	}
}
