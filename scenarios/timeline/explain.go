package timeline

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"faultlab/engine"
	"faultlab/engine/plain"
	"faultlab/faultprovider"
)

// explanation is one row of the table of explanations: the first one that fits is told. What stands in braces in its text is
// filled in by facts.fill.
type explanation struct {
	verdict engine.Verdict
	when    func(facts) bool
	text    string
}

func always(facts) bool { return true }

var explanations = []explanation{
	{engine.OneEffect, func(f facts) bool { return f.recorded && f.byHand }, "Its result was given by hand, and the ledger holds one {noun}."},
	{engine.OneEffect, func(f facts) bool { return f.recorded && !f.resent && len(f.Runs) > 1 }, "One run was settled by the {noun} that the look-up found, another asked for it too, and the ledger holds one {noun}."},
	{engine.OneEffect, func(f facts) bool { return f.recorded && f.resent }, "It was sent again{same key}, and the look-up found one {noun}, which was recorded.{joined}"},
	{engine.OneEffect, func(f facts) bool { return f.recorded && f.killed }, "The worker was killed before it wrote an answer down. The look-up found the {noun}, and that was recorded; nothing was sent again."},
	{engine.OneEffect, func(f facts) bool { return f.recorded && f.stopped == engine.GaveUpCancel }, "It was cancelled while the request was out. The look-up found the {noun}, and that was recorded; nothing was sent again."},
	{engine.OneEffect, func(f facts) bool { return f.recorded && f.garbled }, "The answer could not be read, but the look-up found the {noun}, and that was recorded. Nothing was sent again."},
	{engine.OneEffect, func(f facts) bool { return f.recorded && f.status != 0 }, "The answers proved nothing, but the look-up found the {noun}, and that was recorded. Nothing was sent again."},
	{engine.OneEffect, func(f facts) bool { return f.recorded }, "Nobody answered, but the look-up found the {noun}, and that was recorded. Nothing was sent again."},
	{engine.OneEffect, func(f facts) bool { return f.resent && len(f.Keys) != 1 }, "{grounds}, and there is one {noun}. Had the first request arrived late, there would be two: no key joins them."},
	{engine.OneEffect, func(f facts) bool { return f.resent && f.replayed }, "{grounds} under the same key. The {noun} was there already, and the key kept it single."},
	{engine.OneEffect, func(f facts) bool { return f.resent }, "{grounds} under the same key, and there is one {noun}. Had the first request arrived late, the key would have kept it from making another."},
	{engine.OneEffect, func(f facts) bool { return f.hidden > 0 }, "The script made one call, and the transport sent it again by itself. Only the key kept it one {noun}, and nobody asked whether it would."},
	{engine.OneEffect, func(f facts) bool { return len(f.Runs) > 1 && len(f.Keys) < 2 && f.replayed }, "{runs} runs asked for it under one key. One of them made the {noun}, {others} told of it."},
	{engine.OneEffect, func(f facts) bool { return f.replayed }, "{made first} made the {noun}. Only the shared key kept {kept} from making another."},
	{engine.OneEffect, func(f facts) bool { return f.broke && len(f.Keys) == 0 }, "The {noun} is made, and the run failed afterwards. The {noun} remains: trying again would make another."},
	{engine.OneEffect, func(f facts) bool { return f.broke }, "The {noun} is made, and the run failed afterwards. The {noun} remains: whoever tries again must keep the key."},
	{engine.OneEffect, func(f facts) bool { return f.failed && f.harmless }, "What failed had provably done nothing, and a later attempt made the {noun}."},
	{engine.OneEffect, func(f facts) bool { return f.failed && len(f.Keys) > 1 && !f.gaveUp }, "An attempt failed and a later one, under another key, made the {noun}. That there is one is luck: had the first one made it, there would be two."},
	{engine.OneEffect, func(f facts) bool { return f.failed && len(f.Keys) == 1 }, "An attempt failed and a later one made the {noun}. The same key is what made trying again safe, without knowing what the first had done."},
	{engine.OneEffect, func(f facts) bool { return f.lateRun && len(f.Keys) == 1 }, "The first run made the {noun}. A later one asked for it again under the same key and failed; the key kept it from making another."},
	{engine.OneEffect, func(f facts) bool { return f.late && len(f.Keys) == 1 }, "An earlier attempt made the {noun}, and the attempts after it failed. The same key kept them from making another."},
	{engine.OneEffect, func(f facts) bool { return f.requests > 1 && len(f.Keys) == 0 }, "It was sent more than once. Each request says the whole {noun}, so that there is one however often it comes, and the last one stays."},
	{engine.OneEffect, func(f facts) bool { return f.requests > 1 }, "It is done, and the ledger holds one {noun}."},
	{engine.OneEffect, always, "Asked for once, answered, and the ledger holds one {noun}."},

	{engine.CleanFailure, func(f facts) bool { return f.gaveUp && noRecord(f) }, "It was looked up, was not there, and was given up. The ledger holds no {noun} of it."},
	{engine.CleanFailure, func(f facts) bool { return f.gaveUp }, "It was given up without proof. The ledger holds no {noun} of it."},
	{engine.CleanFailure, func(f facts) bool { return f.requests == 0 && f.child != "" }, "The step sent nothing itself: it called another workflow, and what that run sent is told there."},
	{engine.CleanFailure, func(f facts) bool { return f.requests == 0 }, "Nothing was ever sent. It did not happen, and both sides agree."},
	{engine.CleanFailure, func(f facts) bool { return f.status == http.StatusTooManyRequests }, "The provider turned it away and made no {noun}: both sides agree. It may be asked again later."},
	{engine.CleanFailure, always, "The provider refused it and made no {noun}: both sides agree. Asking the same again would meet the same answer."},

	{engine.PhantomSuccess, func(f facts) bool { return f.Undone > 0 }, "The {noun} was undone: it does not stand, and the caller believes that it does."},
	{engine.PhantomSuccess, func(f facts) bool { return f.recorded && f.byHand }, "Its result was given by hand, and the ledger holds no {noun} of it."},
	{engine.PhantomSuccess, func(f facts) bool { return f.recorded }, "What was recorded is not of this operation: the ledger holds no {noun} that it asked for."},
	{engine.PhantomSuccess, func(f facts) bool { return f.replayed }, "The reply was an earlier answer, to another operation under the same key. This one never made its {noun}, and the caller believes that it did."},
	{engine.PhantomSuccess, always, "The reply said yes and the ledger holds no {noun}. The caller has no reason to look again."},

	{engine.FalseFailure, func(f facts) bool { return f.gaveUp && lateCommit(f) }, "It was given up, and then the late request arrived: {effects}. No record is not the same as did not happen."},
	{engine.FalseFailure, func(f facts) bool { return f.gaveUp && noRecord(f) }, "The look-up found nothing and it was given up, but the ledger holds {effects}. No record is not the same as did not happen."},
	{engine.FalseFailure, func(f facts) bool { return f.gaveUp }, "It was given up without proof, and the ledger holds {effects}."},
	{engine.FalseFailure, always, "The caller believes that it failed, and the ledger holds {effects}. Whoever starts it again under a new key makes a second one."},

	{engine.Unresolved, func(f facts) bool { return len(f.Doubts) == 0 }, "The {noun} was made, and whether its compensation has undone it is unknown: settle the compensation."},
	{engine.Unresolved, lateCommit, "The look-up found nothing, and then the late request arrived: {effects}. No record is not the same as did not happen. Look it up again."},
	{engine.Unresolved, escalated, "Nobody here can prove it. It waits for a person who can find out by other means."},
	{engine.Unresolved, func(f facts) bool { return f.proof() == engine.ProofMatches }, "The look-up found the {noun}. {advice}"},
	{engine.Unresolved, func(f facts) bool { return f.proof() != engine.ProofNone }, "{advice}"},
	{engine.Unresolved, func(f facts) bool { return f.killed }, "The worker was killed before it wrote an answer down: not even whether the request went out is known. {unseen} {advice}"},
	{engine.Unresolved, func(f facts) bool { return f.status != 0 }, "The answers say neither that it happened nor that it did not. {unseen} {advice}"},
	{engine.Unresolved, func(f facts) bool { return f.stopped == engine.GaveUpCancel }, "It was cancelled while the request was out. {unseen} {advice}"},
	{engine.Unresolved, func(f facts) bool { return f.stopped == engine.GaveUpScript }, "The script gave the request up while it was out. {unseen} {advice}"},
	{engine.Unresolved, func(f facts) bool { return f.stopped == engine.GaveUpRunTimeout }, "The run's timeout ended it while the request was out. {unseen} {advice}"},
	{engine.Unresolved, func(f facts) bool { return f.stopped == engine.GaveUpTimeout }, "No reply came within the request's timeout. {unseen} {advice}"},
	{engine.Unresolved, always, "Sent, and nobody answered. {unseen} {advice}"},

	{engine.Duplicate, func(f facts) bool { return len(f.Keys) > 1 }, "{keys} keys for one operation: the provider could not know that they mean the same {noun}, and made {effects}."},
	{engine.Duplicate, keyNotSeen, "A key was sent and the provider read none, so each request was a new operation to it: {effects}."},
	{engine.Duplicate, func(f facts) bool { return len(f.Keys) == 0 && !f.plain }, "Sent without a key, so each request was a new operation to the provider: {effects}."},
	{engine.Duplicate, func(f facts) bool { return f.forced && f.Effects[0].CommittedAt.Before(f.resentAt) }, "It was forced under a key that the provider had forgotten. To the provider that was a new operation: {effects}."},
	{engine.Duplicate, func(f facts) bool { return len(f.within) > 0 }, "The key was the same, and the {within} was not. To this provider that is part of the key, so the second request was a new operation: {effects}."},
	{engine.Duplicate, func(f facts) bool { return f.cause == faultprovider.PayloadChanged }, "The key was the same and the payload was not. This provider takes another payload for another operation: {effects}."},
	{engine.Duplicate, func(f facts) bool { return f.cause == faultprovider.KeyForgotten }, "The key was the same, and the provider had forgotten it when the request came again: {effects}."},
	{engine.Duplicate, func(f facts) bool { return f.cause == faultprovider.NotWaitedFor }, "The key was the same, and the first request was still at work when the second came. This provider carried out both: {effects}."},
	{engine.Duplicate, always, "The key was the same, and the provider kept nothing under it: the second request was a new operation to it: {effects}."},

	{engine.Compensated, always, "The {noun} was made and then undone. It and its inverse are both in the ledger."},
	{engine.Uncompensated, func(f facts) bool { return f.Belief == engine.BeliefCompensated }, "The {noun} is there and its inverse is missing. The caller believes that it was undone."},
	{engine.Uncompensated, always, "The {noun} is there, and its compensation did not undo it. Undo it by other means."},
}

