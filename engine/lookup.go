package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"faultlab/engine/assume"
	"faultlab/engine/clock"
	"faultlab/engine/script"
)

// LookupOptions say how to look up where the assumed contract is not enough.
type LookupOptions struct {
	URL     string        // template that overrides the assumed one, with {url}, {origin} and {key}
	Timeout time.Duration // 0: 10 s
	Step    string        // only writes of this step, as StepName has it; empty for all
}

// Lookup asks the provider, by key, what became of a run's calls, and writes each
// answer down as evidence. An empty key means every doubt of the run or, where there is
// none, its newest write. "No record" does not mean that it did not happen: a late
// request can still arrive.
func (e *Engine) Lookup(ctx context.Context, run, key string, o LookupOptions) ([]EvidenceAt, error) {
	rt, err := e.hold(run)
	if err != nil {
		return nil, err
	}
	var targets []*Call
	rt.read(func(r *Run) { targets, err = lookupTargets(r, key, o) })
	if err != nil {
		return nil, err
	}
	var out []EvidenceAt
	for _, c := range targets {
		ev, err := e.lookupCall(ctx, rt, c, o)
		if err != nil {
			return out, err
		}
		out = append(out, ev)
	}
	return out, nil
}

// hold is the run as this engine carries it out, or one that has ended, to be written about.
func (e *Engine) hold(run string) (*running, error) {
	id, err := FindRun(e.o.History, run)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	rt := e.open[id]
	e.mu.Unlock()
	if rt != nil {
		return rt, nil
	}
	return e.reopen(id)
}

// lookupTargets are the calls to ask about: the doubts among those that are chosen or,
// where there is none, the newest write.
func lookupTargets(r *Run, key string, o LookupOptions) ([]*Call, error) {
	var doubts, writes []*Call
	for _, s := range r.Steps {
		if o.Step != "" && o.Step != StepName(s.ID, s.Undo) {
			continue
		}
		for _, c := range r.Doubts(s) {
			if key == "" || c.Key == key {
				doubts = append(doubts, c)
			}
		}
		for _, a := range s.Attempts {
			for _, c := range a.Calls {
				if c.Effect != Read && len(c.Requests) > 0 && (key == "" || c.Key == key) {
					writes = append(writes, c)
				}
			}
		}
	}
	if len(doubts) > 0 {
		asked := slices.DeleteFunc(slices.Clone(doubts), func(c *Call) bool { return len(c.Requests) == 0 })
		if len(asked) == 0 {
			return nil, &Refused{Why: unasked(doubts[0])}
		}
		return asked, nil
	}
	if len(writes) > 0 {
		return writes[len(writes)-1:], nil
	}
	what := "run " + r.ID + " sent no write"
	if o.Step != "" {
		what = "step " + o.Step + " of " + what
	}
	if key != "" {
		return nil, &Refused{Why: what + " under the key " + key}
	}
	return nil, &Refused{Why: what + ": there is nothing to look up"}
}

// StepName is a step as verbs and request ids name it: a compensation has a ~ before its step.
func StepName(step string, undo bool) string {
	if undo {
		return "~" + step
	}
	return step
}

// lookup is one look-up on its way: where it asks, and what its answer is held against.
type lookup struct {
	fact    Evidence
	at      string // with the secrets in it
	known   *script.Redactor
	sent    Request // the request that it asks about
	reply   lookupReply
	assumed assume.Contract
}

// prepareLookup reads what a look-up of the call needs.
func (e *Engine) prepareLookup(rt *running, c *Call, o LookupOptions) (l lookup, err error) {
	rt.read(func(r *Run) {
		l.sent = *c.Requests[0]
		r.sentUnder(c, &l.reply)
	})
	l.assumed = rt.assume.Of(l.sent.URL)
	if o.URL != "" {
		l.assumed.Lookup, l.assumed.LookedUp = o.URL, true
	}
	address, known, err := e.revealURL(l.sent.URL)
	if err != nil {
		return l, err
	}
	at, ok := l.assumed.LookupURL(address, l.assumed.LookupKey(c.Key, l.sent.Header))
	if !ok {
		return l, &Refused{Why: lookupMissing(c, l.assumed.Lookup)}
	}
	if at, err = e.carryQuery(at, l.sent.URL); err != nil {
		return l, err
	}
	l.at, l.known = at, known
	l.fact = Evidence{Pos: c.Pos, Key: c.Key, URL: cleanURL(known, at), Address: l.address()}
	l.fact.Asked, err = e.o.History.Place()
	return l, err
}

