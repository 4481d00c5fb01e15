package fault

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
)

// Words says a fault to a person: a named one by its name and what narrows it, any other by its three axes.
func (f Fault) Words() string {
	if named, ok := Named(f.Name); ok && named.Commit == f.Commit && named.Reply == f.Reply {
		return f.Name + f.On.narrowed()
	}
	commits, gets, takes := f.Axes()
	text := "commit " + commits + ", " + gets + ", takes " + takes
	if f.Name != "" {
		text = f.Name + ": " + text
	}
	return text
}

// Axes says when the effect commits, what the caller gets, and which requests the fault takes.
func (f Fault) Axes() (commits, gets, takes string) {
	commits = map[When]string{BeforeReply: "before the reply", Never: "never", Stuck: "never, and the request never ends", Late: "late"}[cmp.Or(f.Commit.When, BeforeReply)]
	if f.Commit.After > 0 {
		commits += ", " + f.Commit.After.String() + " after the request"
	}
	gets = string(cmp.Or(f.Reply.Do, Normal))
	if f.Reply.Do == Status {
		gets = fmt.Sprintf("status %d", f.Reply.Status)
	}
	if f.Reply.Bytes > 0 {
		gets += " (" + strconv.Itoa(f.Reply.Bytes) + " bytes)"
	}
	if f.Reply.RetryAfter > 0 {
		gets += ", retry after " + f.Reply.RetryAfter.String()
	}
	if f.Reply.Slow > 0 {
		gets += ", " + f.Reply.Slow.String() + " late"
	}
	if f.Reply.Drip > 0 {
		gets += ", a byte each " + f.Reply.Drip.String()
	}
	if f.Reply.Stale > 0 {
		gets += ", as of " + f.Reply.Stale.String() + " ago"
	}
	return commits, gets, string(cmp.Or(f.On.Requests, New)) + " requests" + f.On.narrowed()
}

// narrowed says which of the requests of its kind a fault takes, and how many.
func (on On) narrowed() string {
	out := ""
	if on.Collection != "" {
		out += " on " + on.Collection
	}
	if on.Key != "" {
		out += " under key …" + on.Key[max(0, len(on.Key)-4):]
	}
	if on.Step != "" {
		out += " in step " + on.Step
	}
	if on.Attempt > 0 {
		out += ", attempt " + strconv.Itoa(on.Attempt)
	}
	if on.Request > 0 {
		out += ", request " + strconv.Itoa(on.Request) + " of it"
	}
	if on.Nth > 1 {
		out += ", request " + strconv.Itoa(on.Nth)
	}
	if on.Probability > 0 {
		out += ", each with chance " + strconv.FormatFloat(on.Probability, 'g', 3, 64)
	}
	switch {
	case on.Times == Always:
		out += ", always"
	case on.Times > 1:
		out += ", " + strconv.Itoa(on.Times) + " times"
	}
	return out
}

// Line is a fault as Parse and the fault verb read it: its name, or its composition as JSON.
func (f Fault) Line() string {
	text, _ := json.Marshal(f) // a fault is plain data
	var name string
	if json.Unmarshal(text, &name) == nil {
		return name
	}
	return string(text)
}
