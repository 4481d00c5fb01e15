package lang

import (
	"slices"
	"strings"
)

// Kind says what fits in the place of an argument.
type Kind string

// The kinds of arguments. Those that only a bench can know (which faults there
// are, which steps the workflow has) are asked from Names.
const (
	KindProse    Kind = "prose"    // the rest of the line as it stands, quotes and all
	KindText     Kind = "text"     // the rest of the line, or one quoted word
	KindWord     Kind = "word"     // any one word
	KindName     Kind = "name"     // letters, digits, - and _
	KindField    Kind = "field"    // a field of the payload, as orderId or order.id
	KindNumber   Kind = "number"   // 1 and up
	KindSeed     Kind = "seed"     // any whole number
	KindCount    Kind = "count"    // 2, >=2 or <=2
	KindDuration Kind = "duration" // 1s, 1m30s, 24h, 45d
	KindSpan     Kind = "span"     // a duration, >=1s or <=1s
	KindSpeed    Kind = "speed"    // 0.1 to 100, or 0 for at once
	KindStatus   Kind = "status"   // an HTTP status, or none
	KindChoice   Kind = "choice"   // one of Choices
	KindValue    Kind = "value"    // any JSON value; a bare word that is none is a string
	KindFile     Kind = "file"     // an embedded file; on the workbench one on disk
	KindPath     Kind = "path"     // a file on disk to write
	KindPayload  Kind = "payload"  // an embedded file or JSON
	KindFault    Kind = "fault"    // a fault's name or JSON object
	KindContract Kind = "contract" // a contract's name, an embedded file or JSON
	KindTrigger  Kind = "trigger"  // a trigger of the workflow
	KindStep     Kind = "step"     // a step of the workflow, or ~step for its compensation
	KindRun      Kind = "run"      // the number of a run in order, from 1, or its id
	KindKey      Kind = "key"      // an idempotency key
	KindWrite    Kind = "write"    // one of a step's writes: the call's name, or its method and path
	KindWhole    Kind = "whole"    // 0 and up
	KindRecord   Kind = "record"   // a record of the ledger, as jobs/job_1, or jobs/* for all of a collection
	KindURLPath  Kind = "url"      // a path that begins with /
	KindPointer  Kind = "pointer"  // a JSON pointer, as /jobId
	KindScenario Kind = "scenario" // the name of a scenario
	KindLesson   Kind = "lesson"   // the name of a lesson
	KindVerb     Kind = "verb"     // a verb of the table
	KindRefused  Kind = "refusable verb"
	KindTheme    Kind = "theme" // a theme of the workbench
	KindExpect   Kind = "expectation"
)

// Arg is one positional argument of a form, or a pair of a keyword and its value.
type Arg struct {
	Name     string // in the usage line, as PAYLOAD
	Kind     Kind
	Choices  []string // of KindChoice
	Optional bool
	Many     bool   // the last one may be repeated
	Keyword  string // if set, the argument is written "keyword VALUE" and found in Opts
}

// Option is a named argument: name=value, or a bare flag.
type Option struct {
	Name    string
	Kind    Kind     // empty: a flag
	Choices []string // of KindChoice
	Repeat  bool
}

// Form is how a verb or an expectation is written.
type Form struct {
	Name    string
	Args    []Arg
	Options []Option
	OneOf   [][]string // options that exclude each other
	Least   int        // how many arguments and options of any sort there must be
	Help    string     // one sentence
	Long    string     // more of it, for the manual
}

// Names answers what a leaf package cannot know. A nil list means that anything fits.
type Names interface {
	Values(k Kind) []string
}

// Judge is a Names that decides by itself whether a value fits, as for faults
// that take parameters. A nil error means that it does; an *Error says itself
// what would fit, to any other one the values of its kind are added.
type Judge interface {
	Names
	Judge(k Kind, value string) error
}

// Usage is the form in one line, as "deliver TRIGGER PAYLOAD [id=WORD] [twice|at-once]".
// Where a text takes the rest of the line, the options stand before it.
func (f *Form) Usage() string {
	var before, text, options []string
	for _, a := range f.Args {
		if a.Kind == KindText || len(text) > 0 {
			text = append(text, a.usage())
		} else {
			before = append(before, a.usage())
		}
	}
	for i, o := range f.Options {
		if flags := f.rivals(o); len(flags) == 0 {
			options = append(options, o.usage())
		} else if flags[0] == f.Options[i].Name {
			options = append(options, "["+strings.Join(flags, "|")+"]")
		}
	}
	return strings.Join(slices.Concat([]string{f.Name}, before, options, text), " ")
}

// rivals are the flags, this one among them, that exclude each other; none if it is no such flag.
func (f *Form) rivals(o Option) []string {
	for _, group := range f.OneOf {
		if slices.Contains(group, o.Name) && !slices.ContainsFunc(group, func(name string) bool { return f.option(name).Kind != "" }) {
			return group
		}
	}
	return nil
}

func (a Arg) usage() string {
	u := a.Name
	if len(a.Choices) > 0 {
		u = strings.Join(a.Choices, "|")
	}
	if a.Keyword != "" {
		u = a.Keyword + " " + u
	}
	if a.Many {
		u += "..."
	}
	if a.Optional {
		return "[" + u + "]"
	}
	return u
}

func (o Option) usage() string {
	u := o.Name
	switch {
	case len(o.Choices) > 0:
		u += "=" + strings.Join(o.Choices, "|")
	case o.Kind != "":
		u += "=" + strings.ToUpper(string(o.Kind))
	}
	if o.Repeat {
		u += "..."
	}
	return "[" + u + "]"
}

// option is the option or flag of this name, or nil.
func (f *Form) option(name string) *Option {
	for i := range f.Options {
		if f.Options[i].Name == name {
			return &f.Options[i]
		}
	}
	return nil
}

// keyword is the argument that this keyword introduces, or nil.
func (f *Form) keyword(word string) *Arg {
	for i := range f.Args {
		if f.Args[i].Keyword != "" && f.Args[i].Keyword == word {
			return &f.Args[i]
		}
	}
	return nil
}

// positional are the arguments that are found by their place.
func (f *Form) positional() []Arg {
	var out []Arg
	for _, a := range f.Args {
		if a.Keyword == "" {
			out = append(out, a)
		}
	}
	return out
}

// named are the names of the options that take a value, with their "=".
func (f *Form) named() []string {
	var out []string
	for _, o := range f.Options {
		if o.Kind != "" {
			out = append(out, o.Name+"=")
		}
	}
	return out
}
