package engine

import (
	"fmt"
	"strings"
	"time"
)

// Table e: what may be decided about an unknown operation. It is a function of the
// Situation alone. Refusals, the four decisions on a screen, what is advised next and
// every sentence that says what can be done come from here.

// Situation is everything about one call that table e looks at.
type Situation struct {
	Proof       Proof         // what its newest evidence proves, if that counts
	Conflicts   []string      // of the record that contradicts: JSON pointers
	Unfit       string        // why the record that matches cannot be taken as the reply
	Never       bool          // it was never looked up
	Askable     bool          // it can be looked up
	Sent        bool          // it sent a request: somebody can be asked about it
	Answered    bool          // the call itself was answered, and is done
	Interrupted bool          // the step was left unfinished, and nothing of it is unknown
	Wrote       bool          // the call is a write
	Keyed       bool          // the call carries a key, or its method may be repeated
	Protected   bool          // the origin enforces keys that are sent as this one was
	Cancelled   bool          // the run was asked to end, and the call is none of an inverse: that is still made
	NewKey      bool          // the last resubmit under the key was not sent: the script makes another one now
	Undone      bool          // what the run had done is being undone, or was
	OtherWrite  bool          // another write of the step is unknown
	Conflict    bool          // the last answer under the key was 409
	Age         time.Duration // of the key, now
	AskedAge    time.Duration // of the key, when the evidence came
	Retention   time.Duration // how long the origin remembers a key; 0: not known
}

// Proof is a row of table e: what is known of an operation by its evidence.
type Proof string

// The proofs. ProofNone stands for no evidence, no answer, and evidence that was asked
// for before the last request under the key had ended.
const (
	ProofNone         Proof = ""
	ProofNoAnswer     Proof = "no answer"
	ProofStale        Proof = "older than the last request"
	ProofMatches      Proof = "found, matches"
	ProofIncomparable Proof = "found, cannot be compared"
	ProofContradicts  Proof = "found, contradicts"
	ProofSeveral      Proof = "several"
	ProofNoRecord     Proof = "no record"
	ProofUnproven     Proof = "no record, unproven"
)

// Permission says whether a decision is carried out. A larger one is stricter.
type Permission int

// The permissions of table e.
const (
	Allowed Permission = iota
	Forced             // only when it is forced, and the history says what it went against
	Denied
)

// Ruling is what table e says of one decision. Why is empty where it is allowed.
type Ruling struct {
	Permission Permission
	Why        string // what a forced decision goes against, or why it is refused
}

// decisionRow is what the table says of recording, resubmitting and abandoning.
type decisionRow struct{ record, resubmit, abandon Permission }

// Table e by proof. What is said beside the table in the rules below can only make a decision stricter.
var decisionRows = map[Proof]decisionRow{
	ProofMatches:      {Allowed, Denied, Denied},
	ProofIncomparable: {Forced, Denied, Forced},
	ProofContradicts:  {Forced, Denied, Forced},
	ProofSeveral:      {Forced, Denied, Forced},
	ProofNoRecord:     {Denied, Allowed, Allowed},
	ProofUnproven:     {Denied, Allowed, Forced},
	ProofNone:         {Forced, Forced, Forced},
	ProofNoAnswer:     {Forced, Forced, Forced},
	ProofStale:        {Forced, Forced, Forced},
}

// Its rows for what no evidence is needed of.
var (
	answeredRow    = decisionRow{Allowed, Denied, Denied} // the call itself was answered and done
	interruptedRow = decisionRow{Denied, Allowed, Denied} // nothing is unknown: the step's result can be given by hand
)

// Ruling is table e for one decision. byHand says that a recording gives the step's result.
func (s Situation) Ruling(d Decision, byHand bool) Ruling {
	switch d {
	case Record:
		if byHand {
			return s.recordByHand()
		}
		return s.record()
	case Resubmit:
		return s.resubmit()
	case Abandon:
		return s.abandon()
	case Escalate:
		return Ruling{}
	}
	return Ruling{Denied, fmt.Sprintf("%q is no decision: it is one of record, resubmit, abandon and escalate", d)}
}

