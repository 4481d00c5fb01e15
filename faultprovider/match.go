package faultprovider

import (
	"net/http"
	"time"

	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
	"faultlab/faultprovider/jsondoc"
)

// MaxBody is the largest body of a request, in bytes; a larger one is answered with 413.
const MaxBody = 1 << 20

// flight is a key whose first request is not over.
type flight struct {
	print fingerprint
	since time.Time
}

// match is what a request is, by the contract and the ledger, before any fault.
type match struct {
	id       string // X-Request-Id
	kind     Kind   // NewOperation, Replay, Rejected, InFlight or Looked
	to       route
	key      string      // as the contract reads it
	effectID string      // of the effect that a Replay is about
	note     string      // why it is Rejected
	class    fault.Which // which faults can take it; "" is those for any request
	waits    bool        // until the flight under its key is over, to be matched again
	scope    digest      // under which its result is kept; zero: under none
	within   *KeyScope   // what its key counts within; nil without a key
	cause    Cause       // why a known key is a new operation
	print    fingerprint // of its payload
	answer   answer
	makes    *Effect // what it would commit
}

// answer is what the contract prescribes.
type answer struct {
	status     int
	body       []byte
	marker     string // "Name: value"
	retryAfter time.Duration
}

// errorBody is the fixture's error, with a sentence where the code alone does not say it.
func errorBody(code, message string) []byte {
	body := jsondoc.AppendString([]byte(`{"error":`), code)
	if message != "" {
		body = jsondoc.AppendString(append(body, `,"message":`...), message)
	}
	return append(body, '}')
}

var notFoundBody = errorBody("not_found", "")

// refuse answers against the contract.
func (m *match) refuse(class fault.Which, note string, status int, code, message string) {
	m.kind, m.class, m.note = Rejected, class, note
	m.answer = answer{status: status, body: errorBody(code, message)}
}

// set says what a request is.
func (m *match) set(now time.Time, r *Request, v *records, c *Contract) {
	*m = match{id: r.ID}
	m.to = routeOf(c, r.Method, r.Path, r.RawQuery != "")
	switch {
	case r.oversize || len(r.Body) > MaxBody:
		m.refuse("", "body too large", http.StatusRequestEntityTooLarge, "body_too_large", "a body has at most 1 MiB")
	case m.to.action == unknownRoute:
		m.refuse("", "no such route", http.StatusNotFound, "not_found", "")
	case !m.to.action.writes():
		m.kind, m.class = Looked, fault.LookUp
		if m.to.action == lookUp {
			m.key = m.to.item
		}
	default:
		m.write(now, r, v, c)
	}
}

// write matches a POST, PUT or DELETE.
func (m *match) write(now time.Time, r *Request, v *records, c *Contract) {
	// The fixture looks for its key before it reads the body.
	if c.Carrier.In == contract.InHeader && m.missing(c, header(r.Header, c.Carrier.Name)) {
		return
	}
	doc, err := document(r.Body)
	if err != nil {
		m.refuse("", "body is not JSON", http.StatusBadRequest, "invalid_json", err.Error())
		return
	}
	sent := keyOf(c, r, m.to, doc)
	if m.missing(c, sent) || sent != "" && m.byKey(now, r, v, c, sent, doc) {
		return
	}
	if sent != "" {
		m.within = scopeOf(c, r, m.to.name(), doc)
	}
	m.fresh(now, r, v, c, doc)
}

// missing refuses a request without a key where the contract demands one. PUT and DELETE need none: they are idempotent
// by themselves (RFC 9110, 9.2.2).
func (m *match) missing(c *Contract, sent string) bool {
	if sent != "" || m.to.action != create || c.Carrier.In == contract.Nowhere || c.Missing.Do != contract.Reject {
		return false
	}
	m.refuse("", "no key", c.Missing.Status, c.Missing.Error, "")
	return true
}

// document is a body re-serialized; an empty one is an empty object, as in the fixture.
func document(body []byte) ([]byte, error) {
	if len(body) == 0 {
		return []byte("{}"), nil
	}
	return jsondoc.Reserialize(body)
}

