package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"faultlab/engine"
	"faultlab/engine/clock"
	"faultlab/engine/trigger"
	"faultlab/engine/woml"
	"faultlab/scenarios/lang"
)

// actDeliver hands an inbound event to a webhook, as its sender would.
func (b *Bench) actDeliver(l lang.Line) error {
	payload, err := b.payload(l.Arg(1))
	if err != nil {
		return err
	}
	workflow, id, err := b.trigger(l.Arg(0))
	if err != nil {
		return err
	}
	one := func() (Note, error) { return b.deliver(workflow, id, payload, l) }
	do := func() error { return b.repeatedly(1, one) }
	switch {
	case l.Has("at-once"):
		do = func() error { return b.together(2, one) }
	case l.Has("twice"):
		do = func() error { return b.repeatedly(2, one) }
	}
	if when := l.Opt("when"); when != "" {
		b.await(pending{when, do, l})
		return nil
	}
	return do()
}

// deliver hands the event over once and tells how it was answered.
func (b *Bench) deliver(workflow, id string, payload []byte, l lang.Line) (Note, error) {
	d := &Delivery{At: b.clk.Now(), Trigger: id, EventID: l.Opt("id")}
	n := Note{Verb: l.Verb, Text: strings.TrimSpace(id + " " + d.EventID), Delivery: d}
	if _, err := b.worker(); err != nil {
		return n, nil // nobody answers
	}
	h, path, err := b.webhooks(workflow, id, func(a trigger.Answer) {
		d.Run, d.Duplicate, d.Status, d.Code = a.Run, a.Duplicate, a.Status, a.Code
	})
	if err != nil {
		return n, err
	}
	req, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:3000"+path, bytes.NewReader(payload))
	if err != nil {
		return n, fmt.Errorf("deliver to %s: %w", path, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if d.EventID != "" {
		req.Header.Set("Idempotency-Key", d.EventID)
	}
	if token := l.Opt("token"); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	h.ServeHTTP(&answer{header: http.Header{}}, req)
	if b.down() {
		d.Status, d.Code = 0, "" // whatever it would have answered
	}
	return n, nil
}

// webhooks is the caller's inbound side for the documents that are loaded, and the path of one of its webhooks.
func (b *Bench) webhooks(workflow, id string, told func(trigger.Answer)) (*trigger.Handler, string, error) {
	b.mu.Lock()
	docs, eng := b.docs, b.eng
	b.mu.Unlock()
	var routes []trigger.Route
	path := ""
	for _, d := range docs {
		for _, t := range d.Workflow.Triggers {
			if d.Workflow.ID != workflow || t.ID != id {
				continue
			}
			if path = t.Path; t.Kind != "webhook" {
				return nil, "", fmt.Errorf("%s is no webhook: use trigger", id)
			}
			token, _ := b.secret(t.Secret)
			r := trigger.Route{Workflow: workflow, Trigger: id, Path: t.Path, Token: token, Bearer: t.Auth == "bearer"}
			if t.Schema != nil {
				s, err := woml.CompileSchema(t.Schema)
				if err != nil {
					return nil, "", err
				}
				r.Schema = s
			}
			routes = append(routes, r)
		}
	}
	h, err := trigger.New(func(d trigger.Delivery) (trigger.Receipt, error) {
		r, err := eng.Admit(engine.Delivery{Workflow: d.Workflow, Trigger: d.Trigger, Key: d.Key, Payload: d.Payload})
		return trigger.Receipt{Run: r.Run, Duplicate: r.Duplicate}, err
	}, told, routes...)
	if err == nil {
		h.Ready()
	}
	return h, path, err
}

// answer takes what a handler writes; its status and body are told in another way.
type answer struct{ header http.Header }

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) Write(p []byte) (int, error) { return len(p), nil }
func (a *answer) WriteHeader(int)             {}

// repeatedly does f so many times, one after the other, and notes what came of each.
func (b *Bench) repeatedly(times int, f func() (Note, error)) error {
	for range times {
		n, err := f()
		if err != nil {
			return err
		}
		b.note(n)
	}
	return nil
}

// together does f so many times at the same moment, each in an actor of its own. What
// came of them is noted in the order of their beginnings, when all are over.
func (b *Bench) together(times int, f func() (Note, error)) error {
	notes, errs, over := make([]Note, times), make([]error, times), make([]clock.Event, times)
	for i := range times {
		over[i] = b.clk.NewEvent("what was done at the same moment")
		b.clk.Go("at once", func() {
			defer over[i].Set()
			notes[i], errs[i] = f()
		})
	}
	for i, ev := range over {
		if ev.Wait(); errs[i] == nil {
			b.note(notes[i])
		}
	}
	return errors.Join(errs...)
}

// sendTimeout is how long a request from outside waits for its reply.
const sendTimeout = 30 * time.Second

var errSendTimeout = errors.New("nothing came back in 30s")

// actSend sends a request to the provider as somebody else's client would.
func (b *Bench) actSend(l lang.Line) error {
	var body []byte
	if l.Arg(2) != "" {
		var err error
		if body, err = b.payload(l.Arg(2)); err != nil {
			return err
		}
	}
	header := http.Header{}
	for _, h := range l.Opts["header"] {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return fmt.Errorf("header %q is written as NAME:VALUE", h)
		}
		header.Add(name, strings.TrimSpace(value))
	}
	if l.Has("key") {
		header.Set("Idempotency-Key", l.Opt("key"))
	}
	if body != nil && header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json")
	}
	times := max(1, l.Number("times"))
	one := func() (Note, error) { return b.send(l, header.Clone(), body) }
	if l.Has("at-once") {
		return b.together(times, one)
	}
	return b.repeatedly(times, one)
}

// send is one request from outside and its reply.
func (b *Bench) send(l lang.Line, header http.Header, body []byte) (Note, error) {
	b.mu.Lock()
	b.outside++
	id := fmt.Sprintf("outside-%d", b.outside)
	b.mu.Unlock()
	ctx, done := b.clk.WithTimeout(b.root, sendTimeout, errSendTimeout)
	defer done(nil)
	req, err := http.NewRequestWithContext(ctx, l.Arg(0), "http://"+documentHost+l.Arg(1), bytes.NewReader(body))
	if err != nil {
		return Note{}, fmt.Errorf("send %s: %w", l.Arg(1), err)
	}
	req.Header = header
	req.Header.Set("X-Request-Id", id)
	r := Reply{}
	read := func(t http.RoundTripper) {
		resp, err := t.RoundTrip(req)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if r.Body = string(text); err == nil {
			r.Status = resp.StatusCode
		}
	}
	if b.socket == nil {
		read(b.prov.Transport())
	} else {
		w := b.clk.Wire(id)
		stop := b.clk.OnCancel(ctx, func(error) { w.GiveUp() })
		b.clk.Outside(func() {
			read(&http.Transport{DisableKeepAlives: true, DisableCompression: true, DialContext: b.socket.dial})
		})
		stop()
		w.Close()
	}
	return Note{Verb: l.Verb, Text: l.Arg(0) + " " + l.Arg(1), Reply: &r}, nil
}
