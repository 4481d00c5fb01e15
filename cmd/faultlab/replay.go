package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
		Short: "Run scenarios and check their expectations",
		Long: "replay runs scenarios, from the catalogue by their name or from files and folders\n" +
			"(with their subfolders; names that begin with a dot are left out), and says which\n" +
			"expectations were not met. Time is virtual, so that waiting costs nothing; the same\n" +
			"seed gives the same timeline. A file that cannot be read is an error of its own\n" +
			"(exit 2), and the rest still runs.",
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
	if err := errors.Join(removeReport(f.junit), removeReport(f.markdown)); err != nil {
		return failed(err)
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
	if err := errors.Join(writeReport(f.junit, func(w io.Writer) error { return scenarios.WriteJUnit(w, results) }),
		writeReport(f.markdown, func(w io.Writer) error { return writeMarkdown(w, results, n) })); err != nil {
		return failed(err)
	}
	if !f.asJSON {
		if _, err := fmt.Fprintln(a.Out, n); err != nil {
			return failed(err)
		}
	}
	switch {
	case n.unread > 0:
		return quiet(exitUsage)
	case n.failed > 0:
		return quiet(exitFailed)
	}
	return nil
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

// scenariosOf are the scenarios that were asked for. A name that fits nothing ends the command before anything happens.
func scenariosOf(all bool, args []string) ([]scenarios.Loaded, error) {
	if len(args) == 0 && !all {
		return nil, usage("name a scenario, a file or a folder, or say --all; faultlab scenarios lists the catalogue")
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
			return nil, &exit{exitUsage, err}
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

// readable are the scenarios that were asked for, by a command that goes on only where all can be read.
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
	if err := errors.Join(errs...); err != nil {
		return nil, &exit{exitUsage, err}
	}
	return out, nil
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
	var b bytes.Buffer
	fmt.Fprintf(&b, "ERROR %s\n", clean(r.Unread.File))
	for _, line := range strings.Split(r.Unread.Error(), "\n") {
		fmt.Fprintf(&b, "     %s\n", clean(line))
	}
	_, err := a.Out.Write(b.Bytes())
	return err
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
		return nil, err
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
		for i, run := range r.View.Runs {
			if v := r.View.RunVerdicts[i]; v.RunVerdict != "" {
				fmt.Fprintf(&picture, "run %s %s: %s. %s\n", run.ID, run.Status, v.RunVerdict, clean(v.Why()))
			}
		}
		for _, o := range r.View.Operations {
			fmt.Fprintf(&picture, "operation %s of %s: believed %s, %s: %s. %s\n", clean(o.Name()), clean(o.Subject), o.Belief, plural(len(o.Effects), "effect"), o.Verdict, clean(o.Why))
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

// removeReport takes the report of an earlier run away before this one begins, so that none is taken for this one's.
// What is no file, as a pipe, stays; an empty path is none.
func removeReport(path string) error {
	info, err := os.Stat(path)
	if path == "" || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("cannot replace the report of an earlier run: %w", err)
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
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("cannot write %s: %w", path, cmp.Or(errors.Unwrap(err), err))
		}
		return nil
	}
	if err := replaceFile(path, b.Bytes()); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, cmp.Or(errors.Unwrap(err), err))
	}
	return nil
}

// replaceFile writes a file beside the path and gives it its name once it is whole.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".faultlab-report-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	for _, next := range []func() error{func() error { return f.Chmod(0o644) }, f.Close, func() error { return os.Rename(f.Name(), path) }} {
		if err != nil {
			break
		}
		err = next()
	}
	if err != nil {
		f.Close() // again, where it was not the close that failed
		os.Remove(f.Name())
	}
	return err
}
