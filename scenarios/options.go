package scenarios

import "faultlab/engine"

// consequences say what each decision does, in the order in which a person weighs them.
var consequences = []Option{
	{Decision: engine.Record, Consequence: "The record found stands for the reply that never came. The step's script goes on with it, later steps run, and nothing is sent again."},
	{Decision: engine.Resubmit, Consequence: "One more attempt under the same key. If the first request arrives after all, the key keeps it single, as long as the provider remembers it."},
	{Decision: engine.Abandon, Consequence: "It counts as not done. Nothing is sent, and the run stays failed."},
	{Decision: engine.Escalate, Consequence: "It stays unknown, with your reason, for a person who can find out by other means."},
}

// refusal says why a decision about a call is refused now; empty where it is not.
type refusal func(*engine.Run, *engine.Call, engine.Decision) string

// options are the four decisions about an unknown operation; refusal says why one is refused now.
func options(runs []*engine.Run, doubts []doubt, refusal refusal) []Option {
	out := make([]Option, len(consequences))
	copy(out, consequences)
	if refusal == nil {
		return out
	}
	for i := range out {
		for _, d := range doubts {
			if why := refusal(runs[d.run], d.call, out[i].Decision); why != "" {
				out[i].Unavailable = why
				break
			}
		}
	}
	return out
}
