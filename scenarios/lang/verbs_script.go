package lang

import "slices"

// The options that choose among runs, steps and attempts.
var (
	byRun      = Option{Name: "run", Kind: KindRun}
	byStep     = Option{Name: "step", Kind: KindStep}
	byAttempt  = Option{Name: "attempt", Kind: KindNumber}
	byKey      = Option{Name: "key", Kind: KindKey}
	byWrite    = Option{Name: "write", Kind: KindWrite}
	byRequest  = Option{Name: "request", Kind: KindNumber}
	byCall     = Option{Name: "call", Kind: KindNumber}
	ofDecision = []Option{byRun, byStep, byWrite, byKey}
	bySubject  = Option{Name: "subject", Kind: KindWord}
)

// What a scenario's head declares. These lines stand before the script.
var headVerbs = []Verb{
	{Group: "Head", Use: InHead, Form: Form{Name: "title", Args: []Arg{{Name: "TEXT", Kind: KindProse}},
		Help: "The scenario's name for people, in one line. Every scenario needs one."}},
	{Group: "Head", Use: InHead, Form: Form{Name: "teach", Args: []Arg{{Name: "TEXT", Kind: KindProse}},
		Help: "What there is to learn. Each further line is another paragraph."}},
	{Group: "Head", Use: InHead, Form: Form{Name: "before", Args: []Arg{{Name: "TEXT", Kind: KindProse}},
		Help: "What a lesson says before the scenario begins. Each further line is another paragraph."}},
	{Group: "Head", Use: InHead, Form: Form{Name: "group", Args: []Arg{{Name: "TEXT", Kind: KindProse}},
		Help: "Its group in the catalogue."}},
	{Group: "Head", Use: InHead, Form: Form{Name: "lesson", Args: []Arg{{Name: "LESSON", Kind: KindLesson}, {Name: "PLACE", Kind: KindNumber}},
		Help: "Its place in a lesson, from 1. It may be in several lessons."}},
	{Group: "Head", Use: InHead, Form: Form{Name: "case", Args: []Arg{{Name: "NAME", Kind: KindName, Many: true}},
		Help: "The failure cases that it shows."}},
	{Group: "Head", Use: InHead, Form: Form{Name: "twin", Args: []Arg{{Name: "SCENARIO", Kind: KindScenario}},
		Help: "The scenario that runs beside it in a lesson, as a contrast."}},
	{Group: "Head", Use: InHead, Form: Form{Name: "runs", Args: []Arg{{Name: "WHERE", Kind: KindChoice, Choices: []string{RunsBoth, RunsVirtual, RunsReal}}},
		Help: "Where it can run: simulated, on sockets, or both (the default)."}},
	{Group: "Head", Use: InHead, Form: Form{Name: "client", Args: []Arg{{Name: "CLIENT", Kind: KindChoice, Choices: []string{ClientNaive, ClientRepeatsOnce}}},
		Options: []Option{{Name: "idle", Kind: KindNumber}},
		Help:    "Chooses an HTTP client that repeats requests by itself.",
		Long: "naive is Go's own transport, which sends a request with an Idempotency-Key again when a kept connection dies; idle=N gives it N kept connections before its first request. " +
			"repeats-once sends any request once more, on a fresh connection, when the first one breaks before a reply. Without this line every request has a connection of its own, and one call is one request."}},
	{Group: "Head", Use: InHead, Form: Form{Name: "subject", Args: []Arg{{Name: "FIELD", Kind: KindField}},
		Help: "The payload field that identifies the operation, so that a rerun or a redelivery can be the same operation.",
		Long: "Without this line the subject is the run itself."}},
	{Group: "Head", Use: InHead, Form: Form{Name: "seed", Args: []Arg{{Name: "N", Kind: KindSeed}},
		Help: "The seed of ids and of the scripts' randomness. The same seed gives the same timeline."}},
}

