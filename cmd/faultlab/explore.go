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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"faultlab/faultprovider/contract"
	"faultlab/scenarios"
	"faultlab/scenarios/explore"
)

// exitUnfinished is the end of a search that found nothing bad and did not come to its bound.
const exitUnfinished = 4

type exploreFlags struct {
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
			"and expectations are left out. With --out the schedules are written as scenario files.\n\n" +
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
	}{{"faults", f.faults}, {"crashes", f.crashes}} {
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
	o = scenarios.ExploreOptions{Operator: f.operator, Contracts: f.contracts, For: f.limit, Jobs: f.jobs, NoCache: f.noCache, Strict: f.strict}
	o.Bound[explore.Fault], o.Bound[explore.Crash] = uint8(f.faults), uint8(f.crashes)
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
			return nil, usage("not a verdict that can be bad: %q; use %s", w, strings.ReplaceAll(strings.Join(known, ", "), " ", "-"))
		}
		out = append(out, v)
	}
	return out, nil
}

func (a *app) explore(ctx context.Context, f exploreFlags, args []string) error {
	if f.merge {
		return a.mergeExplored(f, args)
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	list, err := scenariosOf(false, args)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return &exit{exitUsage, fmt.Errorf("make the folder for the schedules: %w", err)}
		}
	}
	var all []*scenarios.Explored
	for _, l := range list {
		if l.Unread != nil {
			return &exit{exitUsage, errors.New(l.Unread.Error())}
		}
		found, err := scenarios.Explore(ctx, l.Scenario, o)
		if err != nil {
			return &exit{exitUsage, err}
		}
		for _, r := range found {
			if err := writeCounterexamples(f.out, r, len(list) > 1 || len(found) > 1); err != nil {
				return failed(err)
			}
			if err := a.printExplored(f, r, l); err != nil {
				return failed(err)
			}
		}
		all = append(all, found...)
	}
	return a.endExplored(f, all)
}

func (a *app) printExplored(f exploreFlags, r *scenarios.Explored, l scenarios.Loaded) error {
	if f.asJSON {
		return nil
	}
	explain := ""
	if f.explain {
		x, err := scenarios.NewExploration(l.Scenario, f.operator, "")
		if err != nil {
			return err
		}
		explain = x.Explain()
	}
	return r.WriteText(a.Out, explain)
}

func (a *app) endExplored(f exploreFlags, all []*scenarios.Explored) error {
	if err := errors.Join(writeReport(f.junit, func(w io.Writer) error { return scenarios.WriteExploredJUnit(w, all) }),
		writeReport(f.markdown, func(w io.Writer) error { return scenarios.WriteExploredMarkdown(w, all) }),
		writeReport(f.html, func(w io.Writer) error { return scenarios.WriteExploredHTML(w, all) })); err != nil {
		return failed(err)
	}
	if f.asJSON {
		enc := json.NewEncoder(a.Out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(all); err != nil {
			return failed(err)
		}
	}
	bad := slices.ContainsFunc(all, (*scenarios.Explored).Bad)
	whole := !slices.ContainsFunc(all, func(r *scenarios.Explored) bool { return !r.Complete })
	switch {
	case bad:
		return quiet(exitFailed)
	case !whole:
		return quiet(exitUnfinished)
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

// mergeExplored puts the results of shards together.
func (a *app) mergeExplored(f exploreFlags, files []string) error {
	if len(files) == 0 {
		return usage("--merge needs the files that the shards wrote with --json")
	}
	byContract := map[string][]*scenarios.Explored{}
	var order []string
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			return &exit{exitUsage, err}
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
	o, err := f.options()
	if err != nil {
		return err
	}
	var all []*scenarios.Explored
	for _, key := range order {
		whole, err := scenarios.MergeExplored(byContract[key], o)
		if err != nil {
			return &exit{exitUsage, err}
		}
		if !f.asJSON {
			if err := whole.WriteText(a.Out, ""); err != nil {
				return failed(err)
			}
		}
		all = append(all, whole)
	}
	return a.endExplored(f, all)
}
