package timeline

import (
	"net/url"
	"strings"
	"unicode"

	"faultlab/engine/plain"
	"faultlab/faultprovider"
)

// ShortKey is a key as a row has room for it: a hash by its last four characters, a long key by its end. What would
// look like something else or like nothing, as the accent of a decomposed letter, is written as a code point.
func ShortKey(key string) string {
	label := visible(key, false)
	if r := []rune(label); strings.HasPrefix(key, "sha256:") || len(r) > 24 {
		return "…" + string(r[max(0, len(r)-4):])
	}
	return label
}

// visible writes a key so that different keys look different: combining marks and what cannot be seen as code points, or
// everything beyond ASCII.
func visible(key string, all bool) string {
	ascii := func(c rune) bool { return c >= ' ' && c < unicode.MaxASCII }
	var out strings.Builder
	for _, c := range key {
		if ascii(c) || !all && unicode.IsPrint(c) && !unicode.Is(unicode.M, c) {
			out.WriteRune(c)
		} else {
			out.WriteString(plain.EscapeRune(c))
		}
	}
	return out.String()
}

// PathOf is the path of a URL, with the key in it made short.
func PathOf(rawURL, key string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return rawURL
	}
	p := u.EscapedPath()
	if p == "" {
		p = "/"
	}
	if key != "" {
		p = strings.Replace(p, url.PathEscape(key), ShortKey(key), 1)
	}
	if u.RawQuery != "" {
		p += "?" + u.RawQuery
	}
	return p
}

func isRead(method string) bool { return method == "GET" || method == "HEAD" || method == "OPTIONS" }

// Noun is what one record of a request's collection is called: "charge" of POST http://127.0.0.1:4040/v1/charges; "" of
// an address without a path.
func Noun(method, rawURL, key string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	collection := faultprovider.CollectionOf(method, u.EscapedPath(), key)
	if collection == "" {
		return ""
	}
	return plain.Singular(collection)
}
