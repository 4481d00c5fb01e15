package scenarios

import (
	"slices"

	"faultlab/scenarios/lang"
)

// Lesson is a list of scenarios that teach one thing, each with a text before it and a prediction.
type Lesson struct {
	Name  string // as the scenarios' heads name it
	Title string
	Text  string // what it is about; paragraphs, one a line
}

// Lessons is the table of lessons, in the order in which they are taught.
var Lessons = []Lesson{
	{"a-timeout-is-not-a-failure", "A timeout is not a failure",
		"An attempt ends in one of three states: succeeded, failed, or unknown. Most of what goes wrong with retries comes from having only two.\n" +
			"You predict what happens, then see it, with the provider's ledger beside what the caller believes."},
	{"the-key-is-the-operation", "The key is the operation",
		"A provider cannot know what a caller means. It knows keys: the same key is the same operation, another key is another one.\n" +
			"Whoever chooses the key decides what a retry, a rerun and a redelivery mean."},
	{"when-the-providers-rules-differ", "When the provider's rules differ",
		"Idempotency is a contract, and every provider writes its own. A caller that assumes another one than the provider keeps is wrong in ways that no retry policy mends."},
}

// Scenarios are the lesson's scenarios, in order.
func (l Lesson) Scenarios() (out []*lang.Scenario) {
	place := map[*lang.Scenario]int{}
	for _, s := range catalogue() {
		for _, p := range s.Lessons {
			if p.Lesson == l.Name {
				place[s] = p.N
				out = append(out, s)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *lang.Scenario) int { return place[a] - place[b] })
	return out
}

func lessonNames() (out []string) {
	for _, l := range Lessons {
		out = append(out, l.Name)
	}
	return out
}
