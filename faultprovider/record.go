package faultprovider

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
	"faultlab/faultprovider/jsondoc"
)

// fresh matches a write that is a new operation.
func (m *match) fresh(now time.Time, r *Request, v *records, c *Contract, doc []byte) {
	m.kind, m.class = NewOperation, fault.New
	e := &Effect{Collection: m.to.collection, Key: m.key, RequestID: r.ID}
	m.makes = e
	switch m.to.action {
	case create:
		e.Operation, e.ID = Create, v.newID(r, m.to.collection, m.key)
		e.Of = undone(v, m.to.collection, doc)
		e.Body = record(m.to.collection, e.ID, doc, c)
		m.answer = answer{status: http.StatusCreated, body: e.Body}
	case put:
		e.Operation, e.ID = Put, m.to.item
		e.Body = record("", e.ID, doc, c)
		m.answer = answer{status: http.StatusCreated, body: e.Body}
		if i := v.find(m.to.collection, e.ID); i >= 0 && v.visible(i, now.UnixNano()) {
			m.answer.status = http.StatusOK
		}
	case remove:
		i := v.find(m.to.collection, m.to.item)
		if i < 0 || !v.visible(i, now.UnixNano()) {
			m.makes = nil
			m.refuse("", "nothing to delete", http.StatusNotFound, "not_found", "")
			return
		}
		e.Operation, e.ID, e.Of, e.Gone = Delete, v.newID(r, m.to.collection+"/deletions", m.key), m.to.item, true
		e.Body = jsondoc.AppendString(append(beginBody(e.ID, 64), `,"of":`...), e.Of)
		e.Body = append(e.Body, `,"deleted":true}`...)
		m.answer = answer{status: http.StatusOK, body: e.Body}
	}
}

// record is the body of a new record. Jobs keep their id and orderId, as in the fixture, and the key where the body
// carries it; others everything that was sent, under the provider's id.
func record(collection, id string, doc []byte, c *Contract) []byte {
	body := beginBody(id, len(doc))
	if collection == "jobs" {
		if order, ok := jsondoc.Get(doc, "orderId"); ok {
			body = append(append(body, `,"orderId":`...), order...)
		}
		if c.Carrier.In == contract.InBody && c.Carrier.Name != "orderId" && c.Carrier.Name != "id" {
			if key, ok := jsondoc.Get(doc, c.Carrier.Name); ok {
				body = append(jsondoc.AppendString(append(body, ','), c.Carrier.Name), ':')
				body = append(body, key...)
			}
		}
		return append(body, '}')
	}
	v, err := jsondoc.Parse(doc)
	if err != nil || v.Type != jsondoc.Object {
		body = append(append(body, `,"body":`...), doc...)
		return append(body, '}')
	}
	for _, member := range v.Members {
		if member.Name != "id" {
			body = append(jsondoc.AppendString(append(body, ','), member.Name), ':')
			body = member.Value.AppendJS(body)
		}
	}
	return append(body, '}')
}

// undone finds the effect that a new record says it undoes: the field "undoes" of any record, or, in a collection of
// inverses, a segment of the path or a field of the body that is the id of an effect.
func undone(v *records, collection string, doc []byte) string {
	inverse := undoes(collection)
	if value, ok := jsondoc.Get(doc, "undoes"); !inverse && !ok {
		return ""
	} else if id := text(value); id != "" && v.owner(collection, id) >= 0 {
		return id
	}
	if !inverse {
		return ""
	}
	for segment := range strings.SplitSeq(collection, "/") {
		if id, err := url.PathUnescape(segment); err == nil && v.owner(collection, id) >= 0 {
			return id
		}
	}
	parsed, err := jsondoc.Parse(doc)
	if err != nil {
		return ""
	}
	for _, member := range parsed.Members {
		if member.Value.Type == jsondoc.String && v.owner(collection, member.Value.Text) >= 0 {
			return member.Value.Text
		}
	}
	return ""
}

// text is the value of a JSON string, "" of anything else.
func text(value []byte) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}
