package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/term"
	"github.com/mattn/go-runewidth"
	"github.com/muesli/termenv"

	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
	"faultlab/tui/pin"
)

func init() { pin.Restore() } // Bubble Tea is initialised: see package pin

// Options are what the workbench needs from its surroundings.
type Options struct {
	Scenarios []*lang.Scenario // the catalogue, in its order
	// Open sets up a bench of its own for one scenario, not yet playing. With ask, its script's questions wait for an answer.
	Open    func(s *lang.Scenario, ask bool) (Bench, error)
	Lessons []Lesson
	Store   Store      // the runs on disk; nil where there are none
	Names   lang.Names // what fits in the palette's arguments, beside what the open bench knows; may be nil
	Start   string     // the scenario to open at once; empty: the catalogue
	Theme   string     // "auto", or one of ThemeNames
	ASCII   bool       // nothing outside ASCII
	Mouse   bool       // the wheel scrolls; the terminal's own selection then needs shift
	State   string     // the file that keeps theme and verdicts over a quit; empty: nowhere
	Log     string     // where the program's log is, for what is printed after a crash
	In, Out *os.File   // nil: standard input and output

	depth   termenv.Profile // how many colours the terminal has
	through string          // what lies before the terminal; see multiplexer
	tools   bool            // the system's clipboard may be used, beside the terminal's
	wait    int             // how long the terminal's answer is waited for, in milliseconds; 0: askLimit
}

// names is Names with the themes, which only the workbench knows.
func (o *Options) names(m *model) lang.Names { return names{o.Names, m} }

type names struct {
	more lang.Names
	m    *model
}

// Values are what fits in a place of this kind on the open bench.
func (n names) Values(k lang.Kind) []string {
	switch k {
	case lang.KindTheme:
		return draw.ThemeNames()
	case lang.KindScenario:
		return n.m.names()
	case lang.KindLesson:
		var out []string
		for _, l := range n.m.opt.Lessons {
			out = append(out, l.Name)
		}
		return out
	}
	if s := n.m.session; s != nil {
		if b, ok := s.bench.(lang.Names); ok {
			if v := b.Values(k); v != nil {
				return v
			}
		}
		if v := seen(s.view, k); v != nil {
			return v
		}
	}
	if n.more != nil {
		return n.more.Values(k)
	}
	return nil
}

// seen are the runs, or the keys, that are on the screen, the newest first.
func seen(v *scenarios.View, k lang.Kind) (out []string) {
	switch k {
	case lang.KindRun:
		for _, r := range v.Runs {
			out = append(out, r.ID)
		}
	case lang.KindKey:
		for i := range v.Operations {
			for _, key := range v.Operations[i].Keys {
				if !slices.Contains(out, key) {
					out = append(out, key)
				}
			}
		}
	}
	slices.Reverse(out)
	return out
}

// ErrNoTerminal says that there is nothing to draw on.
var ErrNoTerminal = errors.New("the workbench needs a terminal")

// Ended says that the system ended the program, by a signal.
type Ended struct {
	Signal os.Signal
	Log    string // where the program's log is; may be empty
}

func (e *Ended) Error() string { return "ended by the signal " + e.Signal.String() + where(e.Log) }

// Run shows the workbench until the person leaves it, ctx ends or a signal comes.
// Whatever happens, the terminal is left as it was found. After a panic or a signal
// (*Ended, also where that is what ended ctx) the error says so and where the log is.
func Run(ctx context.Context, o Options) (err error) {
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	if !term.IsTerminal(o.In.Fd()) || !term.IsTerminal(o.Out.Fd()) {
		return ErrNoTerminal
	}
	m, typed, err := prepare(o)
	if err != nil {
		return err
	}
	with := []tea.ProgramOption{tea.WithInput(&keyboard{File: o.In}), tea.WithOutput(o.Out),
		tea.WithAltScreen(), tea.WithFPS(frameRate), tea.WithoutSignalHandler(), tea.WithoutCatchPanics()}
	if o.Mouse {
		with = append(with, tea.WithMouseCellMotion())
	}
	p := tea.NewProgram(m, with...)
	m.ahead = typed
	signal.Notify(m.pump.signals, endingSignals...)
	defer signal.Stop(m.pump.signals)
	m.pump.start(ctx, p.Send)
	defer m.close()
	defer func() {
		if r := recover(); r != nil {
			_ = p.ReleaseTerminal() // the one thing that still matters
			err = &crash{text: trace(r), log: o.Log}
		}
	}()
	_, err = p.Run()
	if m.ended != nil {
		return m.ended
	}
	return err
}

