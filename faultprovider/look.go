package faultprovider

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"faultlab/faultprovider/jsondoc"
)

// look answers a look-up, a read or a list from the ledger as it was a while before now.
func (m *match) look(now time.Time, stale time.Duration, r *Request, v *records, c *Contract) {
	at := now.Add(-stale - c.LookUp.Lag).UnixNano()
	query, _ := url.ParseQuery(r.RawQuery) // what cannot be parsed is not there
	m.answer = answer{status: http.StatusNotFound, body: notFoundBody}
	switch m.to.action {
	case lookUp:
		m.lookUp(now, at, r, query, v, c)
	case readOne:
		if i := v.find(m.to.collection, m.to.item); i >= 0 && v.visible(i, at) {
			m.found(v.at(i).asOf(at))
		}
	case list:
		m.list(at, r, query, v, c)
	}
}

func (m *match) found(e *Effect) {
	m.effectID = e.ID
	m.answer = answer{status: http.StatusOK, body: e.Body}
}

// asked is the scoped key of a look-up. Its scope is that of a POST to the collection; the fields of the body that belong
// to it are in the query.
func (m *match) asked(key string, r *Request, query url.Values, c *Contract) digest {
	return scoped(c, key, header(r.Header, "Authorization"), http.MethodPost, m.to.collection, func(name string) string {
		if !query.Has(name) {
			return ""
		}
		return string(jsondoc.AppendString(nil, query.Get(name)))
	})
}

// lookUp answers GET /jobs/by-idempotency-key/K. A deletion is found although its record is gone.
func (m *match) lookUp(now time.Time, at int64, r *Request, query url.Values, v *records, c *Contract) {
	m.scope = m.asked(m.key, r, query, c)
	b, known := v.known(m.scope)
	if known && !expired(now, &b, c, m.to.collection) && b.effect >= 0 && b.completed <= at {
		if found := v.at(b.effect).asOf(at); found.Operation == Delete || v.visible(b.effect, at) {
			m.found(found)
			return
		}
	}
	if _, flying := v.inFlight(m.scope); flying {
		m.answer = answer{status: c.LookUp.InFlight.Status, body: errorBody(c.LookUp.InFlight.Error, "")}
	}
}

// list answers GET /jobs?field=value with the records whose fields, or whose key, are as the query says.
func (m *match) list(at int64, r *Request, query url.Values, v *records, c *Contract) {
	made := -1 // by the very key that the query asks for, in its scope
	if key := query.Get(c.LookUp.Filter); key != "" {
		if b, known := v.known(m.asked(key, r, query, c)); known {
			made = b.effect
		}
	}
	body := []byte(`{"data":[`)
	v.inCollection(m.to.collection, func(i int) {
		e := v.at(i).asOf(at)
		if !v.visible(i, at) || !fits(e, i == made, query, c) {
			return
		}
		if body[len(body)-1] != '[' {
			body = append(body, ',')
		}
		body = append(body, e.Body...)
		m.effectID = e.ID
	})
	m.answer = answer{status: http.StatusOK, body: append(body, `]}`...)}
}

// fits reports whether a record is as the query says. One that the key made has the fields of the key's scope, whether or
// not it keeps them: a job keeps no region.
func fits(e *Effect, made bool, query url.Values, c *Contract) bool {
	for name := range query {
		want := query.Get(name)
		if name == c.LookUp.Filter {
			if e.Key != want {
				return false
			}
			continue
		}
		if made && slices.Contains(c.Scope.Fields, name) {
			continue
		}
		value, ok := jsondoc.Get(e.Body, name)
		if !ok || string(value) != want && text(value) != want {
			return false
		}
	}
	return true
}
