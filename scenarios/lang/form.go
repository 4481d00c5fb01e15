package lang

// Kind says what fits in the place of an argument.
type Kind string

// The kinds of arguments. Those that only a bench can know (which faults there
// are, which steps the workflow has) are asked from Names.
const (
	KindText     Kind = "text"     // the rest of the line
	KindWord     Kind = "word"     // any one word
	KindName     Kind = "name"     // letters, digits, - and _
	KindNumber   Kind = "number"   // 0 and up
	KindCount    Kind = "count"    // 2, >=2 or <=2
	KindDuration Kind = "duration" // 1s, 1m30s, 24h, 45d
	KindSpan     Kind = "span"     // a duration, >=1s or <=1s
	KindSpeed    Kind = "speed"    // 0.1 to 100, or 0 for at once
	KindChoice   Kind = "choice"   // one of Choices
	KindJSON     Kind = "JSON"     // an object or an array
	KindValue    Kind = "value"    // any JSON value; a bare word is a string
	KindFile     Kind = "file"     // an embedded file; on the workbench one on disk
	KindSavePath Kind = "path"     // a file on disk to write
	KindPayload  Kind = "payload"  // an embedded file or JSON
	KindFault    Kind = "fault"    // a fault's name or JSON object
	KindContract Kind = "contract" // a contract's name, an embedded file or JSON
	KindTrigger  Kind = "trigger"  // a trigger of the workflow
	KindStep     Kind = "step"     // a step of the workflow
	KindRun      Kind = "run"      // the number of a run in order, from 1, or its id
	KindKey      Kind = "key"      // an idempotency key
	KindURLPath  Kind = "url"      // a path that begins with /
	KindPointer  Kind = "pointer"  // a JSON pointer, as /jobId
	KindScenario Kind = "scenario" // the name of a scenario
	KindLesson   Kind = "lesson"   // the name of a lesson
	KindVerb     Kind = "verb"     // a verb of the table
	KindTheme    Kind = "theme"    // a theme of the workbench
	KindExpect   Kind = "expectation"
)

// Arg is one positional argument of a form, or a pair of a keyword and its value.
type Arg struct {
	Name     string // in the usage line, as PAYLOAD
	Kind     Kind
	Choices  []string // of KindChoice
	Optional bool
	Many     bool   // the last positional one may be repeated
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
	Least   int    // how many arguments and options of any sort there must be
	Help    string // one sentence, for a menu
	Long    string // more of it, for the manual
}

// Names answers what a leaf package cannot know. A nil list means that anything fits.
type Names interface {
	Values(k Kind) []string
}

// Judge is a Names that decides by itself whether a value fits, as for faults
// that take parameters. A nil error means that it does.
type Judge interface {
	Names
	Judge(k Kind, value string) error
}
