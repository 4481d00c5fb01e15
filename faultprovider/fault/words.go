package fault

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
)

// Words says a fault to a person: by its name and what narrows it, or by its three axes.
func (f Fault) Words() string {
	if f.Name != "" {
		return f.Name + f.On.narrowed()
	}
	commits, gets, takes := f.Axes()
	return "commit " + commits + ", " + gets + ", takes " + takes
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
	if f.Reply.Slow > 0 {
		gets += ", " + f.Reply.Slow.String() + " late"
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
