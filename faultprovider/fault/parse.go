package fault

import (
	"slices"
	"strings"

	"faultlab/faultprovider/jsondoc"
)

// MaxBytes bounds Reply.Bytes: 64 MiB.
const MaxBytes = 64 << 20

// ParseList reads what POST /_test/faults takes: {"faults":[...]}, each a name or an object with the members name,
// commit, reply and on. An object with the name of an alias starts as that alias, and an axis that says its "when", "do"
// or "requests" starts afresh. An empty text, no list and null are an empty list. One problem refuses the whole list; the
// error is a *jsondoc.Error: line:column and one sentence.
func ParseList(text []byte) ([]Fault, error) {
	if strings.TrimSpace(string(text)) == "" {
		return nil, nil
	}
	r, err := jsondoc.Open(text, "member")
	if err != nil {
		return nil, err
	}
	var out []Fault
	if !r.Null("faults") {
		r.Each("faults", func(v jsondoc.Value) { out = append(out, read(r, text, v)) })
	}
	if err := r.Done(); err != nil {
		return nil, err
	}
	return out, nil
}

// Parse reads one fault as a command line gives it: a name, or the JSON of an object.
func Parse(arg string) (Fault, error) {
	if strings.HasPrefix(strings.TrimSpace(arg), "{") {
		text := []byte(arg)
		v, err := jsondoc.Parse(text)
		if err != nil {
			return Fault{}, err
		}
		r, err := jsondoc.OpenValue(text, "member", v)
		if err != nil {
			return Fault{}, err
		}
		f := readObject(r)
		return f, r.Done()
	}
	f, ok := Named(arg)
	if !ok {
		return Fault{}, &UnknownError{arg}
	}
	return f, nil
}

// UnknownError is a name that is no fault's.
type UnknownError struct{ Name string }

// Error offers the names that resemble it, or else all.
func (e *UnknownError) Error() string {
	return `unknown fault "` + e.Name + `"` + jsondoc.HintOrAll(e.Name, "names", Names())
}

// read reads one item of a list.
func read(list *jsondoc.Reader, text []byte, v jsondoc.Value) Fault {
	switch v.Type {
	case jsondoc.String:
		f, ok := Named(v.Text)
		if !ok {
			list.Fail(v.Offset, "%s", &UnknownError{v.Text})
		}
		return f
	case jsondoc.Object:
		r, _ := jsondoc.OpenValue(text, "member", v)
		f := readObject(r)
		list.Merge(r)
		return f
	}
	list.Fail(v.Offset, "a fault is a name or an object, not %s", v.Type)
	return Fault{}
}

// asWord says how an axis is written that somebody wrote as one word.
var asWord = map[string]string{
	"commit": `"commit":{"when":"never"}, where "when" is before-reply, never, late or stuck`,
	"reply":  `"reply":{"do":"reset"} or "reply":{"status":503}`,
	"on":     `"on":{"requests":"replay"}, where "requests" is new, replay, look-up or any`,
}

func readObject(r *jsondoc.Reader) Fault {
	var name string
	r.Read([]jsondoc.Field{{Name: "name", At: &name}})
	f, isAlias := Named(name)
	f.Name = name
	axes := r.Has("commit") || r.Has("reply")
	for axis, way := range asWord {
		if r.Is(axis, jsondoc.String) {
			r.FailAt(axis, "%q is an object: write %s", axis, way)
		}
	}
	r.Within("commit", f.readCommit)
	r.Within("reply", f.readReply)
	r.Within("on", func(r *jsondoc.Reader) {
		if r.Has("requests") {
			f.On = On{}
		}
		r.Read(f.axis("on"))
	})
	switch {
	case !isAlias && !axes && name != "":
		r.FailAt("name", "%s", &UnknownError{name})
	case !isAlias && !axes:
		r.FailAt("name", `a fault needs a "name", or one of "commit" and "reply"`)
	}
	if strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		r.FailAt("name", "a name has no spaces, not %q", name)
	}
	return f.defaults()
}

// defaults spells out what was left empty, so that equal faults are equal values.
func (f Fault) defaults() Fault {
	if f.Commit.When == "" {
		f.Commit.When = BeforeReply
	}
	if f.Reply.Do == "" {
		f.Reply.Do = Normal
	}
	if f.On.Requests == "" {
		f.On.Requests = New
	}
	return f
}

func (f *Fault) readCommit(r *jsondoc.Reader) {
	c := &f.Commit
	if r.Has("when") {
		*c = Commit{}
	}
	r.Read(f.axis("commit"))
	switch {
	case (c.When == Never || c.When == Stuck) && c.After != 0:
		r.FailAt("after", `"after" has no meaning when "when" is %q`, c.When)
	case c.When == Late && c.After == 0:
		r.FailAt("when", `"late" needs "after", a duration such as "30s"`)
	}
}

func (f *Fault) readReply(r *jsondoc.Reader) {
	p := &f.Reply
	if r.Has("do") || r.Has("status") && p.Do != Status && p.Do != Redirect {
		*p = Reply{Do: Status}
	}
	r.Read(f.axis("reply"))
	if p.Do == "" {
		p.Do = Normal
	}
	for _, rule := range replyRules {
		if rule.broken(p, r) {
			r.FailAt(rule.member, rule.msg, p.Do)
			return
		}
	}
}

// replyRules are what the members of a reply must be to each other.
var replyRules = []struct {
	member string // where the error points to
	broken func(p *Reply, r *jsondoc.Reader) bool
	msg    string
}{
	{"do", func(p *Reply, r *jsondoc.Reader) bool { return p.Do == Status && p.Status == 0 && !r.Has("status") }, `%q needs "status", from 400 to 599`},
	{"status", func(p *Reply, _ *jsondoc.Reader) bool { return p.Do == Status && p.Status != 0 && p.Status < 400 }, `the status of an error (%q) is from 400 to 599`},
	{"status", func(p *Reply, _ *jsondoc.Reader) bool {
		return p.Do == Redirect && p.Status != 0 && !slices.Contains(redirects, p.Status)
	}, `a %s has the status 301, 302, 303, 307 or 308`},
	{"do", func(p *Reply, _ *jsondoc.Reader) bool { return p.Status != 0 && p.Do != Status && p.Do != Redirect }, `"status" goes with status and redirect, not with %q`},
	{"do", func(p *Reply, _ *jsondoc.Reader) bool { return p.Do != Status && (p.RetryAfter != 0 || p.Error != "") }, `"error" and "retryAfter" go with status, not with %q`},
	{"bytes", func(p *Reply, _ *jsondoc.Reader) bool { return p.Bytes != 0 && !slices.Contains(sized, p.Do) }, `"bytes" goes with cut, cut-reset, cut-chunked, cut-unframed, too-large and wrong-length, not with %q`},
	{"drip", func(p *Reply, _ *jsondoc.Reader) bool { return p.Drip != 0 && (p.Do == Reset || p.Do == Nothing) }, `"drip" needs an answer, and there is none with %q`},
	{"drip", func(p *Reply, _ *jsondoc.Reader) bool { return p.Drip != 0 && p.Do == TooLarge }, `%q does not drip: it would take for ever`},
	{"slow", func(p *Reply, _ *jsondoc.Reader) bool { return p.Slow != 0 && p.Do == Nothing }, `"slow" needs an answer, and there is none with %q`},
}

var sized = []Kind{Cut, CutReset, CutChunked, CutUnframed, TooLarge, WrongLength}

var redirects = []int{301, 302, 303, 307, 308}