// row is the row of table e that the situation meets.
func (s Situation) row() decisionRow {
	switch {
	case s.Interrupted:
		return interruptedRow
	case s.Answered:
		return answeredRow
	}
	return decisionRows[s.Proof]
}

const giveResult = "give the step's result with --result"

func (s Situation) record() Ruling {
	switch row := s.row(); {
	case s.unfit():
		return Ruling{Denied, s.Unfit}
	case s.Answered, row.record == Allowed:
		return Ruling{}
	case s.Interrupted:
		return Ruling{Denied, "nothing of the step is unknown, and there is no record to take as a reply: " + giveResult}
	case row.record == Denied:
		return Ruling{Denied, "the look-up found no record: there is nothing to record"}
	case s.Proof == ProofIncomparable || s.Proof == ProofContradicts:
		return Ruling{Forced, s.against()}
	case s.Askable && (s.Proof == ProofNone || s.Proof == ProofStale):
		return Ruling{Denied, s.against()}
	}
	return Ruling{Denied, s.against() + "; if you know what happened, " + giveResult}
}

// unfit reports whether the record was found and matches, and the script cannot go on with it.
func (s Situation) unfit() bool {
	return !s.Answered && !s.Interrupted && s.Proof == ProofMatches && s.Unfit != ""
}

func (s Situation) recordByHand() Ruling {
	switch {
	case s.OtherWrite:
		return Ruling{Denied, "a result given by hand ends the step, and another write of it is unknown: settle that one first"}
	case s.Answered, s.Interrupted, s.Proof == ProofMatches:
		return Ruling{}
	}
	return Ruling{Forced, s.against()}
}

func (s Situation) resubmit() Ruling {
	row := s.row()
	switch {
	case s.Cancelled:
		return Ruling{Denied, "the run was cancelled: start a new one"}
	case s.Undone:
		return Ruling{Denied, "what the run had done was undone, and it is not taken up again: start a new run"}
	case row.resubmit == Denied && s.Answered:
		return Ruling{Denied, "the call was answered, and is done: there is nothing to send again"}
	case row.resubmit == Denied:
		return Ruling{Denied, s.against() + ": do not send it again"}
	case !s.Keyed && (s.Answered || !s.Interrupted):
		return Ruling{Forced, "the call carries no key: the provider cannot recognise it, and a second one would be a second effect"}
	case s.Interrupted:
		return Ruling{}
	case row.resubmit == Forced:
		return Ruling{Forced, s.against()}
	case s.NewKey:
		return Ruling{Forced, "the script makes another key now, and under that a request could be a second effect: give the step's result with --result"}
	case !s.Protected:
		return Ruling{Forced, "the provider is assumed not to enforce keys that are sent so: a second request can be a second effect"}
	case s.Retention > 0 && s.Age >= s.Retention:
		return Ruling{Forced, fmt.Sprintf("the key is %s old and the provider keeps keys for %s: under it a request would be a new operation",
			span(s.Age), span(s.Retention))}
	}
	return Ruling{}
}

func (s Situation) abandon() Ruling {
	switch row := s.row(); {
	case s.Answered:
		return Ruling{Denied, "it is done: undo it by its inverse, it cannot be abandoned"}
	case s.Interrupted && !s.Wrote:
		return Ruling{Denied, "the step wrote nothing: there is nothing to abandon"}
	case s.Interrupted:
		return Ruling{Denied, "nothing of the step is unknown: there is nothing to abandon"}
	case row.abandon == Denied:
		return Ruling{Denied, s.against() + ": it happened"}
	case row.abandon == Forced:
		return Ruling{Forced, s.against()}
	case s.Retention > 0 && s.AskedAge >= s.Retention:
		return Ruling{Forced, fmt.Sprintf("the key was %s old when it was looked up, and the provider keeps keys for %s: a forgotten key is not found either",
			span(s.AskedAge), span(s.Retention))}
	}
	return Ruling{}
}

// Advice is what to do next about an unknown operation. What is advised is always allowed.
type Advice string

