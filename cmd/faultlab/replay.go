package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

// replayLimit is how long one replay may take on the machine's clock: all of its waiting is virtual.
const replayLimit = time.Minute

type replayFlags struct {
	all, asJSON, real, verbose bool
	junit, markdown            string
	seed                       int64
}

func (a *app) replayCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay [NAME|FILE|FOLDER]...",
		Short: "Carry scenarios out and compare what happens with what they expect",
		Long: "replay carries scenarios out, from the catalogue by their name or from files and\n" +
			"folders, and says which expectations were not met. Time is virtual, so that waiting\n" +
			"costs nothing; the same seed gives the same timeline.",
		Example:           "  faultlab replay c-commit-then-drop -v\n  faultlab replay --all --junit report.xml\n  faultlab replay ./scenarios",
		ValidArgsFunction: completeScenarios,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.replay(cmd.Context(), f, args) },
	}
	c.Flags().BoolVar(&f.all, "all", false, "the whole catalogue")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print a JSON object for each, with its timeline")
	c.Flags().StringVar(&f.junit, "junit", "", "write a JUnit report to `FILE`")
	c.Flags().StringVar(&f.markdown, "markdown", "", "write a report for people to `FILE`")
	c.Flags().Int64Var(&f.seed, "seed", 0, "seed `N` of ids and randomness (default: the scenario's)")
	c.Flags().BoolVar(&f.real, "real", false, "over real sockets; time stays virtual")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "print each wire diagram")
	return c
}

func (a *app) replay(ctx context.Context, f replayFlags, args []string) error {
	if f.junit != "" && f.junit == f.markdown {
		return usage("--junit and --markdown both name %s: one report would replace the other", f.junit)
	}
	list, err := scenariosOf(f.all, args)
	if err != nil {
		return err
	}
	var reports []*scenarios.Report
	passed := 0
	for i, s := range list {
		r, err := a.replayOne(ctx, f, s, i, len(list))
		if err != nil {
			return err
		}
		reports = append(reports, r)
		if r.Passed() {
			passed++
		}
		if err := a.printReport(f, r); err != nil {
			return failed(err)
		}
	}
	if err := errors.Join(writeReport(f.junit, func(w io.Writer) error { return scenarios.WriteJUnit(w, reports) }),
		writeReport(f.markdown, func(w io.Writer) error { return writeMarkdown(w, reports) })); err != nil {
		return failed(err)
	}
	if !f.asJSON {
		if _, err := fmt.Fprintf(a.Out, "%d passed, %d failed\n", passed, len(list)-passed); err != nil {
			return failed(err)
		}
	}
	if passed < len(list) {
		return quiet(exitFailed)
	}
	return nil
}

// scenariosOf are the scenarios that were asked for. One that cannot be read ends the
// command before anything happens.
func scenariosOf(all bool, args []string) ([]*lang.Scenario, error) {
	if len(args) == 0 && !all {
		return nil, usage("name a scenario, a file or a folder, or say --all; faultlab scenarios lists the catalogue")
	}
	var out []*lang.Scenario
	if all {
		out = scenarios.Catalogue()
	}
	for _, arg := range args {
		found, err := scenariosAt(arg)
		if err != nil {
			return nil, &exit{exitUsage, err}
		}
		out = append(out, found...)
	}
	return out, nil
}

func scenariosAt(arg string) ([]*lang.Scenario, error) {
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
		s, err := scenarios.LoadFile(arg)
		return []*lang.Scenario{s}, err
	}
	s, err := scenarios.Find(arg)
	return []*lang.Scenario{s}, err
}

// replayOne says that it is at work if it takes longer than a second.
func (a *app) replayOne(ctx context.Context, f replayFlags, s *lang.Scenario, i, n int) (*scenarios.Report, error) {
	o := scenarios.Options{Seed: f.seed}
	if (f.real || s.Runs == lang.RunsReal) && s.Runs != lang.RunsVirtual {
		o.Mode = scenarios.Sockets
	}
	limit := fmt.Errorf("it took longer than %v", replayLimit)
	ctx, done := a.clk.WithTimeout(ctx, replayLimit, limit)
	defer done(nil)
	defer a.clk.AfterFunc(time.Second, func() { fmt.Fprintf(a.Err, "replaying %s (%d of %d)\n", clean(s.Name), i+1, n) })()
	began := a.clk.Now()
	r, err := scenarios.Replay(ctx, s, o)
	if err != nil {
		return nil, failed(fmt.Errorf("replay %s: %w", s.Name, err))
	}
	r.Real = a.clk.Now().Sub(began)
	return r, nil
}

func (a *app) printReport(f replayFlags, r *scenarios.Report) error {
	if f.asJSON {
		return r.WriteJSON(a.Out)
	}
	mark := "ok  "
	if !r.Passed() {
		mark = "FAIL"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s  %s\n", mark, clean(r.Scenario.Name), clean(r.Scenario.Title))
	for _, c := range r.Complaints() {
		fmt.Fprintf(&b, "     %s\n", clean(c))
	}
	if f.verbose {
		var picture bytes.Buffer
		picture.WriteString(scenarios.WireText(r.View.Wire, r.View.Start))
		picture.WriteString(scenarios.ArrivalsText(r.View))
		for _, o := range r.View.Operations {
			fmt.Fprintf(&picture, "operation %s of %s: believed %s, %s: %s. %s\n", stepName(o.Step, o.Undo), clean(o.Subject), o.Belief, plural(len(o.Effects), "effect"), o.Verdict, clean(o.Why))
		}
		for _, line := range strings.Split(strings.TrimRight(picture.String(), "\n"), "\n") {
			fmt.Fprintf(&b, "     %s\n", line)
		}
	}
	for _, left := range r.Left {
		fmt.Fprintf(&b, "     not used: %s:%d: %s\n", clean(r.Scenario.File), left.Line, clean(left.String()))
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "     warning: %s\n", clean(w))
	}
	_, err := a.Out.Write(b.Bytes())
	return err
}

func writeMarkdown(w io.Writer, reports []*scenarios.Report) error {
	passed := 0
	for _, r := range reports {
		if r.Passed() {
			passed++
		}
	}
	if _, err := fmt.Fprintf(w, "# faultlab replay\n\n%d passed, %d failed\n\n", passed, len(reports)-passed); err != nil {
		return err
	}
	for _, r := range reports {
		if err := r.WriteMarkdown(w); err != nil {
			return err
		}
	}
	return nil
}

// writeReport writes a file, whole or with an error that says which one; an empty path is none.
func writeReport(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, errors.Unwrap(err))
	}
	return nil
}
