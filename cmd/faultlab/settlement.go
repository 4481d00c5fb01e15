package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"faultlab/engine"
)

const (
	settleBatch   = 200             // runs that are settled by one command to the owner, at the same time
	lookupsAtOnce = 16              // look-ups of a batch at the same time
	settleRounds  = 6               // decisions about one run in one batch: each key is decided once
	settlePasses  = 4               // looks at what is left, as long as something changes
	batchTime     = 3 * time.Second // of look-ups at a limited rate in one batch
)

// settleArgs ask for some runs to be settled as far as table e goes without force.
type settleArgs struct {
	Runs   []string `json:"runs"`
	DryRun bool     `json:"dryRun,omitempty"`
	Rate   float64  `json:"rate,omitempty"` // look-ups a second; 0: no limit
}

// settledRun is what came of settling one run.
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

// settlement is the whole of it, as --json prints it.
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
		Long: "settle looks every unknown operation up by its key. Where the record is found and\n" +
			"matches, it records it; where there is no record and the key protects a second\n" +
			"request, it resubmits it, once. It never abandons and never forces anything. Then it\n" +
			"prints what is left and why, and exits 1 if something is. It works while faultlab run\n" +
			"owns the state file and without it.",
		Example: "  faultlab settle --dry-run\n  faultlab settle --rate 20",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.Rate < 0 {
				return usage("--rate %v is below 0: say how many look-ups a second are allowed", q.Rate)
			}
			return a.settle(cmd.Context(), q, asJSON, w)
		},
	}
	c.Flags().BoolVar(&q.DryRun, "dry-run", false, "look up and say what would be decided, and decide nothing")
	c.Flags().Float64Var(&q.Rate, "rate", 0, "at most `N` look-ups a second (default: as fast as they are answered, 16 at once)")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	w.flags(c.Flags())
	return c
}

