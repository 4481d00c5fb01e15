package lang

// Place on the screen where a verb's key works.
type Screen uint

// The screens of the workbench.
const (
	OnCatalogue Screen = 1 << iota
	OnBench
	OnRuns     // the history of all runs
	OnUnknowns // unknown operations, and one of them being settled
	OnLesson   // a lesson's text and questions
	OnMenu     // any list that lies over a screen: faults, contracts, help
	OnAny      = OnCatalogue | OnBench | OnRuns | OnUnknowns | OnLesson | OnMenu
)

// Verb is one thing that can be done, declared once: the keys of the workbench,
// its palette, the scenario files and the recordings all use this table.
type Verb struct {
	Form
	Group       string   // a heading of the manual and of the help
	Label       string   // two words for the footer; empty: not shown there
	Keys        []string // as Bubble Tea names them, the first one is shown; empty: palette only
	On          Screen   // where the keys work
	Interactive bool     // may be done on the workbench
	InFile      bool     // may stand in a scenario's script
	Head        bool     // may stand in a scenario's head, before its script
	Refusable   bool     // the bench may refuse it, and `expect refused` may follow
}
