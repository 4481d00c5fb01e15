package engine

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"faultlab/engine/script"
)

// Secrets are used and never written down: what a script was given of them stands in
// the history as "[secret NAME]", and is put back where a look-up needs the address.
// Headers are not kept at all. What a script itself puts into its result, a payload
// or a body is data like any other.

// Secret implements script.Host.
func (h *host) Secret(name string) (string, bool) {
	if h.e.o.Secrets == nil {
		return "", false
	}
	value, ok := h.e.o.Secrets(name)
	if ok {
		h.mu.Lock()
		h.secrets.Know(name, value)
		h.mu.Unlock()
	}
	return value, ok
}

// clean is a text as it may be written down and shown.
func (h *host) clean(text string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.secrets.Clean(text)
}

// cleanURL is an address as it may be written down: its origin stays, for the
// assumed contract is found by it.
func (h *host) cleanURL(raw string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return cleanURL(&h.secrets, raw)
}

func cleanURL(secrets *script.Redactor, raw string) string {
	_, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return secrets.Clean(raw)
	}
	path := len(raw)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		path -= len(rest) - i
	}
	return raw[:path] + secrets.Clean(raw[path:])
}

var cleanedSecret = regexp.MustCompile(`\[secret ([^\]]+)\]`)

// revealURL puts the secrets back into an address of the history. What it is given
// to know cleans it again.
func (e *Engine) revealURL(raw string) (at string, known *script.Redactor, err error) {
	known = &script.Redactor{}
	at = cleanedSecret.ReplaceAllStringFunc(raw, func(form string) string {
		name := cleanedSecret.FindStringSubmatch(form)[1]
		value, there := "", false
		if e.o.Secrets != nil {
			value, there = e.o.Secrets(name)
		}
		if !there {
			err = &Refused{Why: fmt.Sprintf("the look-up needs the secret %s, which is not set", name)}
		}
		known.Know(name, value)
		// A plus sign would be a space in a query and itself in a path: this form is the same in both.
		return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
	})
	return at, known, err
}
