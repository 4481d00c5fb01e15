package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"faultlab/engine/plain"
)

// appendFact writes the facts that every run has, as encoding/json would by their
// tags: reflection costs more than the rest of an append. ok is false for the others.
func appendFact(b []byte, f Fact) (_ []byte, ok bool, err error) {
	o := object{text: append(b, '{')}
	switch f := f.(type) {
	case Admitted:
		o.admitted(f)
	case Started:
	case AttemptStarted:
		o.pos(f.Pos)
		o.number("max", int64(f.Max))
		o.string("key", f.Key)
		o.optional("by", f.By)
	case CallStarted:
		o.callStarted(f)
	case RequestSent:
		o.pos(f.Pos)
		o.string("id", f.ID)
		o.string("m", f.Method)
		o.string("url", f.URL)
		o.optional("key", f.Key)
		o.optional("pk", f.Plain)
		o.optional("h", f.Header)
		o.flag("sh", f.Shared)
		o.lines("auth", f.Auth)
	case RequestEnded:
		o.pos(f.Pos)
		o.nonzero("st", int64(f.Status))
		o.flag("b", f.Began)
		o.optional("e", f.Error)
		o.optional("gu", string(f.GaveUp))
		o.optional("br", string(f.Broke))
	case CallEnded:
		o.callEnded(f)
	case AttemptEnded:
		o.attemptEnded(f)
	case Ended:
		o.string("status", string(f.Status))
		o.flag("rec", f.Reconcile)
		o.optional("step", f.Step)
		o.optional("code", f.Code)
		o.optional("msg", f.Message)
		o.list("stands", f.Stands)
		if f.Waits != nil {
			raw, err := encodeJSON(f.Waits)
			o.err = errors.Join(o.err, err)
			o.json("waits", raw)
		}
	default:
		return b, false, nil
	}
	return append(o.text, '}'), true, o.err
}

func (o *object) admitted(f Admitted) {
	o.string("workflow", f.Workflow)
	o.string("def", f.Definition)
	o.optional("assume", f.Assume)
	o.string("trigger", f.Trigger)
	o.optional("dkey", f.Delivery)
	o.optional("digest", f.Digest)
	o.json("payload", f.Payload)
	o.number("seed", f.Seed)
	o.optional("folder", f.Folder)
	if f.Parent != nil {
		raw, err := encodeJSON(f.Parent)
		o.err = errors.Join(o.err, err)
		o.json("parent", raw)
	}
	o.optional("rerun", f.RerunOf)
	o.optional("inbox", f.Inbox)
}

func (o *object) callStarted(f CallStarted) {
	o.pos(f.Pos)
	o.string("svc", f.Service)
	o.string("op", f.Operation)
	o.optional("name", f.Name)
	o.string("effect", string(f.Effect))
	o.optional("key", f.Key)
	o.optional("target", f.Target)
	o.optional("digest", f.Digest)
	o.optional("file", f.File)
	o.optional("unmarked", f.Unmarked)
	o.optional("write", f.Write)
	o.optional("content", f.Content)
}

func (o *object) callEnded(f CallEnded) {
	o.pos(f.Pos)
	o.string("how", string(f.How))
	o.optional("f", string(f.Finding))
	o.optional("n", string(f.Next))
	o.nonzero("st", int64(f.Status))
	o.nonzero("ra", int64(f.RetryAfter))
	o.optional("code", f.Code)
	o.optional("msg", f.Message)
	o.flag("replay", f.Replay)
	o.optional("child", f.Child)
	if len(f.Readings) > 0 {
		raw, err := encodeJSON(f.Readings)
		o.err = errors.Join(o.err, err)
		o.json("reads", raw)
	}
	if f.From != (Pos{}) {
		raw, err := encodeJSON(f.From)
		o.err = errors.Join(o.err, err)
		o.json("from", raw)
	}
	o.nonzero("rows", f.Rows)
}

func (o *object) attemptEnded(f AttemptEnded) {
	o.pos(f.Pos)
	o.string("outcome", string(f.Outcome))
	o.string("next", string(f.Next))
	o.time("due", f.Due)
	o.optional("code", f.Code)
	o.optional("msg", f.Message)
	o.optional("why", f.Reason)
	o.optional("by", f.By)
	o.json("result", f.Result)
}

// object is a JSON object on its way: what is empty and may be left out is.
type object struct {
	text []byte
	err  error
}

func (o *object) name(n string) {
	if o.text[len(o.text)-1] != '{' {
		o.text = append(o.text, ',')
	}
	o.text = append(append(append(o.text, '"'), n...), '"', ':')
}

func (o *object) pos(p Pos) {
	o.optional("s", p.Step)
	o.flag("u", p.Undo)
	o.nonzero("a", int64(p.Attempt))
	o.nonzero("c", int64(p.Call))
	o.nonzero("r", int64(p.Request))
}

func (o *object) string(name, s string) {
	o.name(name)
	o.quote(s)
}

func (o *object) quote(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' { // encoding/json knows how each of them is written
			raw, err := encodeJSON(s)
			o.text, o.err = append(o.text, raw...), errors.Join(o.err, err)
			return
		}
	}
	o.text = append(append(append(o.text, '"'), s...), '"')
}

func (o *object) optional(name, s string) {
	if s != "" {
		o.string(name, s)
	}
}

func (o *object) list(name string, items []string) {
	if len(items) == 0 {
		return
	}
	o.name(name)
	for i, item := range items {
		o.text = append(o.text, "[,"[min(i, 1)])
		o.quote(item)
	}
	o.text = append(o.text, ']')
}

func (o *object) number(name string, n int64) {
	o.name(name)
	o.text = strconv.AppendInt(o.text, n, 10)
}

func (o *object) nonzero(name string, n int64) {
	if n != 0 {
		o.number(name, n)
	}
}

func (o *object) bool(name string, on bool) {
	o.name(name)
	o.text = strconv.AppendBool(o.text, on)
}

func (o *object) flag(name string, on bool) {
	if on {
		o.bool(name, true)
	}
}

// lines writes a list of texts, unless it is empty.
func (o *object) lines(name string, list []string) {
	if len(list) == 0 {
		return
	}
	o.name(name)
	for i, s := range list {
		o.text = append(o.text, "[,"[min(i, 1)])
		o.quote(s)
	}
	o.text = append(o.text, ']')
}

// texts writes an object of texts, its members sorted.
func (o *object) texts(name string, m map[string]string) {
	o.name(name)
	o.text = append(o.text, '{')
	for i, k := range plain.SortedKeys(m) {
		if i > 0 {
			o.text = append(o.text, ',')
		}
		o.quote(k)
		o.text = append(o.text, ':')
		o.quote(m[k])
	}
	o.text = append(o.text, '}')
}

func (o *object) time(name string, t time.Time) {
	if !t.IsZero() {
		raw, err := t.MarshalJSON()
		o.err = errors.Join(o.err, err)
		o.name(name)
		o.text = append(o.text, raw...)
	}
}

func (o *object) json(name string, raw json.RawMessage) {
	if len(raw) == 0 {
		return
	}
	o.name(name)
	tight := bytes.NewBuffer(o.text)
	o.err = errors.Join(o.err, json.Compact(tight, raw))
	o.text = tight.Bytes()
}
