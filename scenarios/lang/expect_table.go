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
		Help: "Every run has this status, or the run that is chosen; and whether it needs reconciling."},
	{Name: "runs", Args: count("COUNT"), Help: "So many runs were admitted."},
	{Name: "step", Args: []Arg{{Name: "STEP", Kind: KindStep}, {Name: "STATUS", Kind: KindChoice,
		Choices: []string{"not-started", "running", "waiting", "succeeded", "failed", "unknown", "cancelled"}}}, Options: []Option{byRun},
		Help: "A step has this status in every run, or in the run that is chosen."},
	{Name: "attempts", Args: count("COUNT"), Options: ofStep, Help: "So many attempts were made."},
	{Name: "calls", Args: count("COUNT"), Options: append(slices.Clone(ofAttempt), byWrite), Help: "Scripts used a service so many times."},
	{Name: "requests", Args: count("COUNT"), Options: ofRequest,
		Help: "So many requests were on the wire. Includes transport retries, excludes look-ups by key."},
	{Name: "lookups", Args: count("COUNT"), Options: ofRequest, Help: "So many look-ups by key were on the wire."},
	{Name: "effects", Args: count("COUNT"), Options: []Option{{Name: "collection", Kind: KindName}, byStep, byWrite, byKey},
		Help: "The provider's ledger holds so many records.",
		Long: "A collection's name says the same of that collection: jobs 1, refunds 0."},
	{Name: "log", Args: []Arg{{Name: "TEXT", Kind: KindText}, {Name: "COUNT", Keyword: "times", Kind: KindCount, Optional: true}},
		Help: "A line of the provider's log contains the text, or so many lines do."},
	{Name: "outcome", Args: []Arg{{Name: "ATTEMPT", Kind: KindNumber}, {Name: "OUTCOME", Kind: KindChoice, Choices: []string{"succeeded", "failed", "unknown"}}}, Options: ofStep,
		Help: "The attempt of this number ended so."},
	{Name: "belief", Args: []Arg{{Name: "BELIEF", Kind: KindChoice, Choices: []string{"open", "done", "not-done", "unknown", "compensated"}}}, Options: ofOp,
		Help: "This is what the history alone says about every operation, or about those chosen."},
	{Name: "verdict", Args: []Arg{{Name: "VERDICT", Kind: KindChoice, Choices: []string{"one-effect", "clean-failure", "phantom-success", "false-failure",
		"unresolved", "duplicate", "compensated", "uncompensated"}}}, Options: ofOp,
		Help: "This is how belief compares with the ledger for every operation, or for those chosen."},
	{Name: "run-verdict", Args: []Arg{{Name: "VERDICT", Kind: KindChoice, Choices: []string{"whole", "nothing", "half-done", "phantom-success",
		"failed-though-done", "unresolved", "duplicate"}}}, Options: []Option{byRun},
		Help: "This is how the end of every run, or of the run that is chosen, compares with what stands of the operations that it began."},
	{Name: "delay", Args: []Arg{{Name: "ATTEMPT", Kind: KindNumber}, {Name: "ATTEMPT", Kind: KindNumber}, {Name: "DURATION", Kind: KindSpan}}, Options: ofStep,
		Help: "So much time passed between the end of the one attempt and the start of the other: exactly so on the virtual clock, at least so on the wall clock."},
	{Name: "key", Args: []Arg{{Name: "HOW", Kind: KindChoice, Choices: []string{"same", "different"}},
		{Name: "ATTEMPT", Kind: KindNumber, Optional: true}, {Name: "ATTEMPT", Kind: KindNumber, Optional: true}}, Options: append(slices.Clone(ofStep), byWrite),
		Help: "The attempts of a step, in all runs or the one chosen, sent one and the same key; or each of them a key of its own."},
	{Name: "status", Args: []Arg{{Name: "STATUS", Kind: KindStatus}}, Options: append(slices.Clone(ofAttempt), byWrite), Help: "The last call got this HTTP status; none is no reply at all."},
	{Name: "code", Args: []Arg{{Name: "CODE", Kind: KindName}}, Options: ofAttempt,
		Help: "A run, an attempt, a call or a delivery ended with this code, as WOML_HTTP_TIMED_OUT."},
	{Name: "evidence", Args: []Arg{{Name: "FOUND", Kind: KindChoice, Choices: []string{"found", "several", "no-record", "no-answer"}},
		{Name: "PROOF", Kind: KindChoice, Choices: []string{"matches", "contradicts", "cannot-be-compared", "proven", "unproven"}, Optional: true}}, Options: ofOp,
		Help: "This is what the newest look-up said; how the record that was found compares with what was sent, or whether no record is proven.",
		Long: "No record is proven where the look-up's address was declared, or has found a record before."},
	{Name: "refused", Args: []Arg{{Name: "VERB", Kind: KindRefused}, {Name: "TEXT", Kind: KindText, Optional: true}},
		Help: "The bench refused this verb, with a reason that contains the text.",
		Long: "It stands right after the line that is to be refused; elsewhere a refusal ends the replay."},
	{Name: "result", Least: 1, Args: []Arg{{Name: "POINTER", Kind: KindPointer, Optional: true}, {Name: "VALUE", Kind: KindValue, Optional: true}}, Options: []Option{byRun, byStep},
		Help: "The result of the last step that has one, or the part of it that the pointer names, is this value.",
		Long: "The word effect stands for the id of any record in the ledger. A pointer alone says that there is such a part."},
	{Name: "delivery", Args: []Arg{{Name: "STATUS", Kind: KindStatus}}, Options: []Option{{Name: "duplicate"}, ofNth},
		Help: "The last inbound event, or the n-th, was answered with this status, and as a duplicate."},
	{Name: "reply", Args: []Arg{{Name: "STATUS", Kind: KindStatus}}, Options: []Option{{Name: "contains", Kind: KindWord}, ofNth},
		Help: "The last send, or the n-th, got this status, and a body that contains the text."},
	{Name: "record", Args: []Arg{{Name: "COLLECTION/ID", Kind: KindRecord}, {Name: "POINTER", Kind: KindPointer, Optional: true}, {Name: "VALUE", Kind: KindValue, Optional: true}},
		Help: "The ledger holds this record, and the part of it that the pointer names is this value.",
		Long: "COLLECTION/* speaks of every record of the collection. A pointer alone says that there is such a part."},
	{Name: "crashed", Args: []Arg{{Name: "COUNT", Kind: KindCount, Optional: true}},
		Help: "The worker has crashed, so many times if a count is given, and no armed crash is left."},
	{Name: "faults", Args: []Arg{{Name: "HOW", Kind: KindChoice, Choices: []string{"taken"}}},
		Help: "Every fault that was queued has been taken by a request."},
	{Name: "rows", Args: []Arg{{Name: "DATABASE", Kind: KindWord}, {Name: "TABLE", Kind: KindName}, {Name: "COUNT", Kind: KindCount}},
		Help: "A table of a script's database has so many rows."},
	{Name: "peak", Args: []Arg{{Name: "COUNT", Kind: KindCount}, {Name: "DURATION", Keyword: "within", Kind: KindDuration}}, Options: ofRequest,
		Help: "So many requests arrived within the busiest span of this length."},
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