// What is advised. Abandoning never is: whether it is still wanted, no evidence says.
const (
	AdviseRecord   Advice = "record"
	AdviseResult   Advice = "record by hand" // with the step's result: the script cannot go on with the record
	AdviseResubmit Advice = "resubmit"
	AdviseLookup   Advice = "look up"
	AdviseEscalate Advice = "escalate"
)

// Advice is what table e lets somebody do without force that brings the operation nearer to being settled.
func (s Situation) Advice() Advice {
	resubmits := s.resubmit().Permission == Allowed
	switch {
	case s.Interrupted && resubmits:
		return AdviseResubmit
	case s.unfit() && s.recordByHand().Permission == Allowed:
		return AdviseResult
	case s.unfit():
		return AdviseEscalate
	case s.Answered || !s.Interrupted && s.Proof == ProofMatches:
		return AdviseRecord
	case s.Interrupted:
		return AdviseEscalate
	case resubmits && !s.Conflict:
		return AdviseResubmit
	case s.Askable && (s.Proof == ProofNone || s.Proof == ProofNoAnswer || s.Proof == ProofStale):
		return AdviseLookup
	}
	return AdviseEscalate
}

// Sentence says what is advised, and why, to whoever is to do it.
func (s Situation) Sentence() string {
	switch s.Advice() {
	case AdviseRecord:
		return "It happened: record it, and the run goes on with it."
	case AdviseResult:
		return "It happened, but the record cannot stand for the reply: " + s.Unfit + "."
	case AdviseLookup:
		if s.Proof == ProofNoAnswer {
			return "Nobody answered, so nothing is proved: look it up again."
		}
		if s.Proof == ProofStale {
			return "The last look-up is older than the last request under this key: look it up again."
		}
		return "Look it up by its key."
	case AdviseResubmit:
		if s.Interrupted {
			return "Nothing of the step is unknown: resubmit it, and the run goes on."
		}
		return "There is no record, and the key protects a second request: resubmit it. " + s.orAbandon()
	}
	return "Nobody can prove what happened, because " + s.doubt() + ": escalate it to a person who can find out by other means."
}

// orAbandon says what is left to somebody who does not want the operation any more.
func (s Situation) orAbandon() string {
	if s.abandon().Permission == Allowed {
		return "If it is not wanted any more, abandon it."
	}
	return "Giving it up needs force: the look-up's address is only assumed, and has never found a record."
}

// doubt says why nothing else than escalating is advised.
func (s Situation) doubt() string {
	switch {
	case s.unfit():
		return s.Unfit
	case s.Interrupted:
		return s.resubmit().Why
	case (s.Proof == ProofNoRecord || s.Proof == ProofUnproven) && s.resubmit().Permission == Allowed:
		return "the look-up found no record, and the last answer under the key was 409"
	case s.Proof == ProofNoRecord || s.Proof == ProofUnproven:
		return "the look-up found no record, and " + s.resubmit().Why
	}
	return s.against()
}

// against says what a decision goes against that the evidence does not bear.
func (s Situation) against() string {
	switch s.Proof {
	case ProofMatches:
		return "the look-up found the record"
	case ProofIncomparable:
		return "the look-up found a record that has no field in common with what was sent: it cannot be compared"
	case ProofContradicts:
		return "the record contradicts what was sent, in " + strings.Join(s.Conflicts, ", ")
	case ProofSeveral:
		return "the look-up found several records, and more than one or none of them fits what was sent"
	case ProofNoRecord:
		return "the look-up found no record"
	case ProofUnproven:
		return "the look-up found no record, at an address that was only assumed and has never found one: perhaps nothing can be looked up there"
	case ProofNoAnswer:
		return "the look-up got no answer: nobody knows whether it is there"
	case ProofStale:
		return "there is no evidence newer than the last request under this key: look it up again"
	}
	switch {
	case !s.Sent:
		return "nobody can be asked whether it happened"
	case !s.Askable:
		return "there is no evidence, and what is assumed of the provider has no look-up for it"
	}
	return "there is no evidence newer than the last request under this key: look it up first"
}

// span is a duration in whole seconds, without the units that are zero at its end: 24h, not 24h0m0s.
func span(d time.Duration) string {
	text := d.Round(time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}
