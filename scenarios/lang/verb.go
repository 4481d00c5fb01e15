package lang

import "slices"

// Screen is a set of the workbench's screens.
type Screen uint

// The screens of the workbench.
const (
	OnCatalogue Screen = 1 << iota
	OnBench
	OnRuns     // the history of all runs
	OnUnknowns // unknown operations, and one of them being settled
	OnLesson   // a lesson's text and questions
	OnMap      // the map of a scenario's schedules
	OnMenu     // any list that lies over a screen: faults, contracts, help
	OnAny      = OnCatalogue | OnBench | OnRuns | OnUnknowns | OnLesson | OnMap | OnMenu
)

// Verb is one thing that can be done, declared once: the keys of the workbench,
// its palette, the scenario files and the recordings all use this table.
type Verb struct {
	Form
	Group     string   // a heading of the manual and of the help
	Label     string   // two words for the footer; empty: not shown there
	Keys      []string // as Bubble Tea names them, the first one is shown; empty: palette only
	On        Screen   // where the keys work
	Use       Use
	Refusable bool // the bench may refuse it, and `expect refused` may follow
}

// Use says where a verb may be used.
type Use uint

// The uses of a verb.
const (
	InHead   Use = 1 << iota // in a scenario's head, before its script
	InScript                 // in a scenario's script
	OnBoard                  // on the workbench, by key or in the palette
	InBoth   = InScript | OnBoard
)

// Interactive reports whether the verb may be done on the workbench.
func (v *Verb) Interactive() bool { return v.Use&OnBoard != 0 }

// InFile reports whether the verb may stand in a scenario file.
func (v *Verb) InFile() bool { return v.Use&(InHead|InScript) != 0 }

// Groups are the headings of the table, in order.
var Groups = []string{"Head", "Setting", "Acts", "Worker", "Reconcile", "Prediction and proof", "Pace and time", "Views", "Program", "Moving about"}

// Verbs is the table of all verbs, group by group.
var Verbs = slices.Concat(headVerbs, settingVerbs, actVerbs, workerVerbs, reconcileVerbs, proofVerbs, paceVerbs, viewVerbs, programVerbs, moveVerbs)

var byName = func() map[string]int {
	m := make(map[string]int, len(Verbs))
	for i := range Verbs {
		m[Verbs[i].Name] = i
	}
	return m
}()

// VerbNamed is the verb of this name, or nil.
func VerbNamed(name string) *Verb {
	if i, ok := byName[name]; ok {
		return &Verbs[i]
	}
	return nil
}

// verbNames are the names of the verbs that are wanted, in the table's order.
func verbNames(want func(*Verb) bool) []string {
	var out []string
	for i := range Verbs {
		if want(&Verbs[i]) {
			out = append(out, Verbs[i].Name)
		}
	}
	return out
}
