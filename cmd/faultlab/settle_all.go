package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"faultlab/engine"
	"faultlab/store"
)

const (
	settleBatch   = 200             // runs that are settled by one command to the owner, at the same time
	lookupsAtOnce = 16              // look-ups of a batch at the same time
	settleRounds  = 6               // decisions about one run in one batch: each key is decided once
	settlePasses  = 4               // looks at what is left, as long as something changes
	batchTime     = 3 * time.Second // of look-ups at a limited rate in one batch
)

// settleArgs ask to settle some runs as far as table e goes without force.
type settleArgs struct {
	Runs   []string `json:"runs"`
	DryRun bool     `json:"dryRun,omitempty"`
	Rate   float64  `json:"rate,omitempty"` // look-ups a second; 0: no limit
}

// settledRun is the result of settling one run.
type settledRun struct {
	Run       string    `json:"run"`
	Lookups   int       `json:"lookups,omitempty"`
	Decisions []decided `json:"decisions,omitempty"`
	Refused   string    `json:"refused,omitempty"` // why a decision that was advised, or a look-up, was refused
}

// decided is one decision that was taken or, in a dry run, would be.
type decided struct {
	Step     string          `json:"step"`
	Key      string          `json:"key,omitempty"`
	Decision engine.Decision `json:"decision"`
}

// settlement is the result of settle, as --json prints it.
type settlement struct {
	DryRun      bool      `json:"dryRun"`
	Runs        int       `json:"runs"`
	Lookups     int       `json:"lookups"`
	Recorded    int       `json:"recorded"`
	Resubmitted int       `json:"resubmitted"`
	Left        []advised `json:"left"`
}

func (a *app) settleCommand() *cobra.Command {
	var q settleArgs
	var asJSON bool
	var w workerOptions
	c := &cobra.Command{
		Use:   "settle",
		Short: "Settle all unknown operations that need no person",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.Rate < 0 {
				return usage("not a valid --rate: %v; write how many look-ups a second are allowed", q.Rate)
			}
			return a.settle(cmd.Context(), q, asJSON, w)
		},
	}
	c.Flags().BoolVar(&q.DryRun, "dry-run", false, "look up and say what would be decided; decide nothing")
	c.Flags().Float64Var(&q.Rate, "rate", 0, "at most `N` look-ups a second (default: as fast as they are answered, 16 at once)")
	jsonFlag(c, &asJSON, "a JSON object")
	w.flags(c.Flags())
	return c
}

func (a *app) settle(ctx context.Context, q settleArgs, asJSON bool, o workerOptions) error {
	s := settlement{DryRun: q.DryRun, Left: []advised{}}
	last := map[string]settledRun{} // what came of each run, in the last pass
	// Without an owner, what a crash left in the middle of an attempt is decided first.
	if _, err := a.ask(ctx, request{verb: verbSettle, args: settleArgs{}, worker: o}); err != nil {
		return err
	}
	for changed, pass := true, 0; changed && pass < settlePasses; pass++ {
		runs, err := a.unknownRuns()
		if err != nil {
			return err
		}
		changed = false
		for batch := range slices.Chunk(runs, q.batch()) {
			out, err := a.ask(ctx, request{verb: verbSettle, args: settleArgs{Runs: batch, DryRun: q.DryRun, Rate: q.Rate}, worker: o})
			if err != nil {
				return err
			}
			for _, r := range out.Settled {
				s.add(r)
				last[r.Run] = r
				changed = changed || len(r.Decisions) > 0 && !q.DryRun
			}
		}
	}
	s.Runs = len(last)
	if err := a.leftOver(&s, o, last); err != nil {
		return err
	}
	return a.printSettlement(s, asJSON)
}

// batch is how many runs one command settles.
func (q settleArgs) batch() int {
	if q.Rate <= 0 {
		return settleBatch
	}
	return min(settleBatch, max(1, int(q.Rate*batchTime.Seconds())))
}

func (s *settlement) add(r settledRun) {
	s.Lookups += r.Lookups
	for _, d := range r.Decisions {
		switch d.Decision {
		case engine.Record:
			s.Recorded++
		case engine.Resubmit:
			s.Resubmitted++
		}
	}
}

// unknownRuns returns the runs that need reconciling, children before their parents.
func (a *app) unknownRuns() (runs []string, err error) {
	err = a.reading(func(h *store.Reader) error {
		for q := (engine.Query{Reconcile: true, Limit: maxLimit}); ; {
			page, err := h.Runs(q)
			for _, r := range page {
				runs = append(runs, r.Run)
			}
			if err != nil || len(page) < maxLimit {
				return err
			}
			q.Before = page[len(page)-1].Run
		}
	})
	return runs, err
}

// leftOver reads what is left, and why.
func (a *app) leftOver(s *settlement, o workerOptions, last map[string]settledRun) error {
	declared, err := a.loadAssume(o.assume)
	if err != nil {
		return err
	}
	runs, err := a.unknownRuns()
	if err != nil {
		return err
	}
	return a.reading(func(h *store.Reader) error {
		for _, id := range runs {
			events, err := h.Events(id)
			if errors.Is(err, engine.ErrNoRun) { // pruned meanwhile
				continue
			} else if err != nil {
				return err
			}
			next, err := a.adviceOn(h, engine.Fold(events), declared)
			if err != nil {
				return err
			}
			for _, v := range next {
				would := slices.ContainsFunc(last[id].Decisions, func(d decided) bool { return d.Step == v.Step && d.Key == v.Key })
				if s.DryRun && would {
					continue
				}
				if why := last[id].Refused; why != "" && v.Advice != engine.AdviseEscalate && v.Advice != "" {
					v.Why = why
				}
				s.Left = append(s.Left, v)
			}
		}
		return nil
	})
}