// byKey matches a write by its key; it reports false for a new operation.
func (m *match) byKey(now time.Time, r *Request, v *records, c *Contract, sent string, doc []byte) bool {
	var why string
	if m.key, why = readKey(&c.Key, sent); why != "" {
		m.key = sent
		status, code := c.Key.Refused()
		m.refuse("", why, status, code, why)
		return true
	}
	m.print = fingerprintOf(c, r.Body, doc)
	m.scope = scoped(c, m.key, header(r.Header, "Authorization"), r.Method, m.to.name(), func(name string) string {
		value, _ := jsondoc.Get(doc, name)
		return string(value)
	})
	if c.Retention.From == contract.ClientClock && m.outOfWindow(now, r, c) {
		return true
	}
	b, known := v.known(m.scope)
	if known && expired(now, &b, c, m.to.collection) {
		if c.Retention.Expired == contract.Refuse {
			m.refuse(fault.Replay, "key expired", http.StatusPreconditionFailed, "idempotency_key_expired", "")
			return true
		}
		known, m.cause = false, KeyForgotten
	}
	if known {
		return m.byBinding(v, c, &b)
	}
	f, flying := v.inFlight(m.scope)
	if !flying {
		return false
	}
	if c.InFlight.Lease > 0 && now.Sub(f.since) >= c.InFlight.Lease {
		m.cause = NotWaitedFor
		return false
	}
	return m.byFlight(c, f.print)
}

// byBinding matches a write whose key is known.
func (m *match) byBinding(v *records, c *Contract, b *binding) bool {
	switch {
	case b.locked:
		m.refuse(fault.Replay, "key locked", http.StatusConflict, "idempotency_key_locked",
			"an earlier request under this key ended in a 5xx: look the operation up")
		return true
	case b.print != m.print && c.Mismatch.Do != contract.ReplayFirst:
		return m.changed(c)
	case b.effect < 0 && b.status == 0: // kept after an error: the same payload executes again
		m.cause = ResultNotKept
		return false
	}
	m.replay(v, c, b)
	return true
}

// byFlight matches a write whose key is in flight.
func (m *match) byFlight(c *Contract, first fingerprint) bool {
	if first != m.print && c.Mismatch.Do != contract.ReplayFirst {
		return m.changed(c)
	}
	switch c.InFlight.Do {
	case contract.Wait:
		m.kind, m.class, m.waits, m.note = InFlight, fault.Replay, true, "waits"
		return true
	case contract.Reject:
		m.refuse(fault.Replay, "refused", c.InFlight.Status, c.InFlight.Error, "")
		m.kind, m.answer.retryAfter = InFlight, c.InFlight.RetryAfter
		return true
	}
	m.cause = NotWaitedFor
	return false
}

// changed matches a known key with another payload: refused, or an operation of its own that leaves the key alone.
func (m *match) changed(c *Contract) bool {
	if c.Mismatch.Do == contract.Reject {
		m.refuse(fault.Replay, "payload changed", c.Mismatch.Status, c.Mismatch.Error, "")
		return true
	}
	m.scope, m.cause = digest{}, PayloadChanged
	return false
}

// outOfWindow refuses what is too far from the client's own time.
func (m *match) outOfWindow(now time.Time, r *Request, c *Contract) bool {
	at, ok := firstSent(c, r)
	switch {
	case !ok:
		m.refuse("", "time of the first attempt is missing", http.StatusBadRequest, "first_sent_required",
			"the key needs "+c.Carrier.FirstSent+", an HTTP date")
		return true
	case now.Sub(at).Abs() <= c.RetentionOf(m.to.collection):
		return false
	case c.Retention.Expired == contract.Refuse:
		m.refuse(fault.Replay, "outside the window of the client's clock", http.StatusPreconditionFailed, "request_expired", "")
		return true
	}
	m.scope, m.cause = digest{}, KeyForgotten // executes, and the key stays what it was
	return false
}

// expired reports whether a key is no longer known. By the client's clock the request itself says so.
func expired(now time.Time, b *binding, c *Contract, collection string) bool {
	d := c.RetentionOf(collection)
	if d == 0 || c.Retention.From == contract.ClientClock {
		return false
	}
	from := b.first
	if c.Retention.From == contract.Completed {
		from = b.completed
	}
	return now.UnixNano()-from >= int64(d)
}

// replay answers a repeat.
func (m *match) replay(v *records, c *Contract, b *binding) {
	m.kind, m.class = Replay, fault.Replay
	var made *stored
	if b.effect >= 0 {
		made = v.at(b.effect)
		m.effectID = made.ID
	}
	a := answer{status: c.Replay.Status, marker: c.Replay.Marker}
	switch c.Replay.Do {
	case contract.StoredReply:
		if a.status == 0 || b.status >= 300 {
			a.status = b.status
		}
		if a.body = b.body; a.body == nil && made != nil {
			a.body = made.Body
		}
	case contract.ConflictWithID:
		a.body = append(jsondoc.AppendString([]byte(`{"error":"already_exists","id":`), m.effectID), '}')
	case contract.Accepted:
		a.body = []byte(`{"status":"accepted"}`)
	default:
		if made != nil {
			a.body = made.now().Body
		}
	}
	if a.status == 0 {
		a.status = b.status
	}
	m.answer = a
}