// address is the look-up's template at one origin and collection.
func (l *lookup) address() string {
	at, _ := l.assumed.LookupAddress(l.sent.URL)
	if bare, _, _ := strings.Cut(l.sent.URL, "?"); !strings.Contains(l.assumed.Lookup, "{url}") {
		return at + " for " + bare
	}
	return at
}

func (e *Engine) lookupCall(ctx context.Context, rt *running, c *Call, o LookupOptions) (EvidenceAt, error) {
	l, err := e.prepareLookup(rt, c, o)
	if err != nil {
		return EvidenceAt{}, err
	}
	known := l.assumed.LookedUp
	if !known {
		if known, err = e.o.History.FoundAt(l.fact.Address); err != nil {
			return EvidenceAt{}, fmt.Errorf("read what was looked up before: %w", err)
		}
	}
	var number int
	rt.read(func(r *Run) {
		for _, c := range r.attempt(c.Pos).Calls {
			number += len(c.Evidence)
		}
	})
	id := RequestID{Run: rt.id, Step: c.Step, Undo: c.Undo, Attempt: c.Attempt, Number: number + 1, Lookup: true}.String()
	r, err := e.ask(ctx, id, &l, o.Timeout)
	if err != nil {
		return EvidenceAt{}, err
	}
	fact := l.fact
	l.reply.status, l.reply.body, l.reply.broken = r.status, r.body, r.err != nil || r.tooLarge || r.status == 0
	l.reply.items, l.reply.known = l.assumed.Items, known
	p := l.reply.prove()
	fact.Status, fact.Found, fact.Unproven, fact.Records = r.status, p.found, p.unproven, p.records
	fact.Match, fact.Conflicts, fact.Body = p.match, p.conflicts, p.record
	if p.found == FoundRecord && p.match == Matches {
		fact.Unfit = e.unfit(rt.id, fact)
	}
	if r.err != nil {
		fact.Error, fact.GaveUp, fact.Broke = l.known.Clean(innermost(r.err)), gaveUp(r.err), broke(r.err)
	}
	t, err := e.append(rt, fact)
	if err := e.durable(t, err); err != nil {
		return EvidenceAt{}, err
	}
	return EvidenceAt{fact, t.Last(), e.clk.Now()}, nil
}

// unasked says why a call that sent no request cannot be looked up.
func unasked(c *Call) string {
	return fmt.Sprintf("call %d of %s is a services.%s.%s: nobody can be asked about it by a key; look into it, and give the step's result with --record --result, abandon it, or escalate",
		c.N(), c.Step, c.Service, c.Operation)
}

func lookupMissing(c *Call, template string) string {
	if template == "none" {
		return "the assumed contract says that keys cannot be looked up there: give another address, or escalate"
	}
	return fmt.Sprintf("call %d of %s was sent without a key: there is nothing to look it up by: give another address, or escalate", c.N(), c.Step)
}

var secretForm = regexp.MustCompile(`^(.*)\{\{secrets\.([A-Z][A-Z0-9_]*)\}\}(.*)$`)

// ask is one look-up: a managed read on a connection of its own, with the credentials
// that the write carried. What the assumed contract says of headers goes before them.
func (e *Engine) ask(ctx context.Context, id string, l *lookup, timeout time.Duration) (reply, error) {
	if timeout == 0 {
		timeout = 10 * time.Second
	}
	ctx, done := e.clk.WithTimeout(ctx, timeout, errTimedOut)
	defer done(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.at, nil)
	if err != nil || !sendable(req.URL) {
		return reply{}, &Refused{Why: fmt.Sprintf("the look-up address %q is not an http or https address", l.fact.URL)}
	}
	for name, v := range l.assumed.Headers {
		if m := secretForm.FindStringSubmatch(v); m != nil {
			value, err := e.lookupSecret(m[2])
			if err != nil {
				return reply{}, err
			}
			v = m[1] + value + m[3]
		}
		req.Header.Set(name, v)
	}
	if assume.Origin(l.at) == assume.Origin(l.sent.URL) { // they are for nobody else
		if err := e.carryCredentials(req.Header, &l.sent); err != nil {
			return reply{}, err
		}
	}
	req.Header.Set("X-Request-Id", id)
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	e.clk.Gate(clock.AtSend, id)
	r, _, _ := e.exchange(req, id)
	if errors.Is(r.err, ErrKilled) {
		return r, r.err
	}
	e.clk.Gate(clock.AtRecord, id)
	return r, nil
}
