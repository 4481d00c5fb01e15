package faultprovider

import (
	"net/http"
	"net/url"
	"time"

	"faultlab/faultprovider/jsondoc"
)

// look answers a look-up, a read or a list from the ledger as it was a while before now.
func (m *match) look(now time.Time, stale time.Duration, r *Request, v view, c *Contract) {
	at := now.Add(-stale - c.LookUp.Lag).UnixNano()
	query, _ := url.ParseQuery(r.RawQuery) // what cannot be parsed is not there
	m.answer = answer{status: http.StatusNotFound, body: notFoundBody}
	switch m.to.action {
	case lookUp:
		m.lookUp(now, at, r, query, v, c)
	case readOne:
		if i := v.find(m.to.collection, m.to.item); i >= 0 && v.visible(i, at) {
			m.found(i, v)
		}
	case list:
		m.list(at, query, v, c)
	}
}

func (m *match) found(row int, v view) {
	r := v.now(row)
	m.effectID = string(r.id)
	m.answer = answer{status: http.StatusOK, body: r.body()}
}

// lookUp answers GET /jobs/by-idempotency-key/K. Its scope is that of a POST to the collection; the fields of the body
// that belong to it are in the query.
func (m *match) lookUp(now time.Time, at int64, r *Request, query url.Values, v view, c *Contract) {
	m.scope = scoped(c, m.key, header(r.Header, "Authorization"), http.MethodPost, m.to.collection, func(name string) string {
		if !query.Has(name) {
			return ""
		}
		return string(jsondoc.AppendString(nil, query.Get(name)))
	})
	b, known := v.known(m.scope)
	if known && !expired(now, &b, c, m.to.collection) && b.row >= 0 && v.visible(b.row, at) {
		m.found(b.row, v)
		return
	}
	if _, flying := v.inFlight(m.scope); flying {
		m.answer = answer{status: c.LookUp.InFlight.Status, body: errorBody(c.LookUp.InFlight.Error, "")}
	}
}

// list answers GET /jobs?field=value with the records whose fields, or whose key, are as the query says.
func (m *match) list(at int64, query url.Values, v view, c *Contract) {
	body := []byte(`{"data":[`)
	v.rows(m.to.collection, func(i int) {
		r := v.now(i)
		if !v.visible(i, at) || !fits(&r, query, c) {
			return
		}
		if body[len(body)-1] != '[' {
			body = append(body, ',')
		}
		body = append(body, r.body()...)
		m.effectID = string(r.id)
	})
	m.answer = answer{status: http.StatusOK, body: append(body, `]}`...)}
}

func fits(r *row, query url.Values, c *Contract) bool {
	for name := range query {
		want := query.Get(name)
		if name == c.LookUp.Filter {
			if string(r.key) != want {
				return false
			}
			continue
		}
		value, ok := jsondoc.Field(r.body(), name)
		if !ok || string(value) != want && text(value) != want {
			return false
		}
	}
	return true
}
