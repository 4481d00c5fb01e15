package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"faultlab/faultprovider/contract"
	"faultlab/scenarios"
	"faultlab/scenarios/explore"
	"faultlab/scenarios/lang"
)

// exitUnfinished is the end of a search that found nothing bad and did not come to its bound.
const exitUnfinished = 4

type exploreFlags struct {
	redeliveries, decisions int
	faults, crashes         int
	operator                string
	contracts               []string
	every                   bool
	limit                   time.Duration
	jobs                    int
	shard, out              string
	only, allow             []string
	strict, asJSON          bool
	junit, markdown, html   string
	noCache, explain, merge bool
}

func (a *app) exploreCommand() *cobra.Command {
	var f exploreFlags
	c := &cobra.Command{
		Use:   "explore FILE...",
		Short: "Find the schedule of faults and crashes that breaks a workflow",
		Long: "explore carries a scenario out under every schedule of faults and crashes up to a bound, in\n" +
			"virtual time, and prints the shortest schedule for each bad verdict. The scenario's settings,\n" +
			"deliveries and waits are kept; its own faults join the search; its crashes, look-ups, decisions\n" +
			"and expectations are left out. With --out the schedules are written as scenario files.\n" +
			"Ctrl-C ends the search as the time does: what is known by then is printed.\n\n" +
			"Exit codes: 0 no bad verdict within the bound; 1 a bad verdict; 2 wrong use; 4 the time was up first.",
		Example: "  faultlab explore b-commit-then-error\n" +
			"  faultlab explore order.txtar --faults 2 --crashes 1 --contract ignores-key --out found\n" +
			"  faultlab explore order.txtar --every-contract --for 2m",
		ValidArgsFunction: completeScenarios,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.explore(cmd.Context(), f, args) },
	}
	fl := c.Flags()
	fl.IntVar(&f.faults, "faults", 2, "at most `N` faults in a schedule")
	fl.IntVar(&f.crashes, "crashes", 1, "at most `N` crashes of the worker")
	fl.IntVar(&f.redeliveries, "redeliveries", 0, "deliver events again at most `N` times")
	fl.IntVar(&f.decisions, "decisions", 0, "let the operator take at most `N` allowed decisions that are not the advised ones")
	fl.StringVar(&f.operator, "operator", scenarios.OperatorPatient, "who settles unknown operations: patient (looks up after everything has arrived), prompt (at once) or none")
	fl.StringArrayVar(&f.contracts, "contract", nil, "the `NAME` or file of the contract that the provider keeps (default: the scenario's); may be repeated")
	fl.BoolVar(&f.every, "every-contract", false, "search once for every preset contract")
	fl.DurationVar(&f.limit, "for", 30*time.Second, "stop after this `TIME`; 0 is no limit")
	fl.IntVar(&f.jobs, "jobs", runtime.NumCPU(), "carry out `N` schedules at once")
	fl.StringVar(&f.shard, "shard", "", "search only part `I/N` of the schedules")
	fl.StringVar(&f.out, "out", "", "write each shortest schedule as a scenario file to `FOLDER`")
	fl.StringSliceVar(&f.only, "only", nil, "fail only for these `VERDICTS`, as duplicate,half-done")
	fl.StringSliceVar(&f.allow, "allow", nil, "do not fail for these `VERDICTS`")
	fl.BoolVar(&f.strict, "strict", false, "fail for unresolved operations too")
	fl.BoolVar(&f.asJSON, "json", false, "print JSON: an array, one object for each contract")
	fl.StringVar(&f.junit, "junit", "", "write a JUnit report to `FILE`")
	fl.StringVar(&f.markdown, "markdown", "", "write a report for people to `FILE`")
	fl.StringVar(&f.html, "html", "", "write one self-contained page with the map and each schedule's wire to `FILE`")
	fl.BoolVar(&f.noCache, "no-cache", false, "carry every schedule out, also where the end is known")
	fl.BoolVar(&f.explain, "explain", false, "say which faults and crash points are tried, and what is not")
	fl.BoolVar(&f.merge, "merge", false, "put the --json results of all shards together; the arguments are their files")
	return c
}

