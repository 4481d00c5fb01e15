package fault

import "time"

// Alias is a named composition.
type Alias struct {
	Name    string
	Summary string // one sentence
	Fault   Fault  // its Name is Name
}

// alias is one row of the table.
func alias(name, summary string, c Commit, r Reply, on On) Alias {
	return Alias{name, summary, Fault{name, c, r, on}}
}

var (
	before = Commit{When: BeforeReply}
	never  = Commit{When: Never}
	normal = Reply{Do: Normal}
	fresh  = On{Requests: New}
	looks  = On{Requests: LookUp}
)

func status(code int) Reply { return Reply{Do: Status, Status: code} }

// aliases is the table of named faults, in the order of a menu. The first three after none are the guide's.
var aliases = []Alias{
	alias("none", "Commits and answers.", before, normal, fresh),
	alias("fail-before-commit", "Answers 503, nothing is stored.", never, status(503), fresh),
	alias("commit-then-error", "Stores the record, then answers 503.", before, status(503), fresh),
	alias("commit-then-drop", "Stores the record, then resets the connection.", before, Reply{Do: Reset}, fresh),

	alias("drop-before-commit", "Resets the connection, nothing is stored.", never, Reply{Do: Reset}, fresh),
	alias("hang-before-commit", "Never answers, nothing is stored.", never, Reply{Do: Nothing}, fresh),
	alias("commit-then-hang", "Stores the record, then never answers.", before, Reply{Do: Nothing}, fresh),
	alias("late-commit", "Never answers, and stores the record 30 s later.", Commit{Late, 30 * time.Second}, Reply{Do: Nothing}, fresh),
	alias("error-then-commit", "Answers 503, and stores the record 5 s later.", Commit{Late, 5 * time.Second}, status(503), fresh),
	alias("stuck", "Never answers, stores nothing, and the request never ends: its key stays in flight.", Commit{When: Stuck}, Reply{Do: Nothing}, fresh),
	alias("slow", "Stores the record, and answers 5 s later.", before, Reply{Do: Normal, Slow: 5 * time.Second}, fresh),
	alias("slow-commit", "Takes 5 s to store the record, then answers: meanwhile the key is in flight.", Commit{BeforeReply, 5 * time.Second}, normal, fresh),

	alias("cut-body", "Stores the record, and breaks off in the middle of the answer's body.", before, Reply{Do: Cut}, fresh),
	alias("cut-then-reset", "Stores the record, and resets the connection in the middle of the answer's body.", before, Reply{Do: CutReset}, fresh),
	alias("cut-chunked", "Stores the record, and closes the connection before the last chunk of a chunked answer.", before, Reply{Do: CutChunked}, fresh),
	alias("cut-unframed", "Stores the record, and breaks off an answer without a Content-Length: the broken body looks whole.", before, Reply{Do: CutUnframed}, fresh),
	alias("not-json", "Stores the record, and answers with HTML.", before, Reply{Do: NotJSON}, fresh),
	alias("too-large", "Stores the record, and answers with 5 MiB.", before, Reply{Do: TooLarge}, fresh),
	alias("wrong-length", "Stores the record, and announces half of the answer's length.", before, Reply{Do: WrongLength}, fresh),
	alias("drip", "Stores the record, and answers one byte every 10 ms.", before, Reply{Do: Normal, Drip: 10 * time.Millisecond}, fresh),
	alias("redirect", "Answers 302 to the same address, nothing is stored.", never, Reply{Do: Redirect}, fresh),
	alias("redirect-again", "Answers 307 to the same address, where a client that follows sends the same again; nothing is stored.", never,
		Reply{Do: Redirect, Status: 307}, fresh),
	alias("phantom-success", "Answers as if it had stored the record, but does not.", never, normal, fresh),

	alias("rate-limited", "Answers 429 with Retry-After 2, nothing is stored.", never, Reply{Do: Status, Status: 429, RetryAfter: 2 * time.Second}, fresh),
	alias("unavailable", "Answers 503 with Retry-After 2, nothing is stored.", never, Reply{Do: Status, Status: 503, RetryAfter: 2 * time.Second}, fresh),
	alias("bad-request", "Answers 400, nothing is stored.", never, status(400), fresh),
	alias("forbidden", "Answers 403, nothing is stored.", never, status(403), fresh),
	alias("not-found", "Answers 404, nothing is stored.", never, status(404), fresh),
	alias("conflict", "Answers 409, nothing is stored.", never, status(409), fresh),
	alias("request-timeout", "Answers 408, nothing is stored.", never, status(408), fresh),
	alias("gateway-timeout", "Stores the record, but a gateway in between answers 504.", before, status(504), fresh),

	alias("replay-error", "Answers 503 to a repeat.", before, status(503), On{Requests: Replay}),
	alias("replay-drop", "Resets the connection of a repeat.", before, Reply{Do: Reset}, On{Requests: Replay}),
	alias("look-up-error", "Answers 503 to a look-up.", before, status(503), looks),
	alias("look-up-not-found", "Answers 404 to a look-up, whatever there is.", before, status(404), looks),
	alias("look-up-stale", "Answers a look-up as it was 30 s ago.", before, Reply{Do: Normal, Stale: 30 * time.Second}, looks),
	alias("look-up-drop", "Resets the connection of a look-up.", before, Reply{Do: Reset}, looks),
	alias("look-up-hang", "Never answers a look-up.", before, Reply{Do: Nothing}, looks),
}

// Aliases returns every named fault, in the order of a menu.
func Aliases() []Alias { return append([]Alias{}, aliases...) }

// Named returns the fault of that name.
func Named(name string) (Fault, bool) {
	for _, a := range aliases {
		if a.Name == name {
			return a.Fault, true
		}
	}
	return Fault{}, false
}

// Names returns the names of all named faults.
func Names() []string {
	out := make([]string, len(aliases))
	for i, a := range aliases {
		out[i] = a.Name
	}
	return out
}
