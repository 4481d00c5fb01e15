package fault

import (
	"fmt"
	"strings"
)

// Members are the members of a fault's JSON: the name, what it can be, and what it does.
func Members() [][3]string {
	return [][3]string{
		{"name", "one of the named faults", "start as that fault, and say what differs"},
		{"commit.when", listed(whens), "when the effect enters the ledger; stuck: never, and its key stays in flight for ever"},
		{"commit.after", "a duration", "so long after the request came; goes with before-reply and late"},
		{"reply.do", listed(kinds), "what the caller gets"},
		{"reply.status", "400 to 599; with redirect 301, 302, 303, 307 or 308", "the status, with status and redirect"},
		{"reply.error", "a text", `the "error" of the body, with status`},
		{"reply.retryAfter", "a duration", "the Retry-After header, with status; whole seconds, rounded up"},
		{"reply.bytes", fmt.Sprintf("1 to %d", MaxBytes), "how much of the body comes, or how large it is; with " + listed(sized)},
		{"reply.slow", "a duration", "the answer comes so much later"},
		{"reply.drip", "a duration", "the body comes one byte at a time, so far apart"},
		{"reply.stale", "a duration", "a look-up or a read shows the ledger as it was so long ago"},
		{"on.requests", listed([]Which{New, Replay, LookUp, Any}), "which requests it takes; new unless said"},
		{"on.key", "a key", "only requests under this idempotency key"},
		{"on.collection", "a name", "only requests of this collection, as jobs"},
		{"on.step", "a step, ~STEP for its compensation", "only requests of this step of a workflow"},
		{"on.attempt", "a number from 1", "only requests of this attempt"},
		{"on.request", "a number from 1", "only the request of this number in its attempt"},
		{"on.nth", "a number from 1", "let the requests before the nth pass"},
		{"on.probability", "0 to 1", "take a matching request with this probability, drawn from --seed"},
		{"on.times", "a number from 1, or -1", "how many requests it takes before it leaves the queue; -1: it stays"},
	}
}

func listed[T ~string](values []T) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return strings.Join(names, ", ")
}
