package scenarios

import (
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// shortKey is a key as a row has room for it: a hash by its last four characters, a long key by its end. What would
// look like something else or like nothing, as the accent of a decomposed letter, is written as a code point.
func shortKey(key string) string {
	label := visible(key, false)
	if r := []rune(label); strings.HasPrefix(key, "sha256:") || len(r) > 24 {
		return "…" + string(r[max(0, len(r)-4):])
	}
	return label
}

// label is the row's key. A new one is told apart from one that looks alike: all beyond ASCII is written as code points.
func (r Row) label() string {
	if r.Mark == KeyNew && strings.ContainsFunc(r.Key, func(c rune) bool { return c > unicode.MaxASCII }) {
		return visible(r.Key, true)
	}
	return shortKey(r.Key)
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

// pathOf is the path of a URL, with the key in it made short.
func pathOf(rawURL, key string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return rawURL
	}
	p := u.EscapedPath()
	if p == "" {
		p = "/"
	}
	if key != "" {
		p = strings.Replace(p, url.PathEscape(key), shortKey(key), 1)
	}
	if u.RawQuery != "" {
		p += "?" + u.RawQuery
	}
	return p
}

func isRead(method string) bool { return method == "GET" || method == "HEAD" || method == "OPTIONS" }

// spell writes a duration as a person says it: 1s, 250ms, 1m30s, 24h.
func spell(d time.Duration) string {
	s := d.Round(time.Millisecond).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// span writes a duration as the wire's clock does, in seconds with three decimals.
func span(d time.Duration) string { return fmt.Sprintf("%.3fs", d.Seconds()) }

// count is "1 job", "2 jobs".
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, plural(one))
}

func plural(one string) string {
	switch {
	case strings.HasSuffix(one, "s"), strings.HasSuffix(one, "x"), strings.HasSuffix(one, "ch"):
		return one + "es"
	case strings.HasSuffix(one, "y") && len(one) > 1 && !strings.ContainsRune("aeiou", rune(one[len(one)-2])):
		return one[:len(one)-1] + "ies"
	}
	return one + "s"
}

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
