package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"time"

	"faultlab/engine/clock"
)

// LookupOptions say how to look up where the assumed contract is not enough.
type LookupOptions struct {
	URL     string        // template that overrides the assumed one, with {url}, {origin} and {key}
	Timeout time.Duration // 0: 10 s
}

// Lookup asks the provider, by key, what became of a run's calls, and writes each
// answer down as evidence. An empty key means every doubt of the run. "No record"
// does not mean that it did not happen: a late request can still arrive.
func (e *Engine) Lookup(ctx context.Context, run, key string, o LookupOptions) ([]EvidenceAt, error) {
	rt, err := e.hold(run)
	if err != nil {
		return nil, err
	}
	var targets []*Call
	rt.read(func(r *Run) { targets, err = lookupTargets(r, key) })
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

// lookupTargets are the calls to ask about: the doubts, or the newest write under the key.
func lookupTargets(r *Run, key string) ([]*Call, error) {
	var doubts, writes []*Call
	for _, s := range r.Steps {
		doubts = append(doubts, r.Doubts(s)...)
		for _, a := range s.Attempts {
			for _, c := range a.Calls {
				if c.Effect != Read && len(c.Requests) > 0 && (key == "" || c.Key == key) {
					writes = append(writes, c)
				}
			}
		}
	}
	if key == "" && len(doubts) > 0 {
		asked := slices.DeleteFunc(slices.Clone(doubts), func(c *Call) bool { return len(c.Requests) == 0 })
		if len(asked) == 0 {
			return nil, &Refused{Why: unasked(doubts[0])}
		}
		return asked, nil
	}
	if len(writes) == 0 {
		if key != "" {
			return nil, &Refused{Why: fmt.Sprintf("run %s sent no write under the key %s", r.ID, key)}
		}
		return nil, &Refused{Why: "run " + r.ID + " sent no write: there is nothing to look up"}
	}
	return writes[len(writes)-1:], nil
}

func (e *Engine) lookupCall(ctx context.Context, rt *running, c *Call, o LookupOptions) (EvidenceAt, error) {
	var sent Request
	var number int
	rt.read(func(r *Run) {
		sent = *c.Requests[0]
		for _, c := range r.attempt(c.Pos).Calls {
			number += len(c.Evidence)
		}
	})
	assumed := e.o.Assume.Of(sent.URL)
	if o.URL != "" {
		assumed.Lookup = o.URL
	}
	address, known, err := e.revealURL(sent.URL)
	if err != nil {
		return EvidenceAt{}, err
	}
	at, ok := assumed.LookupURL(address, c.Key)
	if !ok {
		return EvidenceAt{}, &Refused{Why: lookupMissing(c, assumed.Lookup)}
	}
	fact := Evidence{Pos: c.Pos, Key: c.Key, URL: cleanURL(known, at)}
	id := RequestID{Run: rt.id, Step: c.Step, Undo: c.Undo, Attempt: c.Attempt, Number: number + 1, Lookup: true}.String()
	r, err := e.ask(ctx, at, id, assumed.Headers, o.Timeout)
	if err != nil {
		return EvidenceAt{}, err
	}
	fact.Status = r.status
	switch {
	case r.status/100 == 2 && r.err == nil && !r.tooLarge:
		fact.Found, fact.Body = FoundRecord, r.body
		fact.Match, fact.Conflicts = compare(sent.Body, r.body)
	case r.status == http.StatusNotFound || r.status == http.StatusGone:
		fact.Found = FoundNoRecord
	default:
		fact.Found = FoundNoAnswer
		if r.err != nil {
			fact.Error = known.Clean(plain(r.err))
		}
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

// ask is one look-up: a managed read on a connection of its own.
func (e *Engine) ask(ctx context.Context, at, id string, headers map[string]string, timeout time.Duration) (reply, error) {
	if timeout == 0 {
		timeout = 10 * time.Second
	}
	ctx, done := e.clk.WithTimeout(ctx, timeout, errTimedOut)
	defer done(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil || !sendable(req.URL) {
		return reply{}, &Refused{Why: fmt.Sprintf("the look-up address %q is not an http or https address", at)}
	}
	req.Header.Set("X-Request-Id", id)
	req.Header.Set("Accept", "application/json")
	for name, v := range headers {
		if m := secretForm.FindStringSubmatch(v); m != nil {
			value, ok := "", false
			if e.o.Secrets != nil {
				value, ok = e.o.Secrets(m[2])
			}
			if !ok {
				return reply{}, &Refused{Why: fmt.Sprintf("the look-up needs the secret %s, which is not set", m[2])}
			}
			v = m[1] + value + m[3]
		}
		req.Header.Set(name, v)
	}
	e.clk.Gate(clock.AtSend, id)
	r, _, _ := e.exchange(req, id)
	if errors.Is(r.err, ErrKilled) {
		return r, r.err
	}
	e.clk.Gate(clock.AtRecord, id)
	return r, nil
}

// compare holds a record against what was sent: the fields that both have must be
// equal as JSON values. Without a field in common nothing can be said.
func compare(sent, record []byte) (Match, []string) {
	var s, r map[string]json.RawMessage
	if json.Unmarshal(sent, &s) != nil || json.Unmarshal(record, &r) != nil {
		return Incomparable, nil
	}
	common := 0
	var conflicts []string
	for _, name := range sortedKeys(s) {
		got, there := r[name]
		if !there {
			continue
		}
		common++
		if digestJSON(s[name]) != digestJSON(got) {
			conflicts = append(conflicts, "/"+pointer(name))
		}
	}
	switch {
	case len(conflicts) > 0:
		slices.Sort(conflicts)
		return Contradicts, conflicts
	case common == 0:
		return Incomparable, nil
	}
	return Matches, nil
}
