package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"faultlab/engine/woml"
)

// Delivery asks for a run.
type Delivery struct {
	Workflow string
	Trigger  string // id of the trigger; empty for the workflow's first manual one, a child or a rerun
	Key      string // the sender's Idempotency-Key; empty for none
	Payload  json.RawMessage
	RerunOf  string
	Inbox    string // the command of another process that asks, or empty
	folder   string // of the earlier run, or of the one that calls
	parent   *Parent
	doc      *woml.Document // where none is loaded
}

// Receipt says which run a delivery made or met.
type Receipt struct {
	Run       string
	Duplicate bool // the run was there before
	ticket    Ticket
}

// MaxPayload is the longest payload of a run, in bytes of JSON.
const MaxPayload = 1 << 20

// Admit makes a run, or finds the one that an earlier delivery with the same key
// made. When it returns, the admission is on disk. Two deliveries at the same
// moment make one run.
func (e *Engine) Admit(d Delivery) (Receipt, error) {
	r, err := e.Submit(d)
	if err != nil {
		return r, err
	}
	if r.ticket == nil {
		return r, nil
	}
	if err := e.durable(r.ticket, nil); err != nil {
		return Receipt{}, fmt.Errorf("write the admission: %w", err)
	}
	return r, nil
}

// Submit is Admit without the wait for the disk, for a caller that waits for the run's
// end anyway: the admission is written with what the run does first.
func (e *Engine) Submit(d Delivery) (Receipt, error) {
	e.mu.Lock()
	if e.draining {
		e.mu.Unlock()
		return Receipt{}, &Error{Code: codeDraining, Message: "the runtime is stopping; send it again"}
	}
	e.actors++ // a drain waits for what is being admitted
	doc := e.docs[d.Workflow]
	e.mu.Unlock()
	defer e.actorEnds()
	if doc == nil {
		doc = d.doc
	}
	if doc == nil {
		return Receipt{}, &Error{Code: "WOML_WORKFLOW_TARGET_NOT_FOUND", Message: fmt.Sprintf("no workflow %q is loaded", d.Workflow)}
	}
	if len(d.Payload) == 0 {
		d.Payload = json.RawMessage("{}")
	}
	switch {
	case len(d.Payload) > MaxPayload:
		return Receipt{}, &Error{Code: "WOML_TRIGGER_PAYLOAD_TOO_LARGE", Message: fmt.Sprintf("the payload has %d bytes; at most %d are taken", len(d.Payload), MaxPayload)}
	case !isObject(d.Payload):
		return Receipt{}, &Error{Code: codePayload, Message: "the payload is not a JSON object in UTF-8"}
	}
	deepest := maxDelivered
	if d.parent != nil || d.RerunOf != "" {
		deepest = maxNesting
	}
	if flaw := payloadFlaw(d.Payload, deepest); flaw != "" {
		return Receipt{}, &Error{Code: codePayload, Message: "the payload " + flaw}
	}
	id, digest := d.identity(), ""
	if d.Key != "" {
		digest = digestJSON(d.Payload)
	}
	if id == "" {
		return e.admitNew(doc, d, digest)
	}
	leave, err := e.enterAdmission(id)
	if err != nil {
		return Receipt{}, err
	}
	defer leave()
	run, known, found, err := e.earlier(d)
	switch {
	case err != nil:
		return Receipt{}, fmt.Errorf("look for an earlier delivery: %w", err)
	case found && d.parent != nil && known != digestJSON(d.Payload):
		return Receipt{}, &Error{Code: "WOML_WORKFLOW_CALL_IDEMPOTENCY_CONFLICT",
			Message: fmt.Sprintf("an earlier attempt gave %s another payload, as %s: make it of what no retry changes, or give the call another name", d.Workflow, run)}
	case found && d.parent == nil && known != digest && !e.delivered(run, digest):
		return Receipt{}, &Error{Code: "WOML_TRIGGER_IDEMPOTENCY_CONFLICT", Message: "this Idempotency-Key was delivered before with another payload, by " + run}
	case found:
		return Receipt{Run: run, Duplicate: true}, nil
	}
	r, err := e.admitNew(doc, d, digest)
	if err == nil {
		// The next delivery with this key must find it on disk, not in flight.
		err = e.durable(r.ticket, nil)
	}
	return r, err
}

