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
	at, err = e.reveal(raw, func(secret string) string {
		// A plus sign would be a space in a query and itself in a path: this form is the same in both.
		return strings.ReplaceAll(url.QueryEscape(secret), "+", "%20")
	})
	for _, m := range cleanedSecret.FindAllStringSubmatch(raw, -1) {
		if value, err := e.lookupSecret(m[1]); err == nil {
			known.Know(m[1], value)
		}
	}
	return at, known, err
}

// reveal puts the secrets back into a text of the history, each in the given form.
func (e *Engine) reveal(text string, form func(secret string) string) (_ string, err error) {
	text = cleanedSecret.ReplaceAllStringFunc(text, func(named string) string {
		value, missing := e.lookupSecret(cleanedSecret.FindStringSubmatch(named)[1])
		if missing != nil {
			err = missing
		}
		return form(value)
	})
	return text, err
}

// lookupSecret is a secret that a look-up needs.
func (e *Engine) lookupSecret(name string) (string, error) {
	if e.o.Secrets != nil {
		if value, ok := e.o.Secrets(name); ok {
			return value, nil
		}
	}
	return "", &Refused{Why: fmt.Sprintf("the look-up needs the secret %s, which is not set", name)}
}
