package engine

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"faultlab/engine/assume"
	"faultlab/engine/plain"
)

// Table d: what the reply to a look-up proves. It is a function of the reply, of the
// bodies that were sent under the key, and of what is assumed of the provider.

// lookupReply is everything about a look-up that table d looks at.
type lookupReply struct {
	status int
	body   []byte
	broken bool     // no reply, or a body that broke off or is too large
	sent   [][]byte // the bodies of the requests under the key, as they were sent
	hashes []string // of those that are no longer kept, see CallStarted.Content
	key    string   // may stand in a field of the record, too
	items  string   // the declared JSON pointer to the list; empty where none is declared
	known  bool     // the address is declared, or it has found a record before
}

// proof is what table d makes of a reply.
type proof struct {
	found     Found
	unproven  bool   // no record, at an address of which nobody knows whether it is one
	record    []byte // the one record that was found
	records   int    // how many the reply had
	match     Match
	conflicts []string
}

// prove is table d.
func (r lookupReply) prove() proof {
	switch {
	case r.broken:
		return proof{found: FoundNoAnswer}
	case r.status == http.StatusNotFound || r.status == http.StatusGone:
		return proof{found: FoundNoRecord, unproven: !r.known}
	case r.status/100 != 2 || r.status == http.StatusAccepted || r.status == http.StatusNoContent:
		return proof{found: FoundNoAnswer}
	}
	records, isList, ok := r.records()
	switch {
	case !ok:
		return proof{found: FoundNoAnswer}
	case isList && len(records) == 0:
		return proof{found: FoundNoRecord}
	case len(records) == 1:
		return r.one(records[0], 1)
	}
	return r.several(records)
}

// one is the proof of one record, out of so many.
func (r lookupReply) one(record []byte, of int) proof {
	match, conflicts := r.compare(record)
	return proof{found: FoundRecord, record: record, records: of, match: match, conflicts: conflicts}
}

// several looks for the one record of a list that does not contradict what was sent.
func (r lookupReply) several(records []json.RawMessage) proof {
	var candidates []json.RawMessage
	for _, record := range records {
		if match, _ := r.compare(record); match != Contradicts {
			candidates = append(candidates, record)
		}
	}
	if len(candidates) == 1 {
		return r.one(candidates[0], len(records))
	}
	return proof{found: FoundSeveral, records: len(records)}
}

// listNames are the fields under which an undeclared list is looked for.
var listNames = []string{"data", "items", "results", "records", "value"}

// records takes the records out of a body: those of a list or, where there is none,
// the object itself. ok is false for a body that is neither.
func (r lookupReply) records() (records []json.RawMessage, isList, ok bool) {
	if !readableJSON(r.body) {
		return nil, false, false
	}
	if list, ok := arrayOf(r.body); ok {
		return list, true, true
	}
	fields, ok := objectOf(r.body)
	if !ok {
		return nil, false, false
	}
	if r.items != "" {
		at, ok := pointed(r.body, r.items)
		if !ok {
			return nil, false, false
		}
		list, ok := arrayOf(at)
		return list, true, ok
	}
	if !r.sentOneOf(fields) {
		var lists [][]json.RawMessage
		for _, name := range listNames {
			if list, ok := arrayOf(fields[name]); ok {
				lists = append(lists, list)
			}
		}
		if len(lists) > 0 {
			return lists[0], true, len(lists) == 1
		}
	}
	return []json.RawMessage{r.body}, false, true
}

// sentOneOf reports whether a body that was sent has a field of this name.
func (r lookupReply) sentOneOf(fields map[string]json.RawMessage) bool {
	return slices.ContainsFunc(r.sent, func(body []byte) bool {
		sent, _ := objectOf(body)
		for name := range sent {
			if _, there := fields[name]; there {
				return true
			}
		}
		return false
	})
}

