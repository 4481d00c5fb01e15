package lang

import "slices"

var (
	statuses  = []string{"queued", "running", "waiting", "cancelling", "succeeded", "failed", "cancelled"}
	ofAttempt = []Option{byRun, byStep, byAttempt}
	ofStep    = []Option{byRun, byStep}
	ofOp      = []Option{byRun, byStep, byWrite, bySubject, byKey}
	ofRequest = append(append([]Option{}, ofAttempt...), Option{Name: "method", Kind: KindWord}, Option{Name: "path", Kind: KindURLPath}, byKey)
	ofNth     = Option{Name: "n", Kind: KindNumber}
)

// count is the one argument of an expectation that counts.
func count(name string) []Arg { return []Arg{{Name: name, Kind: KindCount}} }

// Expectations is the table of all that can be expected. A collection's own name
// stands for effects too: `expect jobs 1` is `expect effects 1 collection=jobs`.
var Expectations = []Form{
	{Name: "run", Args: []Arg{{Name: "STATUS", Kind: KindChoice, Choices: statuses},
		{Name: "NEED", Keyword: "reconcile", Kind: KindChoice, Choices: []string{"needed", "not-needed"}, Optional: true}}, Options: []Option{byRun},
		Help: "The status of every run, or of the chosen one, and whether it needs reconciling."},
	{Name: "runs", Args: count("COUNT"), Help: "The number of admitted runs."},
	{Name: "step", Args: []Arg{{Name: "STEP", Kind: KindStep}, {Name: "STATUS", Kind: KindChoice,
		Choices: []string{"not-started", "running", "waiting", "succeeded", "failed", "unknown", "cancelled"}}}, Options: []Option{byRun},
		Help: "The status of a step in every run, or in the chosen one."},
	{Name: "attempts", Args: count("COUNT"), Options: ofStep, Help: "The number of attempts."},
	{Name: "calls", Args: count("COUNT"), Options: append(slices.Clone(ofAttempt), byWrite), Help: "The number of times that scripts used a service."},
	{Name: "requests", Args: count("COUNT"), Options: ofRequest,
		Help: "The number of requests on the wire. Includes transport retries, excludes look-ups by key."},
	{Name: "lookups", Args: count("COUNT"), Options: ofRequest, Help: "The number of look-ups by key on the wire."},
	{Name: "effects", Args: count("COUNT"), Options: []Option{{Name: "collection", Kind: KindName}, byStep, byWrite, byKey},
		Help: "The number of records in the provider's ledger.",
		Long: "A collection's name counts the records of that collection: jobs 1, refunds 0."},
	{Name: "log", Args: []Arg{{Name: "TEXT", Kind: KindText}, {Name: "COUNT", Keyword: "times", Kind: KindCount, Optional: true}},
		Help: "A line of the provider's log contains the text, or COUNT lines do."},
	{Name: "outcome", Args: []Arg{{Name: "ATTEMPT", Kind: KindNumber}, {Name: "OUTCOME", Kind: KindChoice, Choices: []string{"succeeded", "failed", "unknown"}}}, Options: ofStep,
		Help: "The outcome of the attempt with this number."},
	{Name: "belief", Args: []Arg{{Name: "BELIEF", Kind: KindChoice, Choices: []string{"open", "done", "not-done", "unknown", "compensated"}}}, Options: ofOp,
		Help: "What the history alone says about every operation, or about the chosen ones."},
	{Name: "verdict", Args: []Arg{{Name: "VERDICT", Kind: KindChoice, Choices: []string{"one-effect", "clean-failure", "phantom-success", "false-failure",
		"unresolved", "duplicate", "compensated", "uncompensated"}}}, Options: ofOp,
		Help: "Belief compared with the ledger, for every operation or for the chosen ones."},
	{Name: "run-verdict", Args: []Arg{{Name: "VERDICT", Kind: KindChoice, Choices: []string{"whole", "nothing", "half-done", "phantom-success",
		"failed-though-done", "unresolved", "duplicate"}}}, Options: []Option{byRun},
		Help: "The end of every run, or of the chosen one, compared with the effects of its operations that were not undone."},
	{Name: "delay", Args: []Arg{{Name: "ATTEMPT", Kind: KindNumber}, {Name: "ATTEMPT", Kind: KindNumber}, {Name: "DURATION", Kind: KindSpan}}, Options: ofStep,
		Help: "The time between the end of one attempt and the start of another: exactly this on the virtual clock, at least this on the wall clock."},
	{Name: "key", Args: []Arg{{Name: "HOW", Kind: KindChoice, Choices: []string{"same", "different"}},
		{Name: "ATTEMPT", Kind: KindNumber, Optional: true}, {Name: "ATTEMPT", Kind: KindNumber, Optional: true}}, Options: append(slices.Clone(ofStep), byWrite),
		Help: "Whether the attempts of a step, in all runs or in the chosen one, sent the same key or each a different key."},
	{Name: "status", Args: []Arg{{Name: "STATUS", Kind: KindStatus}}, Options: append(slices.Clone(ofAttempt), byWrite), Help: "The HTTP status of the last call; none means no reply."},
	{Name: "code", Args: []Arg{{Name: "CODE", Kind: KindName}}, Options: ofAttempt,
		Help: "A run, an attempt, a call or a delivery ended with this code, as WOML_HTTP_TIMED_OUT."},
	{Name: "evidence", Args: []Arg{{Name: "FOUND", Kind: KindChoice, Choices: []string{"found", "several", "no-record", "no-answer"}},
		{Name: "PROOF", Kind: KindChoice, Choices: []string{"matches", "contradicts", "cannot-be-compared", "proven", "unproven"}, Optional: true}}, Options: ofOp,
		Help: "What the newest look-up found, and how the record compares with what was sent, or whether the absence of a record is proven.",
		Long: "The absence of a record is proven if the look-up's address was declared, or has found a record before."},
	{Name: "refused", Args: []Arg{{Name: "VERB", Kind: KindRefused}, {Name: "TEXT", Kind: KindText, Optional: true}},
		Help: "The bench refused this verb, with a reason that contains the text.",
		Long: "It must stand right after the refused line; elsewhere a refusal ends the replay."},
	{Name: "result", Least: 1, Args: []Arg{{Name: "POINTER", Kind: KindPointer, Optional: true}, {Name: "VALUE", Kind: KindValue, Optional: true}}, Options: []Option{byRun, byStep},
		Help: "The result of the last step that has one, or the part of it that the pointer names, is this value.",
		Long: "The word effect stands for the id of any record in the ledger. A pointer without a value only says that the part exists."},
	{Name: "delivery", Args: []Arg{{Name: "STATUS", Kind: KindStatus}}, Options: []Option{{Name: "duplicate"}, ofNth},
		Help: "The status of the answer to the last inbound event, or to the n-th, and whether it was a duplicate."},
	{Name: "reply", Args: []Arg{{Name: "STATUS", Kind: KindStatus}}, Options: []Option{{Name: "contains", Kind: KindWord}, ofNth},
		Help: "The status of the reply to the last send, or to the n-th, and a text that its body contains."},
	{Name: "record", Args: []Arg{{Name: "COLLECTION/ID", Kind: KindRecord}, {Name: "POINTER", Kind: KindPointer, Optional: true}, {Name: "VALUE", Kind: KindValue, Optional: true}},
		Help: "The ledger holds this record, and the part of it that the pointer names is this value.",
		Long: "COLLECTION/* stands for every record of the collection. A pointer without a value only says that the part exists."},
	{Name: "crashed", Args: []Arg{{Name: "COUNT", Kind: KindCount, Optional: true}},
		Help: "The worker has crashed, COUNT times if it is given, and no armed crash is left."},
	{Name: "faults", Args: []Arg{{Name: "HOW", Kind: KindChoice, Choices: []string{"taken"}}},
		Help: "A request has taken each queued fault."},
	{Name: "rows", Args: []Arg{{Name: "DATABASE", Kind: KindWord}, {Name: "TABLE", Kind: KindName}, {Name: "COUNT", Kind: KindCount}},
		Help: "The number of rows in a table of a script's database."},
	{Name: "peak", Args: []Arg{{Name: "COUNT", Kind: KindCount}, {Name: "DURATION", Keyword: "within", Kind: KindDuration}}, Options: ofRequest,
		Help: "The number of requests that arrived within the busiest span of this length."},
}

var expectationAt = func() map[string]int {
	m := make(map[string]int, len(Expectations))
	for i := range Expectations {
		m[Expectations[i].Name] = i
	}
	return m
}()

// expectationNamed is the expectation of this name, or nil.
func expectationNamed(name string) *Form {
	if i, ok := expectationAt[name]; ok {
		return &Expectations[i]
	}
	return nil
}

func expectationNames() []string {
	out := make([]string, len(Expectations))
	for i := range Expectations {
		out[i] = Expectations[i].Name
	}
	return out
}
