package timeline

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
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
	plain := func(c rune) bool { return c >= ' ' && c < unicode.MaxASCII }
	if !strings.ContainsFunc(key, func(c rune) bool { return !plain(c) }) {
		return key
	}
	var out strings.Builder
	for _, c := range key {
		if plain(c) || !all && unicode.IsPrint(c) && !unicode.Is(unicode.M, c) {
			out.WriteRune(c)
		} else {
			fmt.Fprintf(&out, "\\u{%x}", c)
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

// singular undoes plural: the name of one record of a collection.
func singular(collection string) string {
	switch {
	case strings.HasSuffix(collection, "ies"):
		return collection[:len(collection)-3] + "y"
	case strings.HasSuffix(collection, "sses"), strings.HasSuffix(collection, "xes"), strings.HasSuffix(collection, "ches"):
		return collection[:len(collection)-2]
	case strings.HasSuffix(collection, "s") && !strings.HasSuffix(collection, "ss"):
		return collection[:len(collection)-1]
	case collection == "":
		return "record"
	}
	return collection
}

// nounOf is what one record of a request's collection is called: "job" of http://127.0.0.1:4040/jobs.
func nounOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	if name == "" {
		return ""
	}
	return singular(name)
}