// What is set up before something happens, and may be changed later on.
var settingVerbs = []Verb{
	{Group: "Setting", Use: InBoth, Form: Form{Name: "workflow", Args: []Arg{{Name: "FILE", Kind: KindFile}},
		Help: "Loads a workflow document. Runs that are open keep the one that they began with.",
		Long: "Without any such line all embedded files that end in .woml are loaded, in their order, before the script begins."}},
	{Group: "Setting", Use: InBoth, Form: Form{Name: "assume", Args: []Arg{{Name: "CONTRACT", Kind: KindPayload}},
		Help: "Declares the contract that the caller assumes, as a file or JSON: does the origin enforce keys, how does a key travel, how is it looked up."}},
	{Group: "Setting", Use: InBoth, Label: "contract", Keys: []string{"c"}, On: OnBench | OnMap, Form: Form{Name: "contract", Args: []Arg{{Name: "CONTRACT", Kind: KindContract}},
		Help: "Chooses the contract that the provider keeps: a preset's name, a file or JSON."}},
	{Group: "Setting", Use: InBoth, Label: "fault", Keys: []string{"f"}, On: OnBench, Form: Form{Name: "fault", Args: []Arg{{Name: "FAULT", Kind: KindFault, Many: true}},
		Options: []Option{byStep, byAttempt, byRequest},
		Help:    "Queues faults. Each is taken by the next request that it is meant for.",
		Long: "A fault is a name, or a JSON object that says when the effect commits, what the caller gets and which requests it takes. " +
			"step=, attempt= and request=N narrow it to requests of that step (~ID for its compensation), that attempt, or to the N-th request of an attempt."}},
	{Group: "Setting", Use: InBoth, Keys: []string{"F"}, On: OnBench, Form: Form{Name: "clearfaults",
		Help: "Empties the queue of faults."}},
	{Group: "Setting", Use: InBoth, Keys: []string{"p"}, On: OnBench, Form: Form{Name: "policy", Least: 1,
		Options: []Option{{Name: "retry", Kind: KindNumber}, {Name: "retry-backoff", Kind: KindChoice, Choices: []string{"fixed", "exponential"}},
			{Name: "retry-delay", Kind: KindDuration}, {Name: "retry-max-delay", Kind: KindDuration}, {Name: "throttled", Kind: KindWhole}, {Name: "document"}},
		OneOf: [][]string{{"document", "retry"}, {"document", "retry-backoff"}, {"document", "retry-delay"}, {"document", "retry-max-delay"}, {"document", "throttled"}},
		Help:  "Changes the retry policy of every step for the runs that follow; document goes back to what the document says.",
		Long:  "throttled=N is the number of attempts answered with 429 that a step may make before they count towards retry=."}},
	{Group: "Setting", Use: InBoth, Keys: []string{"K"}, On: OnBench, Form: Form{Name: "key", Args: []Arg{{Name: "STRATEGY", Kind: KindChoice, Choices: []string{"document", "run", "business", "attempt"}}},
		Help: "Changes where the key comes from for the runs that follow.",
		Long: "run: one key for all attempts of a step in one run. business: a key made of the subject, the same in every run. attempt: a new key for each attempt, which is the bug. document: as the scripts say."}},
}

