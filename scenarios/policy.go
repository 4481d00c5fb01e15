package scenarios

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"faultlab/engine/woml"
	"faultlab/scenarios/lang"
	"faultlab/scenarios/timeline"
)

// policy is what the policy and key verbs changed about the documents that follow.
type policy struct {
	retry map[string]string // attributes of every step, by name; empty: as the document says
	key   string            // where keys come from: "", "run", "business" or "attempt"
}

// policyAttributes are the attributes of a step that the policy verb changes.
var policyAttributes = []string{"retry", "retry-backoff", "retry-delay", "retry-max-delay", "retry-throttled"}

func (b *Bench) actPolicy(l lang.Line) error {
	b.mu.Lock()
	next := b.policy
	b.mu.Unlock()
	next.retry = map[string]string{}
	for _, name := range policyAttributes {
		option := name
		if name == "retry-throttled" { // the word of a scenario
			option = "throttled"
		}
		if l.Has(option) {
			next.retry[name] = l.Opt(option)
		}
	}
	return b.rewrite(l, next)
}

func (b *Bench) actKey(l lang.Line) error {
	b.mu.Lock()
	next := b.policy
	b.mu.Unlock()
	if next.key = l.Arg(0); next.key == "document" {
		next.key = ""
	}
	if next.key == "business" && b.s.Subject == "" {
		return errors.New("a business key is made of the subject, and the scenario declares none")
	}
	return b.rewrite(l, next)
}

// rewrite makes all documents anew from what was loaded. Open runs keep theirs.
func (b *Bench) rewrite(l lang.Line, p policy) error {
	b.mu.Lock()
	docs := b.docs
	b.mu.Unlock()
	made := make([]*woml.Document, len(docs))
	for i, d := range docs {
		b.mu.Lock()
		src := b.sources[d.Workflow.ID]
		b.mu.Unlock()
		var err error
		if made[i], err = p.apply(src, b.s.Subject); err != nil {
			return err
		}
	}
	b.mu.Lock()
	b.policy = p
	b.mu.Unlock()
	b.note(Note{Verb: l.Verb, Text: l.Text})
	for _, d := range made {
		b.use(d)
	}
	return nil
}

// apply is the document with the policy put in.
func (p policy) apply(src, subject string) (*woml.Document, error) {
	d, diags := timeline.Document([]byte(src))
	if d == nil {
		return nil, fmt.Errorf("%s: %s", diags[0].Code, diags[0].Message)
	}
	for i := len(d.Workflow.Steps) - 1; i >= 0; i-- { // from the end: what stands before stays where it is
		s := d.Workflow.Steps[i]
		at := offsetOf(src, s.Line, s.Column)
		head, rest := src[:at], src[at:]
		if p.key != "" {
			rest = strings.Replace(rest, s.Script.Source, keyed(s.Script.Source, p.key, s.ID, subject), 1)
		}
		if len(p.retry) > 0 {
			rest = retried(rest, p.retry)
		}
		src = head + rest
	}
	out, diags := timeline.Document([]byte(src))
	if out == nil {
		return nil, fmt.Errorf("this policy does not fit the document: %s", diags[0].Message)
	}
	return out, nil
}

// offsetOf is the byte at a line and a column in UTF-16 units, both from 1.
func offsetOf(src string, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		at += strings.IndexByte(src[at:], '\n') + 1
	}
	for _, r := range src[at:] {
		if column <= 1 {
			break
		}
		column--
		if r > 0xffff {
			column--
		}
		at += len(string(r))
	}
	return at
}

var policyAttribute = regexp.MustCompile(`\s+retry(-backoff|-delay|-max-delay|-throttled)?\s*=\s*("[^"]*"|'[^']*')`)

// retried is a text that begins with a step's tag, with other retry attributes.
func retried(text string, attributes map[string]string) string {
	end := tagEnd(text)
	tag := policyAttribute.ReplaceAllString(text[:end], "")
	var more strings.Builder
	for _, name := range policyAttributes {
		if v, ok := attributes[name]; ok {
			fmt.Fprintf(&more, " %s=%q", name, v)
		}
	}
	const open = "<step"
	return open + more.String() + strings.TrimPrefix(tag, open) + text[end:]
}

// tagEnd is where the tag at the beginning of a text ends, before its ">".
func tagEnd(text string) int {
	quote := byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i
		}
	}
	return len(text)
}

var idempotencyOption = regexp.MustCompile(`\bidempotency\s*:\s*\{`)
var valueMember = regexp.MustCompile(`\bvalue\s*:`)

// keyed is a script whose requests take their keys from elsewhere.
func keyed(script, strategy, step, subject string) string {
	expr := map[string]string{
		"run":      "attempt.idempotencyKey",
		"attempt":  "crypto.randomUUID()",
		"business": fmt.Sprintf("%q + context.payload.%s", step+":", subject),
	}[strategy]
	var out strings.Builder
	for {
		m := idempotencyOption.FindStringIndex(script)
		if m == nil {
			return out.String() + script
		}
		end := m[1] + closing(script[m[1]:], false)
		object := script[m[1]:end]
		if v := valueMember.FindStringIndex(object); v != nil {
			object = object[:v[1]] + " " + expr + object[v[1]+closing(object[v[1]:], true):]
		}
		out.WriteString(script[:m[1]] + object)
		script = script[end:]
	}
}

// closing is where the bracket that is open at the beginning of a text closes, or
// with comma the first comma at its level. Brackets in strings do not count.
func closing(text string, comma bool) int {
	depth, quote := 0, byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote && text[i-1] != '\\' {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			if depth == 0 {
				return i
			}
			depth--
		case c == ',' && comma && depth == 0:
			return i
		}
	}
	return len(text)
}
