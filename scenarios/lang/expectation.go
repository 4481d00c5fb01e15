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
	Line     int    // of the scenario file
	What     string // the expectation as written
	Expected string // in words
	Seen     string // in words
}

// Error is one sentence.
func (f *Failure) Error() string {
	return "expected " + f.Expected + ", seen " + f.Seen
}
