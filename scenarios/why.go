package scenarios

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"faultlab/engine"
)

// telling is one row of the table of explanations: the first one that fits is told.
type telling struct {
	verdict engine.Verdict
	when    func(story) bool
	text    func(story) string
}

func always(story) bool { return true }

func say(text string) func(story) string { return func(story) string { return text } }

// sayf fills %[1]s with the noun and %[2]s with its count.
func sayf(text string) func(story) string {
	return func(s story) string { return fmt.Sprintf(text, s.noun, count(len(s.Effects), s.noun)) }
}

var tellings = []telling{
	{engine.OneEffect, func(s story) bool { return s.recorded && (s.byHand || s.resent || len(s.Runs) > 1) }, settledByHand},
	{engine.OneEffect, func(s story) bool { return s.recorded && s.killed }, sayf("The worker was killed before it wrote an answer down. The look-up found the %[1]s, and that was recorded; nothing was sent again.")},
	{engine.OneEffect, func(s story) bool { return s.recorded && s.hungUp }, sayf("It was cancelled while the request was out. The look-up found the %[1]s, and that was recorded; nothing was sent again.")},
	{engine.OneEffect, func(s story) bool { return s.recorded && s.garbled }, sayf("The answer could not be read, but the look-up found the %[1]s, and that was recorded. Nothing was sent again.")},
	{engine.OneEffect, func(s story) bool { return s.recorded && s.status != 0 }, sayf("The answers proved nothing, but the look-up found the %[1]s, and that was recorded. Nothing was sent again.")},
	{engine.OneEffect, func(s story) bool { return s.recorded }, sayf("Nobody answered, but the look-up found the %[1]s, and that was recorded. Nothing was sent again.")},
	{engine.OneEffect, func(s story) bool { return s.resent }, sentAgain},
	{engine.OneEffect, func(s story) bool { return s.hidden > 0 }, sayf("The script made one call, and the transport sent it again by itself. Only the key kept it one %[1]s, and nobody asked whether it would.")},
	{engine.OneEffect, func(s story) bool { return len(s.Runs) > 1 && len(s.Keys) < 2 && s.replayed }, severalRuns},
	{engine.OneEffect, func(s story) bool { return s.replayed }, keptSingle},
	{engine.OneEffect, func(s story) bool { return s.broke }, brokeAfterwards},
	{engine.OneEffect, func(s story) bool { return s.failed && s.harmless }, sayf("What failed had provably done nothing, and a later attempt made the %[1]s.")},
	{engine.OneEffect, func(s story) bool { return s.failed && (len(s.Keys) == 1 || len(s.Keys) > 1 && !s.gaveUp) }, madeLater},
	{engine.OneEffect, func(s story) bool { return s.requests > 1 && len(s.Keys) == 0 }, sayf("It was sent more than once. Each request says the whole %[1]s, so that there is one however often it comes, and the last one stays.")},
	{engine.OneEffect, always, onceOrMore},

	{engine.CleanFailure, func(s story) bool { return s.gaveUp }, givenUp},
	{engine.CleanFailure, func(s story) bool { return s.requests == 0 }, say("Nothing was ever sent. It did not happen, and both sides agree.")},
	{engine.CleanFailure, always, turnedAway},

	{engine.PhantomSuccess, func(s story) bool { return s.recorded }, phantomRecord},
	{engine.PhantomSuccess, func(s story) bool { return s.replayed }, sayf("The reply was an earlier answer, to another operation under the same key. This one never made its %[1]s, and the caller believes that it did.")},
	{engine.PhantomSuccess, always, sayf("The reply said yes and the ledger holds no %[1]s. The caller has no reason to look again.")},

	{engine.FalseFailure, func(s story) bool { return s.gaveUp }, gaveUpWrongly},
	{engine.FalseFailure, always, sayf("The caller believes that it failed, and the ledger holds %[2]s. Whoever starts it again under a new key makes a second one.")},

	{engine.Unresolved, lateCommit, sayf("The look-up found nothing, and then the late request arrived: %[2]s. No record is not the same as did not happen. Look it up again.")},
	{engine.Unresolved, escalated, say("Nobody here can prove it. It waits for a person who can find out by other means.")},
	{engine.Unresolved, contradicted, sayf("The look-up found another operation's %[1]s under this key. It proves nothing about this one: do not record it.")},
	{engine.Unresolved, found, sayf("The look-up found the %[1]s. Record it: the run goes on, and nothing is sent again.")},
	{engine.Unresolved, noAnswer, say("The look-up got no answer, so nobody knows more than before. Ask again later, or escalate.")},
	{engine.Unresolved, noRecord, say("The look-up found no record. The same key may be sent again, as long as the provider still remembers it.")},
	{engine.Unresolved, func(s story) bool { return s.Unaskable }, say("The caller cannot know what became of it, and it cannot be looked up by a key. Escalate it to a person who can find out by other means.")},
	{engine.Unresolved, func(s story) bool { return len(s.Effects) == 1 }, sayf("Look it up, then record it: the %[1]s is already there.")},
	{engine.Unresolved, func(s story) bool { return s.killed }, sayf("The worker was killed before it wrote an answer down: not even whether the request went out is known. The ledger holds no %[1]s yet: look it up before anything is sent again.")},
	{engine.Unresolved, func(s story) bool { return s.status != 0 }, sayf("The answers say neither that it happened nor that it did not; the ledger holds no %[1]s. Look it up before anything is sent again.")},
	{engine.Unresolved, always, sayf("Sent, and nobody answered. The ledger holds no %[1]s yet, which the caller cannot see: look it up before anything is sent again.")},

	{engine.Duplicate, func(s story) bool { return len(s.Keys) > 1 }, severalKeys},
	{engine.Duplicate, func(s story) bool { return len(s.Keys) == 0 }, sayf("Sent without a key, so each request was a new operation to the provider: %[2]s.")},
	{engine.Duplicate, keyNotSeen, sayf("A key was sent and the provider read none, so each request was a new operation to it: %[2]s.")},
	{engine.Duplicate, func(s story) bool { return s.forced && s.Effects[0].CommittedAt.Before(s.resentAt) }, sayf("It was forced under a key that the provider had forgotten. To the provider that was a new operation: %[2]s.")},
	{engine.Duplicate, always, sayf("The key was the same each time, and the provider made %[2]s: it does not keep the promise that the caller relied on, or no longer remembers the key.")},

	{engine.Compensated, always, sayf("The %[1]s and its inverse are both in the ledger. Undone is not unhappened: both stay visible.")},
	{engine.Uncompensated, always, sayf("The %[1]s is there and its inverse is missing. The caller believes that it was undone.")},
}

