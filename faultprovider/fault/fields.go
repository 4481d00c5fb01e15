package fault

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"faultlab/faultprovider/jsondoc"
)

const (
	aDuration = "a duration"
	from1     = "a number from 1"
	many      = 1 << 30
)

var whiches = []Which{New, Replay, LookUp, Any}

// fields are the members of a fault's JSON, in its order: faults are read, written and explained by them.
func (f *Fault) fields() []jsondoc.Field {
	number := func(name string, at *int, doc string) jsondoc.Field {
		return jsondoc.Field{Name: name, At: at, Low: 1, High: many, Is: from1, Doc: doc, Omit: true}
	}
	return []jsondoc.Field{
		{Name: "name", At: &f.Name, Is: "one of the named faults", Doc: "start as that fault, and say what differs", Omit: true},
		jsondoc.Enum("commit.when", &f.Commit.When, whens, "when the effect enters the ledger; stuck: never, and its key stays in flight for ever"),
		{Name: "commit.after", At: &f.Commit.After, Is: aDuration, Doc: "so long after the request came; goes with before-reply and late", Omit: true},
		jsondoc.Enum("reply.do", &f.Reply.Do, kinds, "what the caller gets"),
		{Name: "reply.status", At: &f.Reply.Status, Low: 301, High: 599, Is: "400 to 599; with redirect 301, 302, 303, 307 or 308",
			Doc: "the status, with status and redirect", Omit: true},
		{Name: "reply.error", At: &f.Reply.Error, Is: "a text", Doc: `the "error" of the body, with status`, Omit: true},
		{Name: "reply.retryAfter", At: &f.Reply.RetryAfter, Is: aDuration, Doc: "the Retry-After header, with status; whole seconds, rounded up", Omit: true},
		{Name: "reply.bytes", At: &f.Reply.Bytes, Low: 1, High: MaxBytes, Is: fmt.Sprintf("1 to %d", MaxBytes),
			Doc: "how much of the body comes, or how large it is; with " + jsondoc.Enum("", new(Kind), sized, "").Is, Omit: true},
		{Name: "reply.slow", At: &f.Reply.Slow, Is: aDuration, Doc: "the answer comes so much later", Omit: true},
		{Name: "reply.drip", At: &f.Reply.Drip, Is: aDuration, Doc: "the body comes one byte at a time, so far apart", Omit: true},
		{Name: "reply.stale", At: &f.Reply.Stale, Is: aDuration, Doc: "a look-up or a read shows the ledger as it was so long ago", Omit: true},
		jsondoc.Enum("on.requests", &f.On.Requests, whiches, "which requests it takes; new unless said"),
		{Name: "on.key", At: &f.On.Key, Is: "a key", Doc: "only requests under this idempotency key", Omit: true},
		{Name: "on.collection", At: &f.On.Collection, Is: "a name", Doc: "only requests of this collection, as jobs", Omit: true},
		{Name: "on.step", At: &f.On.Step, Is: "a step, ~STEP for its compensation", Doc: "only requests of this step of a workflow", Omit: true},
		number("on.attempt", &f.On.Attempt, "only requests of this attempt"),
		number("on.request", &f.On.Request, "only the request of this number in its attempt"),
		number("on.nth", &f.On.Nth, "let the requests before the nth pass"),
		{Name: "on.probability", At: &f.On.Probability, Is: "0 to 1", Doc: "take a matching request with this probability, drawn from --seed", Omit: true},
		{Name: "on.times", At: &f.On.Times, Low: Always, High: many, Is: from1 + ", or -1",
			Doc: "how many requests it takes before it leaves the queue; -1: it stays", Omit: true},
	}
}

// axis is the fields of one axis, by their names within it.
func (f *Fault) axis(name string) []jsondoc.Field {
	var out []jsondoc.Field
	for _, field := range f.fields() {
		if inner, ok := strings.CutPrefix(field.Name, name+"."); ok {
			field.Name = inner
			out = append(out, field)
		}
	}
	return out
}

// Members are the members of a fault's JSON: the name, what it can be, and what it does.
func Members() [][3]string { return jsondoc.Explain(new(Fault).fields()) }

// MarshalJSON writes the name of an alias that was not altered, else an object. ParseList reads both back.
func (f Fault) MarshalJSON() ([]byte, error) {
	f = f.defaults()
	base, isAlias := Named(f.Name)
	if isAlias && f == base {
		return jsondoc.AppendString(nil, f.Name), nil
	}
	out := slices.DeleteFunc(f.fields(), func(field jsondoc.Field) bool {
		switch axis, _, _ := strings.Cut(field.Name, "."); axis {
		case "commit":
			return isAlias && f.Commit == base.Commit
		case "reply":
			return isAlias && f.Reply == base.Reply
		case "on":
			return f.On == base.defaults().On
		}
		return false
	})
	return jsondoc.Write(out)
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
	for _, extra := range []struct {
		name  string
		value time.Duration
	}{
		{"slow", f.Reply.Slow}, {"drip", f.Reply.Drip}, {"stale", f.Reply.Stale},
	} {
		if extra.value != 0 {
			parts = append(parts, extra.name+":"+extra.value.String())
		}
	}
	if f == (Fault{}).defaults() {
		return "none"
	}
	return strings.Join(parts, ",")
}
