package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"faultlab/engine/plain"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

// replayLimit is how long one replay may take on the machine's clock: all of its waiting is virtual.
const replayLimit = time.Minute

type replayFlags struct {
	all, asJSON, real, verbose bool
	junit, markdown, html      string
	seed                       int64
}

func (a *app) replayCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:               "replay [NAME|FILE|FOLDER]...",
		Short:             "Run scenarios and check their expectations",
		ValidArgsFunction: completeScenarios,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.replay(cmd.Context(), f, args) },
	}
	c.Flags().BoolVar(&f.all, "all", false, "replay the whole catalogue")
	jsonFlag(c, &f.asJSON, "a JSON object for each, with its timeline")
	c.Flags().StringVar(&f.junit, "junit", "", "write a JUnit report to `FILE`")
	c.Flags().StringVar(&f.markdown, "markdown", "", "write a report for people to `FILE`")
	c.Flags().StringVar(&f.html, "html", "", "write one self-contained page with each wire diagram to `FILE`")
	c.Flags().Int64Var(&f.seed, "seed", 0, "seed `N` of ids and randomness (default: the scenario's)")
	c.Flags().BoolVar(&f.real, "real", false, "use real sockets; time stays virtual")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "print each wire diagram")
	return c
}

func (a *app) replay(ctx context.Context, f replayFlags, args []string) error {
	if err := prepareReports(reportFile{"junit", f.junit}, reportFile{"markdown", f.markdown}, reportFile{"html", f.html}); err != nil {
		return err
	}
	list, err := scenariosOf(f.all, args)
	if err != nil {
		return err
	}
	var results []scenarios.Result
	var n tally
	for i, l := range list {
		r := a.resultOf(ctx, f, l, i, len(list))
		results = append(results, r)
		n.add(r)
		if err := a.printResult(f, r); err != nil {
			return failed(err)
		}
	}
	err = errors.Join(writeReport(f.junit, func(w io.Writer) error { return scenarios.WriteJUnit(w, results) }),
		writeReport(f.markdown, func(w io.Writer) error { return writeMarkdown(w, results, n) }),
		writeReport(f.html, func(w io.Writer) error { return scenarios.WriteHTML(w, results) }))
	if err != nil {
		return failed(err)
	}
	if !f.asJSON {
		if _, err := fmt.Fprintln(a.Out, n); err != nil {
			return failed(err)
		}
	}
	if n.unread > 0 {
		return quiet(exitUsage)
	}
	return quietIf(n.failed > 0)
}

// tally counts results.
type tally struct{ passed, failed, unread int }

func (n *tally) add(r scenarios.Result) {
	switch {
	case r.Unread != nil:
		n.unread++
	case r.Report.Passed():
		n.passed++
	default:
		n.failed++
	}
}

// String is the last line of a replay.
func (n tally) String() string {
	text := fmt.Sprintf("%d passed, %d failed", n.passed, n.failed)
	if n.unread > 0 {
		text += fmt.Sprintf(", %d could not be read", n.unread)
	}
	return text
}

// scenariosOf returns the scenarios that were named. An unknown name ends the command before anything runs.
func scenariosOf(all bool, args []string) ([]scenarios.Loaded, error) {
	if len(args) == 0 && !all {
		return nil, usage("name a scenario, a file or a folder, or use --all; faultlab scenarios lists the catalogue")
	}
	var out []scenarios.Loaded
	if all {
		for _, s := range scenarios.Catalogue() {
			out = append(out, scenarios.Loaded{Scenario: s})
		}
	}
	for _, arg := range args {
		found, err := scenariosAt(arg)
		if err != nil {
			return nil, misused(err)
		}
		out = append(out, found...)
	}
	return out, nil
}

func scenariosAt(arg string) ([]scenarios.Loaded, error) {
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		found, err := scenarios.LoadFolder(arg)
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("%s holds no scenario: their names end in %s", arg, lang.Ext)
		}
		return found, err
	case err == nil || strings.HasSuffix(arg, lang.Ext) || strings.ContainsRune(arg, os.PathSeparator):
		if err != nil {
			return nil, fmt.Errorf("there is no file %s", arg)
		}
		return []scenarios.Loaded{scenarios.Load(arg)}, nil
	}
	s, err := scenarios.Find(arg)
	return []scenarios.Loaded{{Scenario: s}}, err
}

