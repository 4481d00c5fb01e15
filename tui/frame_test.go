package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"faultlab/engine"
	"faultlab/faultprovider"
	"faultlab/faultprovider/fault"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

func TestNoLineIsWiderThanTheTerminal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := testModel(&testing.T{}, "dark", 80, 24)
		scenes[rapid.IntRange(0, len(scenes)-1).Draw(t, "scene")].make(m)
		for range 4 {
			w, h := rapid.IntRange(1, 250).Draw(t, "width"), rapid.IntRange(1, 80).Draw(t, "height")
			m.Update(tea.WindowSizeMsg{Width: w, Height: h})
			frame := m.View()
			lines := strings.Split(frame, "\n")
			if w >= minWidth && h >= minHeight && len(lines) != h {
				t.Fatalf("%d lines on a screen of %dx%d", len(lines), w, h)
			}
			for i, l := range lines {
				if got := ansi.StringWidth(l); got > w {
					t.Fatalf("line %d is %d cells wide on a screen of %dx%d: %q", i+1, got, w, h, ansi.Strip(l))
				}
			}
		}
	})
}

func TestUntrustedTextCannotBreakAFrame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		evil := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("\x1b[]0;31mHJK\a\u202e\u200d\u0301\ufe0f🇩🇪👩💻订日本")), 0, 40, -1),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 30), func(b []byte) string { return string(b) })).Draw(t, "text")
		m := testModel(&testing.T{}, "dark", 80, 24)
		v := *commitThenDrop(true)
		for i := range v.Wire {
			v.Wire[i].Text, v.Wire[i].Detail = v.Wire[i].Text+evil, evil
		}
		v.Effects = []faultprovider.Effect{{ID: evil, Collection: evil, Key: evil, Body: []byte(fmt.Sprintf("{%q:%q}", "orderId", evil))}}
		for i := range v.Log {
			v.Log[i].Key, v.Log[i].Fault, v.Log[i].Note = evil, evil, evil
		}
		op := v.Operations[0]
		op.Subject, op.Why, op.Keys, op.Effects = evil, evil, []string{evil}, v.Effects
		op.Doubts[0].Key, op.Doubts[0].Evidence[0].Body = evil, []byte(evil)
		v.Operations = []scenarios.Operation{op}
		v.Runs[0].ID, v.Runs[0].Admitted.Workflow, v.Runs[0].Message = evil, evil, evil
		v.Faults, v.Contract = []fault.Fault{{Name: evil}}, evil
		b := onBench(m, evil, &v)
		b.state.Address, b.state.Parked, b.state.Err, b.state.Failed = evil, []string{evil}, evil, []string{evil}
		m.Update(newsMsg{})
		for _, keys := range [][]string{{}, {"i"}, {"tab", "tab"}, {"u"}, {"enter", "x"}, {"esc", "esc", ":", "!"}} {
			press(m, keys...)
			for _, size := range sizes {
				m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				frame := m.View()
				for _, l := range strings.Split(frame, "\n") {
					if w := ansi.StringWidth(l); w > size[0] {
						t.Fatalf("%q makes a line %d cells wide on %d: %q", evil, w, size[0], ansi.Strip(l))
					}
					if plain := ansi.Strip(l); strings.ContainsFunc(plain, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e }) {
						t.Fatalf("%q leaves a control character: %q", evil, plain)
					}
				}
				if n := strings.Count(frame, "\n") + 1; n != size[1] {
					t.Fatalf("%q makes %d lines of %d", evil, n, size[1])
				}
			}
		}
	})
}

func TestAnUnchangedBenchCostsNothing(t *testing.T) {
	m := testModel(t, "dark", 120, 36)
	onBench(m, "B. Commit, then 503", commitThenError())
	first := m.View()
	built, drawn := m.built, m.session.memo.drawn
	if got := testing.AllocsPerRun(100, func() { m.View() }); got != 0 {
		t.Errorf("View of an unchanged bench allocates %v times", got)
	}
	for range 3 {
		m.Update(newsMsg{}) // news of nothing new
		if m.View() != first {
			t.Fatal("the frame changed")
		}
	}
	if m.built != built || m.session.memo.drawn != drawn {
		t.Errorf("an unchanged bench was drawn again: %d frames, %d panes more", m.built-built, m.session.memo.drawn-drawn)
	}
	press(m, "t") // the truth's three panes and the wire change, the belief does not
	m.View()
	if m.session.memo.drawn-drawn > 5 {
		t.Errorf("%d panes were drawn for one key", m.session.memo.drawn-drawn)
	}
}

