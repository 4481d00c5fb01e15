package tui

import (
	"strings"
	"testing"

	"faultlab/scenarios/lang"
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
				if _, typed := x.typed(m, keyMsg(key)); typed {
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
	m.stack[0].(*catalogue).choose(m, "b-commit-then-error")
	_, cmd := m.Update(keyMsg("E"))
	for _, msg := range outcomes(cmd) {
		m.Update(msg)
	}
	if opened != "b-commit-then-error" || m.top().on() != lang.OnBench {
		t.Errorf("E opens %q and ends on screen %v; it says %q", opened, m.top().on(), m.notice.text)
	}
}