// prepare makes the model: the theme by what the terminal says of itself.
func prepare(o Options) (m *model, typed []byte, err error) {
	o.depth, o.through, o.tools = termenv.NewOutput(o.Out).EnvColorProfile(), multiplexer(os.Getenv), true
	mem := loadSettings(o.State)
	name := o.Theme
	if name == "" || name == "auto" {
		name = mem.Theme
	}
	switch {
	case o.depth == termenv.Ascii:
		name = draw.Plain
	case name == "":
		light, known, ahead := askTerminal(o.In, o.Out, cmp.Or(o.wait, askLimit))
		typed = ahead
		if name = draw.Dark; known && light || !known && lightByEnvironment(os.Getenv("COLORFGBG")) {
			name = draw.Light
		}
	}
	g := draw.Unicode
	if o.ASCII || wideAmbiguous() {
		g = draw.ASCII
	}
	t, err := draw.NewTheme(name, o.depth, g)
	if err != nil {
		return nil, nil, err
	}
	return newModel(o, t, mem), typed, nil
}

func newModel(o Options, t *draw.Theme, mem *settings) *model {
	m := &model{ui: ui{opt: o, t: t, settings: mem, pump: newPump(), spinner: t.Spinner()}}
	m.navigator = m
	if o.Store != nil {
		m.pump.store.version = o.Store.Version
	}
	c := &catalogue{}
	m.stack = []screen{c}
	c.list.Choose(mem.Chosen)
	return m
}

// close ends what the program started.
func (m *model) close() {
	m.pump.end()
	if m.searching != nil {
		m.searching.stop()
	}
	for _, s := range []*session{m.session, m.beside} {
		if s != nil {
			_ = s.bench.Close() // the person has left; nobody waits for it
		}
	}
	if m.settings.path != "" {
		_ = m.settings.toKeep()() // the command that was to write it may not have come to that
	}
	for _, dir := range m.scratch {
		_ = os.RemoveAll(dir) // a folder of ours in the system's own for such
	}
}

// crash is a panic, after the terminal was given back.
type crash struct{ text, log string }

func (c *crash) Error() string {
	return "faultlab crashed; this is a bug" + where(c.log) + "\n" + c.text
}

func where(log string) string {
	if log == "" {
		return ""
	}
	return "; the log is " + log
}

// trace is a panic's value with the place where it happened. A trace goes through as it is.
func trace(r any) string {
	if s, ok := r.(string); ok && strings.Contains(s, "goroutine ") {
		return s
	}
	return fmt.Sprintf("%v\n%s", r, debug.Stack())
}

// aheadKeys presses the keys that were typed before the first frame.
func (m *model) aheadKeys() tea.Cmd {
	var keys []tea.Cmd
	for _, b := range m.ahead {
		k := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{rune(b)}}
		switch {
		case b == '\r' || b == '\n':
			k = tea.KeyMsg{Type: tea.KeyEnter}
		case b == ' ':
			k = tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
		case b < 0x20 || b > 0x7e:
			continue
		}
		keys = append(keys, func() tea.Msg { return k })
	}
	return tea.Sequence(keys...)
}

// wideAmbiguous reports whether the locale draws characters of ambiguous width two
// cells wide, as many East Asian terminals do: lines and glyphs are such characters.
func wideAmbiguous() bool { return runewidth.NewCondition().EastAsianWidth }

// ThemeNames are the values that Options.Theme takes beside "auto".
func ThemeNames() []string { return draw.ThemeNames() }
