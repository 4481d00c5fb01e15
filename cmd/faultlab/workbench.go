package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"faultlab/engine/plain"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/tui"
)

// Files of the workbench in the XDG state directory.
const (
	workbenchFile = "workbench.json"
	logFile       = "faultlab.log"
)

type workbenchFlags struct {
	theme        string
	ascii, mouse bool
	plain        bool
	open         string
	scenarios    []string
	worker       workerOptions
}

func (a *app) workbenchCommand() *cobra.Command {
	var f workbenchFlags
	c := &cobra.Command{
		Use:           "faultlab",
		Short:         "A workbench for retry safety",
		Args:          noCommand,
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2,
		RunE:                       func(c *cobra.Command, _ []string) error { return a.workbench(c.Context(), c, f) },
	}
	a.stateFlag(c)
	c.Flags().StringVar(&f.theme, "theme", "", "`THEME` of the workbench: "+joined(themes()))
	c.Flags().BoolVar(&f.ascii, "ascii", false, "draw with ASCII characters only")
	c.Flags().BoolVar(&f.mouse, "mouse", false, "scroll with the mouse wheel")
	c.Flags().BoolVar(&f.plain, "plain", false, "print events line by line, without a screen: for pipes and screen readers")
	c.Flags().StringVar(&f.open, "open", "", "open this `SCENARIO` at once")
	c.Flags().StringArrayVar(&f.scenarios, "scenarios", nil, "list the scenarios of this file or folder too: `PATH`; may be repeated")
	f.worker.flags(c.Flags())
	offer(c, "theme", themes())
	_ = c.RegisterFlagCompletionFunc("open", completeScenarios) // fails for an unknown flag only
	_ = c.RegisterFlagCompletionFunc("scenarios", completeScenarioFiles)
	return c
}

// workbench opens the workbench. Without a terminal it lists the scenarios and says so.
func (a *app) workbench(ctx context.Context, c *cobra.Command, f workbenchFlags) error {
	o, err := a.workbenchOptions(c, f)
	if err != nil {
		return err
	}
	if f.plain {
		return a.printPlain(ctx, o)
	}
	in, out, ok := a.terminal()
	if ok {
		runs, serr := a.store(ctx, f.worker)
		if serr != nil {
			return serr
		}
		o.In, o.Out, o.Store = in, out, runs
		err = tui.Run(ctx, o)
		for _, cut := range runs.close() {
			fmt.Fprintln(a.Err, "faultlab: "+plain.Escape(cut))
		}
	}
	if !ok || errors.Is(err, tui.ErrNoTerminal) {
		a.listScenarios(o.Scenarios)
		return usage("the workbench needs a terminal; without one, use faultlab --plain --open SCENARIO or faultlab replay")
	}
	var ended *tui.Ended
	if err != nil && (ctx.Err() == nil || errors.As(err, &ended)) {
		a.log(err)
		if sig := syscall.Signal(0); ended != nil {
			sig, _ = ended.Signal.(syscall.Signal)
			return &exit{code: exitSignal + int(sig), err: err}
		}
		return failed(err)
	}
	return nil
}

// printPlain prints what the workbench would show: the scenario to open, or the list.
func (a *app) printPlain(ctx context.Context, o tui.Options) error {
	for _, s := range o.Scenarios {
		if s.Name == o.Start {
			return a.playAll(ctx, demoFlags{speed: 1}, []*lang.Scenario{s})
		}
	}
	a.listScenarios(o.Scenarios)
	return nil
}

// terminal returns the files to draw on; ok is false if the streams are none.
func (a *app) terminal() (in, out *os.File, ok bool) {
	in, ok1 := a.In.(*os.File)
	out, ok2 := a.raw().(*os.File)
	return in, out, ok1 && ok2
}