// readable returns the scenarios that were named, for a command that needs all of them.
func readable(loaded []scenarios.Loaded, err error) ([]*lang.Scenario, error) {
	if err != nil {
		return nil, err
	}
	var out []*lang.Scenario
	var errs []error
	for _, l := range loaded {
		if l.Unread != nil {
			errs = append(errs, l.Unread)
			continue
		}
		out = append(out, l.Scenario)
	}
	return out, misused(errors.Join(errs...))
}

// resultOf replays one scenario, if it could be read.
func (a *app) resultOf(ctx context.Context, f replayFlags, l scenarios.Loaded, i, n int) scenarios.Result {
	if l.Unread != nil {
		return scenarios.Result{Unread: l.Unread}
	}
	r, err := a.replayOne(ctx, f, l.Scenario, i, n)
	if err != nil {
		return scenarios.Result{Unread: &scenarios.Unread{File: l.Scenario.File, Err: err}}
	}
	return scenarios.Result{Report: r}
}

func (a *app) printResult(f replayFlags, r scenarios.Result) error {
	if r.Unread == nil {
		return a.printReport(f, r.Report)
	}
	if f.asJSON {
		return r.Unread.WriteJSON(a.Out)
	}
	text := "ERROR " + plain.Escape(r.Unread.File) + "\n"
	for line := range strings.SplitSeq(r.Unread.Error(), "\n") {
		text += "     " + plain.Escape(line) + "\n"
	}
	_, err := io.WriteString(a.Out, text)
	return err
}

// replayOne replays one scenario, and says so if it takes longer than a second.
func (a *app) replayOne(ctx context.Context, f replayFlags, s *lang.Scenario, i, n int) (*scenarios.Report, error) {
	o := scenarios.Options{Seed: f.seed}
	if f.real && s.Runs != lang.RunsVirtual {
		o.Mode = scenarios.Sockets
	}
	limit := fmt.Errorf("it took longer than %v", replayLimit)
	ctx, done := a.clk.WithTimeout(ctx, replayLimit, limit)
	defer done(nil)
	defer a.clk.AfterFunc(time.Second, func() { fmt.Fprintf(a.Err, "replaying %s (%d of %d)\n", plain.Escape(s.Name), i+1, n) })()
	began := a.clk.Now()
	r, err := scenarios.Replay(ctx, s, o)
	if err != nil {
		return nil, err
	}
	r.Real = a.clk.Now().Sub(began)
	return r, nil
}

func writeMarkdown(w io.Writer, results []scenarios.Result, n tally) error {
	if _, err := fmt.Fprintf(w, "# faultlab replay\n\n%s\n\n", n); err != nil {
		return err
	}
	for _, r := range results {
		write := r.Unread.WriteMarkdown
		if r.Unread == nil {
			write = r.Report.WriteMarkdown
		}
		if err := write(w); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printReport(f replayFlags, r *scenarios.Report) error {
	if f.asJSON {
		return r.WriteJSON(a.Out)
	}
	mark := "ok  "
	if !r.Passed() {
		mark = "FAIL"
	}
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString("     " + plain.Escape(fmt.Sprintf(format, args...)) + "\n")
	}
	b.WriteString(plain.Escape(fmt.Sprintf("%s %s  %s", mark, r.Scenario.Name, r.Scenario.Title)) + "\n")
	for _, c := range r.Complaints() {
		line("%s", c)
	}
	if f.verbose {
		picture := scenarios.WireText(r.View.Wire, r.View.Start) + scenarios.ArrivalsText(r.View)
		for text := range strings.SplitSeq(strings.TrimRight(picture, "\n"), "\n") {
			line("%s", text)
		}
		for i, run := range r.View.Runs {
			if v := r.View.RunVerdicts[i]; v.RunVerdict != "" {
				line("run %s %s: %s. %s", run.ID, run.Status, v.RunVerdict, v.Why())
			}
		}
		for _, o := range r.View.Operations {
			line("operation %s of %s: believed %s, %s: %s. %s", o.Name(), o.Subject, o.Belief, plural(len(o.Effects), "effect"), o.Verdict, o.Why)
		}
	}
	for _, left := range r.Left {
		line("not used: %s:%d: %s", r.Scenario.File, left.Line, left)
	}
	for _, w := range r.Warnings {
		line("warning: %s", w)
	}
	_, err := io.WriteString(a.Out, b.String())
	return err
}