// numeral is a small number as a sentence begins with it.
func numeral(n int) string {
	if words := []string{"No", "One", "Two", "Three", "Four", "Five"}; n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

func severalRuns(s story) string {
	others := "the others were"
	if len(s.Runs) == 2 {
		others = "the other was"
	}
	return fmt.Sprintf("%s runs asked for it under one key. One of them made the %s, %s told of it.", numeral(len(s.Runs)), s.noun, others)
}

// brokeAfterwards tells of an effect whose step failed all the same.
func brokeAfterwards(s story) string {
	text := "The " + s.noun + " is made, and the run failed afterwards. What happened does not unhappen"
	if len(s.Keys) == 0 {
		return text + ": trying again would make another."
	}
	return text + ": whoever tries again must keep the key."
}

// madeLater tells of a failed attempt and what made another one safe, if anything did.
func madeLater(s story) string {
	if len(s.Keys) > 1 {
		return "An attempt failed and a later one, under another key, made the " + s.noun + ". That there is one is luck: had the first one made it, there would be two."
	}
	return "An attempt failed and a later one made the " + s.noun + ". The same key is what made trying again safe, without knowing what the first had done."
}

// onceOrMore tells of an effect of which there is nothing else to say.
func onceOrMore(s story) string {
	if s.requests > 1 {
		return "It is done, and the ledger holds one " + s.noun + "."
	}
	return "Asked for once, answered, and the ledger holds one " + s.noun + "."
}

// givenUp tells of an abandoned operation that did not happen.
func givenUp(s story) string {
	if noRecord(s) {
		return "It was looked up, was not there, and was given up. The ledger holds no " + s.noun + " of it."
	}
	return "It was given up without proof. The ledger holds no " + s.noun + " of it."
}

// turnedAway tells of a refusal.
func turnedAway(s story) string {
	if s.status == http.StatusTooManyRequests {
		return "The provider turned it away and made no " + s.noun + ": both sides agree. It may be asked again later."
	}
	return "The provider refused it and made no " + s.noun + ": both sides agree. Asking the same again would meet the same answer."
}

// phantomRecord tells of what a person recorded and the ledger does not hold.
func phantomRecord(s story) string {
	if s.byHand {
		return "Its result was given by hand, and the ledger holds no " + s.noun + " of it."
	}
	return "What was recorded is not of this operation: the ledger holds no " + s.noun + " that it asked for."
}

// gaveUpWrongly tells of an abandoned operation that happened.
func gaveUpWrongly(s story) string {
	made := count(len(s.Effects), s.noun)
	switch {
	case lateCommit(s):
		return "It was given up, and then the late request arrived: " + made + ". No record is not the same as did not happen."
	case noRecord(s):
		return "The look-up found nothing and it was given up, but the ledger holds " + made + ". No record is not the same as did not happen."
	}
	return "It was given up without proof, and the ledger holds " + made + "."
}

// severalKeys tells of requests that no key joined.
func severalKeys(s story) string {
	return fmt.Sprintf("%s keys for one operation: the provider could not know that they mean the same %s, and made %s.", numeral(len(s.Keys)), s.noun, count(len(s.Effects), s.noun))
}

// settledByHand tells of a record that was not the only thing that a person did.
func settledByHand(s story) string {
	switch {
	case s.byHand:
		return "Its result was given by hand, and the ledger holds one " + s.noun + "."
	case !s.resent:
		return "One run was settled by the " + s.noun + " that the look-up found, another asked for it too, and the ledger holds one " + s.noun + "."
	case len(s.Keys) != 1:
		return "It was sent again, and the look-up found one " + s.noun + ", which was recorded."
	}
	return "It was sent again under the same key, and the look-up found one " + s.noun + ", which was recorded. The key made one operation of all requests."
}

// sentAgain says on what grounds a person sent it again, and what keeps it single.
func sentAgain(s story) string {
	text := "Without proof, it was sent again"
	if s.looked {
		text = "The look-up found nothing, so it was sent again"
	}
	switch {
	case len(s.Keys) != 1:
		return text + ", and there is one " + s.noun + ". Had the first request arrived late, there would be two: no key joins them."
	case s.replayed:
		return text + " under the same key. The " + s.noun + " was there already, and the key kept it single."
	}
	return text + " under the same key, and there is one " + s.noun + ". Had the first request arrived late, the key would have kept it from making another."
}

// keptSingle says which attempt made the effect, and what kept another from being made.
func keptSingle(s story) string {
	first, next := "An earlier request", "the next"
	switch {
	case s.attempts == 2 && s.made == 1:
		first, next = "The first attempt", "the second"
	case s.attempts > 1 && s.made > 0 && s.made < s.attempts:
		first, next = "An earlier attempt", "a later one"
	}
	return fmt.Sprintf("%s made the %s. Only the shared key kept %s from making another.", first, s.noun, next)
}

// why tells a verdict in one or two sentences; while belief is open there is nothing to tell.
func why(o Operation, runs []*engine.Run, seen *seenThere) string {
	if o.Verdict == "" {
		return ""
	}
	s := tell(o, runs, seen)
	text := tellings[tellingOf(s)].text(s)
	if o.Belief != engine.BeliefUnknown && len(o.Doubts) > 0 {
		text += " " + stillOpen(o.Doubts[0], seen)
	}
	return text
}

// stillOpen tells of a write that nobody knows about although its operation is done: by another key, or another run.
func stillOpen(c *engine.Call, seen *seenThere) string {
	what := "A write without a key"
	if c.Key != "" {
		what = "What was sent under " + shortKey(c.Key)
	}
	s := story{Operation: Operation{Doubts: []*engine.Call{c}}}
	if n := len(c.Evidence); n > 0 {
		s.last = &c.Evidence[n-1]
	}
	switch {
	case escalated(s):
		return what + " is left to a person who can find out by other means."
	case contradicted(s):
		return what + " is not settled: the look-up found something else there, so do not record it."
	case found(s):
		return what + " happened too, says the look-up: record it, and the run is settled."
	case noAnswer(s):
		return what + " is not settled: the look-up got no answer. Ask again later, or escalate."
	case noRecord(s):
		return what + " is not there, says the look-up: abandon it, unless it can still arrive."
	}
	if seen.cannotAsk(c) {
		return what + " is not settled, and cannot be looked up by a key: escalate it."
	}
	return what + " is not settled: look it up."
}

// tellingOf is the row of the table that a story meets; the last row of each verdict always holds.
func tellingOf(s story) int {
	return slices.IndexFunc(tellings, func(t telling) bool { return t.verdict == s.Verdict && t.when(s) })
}