func (a *app) settle(ctx context.Context, q settleArgs, asJSON bool, o workerOptions) error {
	s := settlement{DryRun: q.DryRun, Left: []advised{}}
	would := map[string]settledRun{} // in a dry run
	refused := map[string]string{}
	seen := map[string]bool{}
	// Without an owner, what a crash left in the middle of an attempt is decided first.
	if _, err := a.ask(ctx, request{verb: verbSettle, args: settleArgs{}, worker: o}); err != nil {
		return err
	}
	for pass := range settlePasses {
		runs, err := a.unknownRuns()
		if err != nil {
			return err
		}
		changed, first := false, pass == 0
		for batch := range slices.Chunk(runs, q.batch()) {
			out, err := a.ask(ctx, request{verb: verbSettle, args: settleArgs{Runs: batch, DryRun: q.DryRun, Rate: q.Rate}, worker: o})
			if err != nil {
				return err
			}
			for _, r := range out.Settled {
				s.add(r)
				seen[r.Run] = true
				refused[r.Run], would[r.Run] = r.Refused, r
				changed = changed || len(r.Decisions) > 0
			}
		}
		if q.DryRun || !changed || first && len(runs) == 0 {
			break
		}
	}
	s.Runs = len(seen)
	if err := a.leftOver(&s, o, refused, would); err != nil {
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

// unknownRuns are the runs that need reconciling, children before their parents.
func (a *app) unknownRuns() (runs []string, err error) {
	h, err := a.openReader()
	if err != nil {
		return nil, err
	}
	defer h.Close()
	for q := (engine.Query{Reconcile: true, Limit: maxLimit}); ; {
		page, err := h.Runs(q)
		if err != nil {
			return nil, failed(err)
		}
		for _, r := range page {
			runs = append(runs, r.Run)
		}
		if len(page) < maxLimit {
			return runs, nil
		}
		q.Before = page[len(page)-1].Run
	}
}

// leftOver reads what is left, and why.
func (a *app) leftOver(s *settlement, o workerOptions, refused map[string]string, would map[string]settledRun) error {
	declared, err := a.loadAssume(o.assume)
	if err != nil {
		return err
	}
	runs, err := a.unknownRuns()
	if err != nil {
		return err
	}
	h, err := a.openReader()
	if err != nil {
		return err
	}
	defer h.Close()
	for _, id := range runs {
		events, err := h.Events(id)
		if errors.Is(err, engine.ErrNoRun) { // pruned meanwhile
			continue
		} else if err != nil {
			return failed(err)
		}
		next, err := a.adviceOn(h, engine.Fold(events), declared)
		if err != nil {
			return err
		}
		for _, v := range next {
			if slices.ContainsFunc(would[id].Decisions, func(d decided) bool { return s.DryRun && d.Step == v.Step && d.Key == v.Key }) {
				continue
			}
			if why := refused[id]; why != "" && v.Advice != engine.AdviseEscalate && v.Advice != "" {
				v.Why = why
			}
			s.Left = append(s.Left, v)
		}
	}
	return nil
}

func (a *app) printSettlement(s settlement, asJSON bool) error {
	if asJSON {
		if err := printJSON(a.Out, s); err != nil {
			return err
		}
	} else {
		verbs := []string{"looked up", "recorded", "resubmitted"}
		if s.DryRun {
			verbs = []string{"looked up", "would record", "would resubmit"}
		}
		fmt.Fprintf(a.Out, "%s: %s %d, %s %d, %s %d; %s left\n", plural(s.Runs, "run"), verbs[0], s.Lookups, verbs[1], s.Recorded, verbs[2], s.Resubmitted,
			plural(len(s.Left), "operation"))
		for _, v := range s.Left {
			fmt.Fprintf(a.Out, "\n%s %s\n", v.Run, clean(v.Step))
			a.printNext("  ", v)
		}
	}
	if len(s.Left) > 0 {
		return quiet(exitFailed)
	}
	return nil
}

// settle settles some runs, several at once.
func (w *worker) settle(ctx context.Context, raw json.RawMessage) ([]settledRun, error) {
	var q settleArgs
	if err := json.Unmarshal(raw, &q); err != nil {
		return nil, err
	}
	clk := w.app.clk
	t := &settler{w: w, q: q, pace: pace{clk: clk, rate: q.Rate}, asks: make(chan struct{}, lookupsAtOnce), out: make([]settledRun, len(q.Runs))}
	var work sync.WaitGroup
	for range len(q.Runs) {
		work.Add(1)
		clk.Go("settle", func() {
			defer work.Done()
			for i, ok := t.take(); ok && ctx.Err() == nil; i, ok = t.take() {
				t.out[i] = t.run(ctx, q.Runs[i])
			}
		})
	}
	work.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return t.out, w.eng.Err()
}

// settler is one batch of runs that are being settled.
type settler struct {
	w   *worker
	q   settleArgs
	out []settledRun

	asks chan struct{} // full while as many look-ups as may be are on their way

	mu   sync.Mutex
	next int
	pace pace
}

func (t *settler) take() (int, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	return t.next - 1, t.next <= len(t.q.Runs)
}

// wait waits for the turn of one look-up.
func (t *settler) wait(ctx context.Context) error {
	t.mu.Lock()
	d := t.pace.due()
	t.mu.Unlock()
	if d == 0 {
		return nil
	}
	return t.w.app.clk.Sleep(ctx, d)
}

// run settles one run: each of its unknown operations is looked up once, unless its
// record is there already, and decided at most once.
func (t *settler) run(ctx context.Context, id string) settledRun {
	out := settledRun{Run: id}
	looked, done := map[string]bool{}, map[string]bool{}
	for range settleRounds {
		r, err := t.w.eng.Get(id)
		if err != nil || !r.Status.Ended() {
			return out // it is at work again: what comes of it is read when all is done
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
		op := stepName(c.Step, c.Undo) + "\x00" + c.Key + "\x00" + c.Write
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
			if err := t.w.eng.Resolve(engine.Resolution{Run: r.ID, Key: c.Key, Write: c.Write, Step: stepName(c.Step, c.Undo), Decision: d, Reason: "settle"}); err != nil {
				if d == engine.Record && !looked[op] && errors.As(err, new(*engine.Refused)) { // what the script makes has changed since
					looked[op] = true
					return true, errors.Join(t.lookup(ctx, r, c, out), err)
				}
				return true, err
			}
		}
		out.Decisions = append(out.Decisions, decided{stepName(c.Step, c.Undo), c.Key, d})
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
	_, err := t.w.eng.Lookup(ctx, r.ID, c.Key, engine.LookupOptions{Step: stepName(c.Step, c.Undo)})
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
