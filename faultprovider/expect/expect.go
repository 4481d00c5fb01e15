// Package expect has what can be expected of a provider alone: its effects, the requests that reached it, the keys that
// they sent, the lines of its log, and bursts. Scenarios, commands and tests count with it; how an expectation is written
// is theirs.
package expect

import (
	"slices"
	"strings"
	"time"

	"faultlab/faultprovider"
)

// Where chooses requests or effects. What is empty chooses all.
type Where struct {
	Method     string
	Path       string // a query counts where the path names one
	Collection string
	Key        string // the idempotency key
}

// Requests are the arrivals in a provider's log, in order, each with its key as the provider read it.
func Requests(log []faultprovider.Entry) (out []faultprovider.Entry) {
	at := map[int64]int{} // by ordinal of the request
	for _, e := range log {
		i, ok := at[e.Request]
		switch {
		case e.Kind == faultprovider.Received:
			at[e.Request] = len(out)
			out = append(out, e)
		case ok && out[i].Key == "":
			out[i].Key = e.Key // it is read when the provider decides
		}
	}
	return out
}

// Request reports whether a request is chosen.
func (w Where) Request(e faultprovider.Entry) bool {
	path := e.Path
	if !strings.Contains(w.Path, "?") {
		path, _, _ = strings.Cut(path, "?")
	}
	return (w.Method == "" || strings.EqualFold(w.Method, e.Method)) && (w.Path == "" || w.Path == path) && (w.Key == "" || w.Key == e.Key) &&
		(w.Collection == "" || w.Collection == e.Collection)
}

// Effect reports whether an effect is chosen. Its path and method are its request's: they choose nothing here.
func (w Where) Effect(e faultprovider.Effect) bool {
	return (w.Collection == "" || w.Collection == e.Collection) && (w.Key == "" || w.Key == e.Key)
}

// Keys are the keys that requests sent, each once, in order of first use.
func Keys(requests []faultprovider.Entry) (keys []string) {
	for _, r := range requests {
		if r.Key != "" && !slices.Contains(keys, r.Key) {
			keys = append(keys, r.Key)
		}
	}
	return keys
}

// Lines are the decisions in a log as the provider prints them.
func Lines(log []faultprovider.Entry) (lines []string) {
	for _, e := range log {
		if line := e.Text(); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// Peak is the largest number of moments, in any order, that lie within a span of the given length, both its ends included.
func Peak(moments []time.Time, span time.Duration) (most int) {
	at := slices.SortedFunc(slices.Values(moments), time.Time.Compare)
	first := 0
	for last := range at {
		for at[last].Sub(at[first]) > span {
			first++
		}
		most = max(most, last-first+1)
	}
	return most
}
