// Package assume holds the idempotency contracts that the caller assumes, one for
// each origin. What a provider keeps and what its caller assumes can differ, and
// then things break; so an assumption that nobody declared is always shown as one.
// It knows nobody and does no I/O.
package assume

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Contract is what a caller assumes of one origin.
type Contract struct {
	Declared   bool              // somebody wrote it down; false for the default
	Enforces   bool              // a repeated key makes no second effect
	Header     string            // the header in which a key is looked for; with an empty Field too, wherever it is sent
	Field      string            // or the field of the JSON body
	Retention  time.Duration     // how long a key is remembered, from its first request; 0: not known
	InFlight   bool              // its 409 means "an earlier request is still at work", else "it exists"
	KeyTaken   []int             // statuses that mean "this key is known with another payload"
	Idempotent []string          // methods that may be repeated without a key, as PUT
	Lookup     string            // URL template with {url}, {origin} and {key}; "none" where keys cannot be looked up
	LookedUp   bool              // the look-up address is declared: named, or the default one of an origin that is declared to enforce keys
	Items      string            // JSON pointer to the list of records in a look-up's reply; empty where none is declared
	KeyAsSent  bool              // a look-up names the key as the header carried it, with the quotes of a structured field string
	Headers    map[string]string // sent with a look-up; a value may be "{{secrets.NAME}}"
}

// DefaultLookup is the look-up address where nobody declared another: below the request's own URL.
const DefaultLookup = "{url}/by-idempotency-key/{key}"

// Default is assumed of every origin that nobody declared.
func Default() Contract {
	return Contract{Enforces: true, KeyTaken: []int{422}, Lookup: DefaultLookup}
}

// KeyHeader is the header in which a key is expected.
func (c Contract) KeyHeader() string {
	if c.Header == "" && c.Field == "" {
		return "Idempotency-Key"
	}
	return c.Header
}

// Set is the assumed contracts by origin. The zero value and nil hold none.
type Set struct {
	origins map[string]Contract
	text    string
}

// Text is what Parse read, without white space between its tokens; empty for a set that holds none.
func (s *Set) Text() string {
	if s == nil {
		return ""
	}
	return s.text
}

// Of is the contract assumed of the origin of this URL.
func (s *Set) Of(rawURL string) Contract {
	if s != nil {
		if c, ok := s.origins[Origin(rawURL)]; ok {
			return c
		}
		if c, ok := s.origins["*"]; ok {
			return c
		}
	}
	return Default()
}

// Origin is the scheme, host and port of a URL in a comparable form; empty if it is none.
func Origin(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" {
		return ""
	}
	host, scheme := strings.ToLower(u.Host), strings.ToLower(u.Scheme)
	host = strings.TrimSuffix(host, map[string]string{"http": ":80", "https": ":443"}[scheme])
	return scheme + "://" + host
}

// file is the form in which a person writes the set down.
type file struct {
	Origins map[string]entry `json:"origins"`
}

type entry struct {
	Enforces   *bool             `json:"enforces"`
	Carrier    *carrier          `json:"carrier"`
	Retention  string            `json:"retention"`
	Conflict   string            `json:"conflict"` // "in-flight" or "exists"
	KeyTaken   []int             `json:"keyTaken"`
	Idempotent []string          `json:"idempotent"`
	Lookup     string            `json:"lookup"`
	Items      string            `json:"items"`
	LookupKey  string            `json:"lookupKey"` // "value" or "as-sent"
	Headers    map[string]string `json:"headers"`
}

// Parse reads {"origins": {"http://127.0.0.1:4040": {"enforces": false, ...}}}; the
// origin "*" stands for all others. Fields that are left out keep their default. An
// unknown field or a value that does not fit is an error with line and column.
func Parse(data []byte) (*Set, error) {
	var f file
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("nothing is there")
		}
		line, col := position(data, dec.InputOffset(), err)
		return nil, fmt.Errorf("%d:%d: %s; an assumed contract is {\"origins\": {ORIGIN: {enforces, carrier, retention, conflict, keyTaken, idempotent, lookup, items, lookupKey, headers}}}",
			line, col, strings.TrimPrefix(err.Error(), "json: "))
	}
	s := &Set{origins: map[string]Contract{}}
	for name, e := range f.Origins {
		c, err := e.contract()
		if err != nil {
			return nil, fmt.Errorf("origin %q: %w", name, err)
		}
		key := name
		if name != "*" {
			if key = Origin(name); key == "" {
				return nil, fmt.Errorf("origin %q is not valid: write scheme, host and port, as http://127.0.0.1:4040, or *", name)
			}
		}
		s.origins[key] = c
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return nil, err
	}
	s.text = compact.String()
	return s, nil
}