func (a *app) printSettlement(s settlement, asJSON bool) error {
	if asJSON {
		if err := printJSON(a.Out, s, "  "); err != nil {
			return err
		}
		return quietIf(len(s.Left) > 0)
	}
	recorded, resubmitted := "recorded", "resubmitted"
	if s.DryRun {
		recorded, resubmitted = "would record", "would resubmit"
	}
	a.say("%s: looked up %d, %s %d, %s %d; %s left", plural(s.Runs, "run"), s.Lookups, recorded, s.Recorded, resubmitted, s.Resubmitted, plural(len(s.Left), "operation"))
	for _, v := range s.Left {
		fmt.Fprintln(a.Out)
		a.say("%s %s", v.Run, v.Step)
		a.printNext("  ", v)
	}
	return quietIf(len(s.Left) > 0)
}

// settler settles one batch of runs.
type settler struct {
	w    *worker
	q    settleArgs
	asks chan struct{} // full while as many look-ups as allowed are on their way

	mu   sync.Mutex
	next time.Time // of the next look-up, at a limited rate
}

// settle settles some runs, several at once.
func (w *worker) settle(ctx context.Context, q settleArgs) ([]settledRun, error) {
	t := &settler{w: w, q: q, asks: make(chan struct{}, lookupsAtOnce)}
	out := make([]settledRun, len(q.Runs))
	var work sync.WaitGroup
	for i, id := range q.Runs {
		work.Add(1)
		w.app.clk.Go("settle", func() {
			defer work.Done()
			out[i] = t.run(ctx, id)
		})
	}
	work.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return out, w.eng.Err()
}

// wait waits for the turn of one look-up.
func (t *settler) wait(ctx context.Context) error {
	if t.q.Rate <= 0 {
		return nil
	}
	t.mu.Lock()
	now := t.w.app.clk.Now()
	if t.next.Before(now) {
		t.next = now
	}
	delay := t.next.Sub(now)
	t.next = t.next.Add(time.Duration(float64(time.Second) / t.q.Rate))
	t.mu.Unlock()
	return t.w.app.clk.Sleep(ctx, delay)
}

// run settles one run: each of its unknown operations is looked up once, unless its
// record is there already, and decided at most once.
func (t *settler) run(ctx context.Context, id string) settledRun {
	out := settledRun{Run: id}
	looked, done := map[string]bool{}, map[string]bool{}
	for range settleRounds {
		r, err := t.w.eng.Get(id)
		if err != nil || !r.Status.Ended() {
			return out // it runs again: its end is read when everything is done
		}
		again, err := t.round(ctx, r, &out, looked, done)
		if err != nil {
			out.Refused = err.Error()
		}
		if !again || ctx.Err() != nil {
			break
		}
	}
	return out
}

// round takes the next step for a run; again says that there may be another one.
func (t *settler) round(ctx context.Context, r *engine.Run, out *settledRun, looked, done map[string]bool) (again bool, err error) {
	for _, c := range r.Unsettled() {
		op := engine.StepName(c.Step, c.Undo) + "\x00" + c.Key + "\x00" + c.Write
		if done[op] {
			continue
		}
		s, err := t.w.eng.Situation(r, c)
		if err != nil {
			return false, err
		}
		if s.Interrupted { // nothing of it is unknown: whether it is to go on, a person says
			continue
		}
		advice := s.Advice()
		if s.Askable && !looked[op] && advice != engine.AdviseRecord {
			looked[op] = true
			err := t.lookup(ctx, r, c, out)
			return err == nil, err
		}
		d, decides := map[engine.Advice]engine.Decision{engine.AdviseRecord: engine.Record, engine.AdviseResubmit: engine.Resubmit}[advice]
		if !decides {
			continue
		}
		done[op] = true
		if !t.q.DryRun {
			if err := t.w.eng.Resolve(engine.Resolution{Run: r.ID, Key: c.Key, Write: c.Write, Step: engine.StepName(c.Step, c.Undo), Decision: d, Reason: "settle"}); err != nil {
				if d == engine.Record && !looked[op] && errors.As(err, new(*engine.Refused)) { // what the script makes has changed since
					looked[op] = true
					return true, errors.Join(t.lookup(ctx, r, c, out), err)
				}
				return true, err
			}
		}
		out.Decisions = append(out.Decisions, decided{engine.StepName(c.Step, c.Undo), c.Key, d})
		return true, t.ended(ctx, r)
	}
	return false, nil
}

// lookup looks one operation up, at its turn.
func (t *settler) lookup(ctx context.Context, r *engine.Run, c *engine.Call, out *settledRun) error {
	if err := t.wait(ctx); err != nil {
		return err
	}
	out.Lookups++
	t.asks <- struct{}{}
	defer func() { <-t.asks }()
	_, err := t.w.eng.Lookup(ctx, r.ID, c.Key, engine.LookupOptions{Step: engine.StepName(c.Step, c.Undo)})
	return err
}

// ended waits for the end of a run and of those that go on when it is settled.
func (t *settler) ended(ctx context.Context, r *engine.Run) error {
	for {
		if err := t.w.app.awaitEnd(ctx, t.w, r.ID); err != nil {
			return err
		}
		p := r.Admitted.Parent
		if p == nil || !p.Wait {
			return nil
		}
		parent, err := t.w.eng.Get(p.Run)
		if err != nil {
			return nil // pruned: nobody waits
		}
		r = parent
	}
}
