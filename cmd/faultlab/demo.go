package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"faultlab/engine/plain"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/tui"
)

type demoFlags struct {
	lesson string
	speed  float64
	pause  time.Duration
}

// defaultPause lets an audience read what stands there.
const defaultPause = 3 * time.Second

func (a *app) demoCommand() *cobra.Command {
	var f demoFlags
	c := &cobra.Command{
		Use:               "demo [NAME|FILE]...",
		Short:             "Play a lesson by itself, for a talk",
		ValidArgsFunction: completeScenarios,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.demo(cmd.Context(), f, args) },
	}
	c.Flags().StringVar(&f.lesson, "lesson", lessonNames()[0], "`LESSON` to play")
	c.Flags().Float64Var(&f.speed, "speed", 1, "`SPEED` of the bench's clock: 1 is real time, 0 is as fast as possible")
	c.Flags().DurationVar(&f.pause, "pause", defaultPause, "`DURATION` for reading, before an answer and after a scenario")
	offer(c, "lesson", lessonNames())
	return c
}

func lessonNames() []string {
	var out []string
	for _, l := range scenarios.Lessons {
		out = append(out, l.Name)
	}
	return out
}

func (a *app) demo(ctx context.Context, f demoFlags, args []string) error {
	if f.speed != 0 && (f.speed < 0.1 || f.speed > 100) {
		return usage("not a valid --speed: %v; write 0.1 to 100, or 0 for as fast as possible", f.speed)
	}
	list, err := a.played(f, args)
	if err != nil {
		return err
	}
	return a.playAll(ctx, f, list)
}

// playAll plays scenarios one after the other, until the context ends.
func (a *app) playAll(ctx context.Context, f demoFlags, list []*lang.Scenario) error {
	a.live()
	bad := false
	for i, s := range list {
		if i > 0 && a.clk.Sleep(ctx, f.pause) != nil {
			return quiet(exitFailed)
		}
		r, err := a.play(ctx, f, s)
		switch {
		case ctx.Err() != nil:
			return quiet(exitFailed)
		case err != nil:
			return failed(fmt.Errorf("play %s: %w", s.Name, err))
		}
		bad = bad || !r.Passed()
	}
	return quietIf(bad)
}

// played returns the scenarios that were named, or prints the lesson's text and returns its scenarios.
func (a *app) played(f demoFlags, args []string) ([]*lang.Scenario, error) {
	if len(args) > 0 {
		return readable(scenariosOf(false, args))
	}
	for _, l := range scenarios.Lessons {
		if l.Name == f.lesson {
			fmt.Fprintf(a.Out, "%s\n", strings.ToUpper(l.Title))
			a.paragraphs(l.Text)
			return l.Scenarios(), nil
		}
	}
	return nil, usage("unknown lesson: %q; the lessons are %s", f.lesson, joined(lessonNames()))
}

// play runs one scenario before an audience.
func (a *app) play(ctx context.Context, f demoFlags, s *lang.Scenario) (*scenarios.Report, error) {
	fmt.Fprintf(a.Out, "\n== %s ==\n", plain.Escape(s.Title))
	a.paragraphs(s.Before)
	if a.question(ctx, f, s) != nil {
		return nil, ctx.Err()
	}
	b, err := scenarios.Open(s, scenarios.Options{Speed: f.speed})
	if err != nil {
		return nil, err
	}
	shown := 0
	show := func() {
		v := b.Timeline().Latest()
		for _, line := range tui.Plain(v, shown, false) {
			fmt.Fprintln(a.Out, "  "+line)
		}
		shown = v.N
	}
	b.Play()
	err = a.follow(ctx, b, show)
	r := b.Report()
	if closing := b.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, err
	}
	a.explain(s, r)
	return r, nil
}

// followPace is how often a demo looks for news.
const followPace = 30 * time.Millisecond

// follow shows what happens until the script has ended and the simulation is idle.
func (a *app) follow(ctx context.Context, b *scenarios.Bench, show func()) error {
	done := a.clk.NewEvent("the end of the scenario")
	var over error
	a.clk.Go("demo", func() { over = b.Wait(ctx); done.Set() })
	for !done.IsSet() {
		show()
		_ = a.clk.Sleep(ctx, followPace) // done comes with the context's end
	}
	show()
	return over
}

// question prints the scenario's questions and waits, so that the audience can think.
func (a *app) question(ctx context.Context, f demoFlags, s *lang.Scenario) error {
	asked := s.Asked()
	if len(asked) == 0 {
		return nil
	}
	for _, q := range asked {
		fmt.Fprintln(a.Out)
		a.say("?  %s  %s", q.Text, strings.Join(q.Choices, " | "))
	}
	return a.clk.Sleep(ctx, f.pause)
}

// explain prints the answers, the verdicts and what there is to learn.
func (a *app) explain(s *lang.Scenario, r *scenarios.Report) {
	for _, q := range s.Asked() {
		fmt.Fprintln(a.Out)
		a.say("!  %s", q.Choices[q.Right])
		a.paragraphs(q.Because)
	}
	fmt.Fprintln(a.Out)
	if i := r.View.WorstRun(); i >= 0 {
		v := r.View.RunVerdicts[i]
		a.say("run verdict: %s", v.RunVerdict)
		a.paragraphs(v.Why())
	}
	for _, o := range r.View.Operations {
		a.say("verdict: %s (%s, believed %s, %s)", o.Verdict, o.Name(), o.Belief, plural(len(o.Effects), "effect"))
		a.paragraphs(o.Why)
	}
	a.paragraphs(s.Teach)
	for _, c := range r.Complaints() {
		a.say("not as expected: %s", c)
	}
}

func (a *app) paragraphs(text string) {
	if text == "" {
		return
	}
	for _, p := range strings.Split(text, "\n") {
		fmt.Fprintf(a.Out, "   %s\n", wrap(plain.Escape(p), 3))
	}
}
