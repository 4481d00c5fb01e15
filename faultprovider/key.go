package faultprovider

import (
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/jsondoc"
)

// keyOf finds the key that a write carries, as sent; "" is none. doc is the body re-serialized.
func keyOf(c *Contract, r *Request, to route, doc []byte) string {
	switch c.Carrier.In {
	case contract.InHeader:
		return header(r.Header, c.Carrier.Name)
	case contract.InBody:
		value, _ := jsondoc.Get(doc, c.Carrier.Name)
		if v, err := jsondoc.Parse(value); err == nil && v.Type == jsondoc.String {
			return v.Text
		}
		if string(value) == "null" {
			return ""
		}
		return string(value)
	case contract.InPath:
		return to.item
	}
	return ""
}

// header is a header's value as Node reads it: several are joined with a comma. What is not UTF-8 is Latin-1, as Node and
// browsers send it.
func header(h http.Header, name string) string {
	values := h.Values(name)
	value := strings.Join(values, ", ")
	if !utf8.ValidString(value) {
		letters := make([]rune, len(value))
		for i := range len(value) {
			letters[i] = rune(value[i])
		}
		value = string(letters)
	}
	return strings.TrimSpace(value)
}

// readKey applies the contract's syntax to a key. why is a sentence if the key breaks it.
func readKey(k *contract.Key, sent string) (key, why string) {
	key = sent
	switch k.Syntax {
	case contract.StructuredString:
		var ok bool
		if key, ok = structuredString(sent); !ok {
			return "", `the key is not a structured field string: write it in double quotes`
		}
	case contract.UUID:
		if !isUUID(sent) {
			return "", "the key is not a UUID"
		}
	}
	if k.Charset == contract.ASCII && strings.ContainsFunc(key, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
		return "", "the key has characters other than ASCII"
	}
	if k.MaxLength > 0 && utf8.RuneCountInString(key) > k.MaxLength {
		if k.Overlong == contract.Truncate {
			return string([]rune(key)[:k.MaxLength]), ""
		}
		return "", "the key is longer than allowed"
	}
	return key, ""
}

// structuredString reads an RFC 8941 string; parameters after it are passed over.
func structuredString(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' {
		return "", false
	}
	var out []byte
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			rest := strings.TrimLeft(s[i+1:], " ")
			return string(out), rest == "" || rest[0] == ';'
		case c == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
			out = append(out, s[i])
		case c == '\\' || c < 0x20 || c > 0x7e:
			return "", false
		default:
			out = append(out, c)
		}
	}
	return "", false
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i] | 0x20
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (s[i] == '-') || !dash && !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return true
}

// firstSent reads the time of the client's first attempt.
func firstSent(c *Contract, r *Request) (time.Time, bool) {
	at, err := http.ParseTime(header(r.Header, c.Carrier.FirstSent))
	return at, err == nil
}
