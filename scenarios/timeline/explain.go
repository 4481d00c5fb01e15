package timeline

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"faultlab/engine"
	"faultlab/engine/plain"
	"faultlab/faultprovider"
)

// explanation is one row of the table of explanations: the first one that fits is told.
type explanation struct {
	verdict engine.Verdict
	when    func(facts) bool
	text    func(facts) string
}

func always(facts) bool { return true }

func say(text string) func(facts) string { return func(facts) string { return text } }

// sayf fills %[1]s with the noun and %[2]s with its count.
func sayf(text string) func(facts) string {
	return func(f facts) string { return fmt.Sprintf(text, f.noun, plain.Count(len(f.Effects), f.noun)) }
}

// next puts what table e advises behind a text.
func next(text func(facts) string) func(facts) string {
	return func(f facts) string { return strings.TrimSpace(text(f) + " " + f.advice()) }
}

var explanations = []explanation{
	{engine.OneEffect, func(f facts) bool { return f.recorded && (f.byHand || f.resent || len(f.Runs) > 1) }, settledByHand},
	{engine.OneEffect, func(f facts) bool { return f.recorded && f.killed }, sayf("The worker was killed before it wrote an answer down. The look-up found the %[1]s, and that was recorded; nothing was sent again.")},
	{engine.OneEffect, func(f facts) bool { return f.recorded && f.stopped == engine.GaveUpCancel }, sayf("It was cancelled while the request was out. The look-up found the %[1]s, and that was recorded; nothing was sent again.")},
	{engine.OneEffect, func(f facts) bool { return f.recorded && f.garbled }, sayf("The answer could not be read, but the look-up found the %[1]s, and that was recorded. Nothing was sent again.")},
	{engine.OneEffect, func(f facts) bool { return f.recorded && f.status != 0 }, sayf("The answers proved nothing, but the look-up found the %[1]s, and that was recorded. Nothing was sent again.")},
	{engine.OneEffect, func(f facts) bool { return f.recorded }, sayf("Nobody answered, but the look-up found the %[1]s, and that was recorded. Nothing was sent again.")},
	{engine.OneEffect, func(f facts) bool { return f.resent }, sentAgain},
	{engine.OneEffect, func(f facts) bool { return f.hidden > 0 }, sayf("The script made one call, and the transport sent it again by itself. Only the key kept it one %[1]s, and nobody asked whether it would.")},
	{engine.OneEffect, func(f facts) bool { return len(f.Runs) > 1 && len(f.Keys) < 2 && f.replayed }, severalRuns},
	{engine.OneEffect, func(f facts) bool { return f.replayed }, keptSingle},
	{engine.OneEffect, func(f facts) bool { return f.broke }, brokeAfterwards},
	{engine.OneEffect, func(f facts) bool { return f.failed && f.harmless }, sayf("What failed had provably done nothing, and a later attempt made the %[1]s.")},
	{engine.OneEffect, func(f facts) bool { return f.failed && (len(f.Keys) == 1 || len(f.Keys) > 1 && !f.gaveUp) }, madeLater},
	{engine.OneEffect, func(f facts) bool { return f.late && len(f.Keys) == 1 }, failedLater},
	{engine.OneEffect, func(f facts) bool { return f.requests > 1 && len(f.Keys) == 0 }, sayf("It was sent more than once. Each request says the whole %[1]s, so that there is one however often it comes, and the last one stays.")},
	{engine.OneEffect, always, onceOrMore},

	{engine.CleanFailure, func(f facts) bool { return f.gaveUp }, givenUp},
	{engine.CleanFailure, func(f facts) bool { return f.requests == 0 && f.child != "" }, calledAChild},
	{engine.CleanFailure, func(f facts) bool { return f.requests == 0 }, say("Nothing was ever sent. It did not happen, and both sides agree.")},
	{engine.CleanFailure, always, turnedAway},

	{engine.PhantomSuccess, func(f facts) bool { return f.Undone > 0 }, sayf("The %[1]s was undone: it does not stand, and the caller believes that it does.")},
	{engine.PhantomSuccess, func(f facts) bool { return f.recorded }, phantomRecord},
	{engine.PhantomSuccess, func(f facts) bool { return f.replayed }, sayf("The reply was an earlier answer, to another operation under the same key. This one never made its %[1]s, and the caller believes that it did.")},
	{engine.PhantomSuccess, always, sayf("The reply said yes and the ledger holds no %[1]s. The caller has no reason to look again.")},

	{engine.FalseFailure, func(f facts) bool { return f.gaveUp }, gaveUpWrongly},
	{engine.FalseFailure, always, sayf("The caller believes that it failed, and the ledger holds %[2]s. Whoever starts it again under a new key makes a second one.")},

	{engine.Unresolved, func(f facts) bool { return len(f.Doubts) == 0 }, sayf("The %[1]s was made, and whether its compensation has undone it is unknown: settle the compensation.")},
	{engine.Unresolved, lateCommit, sayf("The look-up found nothing, and then the late request arrived: %[2]s. No record is not the same as did not happen. Look it up again.")},
	{engine.Unresolved, escalated, say("Nobody here can prove it. It waits for a person who can find out by other means.")},
	{engine.Unresolved, func(f facts) bool { return f.proof() == engine.ProofMatches }, next(sayf("The look-up found the %[1]s."))},
	{engine.Unresolved, func(f facts) bool { return f.proof() != engine.ProofNone }, next(say(""))},
	{engine.Unresolved, func(f facts) bool { return f.killed }, next(unanswered("The worker was killed before it wrote an answer down: not even whether the request went out is known."))},
	{engine.Unresolved, func(f facts) bool { return f.status != 0 }, next(unanswered("The answers say neither that it happened nor that it did not."))},
	{engine.Unresolved, func(f facts) bool { return f.stopped == engine.GaveUpCancel }, next(unanswered("It was cancelled while the request was out."))},
	{engine.Unresolved, func(f facts) bool { return f.stopped == engine.GaveUpScript }, next(unanswered("The script gave the request up while it was out."))},
	{engine.Unresolved, func(f facts) bool { return f.stopped == engine.GaveUpRunTimeout }, next(unanswered("The run's timeout ended it while the request was out."))},
	{engine.Unresolved, func(f facts) bool { return f.stopped == engine.GaveUpTimeout }, next(unanswered("No reply came within the request's timeout."))},
	{engine.Unresolved, always, next(unanswered("Sent, and nobody answered."))},

	{engine.Duplicate, func(f facts) bool { return len(f.Keys) > 1 }, severalKeys},
	{engine.Duplicate, keyNotSeen, sayf("A key was sent and the provider read none, so each request was a new operation to it: %[2]s.")},
	{engine.Duplicate, func(f facts) bool { return len(f.Keys) == 0 && !f.plain }, sayf("Sent without a key, so each request was a new operation to the provider: %[2]s.")},
	{engine.Duplicate, func(f facts) bool { return f.forced && f.Effects[0].CommittedAt.Before(f.resentAt) }, sayf("It was forced under a key that the provider had forgotten. To the provider that was a new operation: %[2]s.")},
	{engine.Duplicate, func(f facts) bool { return len(f.within) > 0 }, otherScope},
	{engine.Duplicate, func(f facts) bool { return f.cause == faultprovider.PayloadChanged }, sayf("The key was the same and the payload was not. This provider takes another payload for another operation: %[2]s.")},
	{engine.Duplicate, func(f facts) bool { return f.cause == faultprovider.KeyForgotten }, sayf("The key was the same, and the provider had forgotten it when the request came again: %[2]s.")},
	{engine.Duplicate, func(f facts) bool { return f.cause == faultprovider.NotWaitedFor }, sayf("The key was the same, and the first request was still at work when the second came. This provider carried out both: %[2]s.")},
	{engine.Duplicate, always, sayf("The key was the same, and the provider kept nothing under it: the second request was a new operation to it: %[2]s.")},

	{engine.Compensated, always, sayf("The %[1]s was made and then undone. It and its inverse are both in the ledger.")},
	{engine.Uncompensated, func(f facts) bool { return f.Belief == engine.BeliefCompensated }, sayf("The %[1]s is there and its inverse is missing. The caller believes that it was undone.")},
	{engine.Uncompensated, always, sayf("The %[1]s is there, and its compensation did not undo it. Undo it by other means.")},
}

