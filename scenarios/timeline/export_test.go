package timeline

import "faultlab/engine"

// Explained is an operation of a view with what its explanation was made of.
type Explained struct {
	Operation
	Row  int               // of the table of explanations
	Next *engine.Situation // what is advised about; nil where nothing is
	Bare string            // the explanation without advice
}

// Explained are the operations after n entries that have a verdict and are shown.
func (t *Timeline) Explained(n int) (out []Explained) {
	t.View(n)
	for _, o := range t.foldAt(n).ops.items {
		if o.out.Verdict != "" && o.shows() {
			bare := o.facts
			bare.next = nil
			out = append(out, Explained{o.out, explanationOf(o.facts), o.facts.next, explain(bare)})
		}
	}
	return out
}

// Explanations is the length of the table of explanations.
func Explanations() int { return len(explanations) }

// Decisions is how many decisions there are.
func Decisions() int { return len(consequences) }

// ExplanationText is a row of the table, told of a job.
func ExplanationText(row int) string {
	return string(explanations[row].verdict) + ": " + explanations[row].text
}
