package lang

import "strconv"

// Scenario is one parsed scenario file: what its head declares, the script, and
// the files that the script uses.
type Scenario struct {
	Name     string // the file's base name without .txtar
	File     string // as given to Parse
	Title    string // one line
	Teach    string // paragraphs, one a line
	Before   string // what a lesson says before it, paragraphs, one a line
	Group    string // the group of the catalogue; may be empty
	Lessons  []Place
	Cases    []string // the failure cases that it shows, by name
	Twin     string   // the name of the scenario that runs beside it in a lesson; may be empty
	Runs     string   // RunsBoth, RunsVirtual or RunsReal
	Client   string   // "" is the engine's own, else one of the clients that repeat by themselves
	Idle     int      // with ClientNaive: how many connections it keeps before its first request; 0: none
	Subject  string   // the payload's field that names the operation; "" is the run itself
	Seed     int64    // 0 lets the bench choose its fixed default
	Lines    []Line   // the script, in order; the head's lines are not in it
	Names    []string // of Files, in order
	Files    map[string][]byte
	FileLine map[string]int // the line of File where each embedded file's first line stands

	uses []use // of the head
}

// Where a scenario can run.
const (
	RunsBoth    = "both"
	RunsVirtual = "virtual" // simulated only
	RunsReal    = "real"    // sockets only
)

// The clients that repeat requests by themselves.
const (
	ClientNaive       = "naive"        // Go's default transport
	ClientRepeatsOnce = "repeats-once" // sends once more, on a fresh connection
)

// When a delivery is made that waits for its moment.
const (
	WhenInFlight   = "in-flight"   // a request of the worker has reached the provider
	WhenAfterCrash = "after-crash" // the worker is back after a crash
)

// Points at which the worker can be killed.
const (
	CrashNow         = "now"
	CrashBeforeSend  = "before-send"
	CrashInFlight    = "in-flight"
	CrashAfterEffect = "after-effect"
	CrashAfterReply  = "after-reply"
	CrashAfterRecord = "after-record"
	CrashInBackoff   = "during-backoff"
	CrashAtLookup    = "look-up"
)

// CrashPoints are the points in the order in which one request passes them.
var CrashPoints = []string{CrashNow, CrashBeforeSend, CrashInFlight, CrashAfterEffect, CrashAfterReply, CrashAfterRecord, CrashInBackoff, CrashAtLookup}

// Place is a scenario's place in a lesson.
type Place struct {
	Lesson string
	N      int // 1 and up
}

// Line is one verb with its arguments, already fitted to the verb's form: Args are
// the positional arguments, Opts the named ones. A line that was made by this
// package always fits its form, so the one who carries it out need not count.
type Line struct {
	Verb string
	Args []string            // positional; a text of several words is one argument
	Opts map[string][]string // name=value options, "keyword value" pairs and flags (with an empty value)
	Text string              // all after the verb, in its tidy form
	Line int                 // in the file, 1 and up; 1 for a typed line
	Col  int                 // of the verb, in characters, 1 and up
	Cols []int               // of each of Args

	Expect   *Expectation // of `expect ...` and `wait for ...`
	Question *Question    // of `ask ...`

	uses []use
}

// Arg is the n-th positional argument, from 0; empty if it was left out.
func (l Line) Arg(n int) string {
	if n < len(l.Args) {
		return l.Args[n]
	}
	return ""
}

// Number is an option's value as a number; 0 if it was not given.
func (l Line) Number(name string) int {
	n, _ := strconv.Atoi(l.Opt(name))
	return n
}

// Opt is the value of a named option; empty if it was left out.
func (l Line) Opt(name string) string {
	if v := l.Opts[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// Has reports whether a flag or option was given.
func (l Line) Has(name string) bool { return len(l.Opts[name]) > 0 }

// String is the line in its tidy form, without padding: what Parse and ParseLine read as the same line.
func (l Line) String() string {
	if l.Text == "" {
		return l.Verb
	}
	return l.Verb + " " + l.Text
}

// WithArg is the line with another positional argument in the n-th place, from 0.
func (l Line) WithArg(n int, value string) (Line, error) {
	if l.Arg(n) == value {
		return l, nil
	}
	tidy, err := ParseLine(l.String())
	if err != nil {
		return l, err
	}
	r, at := []rune(l.String()), tidy.Cols[n]-1
	end := at + len([]rune(Quote(l.Arg(n))))
	return ParseLine(string(r[:at]) + Quote(value) + string(r[end:]))
}

// Question is a prediction that is asked before the truth is shown.
type Question struct {
	Text    string
	Choices []string
	Right   int    // index of the right one
	Because string // why, shown after the answer; may be empty
	Line    int
}

// Asked are all questions of the script, in order.
func (s *Scenario) Asked() []*Question {
	var out []*Question
	for _, l := range s.Lines {
		if l.Question != nil {
			out = append(out, l.Question)
		}
	}
	return out
}
