package contract

import (
	"encoding/json"
	"strings"
	"time"

	"faultlab/faultprovider/jsondoc"
)

const (
	aText    = "a text"
	itsError = `the "error" of its body`
	statuses = "400 to 599"
	ofHeader = "a header's name"
)

// fields are the members of a contract file, in its order: files are read, written and explained by them.
func (c *Contract) fields() []jsondoc.Field {
	status := func(name string, at *int, doc string) jsondoc.Field {
		return jsondoc.Field{Name: name, At: at, Low: 400, High: 599, Is: statuses, Doc: doc, Omit: true}
	}
	return []jsondoc.Field{
		{Name: "name", At: &c.Name, Is: aText, Doc: "short and unique"},
		{Name: "title", At: &c.Title, Is: aText, Doc: "one line for a list", Omit: true},
		{Name: "note", At: &c.Note, Is: aText, Doc: "where it comes from", Omit: true},
		{Name: "assumptions", At: &c.Assumptions, Is: "a list of texts", Doc: "what the source does not say", Omit: true},
		jsondoc.Enum("carrier.in", &c.Carrier.In, places, "where a key travels; path: the last segment, as PUT /jobs/KEY"),
		{Name: "carrier.name", At: &c.Carrier.Name, Is: aText, Doc: "the name of the header or of the body's field"},
		{Name: "carrier.firstSent", At: &c.Carrier.FirstSent, Is: ofHeader, Doc: "the header with the time of the client's first attempt"},
		jsondoc.Enum("missing.do", &c.Missing.Do, missingActions, "a POST without a key; execute: as a new operation"),
		status("missing.status", &c.Missing.Status, "of the refusal"),
		{Name: "missing.error", At: &c.Missing.Error, Is: aText, Doc: itsError},
		jsondoc.Enum("key.syntax", &c.Key.Syntax, syntaxes, "how a key is written; structured-string: in quotes (RFC 8941)"),
		{Name: "key.maxLength", At: &c.Key.MaxLength, High: 1 << 20, Is: "a number; 0: no limit", Doc: "how long a key may be, in characters"},
		jsondoc.Enum("key.charset", &c.Key.Charset, charsets, "which characters a key may have"),
		jsondoc.Enum("key.overlong", &c.Key.Overlong, overlongs, "a longer key; truncate: two keys with one beginning become one"),
		{Name: "key.status", At: &c.Key.Status, High: 599, Is: statuses, Doc: "what a bad key is answered with; 400 unless said", Omit: true},
		{Name: "key.error", At: &c.Key.Error, Is: aText, Doc: itsError, Omit: true},
		{Name: "scope", At: &c.Scope, Is: "a list of account, method, route, field:NAME",
			Doc: "what, besides its text, makes two keys the same: the Authorization header, the method, the collection, a field of the body"},
		jsondoc.Enum("fingerprint.by", &c.Fingerprint.By, bys, "how payloads are compared; canonical: the order of members does not count (RFC 8785)"),
		{Name: "fingerprint.fields", At: &c.Fingerprint.Fields, Is: "a list of names", Doc: "the fields that are compared, with fields", Omit: true},
		jsondoc.Enum("mismatch.do", &c.Mismatch.Do, mismatchActions, "a known key with another payload; replay-first: answered as if it were the first one"),
		status("mismatch.status", &c.Mismatch.Status, "of the refusal"),
		{Name: "mismatch.error", At: &c.Mismatch.Error, Is: aText, Doc: itsError},
		{Name: "retention.for", At: &c.Retention.For, Is: "a duration; 0: for ever", Doc: "how long a key is known"},
		jsondoc.Enum("retention.from", &c.Retention.From, froms, "the moment that it counts from"),
		jsondoc.Enum("retention.expired", &c.Retention.Expired, expireds, "what a key means afterwards; refuse: 412"),
		{Name: "retention.collections", At: &c.Retention.Collections, Is: "an object of durations", Doc: "another retention for some collections", Omit: true},
		{Name: "store", At: &c.Store, Is: "a list of " + strings.Join(classes, ", "), Doc: "the classes of results that are kept under the key"},
		jsondoc.Enum("afterError", &c.AfterError, afterErrors, "a key whose result was a 5xx that is not stored; kept: the same payload executes again; locked: 409"),
		jsondoc.Enum("replay.do", &c.Replay.Do, replays, "how a repeat is answered"),
		{Name: "replay.status", At: &c.Replay.Status, High: 499, Is: "a status; 0: that of the first result", Doc: "of a replay"},
		{Name: "replay.marker", At: &c.Replay.Marker, Is: ofHeader, Doc: "the header that marks a replay"},
		jsondoc.Enum("inFlight.do", &c.InFlight.Do, inFlightActions, "a second request while the first is not over"),
		status("inFlight.status", &c.InFlight.Status, "of the refusal"),
		{Name: "inFlight.error", At: &c.InFlight.Error, Is: aText, Doc: itsError},
		{Name: "inFlight.retryAfter", At: &c.InFlight.RetryAfter, Is: "a duration", Doc: "its Retry-After header"},
		{Name: "inFlight.lease", At: &c.InFlight.Lease, Is: "a duration; 0: never", Doc: "after it the key may be taken again"},
		jsondoc.Enum("lookUp.by", &c.LookUp.By, lookUps, "how a caller can ask: GET /jobs/by-idempotency-key/KEY, or GET /jobs?FIELD=VALUE"),
		{Name: "lookUp.filter", At: &c.LookUp.Filter, Is: "a parameter's name", Doc: "the parameter that filters a list by key"},
		{Name: "lookUp.lag", At: &c.LookUp.Lag, Is: "a duration", Doc: "a look-up shows the ledger as it was so long ago"},
		jsondoc.Enum("lookUp.inFlight.do", &c.LookUp.InFlight.Do, []Action{Reject}, "a look-up of a key in flight"),
		status("lookUp.inFlight.status", &c.LookUp.InFlight.Status, "of its answer; 404 unless said"),
		{Name: "lookUp.inFlight.error", At: &c.LookUp.InFlight.Error, Is: aText, Doc: itsError},
		{Name: "hints.retryAfter", At: &c.Hints.RetryAfter, Is: "a duration; 0: none", Doc: "Retry-After on every 409 and 503 of the contract"},
		{Name: "hints.shouldRetry", At: &c.Hints.ShouldRetry, Is: ofHeader, Doc: "a header that says true or false on errors"},
	}
}