// advice is what table e says is to be done next.
func (f facts) advice() string {
	if f.next == nil {
		return ""
	}
	return f.next.Sentence()
}

// unanswered says beside what the caller knows what it cannot see.
func unanswered(text string) func(facts) string {
	return func(f facts) string {
		if len(f.Effects) > 0 {
			return text + " The " + f.noun + " is there, which the caller cannot see."
		}
		return text + " The ledger holds no " + f.noun + " yet, which the caller cannot see."
	}
}

// otherScope tells of a key that counts within something that was not the same.
func otherScope(f facts) string {
	return fmt.Sprintf("The key was the same, and the %s was not. To this provider that is part of the key, so the second request was a new operation: %s.",
		strings.Join(f.within, " and the "), plain.Count(len(f.Effects), f.noun))
}

// failedLater tells of attempts that failed when the effect was there.
func failedLater(f facts) string {
	if f.lateRun {
		return "The first run made the " + f.noun + ". A later one asked for it again under the same key and failed; the key kept it from making another."
	}
	return "An earlier attempt made the " + f.noun + ", and the attempts after it failed. The same key kept them from making another."
}

// calledAChild tells of a step that sent nothing itself.
func calledAChild(facts) string {
	return "The step sent nothing itself: it called another workflow, and what that run sent is told there."
}

