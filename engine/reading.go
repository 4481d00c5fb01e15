package engine

import (
	"encoding/json"
	"slices"

	"faultlab/engine/script"
)

// Reading is what a script's own read says of a write of its step whose key stands in
// the read's address, by table d. It is made once, where the later of the two ended: what
// was sent and answered is not kept for ever.
type Reading struct {
	Read  Pos    `json:"read,omitzero"` // the read that said so; zero for the call that it stands with
	Write string `json:"write"`         // see Operation
	Key   string `json:"key"`
	Found Found  `json:"found"`
	Match Match  `json:"match,omitempty"`
}

// says reports whether the reading says that a write happened.
func (g Reading) says(write *Call) bool {
	return g.Found == FoundRecord && g.Match != Contradicts && g.Write == write.Write && g.Key == write.Key
}

// readings are what the end of a call adds: of a read, what it says of the writes that
// the step has made so far; of a write that was not answered well, what earlier reads say of it.
func (c *httpCall) readings(h *host, hops *hops, how How) (out []Reading) {
	reply := lookupReply{status: hops.last.status, body: hops.last.body, items: c.assumed.Items, known: c.assumed.LookedUp,
		broken: hops.last.err != nil || hops.last.tooLarge || hops.count > 1} // a redirect leads to what nobody asked for
	h.rt.read(func(r *Run) {
		s, own := r.StepAt(hops.pos.Step, hops.pos.Undo), r.callAt(hops.pos)
		switch {
		case s == nil || own == nil:
		case c.fact.Effect == Read:
			out = s.readingsBy(own, reply)
		case c.fact.Key != "" && how != HowAccepted:
			out = s.readingsOf(own, reply)
		}
	})
	return out
}

// readingsBy are what a read says of each write under a key that its address names.
func (s *Step) readingsBy(read *Call, reply lookupReply) (out []Reading) {
	for _, a := range s.Attempts {
		for _, o := range a.Calls {
			known := slices.ContainsFunc(out, func(g Reading) bool { return g.Write == o.Write && g.Key == o.Key })
			if o.Effect != Read && !known && readsKey(read, o) {
				out = append(out, s.reading(o, reply))
			}
		}
	}
	return out
}

// readingsOf are what reads that ended before it say of a write.
func (s *Step) readingsOf(write *Call, reply lookupReply) (out []Reading) {
	for _, a := range s.Attempts {
		for _, o := range a.Calls {
			body, ok := o.replyBody()
			if o.Effect != Read || !ok || !readsKey(o, write) {
				continue
			}
			reply.status, reply.body, reply.broken = o.Status, body, false
			g := s.reading(write, reply)
			g.Read = o.Pos
			out = append(out, g)
		}
	}
	return out
}

// reading is table d for a reply that the script got, about one write.
func (s *Step) reading(write *Call, reply lookupReply) Reading {
	reply.key, reply.sent = write.Key, nil
	for _, a := range s.Attempts {
		for _, o := range a.Calls {
			for _, q := range o.Requests {
				if o.Write == write.Write && sameKey(o, write) && !q.neverSent() && q.Body != nil {
					reply.sent = append(reply.sent, q.Body)
				}
			}
		}
	}
	p := reply.prove()
	return Reading{Write: write.Write, Key: write.Key, Found: p.found, Match: p.match}
}

// replyBody is the body of the reply that the script got; ok is false where it got none, or it is no longer kept.
func (c *Call) replyBody() (body []byte, ok bool) {
	if c.Reply == nil || c.How != HowAccepted {
		return nil, false
	}
	if c.Service == script.ServiceFetch {
		var stored storedReply
		return stored.Body, json.Unmarshal(c.Reply, &stored) == nil
	}
	var reply struct {
		Data json.RawMessage `json:"data"`
	}
	return reply.Data, json.Unmarshal(c.Reply, &reply) == nil
}