// Members are the members of a contract file: the name, what it can be, and what it does.
func Members() [][3]string {
	extends := [3]string{"extends", strings.Join(Names(), ", "), "the contract to start from; seed unless said"}
	return append([][3]string{extends}, jsondoc.Explain(new(Contract).fields())...)
}

// MarshalJSON writes a contract file that says every knob, so that Parse makes the same contract of it.
func (c Contract) MarshalJSON() ([]byte, error) { return jsondoc.Write(c.fields()) }

// UnmarshalJSON is Parse.
func (c *Contract) UnmarshalJSON(text []byte) error {
	parsed, err := Parse(text)
	if err != nil {
		return err
	}
	*c = parsed
	return nil
}

// MarshalJSON writes the parts that count: "account", "method", "route", "field:region".
func (s Scope) MarshalJSON() ([]byte, error) { return json.Marshal(s.parts()) }

func (s Scope) parts() []string {
	out := []string{}
	for _, part := range []struct {
		name string
		is   bool
	}{{"account", s.Account}, {"method", s.Method}, {"route", s.Route}} {
		if part.is {
			out = append(out, part.name)
		}
	}
	for _, field := range s.Fields {
		out = append(out, "field:"+field)
	}
	return out
}

// ReadJSON reads what MarshalJSON writes.
func (s *Scope) ReadJSON(r *jsondoc.Reader, name string) {
	*s = Scope{}
	r.Each(name, func(v jsondoc.Value) {
		field, isField := strings.CutPrefix(v.Text, "field:")
		switch {
		case v.Type != jsondoc.String:
			r.Fail(v.Offset, `"scope" holds strings`)
		case isField && field != "":
			s.Fields = append(s.Fields, field)
		case v.Text == "account":
			s.Account = true
		case v.Text == "method":
			s.Method = true
		case v.Text == "route":
			s.Route = true
		default:
			r.Fail(v.Offset, `"scope" holds account, method, route and field:NAME, not %q`, v.Text)
		}
	})
}

// RetentionOf is how long a key of a collection is known; 0 is for ever.
func (c Contract) RetentionOf(collection string) time.Duration {
	if d, ok := c.Retention.Collections[collection]; ok {
		return d
	}
	return c.Retention.For
}
