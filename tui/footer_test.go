package tui

import (
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"faultlab/faultprovider/fault"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// Every key that a footer names does something on its screen: the frame changes or
// something is asked for, and no verb of the workbench ends up at the bench.
func TestEveryKeyOfEveryFooterDoesSomething(t *testing.T) {
	t.Parallel()
	for _, sc := range scenes {
		m := testModel(t, "dark", 120, 36)
		sc.make(m)
		if m.palette != nil {
			continue // the palette stands in the footer's place
		}
		on := m.top().on()
		for _, name := range m.footerNames(on) {
			key := keyOfVerb(name, on)
			if key == "" || !m.offers(name) {
				continue
			}
			m := testModel(t, "dark", 120, 36)
			sc.make(m)
			m.notice = notice{}
			if x, ok := m.top().(typing); ok {
				if _, typed := x.typed(&m.ui, keyMsg(key)); typed {
					continue // keys are text now
				}
			}
			before := m.View()
			_, cmd := m.Update(keyMsg(key))
			if cmd == nil && m.View() == before {
				t.Errorf("%s: %q (%s) does nothing", sc.name, key, name)
			}
			for _, end := range refusals {
				if strings.Contains(m.notice.text, end) {
					t.Errorf("%s: %q (%s) says %q", sc.name, key, name, m.notice.text)
				}
			}
			if name != "edit" { // it makes a file
				outcomes(cmd)
			}
			if m.session == nil {
				continue
			}
			if b, ok := m.session.bench.(*still); ok {
				for _, line := range b.done {
					verb, _, _ := strings.Cut(line, " ")
					if v := lang.VerbNamed(verb); v == nil || v.Use == lang.OnBoard && !paceVerbs[verb] {
						t.Errorf("%s: %q (%s) sends %q to the bench", sc.name, key, name, line)
					}
				}
			}
		}
	}
}

// refusals are what is said of a key that should not have been offered.
var refusals = []string{"is not a verb", "not on this screen", "open a scenario first"}

// What is typed on a screen that cannot carry it out is refused there; the bench never gets it.
func TestAVerbOfAnotherScreenIsNotSent(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	b := onBench(m, "C", commitThenDrop(true))
	press(m, "esc")
	typeLine(m, "compare")
	if len(b.done) > 0 || !strings.Contains(m.notice.text, "compare: not on this screen") {
		t.Errorf("sent %q, says %q", b.done, m.notice.text)
	}
}

func TestCopyingWhileReconciling(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	onBench(m, "C", commitThenDrop(true))
	press(m, "u", "y")
	if !strings.Contains(m.notice.text, "copied: key") {
		t.Errorf("y says %q", m.notice.text)
	}
}

// The scenario that is chosen is edited, not the one that is open.
func TestEditingFromTheCatalogue(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	opened := ""
	m.opt.Open = func(s *lang.Scenario, _ bool) (Bench, error) {
		opened = s.Name
		v := commitThenError()
		return &still{view: v, state: atRest(v)}, nil
	}
	onBench(m, "C", commitThenDrop(false))
	press(m, "esc")
	m.stack[0].(*catalogue).list.Choose("b-commit-then-error")
	_, cmd := m.Update(keyMsg("E"))
	for _, msg := range outcomes(cmd) {
		m.Update(msg)
	}
	if opened != "b-commit-then-error" || m.top().on() != lang.OnBench {
		t.Errorf("E opens %q and ends on screen %v; it says %q", opened, m.top().on(), m.notice.text)
	}
}

// What a decision takes is text: the footer names no keys that are letters then.
func TestTheFooterOfAConfirmation(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	onBench(m, "C", commitThenDrop(true))
	press(m, "u", "enter")
	if got := strings.Join(strings.Fields(ansi.Strip(m.footer())), " "); got != "enter take it esc back" {
		t.Errorf("the footer says %q", got)
	}
}

// What is set holds for the runs that follow, so starting one is offered first.
func TestTheFooterAfterASetting(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"fault slow":      "T trigger a run enter",
		"policy retry=1":  "T trigger a run enter",
		"key attempt":     "T trigger a run enter",
		"trigger fulfill": "enter run again space pause",
	} {
		m := show(t, played(t, "b-commit-then-error"))
		verb, args, _ := strings.Cut(line, " ")
		follow(m, doneMsg{m.session.bench, line, m.session.bench.Do(verb + " " + args)})
		rest(t, m.session.bench)
		follow(m, newsMsg{})
		if got := strings.Join(strings.Fields(ansi.Strip(m.footer())), " "); !strings.HasPrefix(got, want) {
			t.Errorf("after %s the footer says %q", line, got)
		}
		press(m, "home")
		if got := ansi.Strip(m.footer()); strings.Contains(got, "trigger a run") {
			t.Errorf("at the first entry, which is a setting, the footer says %q", got)
		}
	}
}