// fill puts what happened into the text of a row.
func (f facts) fill(text string) string {
	grounds, others, first, kept := "Without proof, it was sent again", "the others were", "An earlier request", "the next"
	if f.looked {
		grounds = "The look-up found nothing, so it was sent again"
	}
	sameKey, joined := "", ""
	if len(f.Keys) == 1 {
		sameKey, joined = " under the same key", " The key made one operation of all requests."
	}
	if len(f.Runs) == 2 {
		others = "the other was"
	}
	switch {
	case f.attempts == 2 && f.made == 1:
		first, kept = "The first attempt", "the second"
	case f.attempts > 1 && f.made > 0 && f.made < f.attempts:
		first, kept = "An earlier attempt", "a later one"
	}
	unseen := "The ledger holds no " + f.noun + " yet, which the caller cannot see."
	if len(f.Effects) > 0 {
		unseen = "The " + f.noun + " is there, which the caller cannot see."
	}
	advice := ""
	if f.next != nil {
		advice = f.next.Sentence()
	}
	return strings.TrimRight(strings.NewReplacer("{noun}", f.noun, "{effects}", plain.Count(len(f.Effects), f.noun), "{runs}", numeral(len(f.Runs)),
		"{keys}", numeral(len(f.Keys)), "{grounds}", grounds, "{others}", others, "{made first}", first, "{kept}", kept, "{same key}", sameKey, "{joined}", joined,
		"{within}", strings.Join(f.within, " and the "), "{unseen}", unseen, "{advice}", advice).Replace(text), " ")
}

// numeral is a small number as a sentence begins with it.
func numeral(n int) string {
	if words := []string{"No", "One", "Two", "Three", "Four", "Five"}; n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

// explain tells a verdict in one to three sentences; while belief is open there is nothing to tell.
func explain(f facts) string {
	if f.Verdict == "" {
		return ""
	}
	text := f.fill(explanations[explanationOf(f)].text)
	if f.Belief == engine.BeliefUnknown || len(f.Doubts) == 0 {
		return text
	}
	// A write that nobody knows about although its operation is done: by another key, or another run.
	what := "A write without a key"
	if key := f.Doubts[0].Key; key != "" {
		what = "What was sent under " + ShortKey(key)
	}
	if escalated(f) {
		return text + " " + what + " is left to a person who can find out by other means."
	}
	return text + " " + what + f.fill(" is not settled. {advice}")
}

// explanationOf is the row of the table that the facts meet; the last row of each verdict always holds.
func explanationOf(f facts) int {
	return slices.IndexFunc(explanations, func(x explanation) bool { return x.verdict == f.Verdict && x.when(f) })
}