// However often a pane was scrolled at its end, the first key back moves it.
func TestScrollingBackFromTheEnd(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 110, 50)
	onBench(m, "C", commitThenDrop(true))
	press(m, "tab", "tab", "tab", "tab", "tab")
	for range 40 {
		press(m, "down")
		m.View()
	}
	end := m.View()
	if press(m, "up"); m.session.focus != paneIdentity || m.View() == end {
		t.Errorf("the pane %v does not move", m.session.focus)
	}
}

func TestNothingTicksAtRest(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	b := onBench(m, "B", commitThenError())
	if cmd := m.tick(); cmd != nil {
		t.Error("a bench at rest asks for ticks")
	}
	b.state.Due, b.state.AtRest = 500e6, false
	m.Update(newsMsg{})
	if !m.ticking {
		t.Error("a retry that is due is not counted down")
	}
	b.state.Paused = true
	m.Update(tickMsg{})
	if m.ticking {
		t.Error("a paused bench asks for ticks")
	}
	b.state.Paused, b.state.Stepping, b.state.Parked = false, true, []string{"reply POST /jobs"}
	m.Update(newsMsg{})
	if m.ticking {
		t.Error("a bench that is held at a gate asks for ticks")
	}
}

func TestEscapeNeverQuits(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	onBench(m, "C", commitThenDrop(true))
	press(m, "u", "?")
	for range 10 {
		if _, cmd := m.Update(tea.KeyMsg{Type: tea.KeyEsc}); cmd != nil {
			if _, quit := cmd().(tea.QuitMsg); quit {
				t.Fatal("escape quits")
			}
		}
	}
	if m.top().on() != lang.OnCatalogue {
		t.Errorf("ten times escape end on screen %v", m.top().on())
	}
}

func TestADecisionTakesItsName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, want string
		keys       []string
	}{
		{"a stray key", "", []string{"r", "r", "enter", "enter"}},
		{"enter alone", "", []string{"enter", "enter", "enter"}},
		{"another name", "", []string{"enter", "a", "b", "a", "n", "d", "o", "n", "enter"}},
		{"its name", "record run=run_7f31c20e step=createFulfillment", []string{"r", "r", "e", "c", "o", "r", "d", "enter"}},
		{"a refused one", "", []string{"s", "enter"}},
		{"one that goes against the evidence, without force", "", []string{"a", "a", "b", "a", "n", "d", "o", "n", "enter"}},
		{"one that goes against the evidence, with force", "abandon run=run_7f31c20e step=createFulfillment --force",
			[]string{"a", "f", "o", "r", "c", "e", " ", "a", "b", "a", "n", "d", "o", "n", "enter"}},
		{"the cursor, which passes over what is refused", "abandon run=run_7f31c20e step=createFulfillment --force",
			[]string{"down", "enter", "f", "o", "r", "c", "e", " ", "a", "b", "a", "n", "d", "o", "n", "enter"}},
		{"escalate with its reason", `escalate "ask Ann" run=run_7f31c20e step=createFulfillment`,
			[]string{"e", "a", "s", "k", " ", "A", "n", "n", "enter", "e", "s", "c", "a", "l", "a", "t", "e", "enter"}},
		{"escalate without a reason", "", []string{"e", "enter", "e", "s", "c", "enter"}},
	} {
		m := testModel(t, "dark", 120, 36)
		v := commitThenDrop(true)
		v.Operations[0].Options[2].Permission = engine.Forced
		b := onBench(m, "C", v)
		press(m, "u")
		for _, k := range c.keys {
			if _, cmd := m.Update(keyMsg(k)); cmd != nil {
				cmd()
			}
		}
		if got := strings.Join(b.done, "; "); got != c.want {
			t.Errorf("%s sends %q, want %q", c.what, got, c.want)
		}
	}
}

var _ = engine.Succeeded

// follow carries a message's commands out until none is left, as the program does. Waits are not waited for.
func follow(m *model, msg any) {
	_, cmd := m.Update(msg)
	for _, next := range outcomes(cmd) {
		follow(m, next)
	}
}

func outcomes(cmd tea.Cmd) (out []any) {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			out = append(out, outcomes(c)...)
		}
	default:
		out = append(out, msg)
	}
	return out
}