func (a *app) workbenchOptions(c *cobra.Command, f workbenchFlags) (tui.Options, error) {
	conf, err := readConfig()
	if err != nil {
		return tui.Options{}, err
	}
	if err := knownTheme(f.theme); err != nil {
		return tui.Options{}, usage("--theme: %w", err)
	}
	if f.theme == "" {
		f.theme = conf.Theme
	}
	if !c.Flags().Changed("ascii") {
		f.ascii = conf.ASCII
	}
	if !c.Flags().Changed("mouse") {
		f.mouse = conf.Mouse
	}
	list, start, err := a.shown(f)
	if err != nil {
		return tui.Options{}, err
	}
	o := tui.Options{Scenarios: list, Open: openBench, Start: start, Theme: f.theme, ASCII: f.ascii, Mouse: f.mouse}
	for _, l := range scenarios.Lessons {
		o.Lessons = append(o.Lessons, tui.Lesson{Name: l.Name, Title: l.Title, Text: l.Text, Scenarios: l.Scenarios()})
	}
	if o.State, err = stateFile(workbenchFile); err != nil {
		o.State = "" // no home directory: nothing is kept
	}
	if o.Log, err = stateFile(logFile); err != nil {
		o.Log = ""
	}
	return o, nil
}

// shown returns the scenarios in the workbench's list: the user's own first, in the place of
// those of the same name in the catalogue. start is the one to open at once.
func (a *app) shown(f workbenchFlags) (list []*lang.Scenario, start string, err error) {
	own := map[string]bool{}
	for _, path := range f.scenarios {
		found, err := readable(scenariosAt(path))
		if err != nil {
			return nil, "", misused(err)
		}
		for _, s := range found {
			own[s.Name] = true
		}
		list = append(list, found...)
	}
	for _, s := range scenarios.Catalogue() {
		if !own[s.Name] {
			list = append(list, s)
		}
	}
	switch {
	case f.open == "":
	case own[f.open]:
		start = f.open
	case strings.HasSuffix(f.open, lang.Ext):
		name := strings.TrimSuffix(filepath.Base(f.open), lang.Ext)
		return nil, "", usage("--open takes a scenario's name, not a file: write --scenarios %s --open %s", f.open, name)
	default:
		s, err := scenarios.Find(f.open)
		if err != nil {
			return nil, "", misused(err)
		}
		start = s.Name
	}
	return list, start, nil
}

// openBench opens a scenario at the pace of the machine's clock.
func openBench(s *lang.Scenario, ask bool) (tui.Bench, error) {
	b, err := scenarios.Open(s, scenarios.Options{Speed: 1, Ask: ask})
	if err != nil {
		return nil, err
	}
	return tui.Live(b), nil
}

// log keeps the error that ended the workbench, for a bug report.
func (a *app) log(err error) {
	path, perr := stateFile(logFile)
	if perr != nil || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	f, ferr := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if ferr != nil {
		return // the error itself is printed all the same
	}
	fmt.Fprintf(f, "%s faultlab %s: %v\n", a.clk.Now().UTC().Format(time.RFC3339), version(), err)
	_ = f.Close()
}

// config is the file of the workbench's settings. A flag wins over it.
type config struct {
	Theme string `json:"theme"` // "auto", or a theme's name
	ASCII bool   `json:"ascii"` // nothing outside ASCII
	Mouse bool   `json:"mouse"` // the wheel scrolls
}

// readConfig reads the file; one that is not there holds nothing.
func readConfig() (config, error) {
	var c config
	path, err := configPath()
	if err != nil {
		return c, nil // no home directory, no settings
	}
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(src))
		dec.DisallowUnknownFields()
		err = dec.Decode(&c)
	}
	if err == nil {
		err = knownTheme(c.Theme)
	}
	if err != nil {
		return c, usage(`cannot read %s (%w): write {"theme": "dark", "ascii": false, "mouse": false}`, path, err)
	}
	return c, nil
}

// themes are the values of --theme.
func themes() []string { return append([]string{"auto"}, tui.ThemeNames()...) }

func knownTheme(name string) error {
	if name == "" || slices.Contains(themes(), name) {
		return nil
	}
	return fmt.Errorf("not a valid theme: %q; write one of %s", name, joined(themes()))
}