func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) && json.Valid(raw) && utf8.Valid(raw)
}

// identity names what makes two deliveries the same one; empty where nothing does.
func (d Delivery) identity() string {
	switch {
	case d.parent != nil:
		return "child\x00" + d.parent.Run + "\x00" + d.parent.Step + "\x00" + d.parent.Name + "\x00" + d.Workflow
	case d.Key != "":
		return d.Workflow + "\x00" + d.Trigger + "\x00" + d.Key
	}
	return ""
}

func (e *Engine) earlier(d Delivery) (run, digest string, ok bool, err error) {
	if d.parent != nil {
		if run, ok, err = e.o.History.Child(*d.parent); !ok || err != nil {
			return "", "", false, err
		}
		child, err := e.Get(run)
		if err != nil {
			return "", "", false, err
		}
		return run, digestJSON(child.Admitted.Payload), true, nil
	}
	return e.o.History.Delivery(d.Workflow, d.Trigger, d.Key)
}

// delivered reports whether a run was admitted with a payload of this digest: the one that is
// kept with a delivery may have been made by a version that compared numbers as doubles.
func (e *Engine) delivered(run, digest string) bool {
	r, err := e.Get(run)
	return err == nil && digestJSON(r.Admitted.Payload) == digest
}

// enterAdmission lets one admission of an identity in at a time.
func (e *Engine) enterAdmission(id string) (leave func(), err error) {
	for {
		e.mu.Lock()
		busy := e.admits[id]
		if busy == nil {
			mine := e.clk.NewEvent("the admission of a delivery")
			e.admits[id] = mine
			e.mu.Unlock()
			return func() {
				e.mu.Lock()
				delete(e.admits, id)
				e.mu.Unlock()
				mine.Set()
			}, nil
		}
		dead := e.dead
		e.mu.Unlock()
		if dead != nil {
			return nil, dead
		}
		busy.Wait()
	}
}

func (e *Engine) admitNew(doc *woml.Document, d Delivery, digest string) (Receipt, error) {
	if err := e.recall(doc); err != nil {
		return Receipt{}, err
	}
	e.mu.Lock()
	p := e.pool(doc)
	if !p.room() {
		e.mu.Unlock()
		return Receipt{}, &Error{Code: codeQueueFull, Message: fmt.Sprintf("%d runs wait already; send it again later", maxQueue)}
	}
	id, seed := e.newID()
	rt := &running{e: e, id: id, doc: doc, assume: e.o.Assume, run: &Run{}}
	e.take(rt)
	t, err := e.record(rt, e.clk.Now(), e.o.History.Buffer, Admitted{Workflow: doc.Workflow.ID, Definition: doc.Hash, Source: doc.Source,
		Assume: e.assumes.digest, Assumed: e.o.Assume.Text(), Trigger: d.Trigger,
		Delivery: d.Key, Digest: digest, Payload: compact(d.Payload), Seed: seed, Folder: e.folderOf(doc, d), Parent: d.parent, RerunOf: d.RerunOf, Inbox: d.Inbox})
	if err != nil {
		delete(e.open, id)
		e.mu.Unlock()
		return Receipt{}, err
	}
	e.enqueue(p, rt)
	e.mu.Unlock()
	e.goActor("run "+id, rt.main)
	return Receipt{Run: id, ticket: t}, nil
}

// Rerun admits a new run with the payload of an earlier one. It has an identity,
// and so a run's key, of its own. Its document is the one that is loaded now; where
// none is, that of the earlier run. inbox names the command of another process that
// asked, or is empty.
func (e *Engine) Rerun(run, inbox string) (Receipt, error) {
	r, err := e.Get(run)
	if err != nil {
		return Receipt{}, err
	}
	doc, err := e.document(r.Admitted)
	if err != nil {
		return Receipt{}, fmt.Errorf("run %s: %w", r.ID, err)
	}
	return e.Admit(Delivery{Workflow: r.Admitted.Workflow, Payload: r.Admitted.Payload, RerunOf: r.ID, Inbox: inbox, folder: r.Admitted.Folder, doc: doc})
}