func (f *exploreFlags) options() (o scenarios.ExploreOptions, err error) {
	for _, n := range []struct {
		name  string
		value int
	}{{"faults", f.faults}, {"crashes", f.crashes}, {"redeliveries", f.redeliveries}, {"decisions", f.decisions}} {
		if n.value < 0 || n.value > 9 {
			return o, usage("--%s is a number from 0 to 9, not %d", n.name, n.value)
		}
	}
	switch {
	case f.limit < 0:
		return o, usage("--for is not negative: %s", f.limit)
	case f.jobs < 1:
		return o, usage("--jobs is 1 or more, not %d", f.jobs)
	case !slices.Contains(scenarios.Operators, f.operator):
		return o, usage("not an operator: %q; use %s", f.operator, strings.Join(scenarios.Operators, ", "))
	case f.every && len(f.contracts) > 0:
		return o, usage("--contract and --every-contract exclude each other")
	}
	o = scenarios.ExploreOptions{Operator: f.operator, Contracts: f.contracts, Jobs: f.jobs, NoCache: f.noCache, Strict: f.strict}
	o.Bound[explore.Fault], o.Bound[explore.Crash] = uint8(f.faults), uint8(f.crashes)
	o.Bound[explore.Redelivery], o.Bound[explore.Decision], o.Bound[explore.Order] = uint8(f.redeliveries), uint8(f.decisions), 1
	if f.every {
		o.Contracts = contract.Names()
	}
	if f.shard != "" {
		i, n, ok := strings.Cut(f.shard, "/")
		o.Shard, err = strconv.Atoi(i)
		if err == nil {
			o.Shards, err = strconv.Atoi(n)
		}
		if !ok || err != nil || o.Shard < 1 || o.Shard > o.Shards {
			return o, usage("not a shard: %q; the first of eight is 1/8, the last is 8/8", f.shard)
		}
	}
	if o.Only, err = verdictWords(f.only); err == nil {
		o.Allow, err = verdictWords(f.allow)
	}
	return o, err
}

// verdictWords reads verdicts as they are written on a command line.
func verdictWords(words []string) (out []string, err error) {
	known := scenarios.ExploreVerdicts()
	for _, w := range words {
		v := strings.ReplaceAll(w, "-", " ")
		if !slices.Contains(known, v) {
			return nil, usage("not a verdict that can be bad: %q; use %s", w, strings.ReplaceAll(strings.ReplaceAll(joined(known), " ", "-"), ",-", ", "))
		}
		out = append(out, v)
	}
	return out, nil
}

// searchGC is the garbage collector's percentage during a search: it makes much garbage and keeps little.
const searchGC = 400

func (a *app) explore(ctx context.Context, f exploreFlags, args []string) error {
	if err := prepareReports(reportFile{"junit", f.junit}, reportFile{"markdown", f.markdown}, reportFile{"html", f.html}); err != nil {
		return err
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	if f.merge {
		return a.mergeExplored(f, o, args)
	}
	list, err := explorable(o, args)
	if err != nil {
		return err
	}
	if err := f.writable(); err != nil {
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(searchGC))
	line := a.progress(f.asJSON)
	began := a.clk.Now()
	var all []*scenarios.Explored
	for i, s := range list {
		if line != nil {
			o.Progress = func(contract string, p explore.Progress) { line.show(s.Name, contract, p) }
		}
		if f.limit > 0 { // what is left is shared out
			o.For = max((f.limit-a.clk.Now().Sub(began))/time.Duration(len(list)-i), time.Nanosecond)
		}
		found, err := scenarios.Explore(ctx, s, o)
		line.clear()
		if err != nil {
			return failed(err)
		}
		for _, r := range found {
			if err := writeCounterexamples(f.out, r, len(list) > 1 || len(found) > 1); err != nil {
				return failed(err)
			}
		}
		if err := a.printExplored(f, found, s); err != nil {
			return failed(err)
		}
		all = append(all, found...)
	}
	return a.endExplored(f, all)
}

// explorable reads the scenarios that were named; an error says why one of them cannot be explored.
func explorable(o scenarios.ExploreOptions, args []string) ([]*lang.Scenario, error) {
	list, err := readable(scenariosOf(false, args))
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if err := scenarios.Explorable(s, o); err != nil {
			return nil, misused(err)
		}
	}
	return list, nil
}

// writable makes the folder of the schedules ready, and tries that the reports can be written: a search may take long.
func (f *exploreFlags) writable() error {
	if f.out != "" {
		if err := errors.Join(writableFolder(f.out), removeSchedules(f.out)); err != nil {
			return misused(err)
		}
	}
	for _, path := range []string{f.junit, f.markdown, f.html} {
		if _, err := os.Stat(path); path == "" || err == nil { // a pipe is written to as it is
			continue
		}
		if err := writableFolder(filepath.Dir(path)); err != nil {
			return misused(err)
		}
	}
	return nil
}

