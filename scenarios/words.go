package scenarios

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// shortKey is a key as a row has room for it: a hash by its last four characters, a long key by its end.
func shortKey(key string) string {
	if r := []rune(key); strings.HasPrefix(key, "sha256:") || len(r) > 24 {
		return "…" + string(r[max(0, len(r)-4):])
	}
	return key
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
