package fault

import (
	"encoding/json"
	"fmt"
	"strings"
)

type object struct {
	Name   string        `json:"name,omitempty"`
	Commit *objectCommit `json:"commit,omitempty"`
	Reply  *objectReply  `json:"reply,omitempty"`
	On     *objectOn     `json:"on,omitempty"`
}

type objectCommit struct {
	When  When   `json:"when"`
	After string `json:"after,omitempty"`
}

type objectReply struct {
	Do         Kind   `json:"do"`
	Status     int    `json:"status,omitempty"`
	Error      string `json:"error,omitempty"`
	RetryAfter string `json:"retryAfter,omitempty"`
	Bytes      int    `json:"bytes,omitempty"`
	Slow       string `json:"slow,omitempty"`
	Drip       string `json:"drip,omitempty"`
	Stale      string `json:"stale,omitempty"`
}

type objectOn struct {
	Requests    Which   `json:"requests"`
	Key         string  `json:"key,omitempty"`
	Collection  string  `json:"collection,omitempty"`
	Step        string  `json:"step,omitempty"`
	Attempt     int     `json:"attempt,omitempty"`
	Request     int     `json:"request,omitempty"`
	Nth         int     `json:"nth,omitempty"`
	Probability float64 `json:"probability,omitempty"`
	Times       int     `json:"times,omitempty"`
}

// MarshalJSON writes the name of an alias that was not altered, else an object. ParseList reads both back.
func (f Fault) MarshalJSON() ([]byte, error) {
	f = f.defaults()
	base, isAlias := Named(f.Name)
	if isAlias && f == base {
		return json.Marshal(f.Name)
	}
	out := object{Name: f.Name}
	if f.Commit != base.Commit || !isAlias {
		out.Commit = &objectCommit{f.Commit.When, span(f.Commit.After)}
	}
	if r := f.Reply; r != base.Reply || !isAlias {
		out.Reply = &objectReply{r.Do, r.Status, r.Error, span(r.RetryAfter), r.Bytes, span(r.Slow), span(r.Drip), span(r.Stale)}
	}
	if f.On != base.defaults().On {
		on := objectOn(f.On)
		out.On = &on
	}
	return json.Marshal(out)
}

func span(d interface {
	String() string
	Nanoseconds() int64
}) string {
	if d.Nanoseconds() == 0 {
		return ""
	}
	return d.String()
}

// String is what the log calls the fault: its name, or its composition without spaces.
func (f Fault) String() string {
	if f.Name != "" {
		return f.Name
	}
	if f == (Fault{}) {
		return "none"
	}
	f = f.defaults()
	parts := []string{"commit:" + string(f.Commit.When)}
	if f.Commit.After > 0 {
		parts[0] += "+" + f.Commit.After.String()
	}
	reply := "reply:" + string(f.Reply.Do)
	if f.Reply.Do == Status {
		reply = fmt.Sprintf("reply:%d", f.Reply.Status)
	}
	parts = append(parts, reply)
	for _, extra := range []struct{ name, value string }{
		{"slow", span(f.Reply.Slow)}, {"drip", span(f.Reply.Drip)}, {"stale", span(f.Reply.Stale)},
	} {
		if extra.value != "" {
			parts = append(parts, extra.name+":"+extra.value)
		}
	}
	if f == (Fault{}).defaults() {
		return "none"
	}
	return strings.Join(parts, ",")
}