// printExplored prints what was found about one scenario, and a table of its contracts where there are several.
func (a *app) printExplored(f exploreFlags, found []*scenarios.Explored, s *lang.Scenario) error {
	if f.asJSON {
		return nil
	}
	for _, r := range found {
		explain := ""
		if f.explain && s != nil {
			x, err := scenarios.NewExploration(s, f.operator, "")
			if err != nil {
				return err
			}
			explain = x.Explain()
		}
		if err := r.WriteText(a.Out, explain); err != nil {
			return err
		}
	}
	return scenarios.WriteContracts(a.Out, found)
}

func (a *app) endExplored(f exploreFlags, all []*scenarios.Explored) error {
	if err := errors.Join(writeReport(f.junit, func(w io.Writer) error { return scenarios.WriteExploredJUnit(w, all) }),
		writeReport(f.markdown, func(w io.Writer) error { return scenarios.WriteExploredMarkdown(w, all) }),
		writeReport(f.html, func(w io.Writer) error { return scenarios.WriteExploredHTML(w, all) })); err != nil {
		return failed(err)
	}
	if f.asJSON {
		if err := printJSON(a.Out, all, "  "); err != nil {
			return failed(err)
		}
	}
	bad := slices.ContainsFunc(all, (*scenarios.Explored).Bad)
	whole := !slices.ContainsFunc(all, func(r *scenarios.Explored) bool { return !r.Complete })
	switch {
	case bad:
		return quietly(exitFailed)
	case !whole:
		return quietly(exitUnfinished)
	}
	return nil
}

// writeCounterexamples writes the schedules of a result as scenario files.
func writeCounterexamples(dir string, r *scenarios.Explored, several bool) error {
	if dir == "" {
		return nil
	}
	count := map[string]int{}
	for _, c := range r.Counterexamples {
		word := strings.ReplaceAll(c.Verdict, " ", "-")
		count[word]++
		name := fmt.Sprintf("%s-%d.txtar", word, count[word])
		if several {
			name = r.Scenario + "-" + r.Contract + "-" + name
		}
		c.File = filepath.Join(dir, name)
		if err := os.WriteFile(c.File, c.Text, 0o644); err != nil {
			return fmt.Errorf("write a schedule: %w", err)
		}
	}
	return nil
}

// removeSchedules deletes the schedules that an earlier search wrote to a folder, so that none is taken for this one's.
func removeSchedules(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*-[0-9]*"+lang.Ext))
	for _, name := range names {
		if src, readErr := os.ReadFile(name); readErr == nil && scenarios.IsCounterexample(src) {
			err = errors.Join(err, os.Remove(name))
		}
	}
	if err != nil {
		return fmt.Errorf("cannot remove the schedules of an earlier search: %w", err)
	}
	return nil
}

// mergeExplored puts the results of shards together.
func (a *app) mergeExplored(f exploreFlags, o scenarios.ExploreOptions, files []string) error {
	if len(files) == 0 {
		return usage("--merge needs the files that the shards wrote with --json")
	}
	byContract := map[string][]*scenarios.Explored{}
	var order []string
	for _, name := range files {
		src, err := readFile(name)
		if err != nil {
			return err
		}
		var parts []*scenarios.Explored
		if err := json.Unmarshal(src, &parts); err != nil {
			return usage("%s is not a result of explore --json: %w", name, err)
		}
		for _, p := range parts {
			key := p.Scenario + " " + p.Contract
			if byContract[key] == nil {
				order = append(order, key)
			}
			byContract[key] = append(byContract[key], p)
		}
	}
	var all []*scenarios.Explored
	for _, key := range order {
		whole, err := scenarios.MergeExplored(byContract[key], o)
		if err != nil {
			return misused(err)
		}
		all = append(all, whole)
	}
	if err := f.writable(); err != nil {
		return err
	}
	for _, r := range all {
		if err := writeCounterexamples(f.out, r, len(all) > 1); err != nil {
			return failed(err)
		}
	}
	for _, group := range scenarios.ByScenario(all) {
		if err := a.printExplored(f, group, nil); err != nil {
			return failed(err)
		}
	}
	return a.endExplored(f, all)
}
