package contract

import (
	"errors"
	"strings"

	"faultlab/faultprovider/jsondoc"
)

// Parse reads a contract file: one JSON object whose members are the knobs. What it does not say is as in the preset
// that "extends" names, by default "seed". An error is a *jsondoc.Error: line:column and one sentence.
func Parse(text []byte) (Contract, error) {
	r, err := jsondoc.Open(text, "field")
	if err != nil {
		return Contract{}, err
	}
	base := "seed"
	r.Text("extends", &base)
	c, ok := Preset(base)
	if !ok {
		r.FailAt("extends", "there is no preset %q%s", base, jsondoc.HintOrAll(base, "presets", Names()))
	}
	if r.Has("extends") {
		c.Name, c.Title = "own", "own rules, made from "+base
	} else {
		c.Name, c.Title = "own", "own rules"
	}
	c.Note, c.Assumptions = "a contract file", nil
	readKnobs(r, &c)
	if err := r.Done(); err != nil {
		return Contract{}, err
	}
	if err := c.Check(); err != nil {
		return Contract{}, atKnob(text, err)
	}
	return c, nil
}

func readKnobs(r *jsondoc.Reader, c *Contract) {
	r.Text("name", &c.Name)
	r.Text("title", &c.Title)
	r.Text("note", &c.Note)
	r.Texts("assumptions", &c.Assumptions)
	r.Within("carrier", func(r *jsondoc.Reader) {
		jsondoc.Enum(r, "in", &c.Carrier.In, places...)
		r.Text("name", &c.Carrier.Name)
		r.Text("firstSent", &c.Carrier.FirstSent)
	})
	r.Within("missing", func(r *jsondoc.Reader) { readRefusal(r, &c.Missing, missingActions) })
	r.Within("key", func(r *jsondoc.Reader) {
		jsondoc.Enum(r, "syntax", &c.Key.Syntax, syntaxes...)
		r.Int("maxLength", &c.Key.MaxLength, 0, 1<<20)
		jsondoc.Enum(r, "charset", &c.Key.Charset, charsets...)
		jsondoc.Enum(r, "overlong", &c.Key.Overlong, overlongs...)
		r.Int("status", &c.Key.Status, 0, 599)
		r.Text("error", &c.Key.Error)
	})
	readScope(r, &c.Scope)
	r.Within("fingerprint", func(r *jsondoc.Reader) {
		jsondoc.Enum(r, "by", &c.Fingerprint.By, bys...)
		r.Texts("fields", &c.Fingerprint.Fields)
	})
	r.Within("mismatch", func(r *jsondoc.Reader) { readRefusal(r, &c.Mismatch, mismatchActions) })
	r.Within("retention", func(r *jsondoc.Reader) {
		r.Duration("for", &c.Retention.For)
		jsondoc.Enum(r, "from", &c.Retention.From, froms...)
		jsondoc.Enum(r, "expired", &c.Retention.Expired, expireds...)
		r.Durations("collections", &c.Retention.Collections)
	})
	r.Texts("store", &c.Store)
	jsondoc.Enum(r, "afterError", &c.AfterError, afterErrors...)
	r.Within("replay", func(r *jsondoc.Reader) {
		jsondoc.Enum(r, "do", &c.Replay.Do, replays...)
		r.Int("status", &c.Replay.Status, 0, 499)
		r.Text("marker", &c.Replay.Marker)
	})
	r.Within("inFlight", func(r *jsondoc.Reader) {
		readRefusal(r, &c.InFlight.Refusal, inFlightActions)
		r.Duration("retryAfter", &c.InFlight.RetryAfter)
		r.Duration("lease", &c.InFlight.Lease)
	})
	r.Within("lookUp", func(r *jsondoc.Reader) {
		jsondoc.Enum(r, "by", &c.LookUp.By, lookUps...)
		r.Text("filter", &c.LookUp.Filter)
		r.Duration("lag", &c.LookUp.Lag)
		r.Within("inFlight", func(r *jsondoc.Reader) { readRefusal(r, &c.LookUp.InFlight, []Action{Reject}) })
	})
	r.Within("hints", func(r *jsondoc.Reader) {
		r.Duration("retryAfter", &c.Hints.RetryAfter)
		r.Text("shouldRetry", &c.Hints.ShouldRetry)
	})
}

func readRefusal(r *jsondoc.Reader, dst *Refusal, actions []Action) {
	jsondoc.Enum(r, "do", &dst.Do, actions...)
	r.Int("status", &dst.Status, 400, 599)
	r.Text("error", &dst.Error)
	if dst.Do != Reject {
		dst.Status, dst.Error = 0, ""
	}
}

// readScope reads ["account","method","route","field:region"].
func readScope(r *jsondoc.Reader, dst *Scope) {
	if r.Has("scope") {
		*dst = Scope{}
	}
	r.Each("scope", func(v jsondoc.Value) {
		field, isField := strings.CutPrefix(v.Text, "field:")
		switch {
		case v.Type != jsondoc.String:
			r.Fail(v.Offset, `"scope" holds strings`)
		case isField && field != "":
			dst.Fields = append(dst.Fields, field)
		case v.Text == "account":
			dst.Account = true
		case v.Text == "method":
			dst.Method = true
		case v.Text == "route":
			dst.Route = true
		default:
			r.Fail(v.Offset, `"scope" holds account, method, route and field:NAME, not %q`, v.Text)
		}
	})
}

// atKnob puts a *KnobError at the knob's place in the text, or at the nearest object around it.
func atKnob(text []byte, err error) error {
	var knob *KnobError
	if !errors.As(err, &knob) {
		return err
	}
	at, parseErr := jsondoc.Parse(text)
	if parseErr != nil {
		return parseErr
	}
	for _, name := range strings.Split(knob.Knob, ".") {
		inner, ok := at.Get(name)
		if !ok {
			break
		}
		at = inner
	}
	line, column := jsondoc.Position(text, at.Offset)
	return &jsondoc.Error{Offset: at.Offset, Line: line, Column: column, Msg: err.Error()}
}

// Read reads the name of a preset, written as a JSON string, or a contract file.
func Read(text []byte) (Contract, error) {
	v, err := jsondoc.Parse(text)
	if err != nil || v.Type != jsondoc.String {
		return Parse(text)
	}
	c, ok := Preset(v.Text)
	if !ok {
		return c, errors.New(`there is no preset "` + v.Text + `"` + jsondoc.HintOrAll(v.Text, "presets", Names()))
	}
	return c, nil
}
