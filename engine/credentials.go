package engine

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"faultlab/engine/assume"
	"faultlab/engine/plain"
)

// A look-up carries the credentials that the write carried. Those that came from a
// secret stand in the history by the secret's name; others are kept as a body is, and
// dropped with it.

// credentialNames are parts of the names of headers that carry credentials.
var credentialNames = regexp.MustCompile(`(?i)^(authorization|proxy-authorization|cookie)$|auth|token|secret|credential|password|session|api-?key|access-?key`)

// credentials are the lines "Name: value" of a request's headers that carry one: by
// secrets' names where there are any, and as they stand. The header of the
// idempotency key is none.
func credentials(header http.Header, keyHeader string, clean func(string) string) (named, literal []string) {
	for _, name := range plain.SortedKeys(header) {
		if !credentialNames.MatchString(name) || strings.EqualFold(name, keyHeader) {
			continue
		}
		for _, value := range header[name] {
			if known := clean(value); cleanedSecret.MatchString(known) && known != value {
				named = append(named, name+": "+known)
				continue
			}
			literal = append(literal, name+": "+value)
		}
	}
	return named, literal
}

// carryCredentials sets on a look-up what its write carried. What the header has already wins.
func (e *Engine) carryCredentials(header http.Header, q *Request) error {
	own := http.Header{}
	for _, line := range q.Secret {
		name, value, _ := strings.Cut(line, ": ")
		own.Add(name, value)
	}
	for _, line := range q.Auth {
		name, form, _ := strings.Cut(line, ": ")
		if len(header.Values(name)) > 0 {
			continue
		}
		value, err := e.reveal(form, func(secret string) string { return secret })
		if err != nil {
			return err
		}
		own.Add(name, value)
	}
	for name, values := range own {
		if len(header.Values(name)) == 0 {
			header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
	}
	return nil
}

// queryCredentials are names of query parameters that carry credentials.
var queryCredentials = regexp.MustCompile(`(?i)(^|[-_.])(auth|authorization|token|secret|credentials?|password|session|sig|signature)$|token$|secret$|api[-_]?key$|access[-_]?key$|subscription[-_]?key$`)

// carryQuery adds to a look-up's address the parameters of its write's query that carry
// credentials: by their names, or because a secret stands in them. They are for the write's
// origin alone, and a parameter that the address has already wins.
func (e *Engine) carryQuery(at, written string) (string, error) {
	_, query, ok := strings.Cut(written, "?")
	own, err := url.Parse(at)
	if !ok || err != nil || assume.Origin(at) != assume.Origin(written) {
		return at, nil
	}
	query, _, _ = strings.Cut(query, "#")
	for pair := range strings.SplitSeq(query, "&") {
		raw, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(raw)
		if err != nil || own.Query().Has(name) || !queryCredentials.MatchString(name) && !cleanedSecret.MatchString(pair) {
			continue
		}
		if pair, _, err = e.revealURL(pair); err != nil {
			return at, err
		}
		mark := "?"
		if strings.Contains(at, "?") {
			mark = "&"
		}
		at += mark + pair
	}
	return at, nil
}

// packed is what is kept apart of a request, where that is more than its body. It
// follows a zero byte; a body that begins with one is packed too.
type packed struct {
	Secret []string `json:"secret,omitempty"`
	Body   []byte   `json:"body"`
}

func packBody(secret []string, body []byte) []byte {
	if len(secret) == 0 && !bytes.HasPrefix(body, []byte{0}) {
		return body
	}
	return append([]byte{0}, mustJSON(packed{secret, body})...)
}

func unpackBody(kept []byte) (secret []string, body []byte) {
	var p packed
	if !bytes.HasPrefix(kept, []byte{0}) || json.Unmarshal(kept[1:], &p) != nil {
		return nil, kept
	}
	return p.Secret, p.Body
}
