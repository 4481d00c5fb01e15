package lang

// Expectation is the parsed form of `expect ...`: a claim about the bench.
type Expectation struct {
	What string // a name of Expectations, as "attempts"; a collection's count is "effects" with the option collection
	Not  bool
	Args []string
	Opts map[string][]string
	Text string // all after `expect`, in its tidy form
	Line int
}

// Failure is an expectation that was not met.
type Failure struct {
	Line     int    `json:"line"`     // of the scenario file
	What     string `json:"expect"`   // the expectation as written
	Expected string `json:"expected"` // in words
	Seen     string `json:"seen"`     // in words
}

// Error is one sentence.
func (f *Failure) Error() string {
	return "expected " + f.Expected + ", seen " + f.Seen
}

// Option is the value of an option; empty if it was not given.
func (e *Expectation) Option(name string) string {
	if v := e.Opts[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// Has reports whether an option was given.
func (e *Expectation) Has(name string) bool { return len(e.Opts[name]) > 0 }

// Arg is the n-th argument, from 0; empty if there are not so many.
func (e *Expectation) Arg(n int) string {
	if n < len(e.Args) {
		return e.Args[n]
	}
	return ""
}
