package assume

import (
	"net/url"
	"strings"
)

// LookupURL fills the template for one request: its URL without the query, and its key, encoded for the place
// where it stands (RFC 3986): a path segment, or a value of the query. ok is false where the contract has no
// look-up, or the template wants a key and there is none.
func (c Contract) LookupURL(requestURL, key string) (at string, ok bool) {
	if c.Lookup == "none" || key == "" && strings.Contains(c.Lookup, "{key}") {
		return "", false
	}
	address, ok := c.LookupAddress(requestURL)
	if !ok {
		return "", false
	}
	path, query, _ := strings.Cut(address, "?")
	at = strings.ReplaceAll(path, "{key}", url.PathEscape(key))
	if len(path) < len(address) {
		// A plus sign would be itself in some readers and a space in others.
		at += "?" + strings.ReplaceAll(query, "{key}", strings.ReplaceAll(url.QueryEscape(key), "+", "%20"))
	}
	return at, true
}

// LookupAddress is the template at the origin and collection of one request, with {key} still in it: all look-ups
// that ask there go to the same route. ok is false where the request's URL is none.
func (c Contract) LookupAddress(requestURL string) (address string, ok bool) {
	u, err := url.Parse(requestURL)
	if err != nil {
		return "", false
	}
	u.RawQuery, u.Fragment = "", ""
	switch full := strings.TrimSuffix(u.String(), "/"); {
	case !strings.Contains(c.Lookup, "{origin}"):
		return strings.ReplaceAll(c.Lookup, "{url}", full), true
	default:
		return strings.NewReplacer("{url}", full, "{origin}", Origin(requestURL)).Replace(c.Lookup), true
	}
}

// LookupKey is the key as a look-up names it: the text inside of a structured field string (RFC 9651, 3.3.3)
// where a header carried it so, unless the contract says that it is looked up as it was sent.
func (c Contract) LookupKey(key, header string) string {
	if c.KeyAsSent || header == "" {
		return key
	}
	if text, ok := Unquoted(key); ok {
		return text
	}
	return key
}

// Unquoted reads a structured field string (RFC 9651, 4.2.5); ok is false for any other text.
func Unquoted(s string) (text string, ok bool) {
	if len(s) < 3 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", false
	}
	var out strings.Builder
	for i := 1; i < len(s)-1; i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s)-1 && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
			out.WriteByte(s[i])
		case c == '\\' || c == '"' || c < ' ' || c > '~':
			return "", false
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), true
}