// carrier says how a key travels: by one of them.
type carrier struct {
	Header string `json:"header"`
	Field  string `json:"field"`
}

func (e entry) contract() (Contract, error) {
	c := Default()
	c.Declared, c.Headers, c.Items = true, e.Headers, e.Items
	c.InFlight, c.KeyAsSent = e.Conflict == "in-flight", e.LookupKey == "as-sent"
	c.LookedUp = e.Lookup != "" || e.Enforces != nil && *e.Enforces
	c.Lookup = cmp.Or(e.Lookup, c.Lookup)
	if e.Enforces != nil {
		c.Enforces = *e.Enforces
	}
	if e.Carrier != nil {
		c.Header, c.Field = e.Carrier.Header, e.Carrier.Field
	}
	if e.KeyTaken != nil {
		c.KeyTaken = e.KeyTaken
	}
	for _, m := range e.Idempotent {
		c.Idempotent = append(c.Idempotent, strings.ToUpper(m))
	}
	var err error
	if e.Retention != "" {
		c.Retention, err = time.ParseDuration(e.Retention)
	}
	switch {
	case e.Carrier != nil && (c.Header == "") == (c.Field == ""):
		return c, errors.New(`carrier is {"header": NAME} or {"field": NAME}`)
	case err != nil || e.Retention != "" && c.Retention <= 0:
		return c, fmt.Errorf("retention %q is not a valid duration: write it as 24h", e.Retention)
	case !slices.Contains([]string{"", "exists", "in-flight"}, e.Conflict):
		return c, fmt.Errorf("conflict %q is neither in-flight nor exists", e.Conflict)
	case c.Lookup != "none" && !strings.Contains(c.Lookup, "{"):
		return c, fmt.Errorf("lookup %q has no place for {url}, {origin} or {key}; write none where keys cannot be looked up", e.Lookup)
	case c.Items != "" && c.Items[0] != '/':
		return c, fmt.Errorf("items %q is not a JSON pointer: write it as /data", e.Items)
	case !slices.Contains([]string{"", "value", "as-sent"}, e.LookupKey):
		return c, fmt.Errorf("lookupKey %q is neither value nor as-sent", e.LookupKey)
	}
	return c, nil
}

// Protects reports whether a write whose key travels so, in a header or a field, is one that the contract enforces the key of.
func (c Contract) Protects(header, field string) bool {
	anywhere := c.Header == "" && c.Field == ""
	return c.Enforces && (anywhere || c.Header != "" && strings.EqualFold(c.Header, header) || c.Field != "" && c.Field == field)
}

// Repeats reports whether the contract declares the method idempotent.
func (c Contract) Repeats(method string) bool { return slices.Contains(c.Idempotent, method) }

// TakesKey reports whether a status means that the key is known with another payload.
func (c Contract) TakesKey(status int) bool { return slices.Contains(c.KeyTaken, status) }

func position(data []byte, offset int64, err error) (line, col int) {
	switch e := err.(type) {
	case *json.SyntaxError:
		offset = e.Offset
	case *json.UnmarshalTypeError:
		offset = e.Offset
	}
	before := data[:min(int(offset), len(data))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// Members are the members of what is assumed of one origin: the name, what it can be, and what it does.
func Members() [][3]string {
	return [][3]string{
		{"enforces", "true or false", "whether a repeated key makes no second effect; true unless said"},
		{"carrier.header", "a header's name", "where a key must travel for the origin to enforce it; anywhere unless said"},
		{"carrier.field", "a field's name", "the same, in the JSON body"},
		{"retention", "a duration, as 24h", "how long a key is remembered, from its first request; not known unless said"},
		{"conflict", "in-flight, exists", "what a 409 means: an earlier request is still at work, or the record exists; exists unless said"},
		{"keyTaken", "a list of statuses", "the statuses that mean that the key is known with another payload; 422 unless said"},
		{"idempotent", "a list of methods", "the methods that may be repeated without a key, as PUT"},
		{"lookup", "an address with {url}, {origin} or {key}, or none", "where an operation is looked up by its key; " + DefaultLookup + " unless said"},
		{"items", "a JSON pointer", "where the list of records is in a look-up's reply, as /data"},
		{"lookupKey", "value, as-sent", "whether a look-up leaves the quotes of a structured-field string out"},
		{"headers", "an object", `headers of a look-up; a value may be "{{secrets.NAME}}"`},
	}
}