// numeral is a small number as a sentence begins with it.
func numeral(n int) string {
	if words := []string{"No", "One", "Two", "Three", "Four", "Five"}; n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

func severalRuns(f facts) string {
	others := "the others were"
	if len(f.Runs) == 2 {
		others = "the other was"
	}
	return fmt.Sprintf("%s runs asked for it under one key. One of them made the %s, %s told of it.", numeral(len(f.Runs)), f.noun, others)
}

// brokeAfterwards tells of an effect whose step failed all the same.
func brokeAfterwards(f facts) string {
	text := "The " + f.noun + " is made, and the run failed afterwards. The " + f.noun + " remains"
	if len(f.Keys) == 0 {
		return text + ": trying again would make another."
	}
	return text + ": whoever tries again must keep the key."
}

// madeLater tells of a failed attempt and what made another one safe, if anything did.
func madeLater(f facts) string {
	if len(f.Keys) > 1 {
		return "An attempt failed and a later one, under another key, made the " + f.noun + ". That there is one is luck: had the first one made it, there would be two."
	}
	return "An attempt failed and a later one made the " + f.noun + ". The same key is what made trying again safe, without knowing what the first had done."
}

// onceOrMore tells of an effect of which there is nothing else to say.
func onceOrMore(f facts) string {
	if f.requests > 1 {
		return "It is done, and the ledger holds one " + f.noun + "."
	}
	return "Asked for once, answered, and the ledger holds one " + f.noun + "."
}

// givenUp tells of an abandoned operation that did not happen.
func givenUp(f facts) string {
	if noRecord(f) {
		return "It was looked up, was not there, and was given up. The ledger holds no " + f.noun + " of it."
	}
	return "It was given up without proof. The ledger holds no " + f.noun + " of it."
}

// turnedAway tells of a refusal.
func turnedAway(f facts) string {
	if f.status == http.StatusTooManyRequests {
		return "The provider turned it away and made no " + f.noun + ": both sides agree. It may be asked again later."
	}
	return "The provider refused it and made no " + f.noun + ": both sides agree. Asking the same again would meet the same answer."
}

// phantomRecord tells of what a person recorded and the ledger does not hold.
func phantomRecord(f facts) string {
	if f.byHand {
		return "Its result was given by hand, and the ledger holds no " + f.noun + " of it."
	}
	return "What was recorded is not of this operation: the ledger holds no " + f.noun + " that it asked for."
}

// gaveUpWrongly tells of an abandoned operation that happened.
func gaveUpWrongly(f facts) string {
	made := plain.Count(len(f.Effects), f.noun)
	switch {
	case lateCommit(f):
		return "It was given up, and then the late request arrived: " + made + ". No record is not the same as did not happen."
	case noRecord(f):
		return "The look-up found nothing and it was given up, but the ledger holds " + made + ". No record is not the same as did not happen."
	}
	return "It was given up without proof, and the ledger holds " + made + "."
}

// severalKeys tells of requests that no key joined.
func severalKeys(f facts) string {
	return fmt.Sprintf("%s keys for one operation: the provider could not know that they mean the same %s, and made %s.", numeral(len(f.Keys)), f.noun, plain.Count(len(f.Effects), f.noun))
}

// settledByHand tells of a record that was not the only thing that a person did.
func settledByHand(f facts) string {
	switch {
	case f.byHand:
		return "Its result was given by hand, and the ledger holds one " + f.noun + "."
	case !f.resent:
		return "One run was settled by the " + f.noun + " that the look-up found, another asked for it too, and the ledger holds one " + f.noun + "."
	case len(f.Keys) != 1:
		return "It was sent again, and the look-up found one " + f.noun + ", which was recorded."
	}
	return "It was sent again under the same key, and the look-up found one " + f.noun + ", which was recorded. The key made one operation of all requests."
}

// sentAgain says on what grounds a person sent it again, and what keeps it single.
func sentAgain(f facts) string {
	text := "Without proof, it was sent again"
	if f.looked {
		text = "The look-up found nothing, so it was sent again"
	}
	switch {
	case len(f.Keys) != 1:
		return text + ", and there is one " + f.noun + ". Had the first request arrived late, there would be two: no key joins them."
	case f.replayed:
		return text + " under the same key. The " + f.noun + " was there already, and the key kept it single."
	}
	return text + " under the same key, and there is one " + f.noun + ". Had the first request arrived late, the key would have kept it from making another."
}

// keptSingle says which attempt made the effect, and what kept another from being made.
func keptSingle(f facts) string {
	first, next := "An earlier request", "the next"
	switch {
	case f.attempts == 2 && f.made == 1:
		first, next = "The first attempt", "the second"
	case f.attempts > 1 && f.made > 0 && f.made < f.attempts:
		first, next = "An earlier attempt", "a later one"
	}
	return fmt.Sprintf("%s made the %s. Only the shared key kept %s from making another.", first, f.noun, next)
}

// explain tells a verdict in one to three sentences; while belief is open there is nothing to tell.
func explain(f facts) string {
	if f.Verdict == "" {
		return ""
	}
	text := explanations[explanationOf(f)].text(f)
	if f.Belief != engine.BeliefUnknown && len(f.Doubts) > 0 {
		text += " " + stillOpen(f)
	}
	return text
}

// stillOpen tells of a write that nobody knows about although its operation is done: by another key, or another run.
func stillOpen(f facts) string {
	c, what := f.Doubts[0], "A write without a key"
	if c.Key != "" {
		what = "What was sent under " + ShortKey(c.Key)
	}
	if escalated(f) {
		return what + " is left to a person who can find out by other means."
	}
	return strings.TrimSpace(what + " is not settled. " + f.advice())
}

// explanationOf is the row of the table that the facts meet; the last row of each verdict always holds.
func explanationOf(f facts) int {
	return slices.IndexFunc(explanations, func(x explanation) bool { return x.verdict == f.Verdict && x.when(f) })
}
