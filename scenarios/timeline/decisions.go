package timeline

import "faultlab/engine"

// consequence says what a decision does and, where it has to be forced, what can come of it.
type consequence struct {
	decision   engine.Decision
	then, risk string
}

// consequences are in the order in which a person weighs them.
var consequences = []consequence{
	{engine.Record, "The record found stands for the reply that never came. The step's script goes on with it, later steps run, and nothing is sent again.",
		"The record may be another operation's."},
	{engine.Resubmit, "One more attempt under the same key. If the first request arrives after all, the key keeps it single, as long as the provider remembers it.",
		"It may be done twice."},
	{engine.Abandon, "It counts as not done. Nothing is sent, and the run stays failed.",
		"It may have been done all the same: then its effect stays, and what belongs to it is undone beside it."},
	{engine.Escalate, "It stays unknown, with your reason, for a person who can find out by other means.", ""},
}

// Situation gives what table e looks at for a call of a run; runs are all that are known.
type Situation func(runs []*engine.Run, r *engine.Run, c *engine.Call) (engine.Situation, error)

// options are the four decisions about an unknown operation, and what is advised first.
// What table e says of the strictest of its doubts holds for all.
func options(runs []*engine.Run, doubts []doubt, situation Situation) (out []Option, next *engine.Situation) {
	out = make([]Option, len(consequences))
	for i, c := range consequences {
		out[i] = Option{Decision: c.decision, Consequence: c.then}
	}
	if situation == nil {
		return out, nil
	}
	for n, d := range doubts {
		s, err := situation(runs, runs[d.run], d.call)
		if err == nil && (next == nil || s.Advice() == engine.AdviseLookup && next.Advice() != engine.AdviseLookup) {
			next = &s
		}
		for i := range out {
			o := &out[i]
			ruling := engine.Ruling{Permission: engine.Denied, Why: reason(err)}
			if err == nil {
				ruling = s.Ruling(o.Decision, false)
			}
			if ruling.Permission > o.Permission {
				o.Permission, o.Unavailable = ruling.Permission, ruling.Why
			}
			o.Advised = (n == 0 || o.Advised) && err == nil && string(s.Advice()) == string(o.Decision)
		}
	}
	for i, c := range consequences {
		if out[i].Permission == engine.Forced {
			out[i].Risk = c.risk
		}
	}
	return out, next
}

func reason(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