// What happens to the caller and the provider.
var actVerbs = []Verb{
	{Group: "Acts", Use: InBoth, Refusable: true, Label: "trigger", Keys: []string{"T"}, On: OnBench, Form: Form{Name: "trigger",
		Args:    []Arg{{Name: "TRIGGER", Kind: KindTrigger}, {Name: "PAYLOAD", Kind: KindPayload, Optional: true}},
		Options: []Option{{Name: "times", Kind: KindNumber}},
		Help:    "Starts a run, or several at the same moment.",
		Long:    "TRIGGER is the id of a trigger, or workflow/trigger where two workflows have one of that name."}},
	{Group: "Acts", Use: InBoth, Keys: []string{"d"}, On: OnBench, Form: Form{Name: "deliver",
		Args: []Arg{{Name: "TRIGGER", Kind: KindTrigger}, {Name: "PAYLOAD", Kind: KindPayload}},
		Options: []Option{{Name: "id", Kind: KindWord}, {Name: "token", Kind: KindWord}, {Name: "twice"}, {Name: "at-once"},
			{Name: "when", Kind: KindChoice, Choices: []string{WhenInFlight, WhenAfterCrash}}},
		OneOf: [][]string{{"twice", "at-once"}},
		Help:  "Delivers an inbound event to a webhook, with its event id and its bearer token.",
		Long: "twice delivers it again when the first delivery was answered, at-once delivers it two times at the same moment. " +
			"when=in-flight delivers it at the next moment at which a request has reached the provider and is not answered, when=after-crash as soon as the worker is back after its next crash. On a bench a secret's value is its own name in lower case with hyphens: the token of {{secrets.PAY_TOKEN}} is pay-token."}},
	{Group: "Acts", Use: InBoth, Form: Form{Name: "send",
		Args: []Arg{{Name: "METHOD", Kind: KindChoice, Choices: []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}},
			{Name: "PATH", Kind: KindURLPath}, {Name: "BODY", Kind: KindPayload, Optional: true}},
		Options: []Option{byKey, {Name: "header", Kind: KindWord, Repeat: true}, {Name: "times", Kind: KindNumber}, {Name: "at-once"}},
		Help:    "Sends a request to the provider as somebody else's client would.",
		Long:    "key=K goes into the Idempotency-Key header, header=NAME:VALUE may be repeated; times=N sends it again after each reply, and with at-once all at the same moment."}},
	{Group: "Acts", Use: InBoth, Form: Form{Name: "advance", Args: []Arg{{Name: "DURATION", Kind: KindDuration}},
		Help: "Lets this much time pass, with everything that falls due before its end.",
		Long: "What is due at that very instant comes after the next line. advance 0s lets everything at the present instant happen."}},
	{Group: "Acts", Use: InBoth, Form: Form{Name: "wait", Args: []Arg{{Name: "EXPECTATION", Kind: KindExpect, Keyword: "for", Optional: true}},
		Help: "Lets time pass until the simulation is idle, or until an expectation holds.",
		Long: "It is an error if the simulation is idle and the expectation still does not hold."}},
	{Group: "Acts", Use: InBoth, Form: Form{Name: "order", Args: []Arg{{Name: "RUN", Kind: KindNumber, Many: true}},
		Help: "Says which run's request goes first where several are to be sent at the same moment; order 2 1 lets the second run go before the first."}},
	{Group: "Acts", Use: InBoth, Refusable: true, Form: Form{Name: "cancel", Args: []Arg{{Name: "RUN", Kind: KindRun, Optional: true}},
		Options: []Option{{Name: "--keep"}},
		Help:    "Cancels a run, the newest one if none is named, and undoes what it has done; --keep undoes nothing.",
		Long:    "What is in flight becomes unknown, and nothing is undone before that is settled. A run that is being undone already is not cancelled."}},
	{Group: "Acts", Use: InBoth, Refusable: true, Keys: []string{"R"}, On: OnBench | OnRuns, Form: Form{Name: "rerun", Args: []Arg{{Name: "RUN", Kind: KindRun, Optional: true}},
		Help: "Starts a new run with the payload of another one, the newest if none is named."}},
	{Group: "Acts", Use: InBoth, Form: Form{Name: "expire",
		Help: "Lets time pass until the provider has forgotten every key that it knows now."}},
}

