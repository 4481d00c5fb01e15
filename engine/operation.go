package engine

import (
	"slices"
	"strconv"
	"strings"
)

// Operation is one write of a step within one run, over all attempts and keys: an
// invoice and a payment in one step are two. Two calls are the same write if method
// and path agree and
//
//   - the body does, and nothing had proved the write done when the later call was
//     sent: a script that catches and sends again, under whatever name or key, or
//   - in another attempt, the name and the place among the writes of that name do:
//     a script that sends another body or key when it tries again.
//
// A local write is an operation too. A step that sent no write has one without calls.
type Operation struct {
	Step  string
	Undo  bool   // it is of the step's compensation
	Write string // the call's name, or "POST /invoices"; " #2" and so on where the step has several alike; empty where it has none
	Calls []*Call
}

// Operations are the operations of a step, in the order in which they began.
func (r *Run) Operations(s *Step) []*Operation {
	var out []*Operation
	for _, a := range s.Attempts {
		for _, c := range a.Calls {
			if c.Effect == Read {
				continue
			}
			i := slices.IndexFunc(out, func(o *Operation) bool { return o.Write == c.Write })
			if i < 0 {
				i = len(out)
				out = append(out, &Operation{Step: s.ID, Undo: s.Undo, Write: c.Write})
			}
			out[i].Calls = append(out[i].Calls, c)
		}
	}
	if len(out) == 0 {
		return []*Operation{{Step: s.ID, Undo: s.Undo}}
	}
	return out
}

// OperationOf is the operation that a call belongs to; nil for a read and for a call that is not of this run.
func (r *Run) OperationOf(c *Call) *Operation {
	s := r.StepAt(c.Step, c.Undo)
	if s == nil || c.Effect == Read {
		return nil
	}
	for _, o := range r.Operations(s) {
		if o.Write == c.Write {
			return o
		}
	}
	return nil
}

// writeOf names the write of the step that a call belongs to which begins in the
// attempt a. It is asked once, when the call begins: what is proved later changes no name.
func (s *Step) writeOf(a *Attempt, c *Call) string {
	if c.Effect == Read {
		return ""
	}
	for _, o := range slices.Backward(a.Calls) {
		if o.alike(c) && o.content() == c.content() && !s.proved(o.Write) {
			return o.Write
		}
	}
	place := len(a.writesAlike(c))
	var byContent, byPlace string
	for _, other := range slices.Backward(s.Attempts) {
		if other == a {
			continue
		}
		writes := other.writesAlike(c)
		if place < len(writes) && byPlace == "" {
			byPlace = writes[place]
		}
		for _, o := range other.Calls {
			if !o.alike(c) || o.content() != c.content() {
				continue
			}
			if place < len(writes) && writes[place] == o.Write {
				return o.Write
			}
			if byContent == "" && (o.Key != "" && o.Key == c.Key || !s.proved(o.Write)) {
				byContent = o.Write
			}
		}
	}
	switch {
	case byContent != "":
		return byContent
	case byPlace != "":
		return byPlace
	}
	return s.newWrite(c)
}

// writesAlike are the writes that an attempt made at a call's method and path under its name, each once.
func (a *Attempt) writesAlike(c *Call) (writes []string) {
	for _, o := range a.Calls {
		if o.Name == c.Name && o.alike(c) && !slices.Contains(writes, o.Write) {
			writes = append(writes, o.Write)
		}
	}
	return writes
}

// newWrite is a name for a write that the step has not made before.
func (s *Step) newWrite(c *Call) string {
	base := c.Name
	if base == "" {
		base = c.Route()
	}
	for n, name := 2, base; ; n++ {
		if !s.has(name) {
			return name
		}
		name = base + " #" + strconv.Itoa(n)
	}
}

func (s *Step) has(write string) bool {
	return s.someCall(func(c *Call) bool { return c.Effect != Read && c.Write == write })
}

// proved reports whether any call of a write is proved done.
func (s *Step) proved(write string) bool {
	return s.someCall(func(c *Call) bool { return c.Write == write && c.proof() == FoundDone })
}

func (s *Step) someCall(is func(*Call) bool) bool {
	return slices.ContainsFunc(s.Attempts, func(a *Attempt) bool { return slices.ContainsFunc(a.Calls, is) })
}

// alike reports whether two writes go to one method and path.
func (c *Call) alike(o *Call) bool {
	return c.Effect != Read && o.Effect != Read && c.Route() == o.Route()
}

// content is what two calls of the same write have in common; histories of before it was kept have the digest of the whole input.
func (c *Call) content() string {
	if c.Content != "" {
		return c.Content
	}
	return c.Digest
}

// Route is the method and path of an HTTP call, as "POST /invoices", without origin
// and query; of another call it is what it was called for, as "db.execute".
func (c *Call) Route() string {
	method, address, ok := strings.Cut(c.Target, " ")
	_, rest, absolute := strings.Cut(address, "://")
	if !ok || !absolute {
		return c.Target
	}
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	path := "/"
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		path = rest[i:]
	}
	return method + " " + path
}