// Where nothing is unknown, the keys that settle say so.
func TestNothingToSettle(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"u": "lookup", "r": "record", "y": "copy"} {
		m := testModel(t, "dark", 80, 24)
		m.push(&unknownsScreen{})
		press(m, key)
		if m.notice.text != want+": nothing is unknown" {
			t.Errorf("%s says %q", key, m.notice.text)
		}
	}
}

// The title gives way to the state, never the other way round.
func TestALongTitleLeavesTheState(t *testing.T) {
	t.Parallel()
	for _, size := range sizes {
		m := testModel(t, "dark", size[0], size[1])
		b := onBench(m, strings.Repeat("A long title. ", 30), commitThenError())
		b.state.Paused = true
		m.Update(newsMsg{})
		head := ansi.Strip(strings.SplitN(m.View(), "\n", 2)[0])
		if !strings.Contains(head, "PAUSED") || !strings.Contains(head, "…") {
			t.Errorf("%dx%d: %q", size[0], size[1], head)
		}
	}
}

// While the truth is covered nothing on the screen tells which fault is coming, and the header says that it is covered.
func TestTheCoverIsTight(t *testing.T) {
	t.Parallel()
	for _, size := range sizes {
		m := testModel(t, "dark", size[0], size[1])
		v := *commitThenError()
		v.Wire = append([]scenarios.Row{{At: ms(0), Kind: scenarios.RowNote, Verb: "fault", Text: "fault", Detail: "commit-then-error"}}, v.Wire[:2]...)
		v.Faults, v.Contract = namedFaults("commit-then-error"), "strict"
		onBench(m, "B", &v)
		press(m, "t")
		frame := ansi.Strip(m.View())
		if strings.Contains(frame, "commit-then") || strings.Contains(frame, "strict") || !strings.Contains(frame, "COVERED") {
			t.Errorf("%dx%d:\n%s", size[0], size[1], frame)
		}
	}
}

// What the transport repeated, which answer was a replay and what was made are the provider's to know.
func TestTheCoverHidesWhatOnlyTheProviderKnows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ scenario, open, covered string }{
		{"transport-repeats-by-itself", "by the transport", "by the transport"},
		{"transport-repeats-by-itself", "requests 3", "requests 3"},
		{"transport-repeats-by-itself", "connection reset", "connection reset"},
		{"b-commit-then-error", "200 replay", "replay"},
		{"c-commit-then-drop", "resource id job_", "job_"},
	} {
		m := show(t, played(t, c.scenario))
		frames := func() string {
			one := ansi.Strip(m.View())
			press(m, "i")
			two := ansi.Strip(m.View())
			press(m, "i")
			return one + two
		}
		if open := frames(); !strings.Contains(open, c.open) {
			t.Errorf("%s: uncovered it does not show %q:\n%s", c.scenario, c.open, open)
		}
		press(m, "t")
		if covered := frames(); strings.Contains(covered, c.covered) {
			t.Errorf("%s: covered it shows %q:\n%s", c.scenario, c.covered, covered)
		}
		for _, l := range Plain(m.session.view, 0, true) {
			if strings.Contains(l, c.covered) {
				t.Errorf("%s: told while covered: %s", c.scenario, l)
			}
		}
	}
	m := testModel(t, "dark", 120, 36)
	b := onBench(m, "B", commitThenError())
	b.state.Parked = []string{"commit POST /jobs"}
	press(m, "t")
	m.Update(newsMsg{})
	if head := ansi.Strip(m.View()); !strings.Contains(head, "HELD at the provider") {
		t.Errorf("held at a commit while covered:\n%s", head)
	}
}