// What happens to the worker, the process that executes runs.
var workerVerbs = []Verb{
	{Group: "Worker", Use: InBoth, Label: "crash worker", Keys: []string{"x"}, On: OnBench, Form: Form{Name: "crash",
		Args:    []Arg{{Name: "POINT", Kind: KindChoice, Optional: true, Choices: CrashPoints}},
		Options: []Option{byRun, byStep, byAttempt, byCall, byRequest},
		Help:    "Kills the worker, at once or at the next such point.",
		Long: "before-send: the request is on disk and not on the wire. in-flight: the provider has the request and has done nothing yet. after-effect: the provider has committed and not answered. " +
			"after-reply: the reply has arrived and is not on disk. after-record: the reply is on disk and the script has not gone on. during-backoff: a retry is due later. " +
			"look-up: a look-up was answered and its evidence is not on disk. step=~ID is a compensation, request=N the N-th request of its attempt, call=N the N-th call. " +
			"Several crashes may be armed: each counts once the one before it has happened."}},
	{Group: "Worker", Use: InBoth, Label: "restart", Keys: []string{"X"}, On: OnBench, Form: Form{Name: "restart",
		Help: "Starts the worker again on the same history."}},
}

// How an unknown operation is settled.
var reconcileVerbs = []Verb{
	{Group: "Reconcile", Use: InBoth, Refusable: true, Label: "look up key", Keys: []string{"u"}, On: OnBench | OnUnknowns | OnRuns, Form: Form{Name: "lookup",
		Args: []Arg{{Name: "KEY", Kind: KindKey, Optional: true}}, Options: []Option{byRun, byStep, byWrite},
		Help: "Looks up operations by key and keeps the answers as evidence: all unknown operations, or the chosen ones."}},
	{Group: "Reconcile", Use: InBoth, Refusable: true, Label: "record", Keys: []string{"r"}, On: OnUnknowns, Form: Form{Name: "record",
		Options: slices.Concat(ofDecision, []Option{{Name: "result", Kind: KindValue}, {Name: "--force"}}),
		Help:    "Uses the record that was found as the reply, and the run goes on from there.",
		Long:    "result=JSON sets the step's result by hand."}},
	{Group: "Reconcile", Use: InBoth, Refusable: true, Label: "resubmit", Keys: []string{"s"}, On: OnUnknowns, Form: Form{Name: "resubmit",
		Options: slices.Concat(ofDecision, []Option{{Name: "--force"}}),
		Help:    "Makes one more attempt under the same key."}},
	{Group: "Reconcile", Use: InBoth, Refusable: true, Label: "abandon", Keys: []string{"a"}, On: OnUnknowns, Form: Form{Name: "abandon",
		Options: slices.Concat(ofDecision, []Option{{Name: "--force"}}),
		Help:    "Gives the operation up: it is not wanted any more, and counts as not done."}},
	{Group: "Reconcile", Use: InBoth, Refusable: true, Label: "escalate", Keys: []string{"e"}, On: OnUnknowns, Form: Form{Name: "escalate",
		Args: []Arg{{Name: "REASON", Kind: KindText}}, Options: ofDecision,
		Help: "Leaves the operation unknown, with a reason, for a person."}},
}

// What is asked of the reader, and what must hold.
var proofVerbs = []Verb{
	{Group: "Prediction and proof", Use: InScript, Form: Form{Name: "ask", Args: []Arg{{Name: "QUESTION?  A | *B | C", Kind: KindProse}},
		Help: "Asks for a prediction before the truth is shown. The right answer has a star.",
		Long: "The question ends with its question mark, the answers are separated by |. A replay does not ask."}},
	{Group: "Prediction and proof", Use: InScript, Form: Form{Name: "because", Args: []Arg{{Name: "TEXT", Kind: KindProse}},
		Help: "Explains the right answer of the question above it, after it was given. Each further line is another paragraph."}},
	{Group: "Prediction and proof", Use: InBoth, Form: Form{Name: "expect", Args: []Arg{{Name: "EXPECTATION", Kind: KindExpect}},
		Help: "States what must be true on the bench at this moment. A replay fails if it is not.",
		Long: "`expect not ...` states the opposite."}},
}