// compare holds a record against every body that was sent under its key: it matches
// if it matches one of them, and contradicts if none is left that it could be of.
func (r lookupReply) compare(record []byte) (Match, []string) {
	match, conflicts := Incomparable, []string(nil)
	if len(r.hashes) > 0 && slices.ContainsFunc(contentsOf(record, r.key), func(hash string) bool { return slices.Contains(r.hashes, hash) }) {
		return Matches, nil
	}
	for _, body := range slices.Backward(r.sent) { // the newest body's conflicts are told
		m, c := compare(body, record)
		switch {
		case m == Matches:
			return Matches, nil
		case m == Contradicts && match == Incomparable:
			match, conflicts = m, c
		}
	}
	return match, conflicts
}

// contentsOf are the hashes that a body would have which a record could be of: the
// record itself, without the provider's id, and without a field that holds the key.
func contentsOf(record []byte, key string) (hashes []string) {
	fields, ok := objectOf(record)
	if !ok {
		return nil
	}
	hashes = append(hashes, contentHash(record))
	delete(fields, "id")
	hashes = append(hashes, contentHash(mustJSON(fields)))
	for _, name := range plain.SortedKeys(fields) {
		var text string
		if json.Unmarshal(fields[name], &text) == nil && text == key {
			delete(fields, name)
			return append(hashes, contentHash(mustJSON(fields)))
		}
	}
	return hashes
}

// compare holds a record against one body: the fields that both have must be equal as
// JSON values. Without a field in common nothing can be said. An id of its own proves
// nothing: most providers give their records one, whatever the sender called it.
func compare(sent, record []byte) (Match, []string) {
	s, ok1 := objectOf(sent)
	r, ok2 := objectOf(record)
	if !ok1 || !ok2 {
		return Incomparable, nil
	}
	common := 0
	var conflicts []string
	for _, name := range plain.SortedKeys(s) {
		got, there := r[name]
		if !there {
			continue
		}
		equal := digestJSON(s[name]) == digestJSON(got)
		if !equal && name == "id" {
			continue
		}
		common++
		if !equal {
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

// pointer escapes a name for a JSON pointer (RFC 6901).
func pointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// pointed is the value at a JSON pointer (RFC 6901).
func pointed(doc []byte, at string) (json.RawMessage, bool) {
	value := json.RawMessage(doc)
	for _, token := range strings.Split(at, "/")[1:] {
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		if fields, ok := objectOf(value); ok {
			if value, ok = fields[name]; !ok {
				return nil, false
			}
			continue
		}
		list, _ := arrayOf(value)
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(list) || strconv.Itoa(i) != name {
			return nil, false
		}
		value = list[i]
	}
	return value, true
}

// readableJSON reports whether a text is JSON that may be taken apart.
func readableJSON(text []byte) bool {
	return json.Valid(text) && utf8.Valid(text) && nesting(text) <= maxNesting
}

func arrayOf(raw []byte) (list []json.RawMessage, ok bool) {
	if json.Unmarshal(raw, &list) != nil {
		return nil, false
	}
	return list, list != nil
}

func objectOf(raw []byte) (fields map[string]json.RawMessage, ok bool) {
	if json.Unmarshal(raw, &fields) != nil {
		return nil, false
	}
	return fields, fields != nil
}

// sentUnder fills in what the run sent under a call's key, or with the call itself
// where it has none.
func (r *Run) sentUnder(c *Call, reply *lookupReply) {
	reply.key = c.Key
	r.eachRequest(func(o *Call, q *Request) {
		switch {
		case !sameKey(o, c) || q.neverSent():
		case q.Body != nil:
			reply.sent = append(reply.sent, q.Body)
		case o.Content != "":
			reply.hashes = append(reply.hashes, o.Content)
		}
	})
}

// sameKey reports whether two calls are under one key of one origin, or are one call.
func sameKey(a, b *Call) bool {
	return a == b || a.Key != "" && a.Key == b.Key && a.Effect != Read && b.Effect != Read && (a.url() == b.url() || a.origin() == b.origin())
}

// origin is where the call went; empty where it sent nothing.
func (c *Call) origin() string { return assume.Origin(c.url()) }

// url is that of the call's first request; empty where it sent nothing.
func (c *Call) url() string {
	if len(c.Requests) == 0 {
		return ""
	}
	return c.Requests[0].URL
}

// neverSent reports whether nothing of the request left the process.
func (q *Request) neverSent() bool { return q.NotSent || q.Ended && !q.Began && q.Status == 0 }