// A fault that takes many words leaves room for the rest of the header, and stays there itself.
func TestALongFaultInTheHeader(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	v := *commitThenError()
	v.Faults = []fault.Fault{{Reply: fault.Reply{Do: fault.Status, Status: 429}, On: fault.On{Times: 2}}}
	onBench(m, "B. Commit, then 503", &v)
	head, _, _ := strings.Cut(ansi.Strip(m.View()), "\n")
	if !strings.Contains(head, "faults commit before the reply, st…") || !strings.Contains(head, "127.0.0.1:4040") {
		t.Errorf("%q", head)
	}
}

// An offer that is pointed at stands in the line, and enter does it.
func TestThePaletteShowsWhatEnterDoes(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	onBench(m, "B", commitThenError())
	press(m, ":", "t", "h", "e", "tab", "tab", "tab")
	if got := ansi.Strip(m.footer()); !strings.Contains(got, "light") {
		t.Errorf("the line shows %q", got)
	}
	follow(m, keyMsg("enter"))
	if m.palette != nil || m.settings.Theme != "light" {
		t.Errorf("after enter the palette is open: %v, the theme is %q", m.palette != nil, m.settings.Theme)
	}
	press(m, ":")
	if o := m.palette.offers(m); len(o) == 0 || o[0].Word != "again" {
		t.Errorf("an empty line offers %v first", o[0])
	}
}

// What fits in a place of a line is offered there, from the bench that is open.
func TestThePaletteOffersWhatTheBenchKnows(t *testing.T) {
	t.Parallel()
	b := played(t, "compensation")
	m := show(t, b)
	run := m.session.view.Runs[0].ID
	for _, c := range []struct{ line, want string }{
		{"fault slow-", "slow-commit"},
		{"contract st", "stripe-v1"},
		{"trigger ", "fulfill"},
		{"trigger fulfill ", "payload.json"},
		{"lookup step=", "step=charge"},
		{"lookup run=", "run=" + run},
		{"lookup sha", m.session.view.Operations[0].Keys[0]},
		{"rerun ", run},
		{"theme li", "light"},
		{"open c-c", "c-commit-then-drop"},
		{"lessons ", "timeout"},
	} {
		var words []string
		for _, o := range newPalette(c.line).offers(m) {
			words = append(words, o.Word)
		}
		if !slices.Contains(words, c.want) {
			t.Errorf("%q offers %q, not %q", c.line, words, c.want)
		}
	}
}

// What takes long is shown beside the keys once a tick has passed, and nothing ticks after its end.
func TestTheFooterShowsWhatTakesLong(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	onBench(m, "B", commitThenError())
	m.long("writing bench.cast", func(*job) tea.Msg { return nil })
	m.job.total.Store(4)
	m.job.done.Store(1)
	if got := ansi.Strip(m.footer()); strings.Contains(got, "writing") {
		t.Errorf("before the first tick the footer says %q", got)
	}
	m.Update(tickMsg{})
	got := ansi.Strip(m.footer())
	if !strings.Contains(got, "writing bench.cast  ━━━─────────") || !strings.Contains(got, "q quit") || ansi.StringWidth(got) != 120 {
		t.Errorf("after a tick the footer says %q", got)
	}
	m.Update(jobMsg{m.job, nil})
	if got := ansi.Strip(m.footer()); strings.Contains(got, "writing") {
		t.Errorf("after its end the footer says %q", got)
	}
	m.Update(tickMsg{})
	if m.ticking {
		t.Error("a bench at rest asks for ticks after the end of what took long")
	}
}

// Every frame of the spinner is put on the screen as it is.
func TestTheSpinnerFits(t *testing.T) {
	t.Parallel()
	for _, g := range []draw.Glyphs{draw.Unicode, draw.ASCII} {
		th, err := draw.NewTheme("none", termenv.Ascii, g)
		if err != nil {
			t.Fatal(err)
		}
		for _, frame := range th.Spinner().Spinner.Frames {
			if text, width, _ := draw.Clean(frame, 9, g.ASCII); text != frame || width != 1 {
				t.Errorf("the frame %q is shown as %q", frame, text)
			}
		}
	}
}
