package woml

import (
	"fmt"
	"slices"
	"time"
)

// steps checks <steps>.
func (c *checker) steps(e *element) (steps []Step) {
	children := c.elements(e)
	if len(children) == 0 && len(e.children) == 0 {
		c.fail(e.start, "WOML_EMPTY_STEPS", "<steps> has no step.", `Add <step id="..."> with a <script>.`)
	}
	ids := map[string]bool{}
	for _, child := range children {
		switch {
		case child.name == "step":
			steps = append(steps, c.step(child, ids))
		case runs(child.name):
			c.misplaced(child, "steps", "Put <step> elements there, and nothing else.")
		}
	}
	return steps
}

// step checks one step: id, operation, script, retry, name and description.
func (c *checker) step(e *element, ids map[string]bool) (s Step) {
	s.Line, s.Column = c.position(e.start)
	s.ID = c.id(e, partID)
	c.uniqueID(e, ids, s.ID, "WOML_DUPLICATE_ID", "steps")
	script, compensate := c.operation(e)
	var found, foundInverse *analysis
	if script != nil {
		s.Script, found = c.script(script)
	}
	if compensate != nil {
		s.Compensate = &Compensate{}
		children := c.elements(compensate)
		if inverse := c.onlyScript(compensate, children, true, "WOML_COMPENSATE_INVALID", "Put all of the inverse into one script."); inverse != nil {
			s.Compensate.Script, foundInverse = c.script(inverse)
		}
	}
	s.Retry = c.retry(e)
	c.advise(found, s.Retry)
	if compensate != nil {
		s.Compensate.Retry = c.retry(compensate)
		c.advise(foundInverse, s.Compensate.Retry)
	}
	s.Name, s.Description = c.metadata(e, "name"), c.metadata(e, "description")
	return s
}

// operation finds the one <script> of a step and its <compensate>, if any.
func (c *checker) operation(e *element) (script, compensate *element) {
	var operations []*element
	complete := true
	for _, child := range c.elements(e) {
		switch {
		case child.name == "compensate" && compensate == nil:
			compensate = child
		case child.name == "compensate":
			c.fail(child.start, "WOML_COMPENSATE_INVALID", "<step> has a second <compensate>.", "Put all of the inverse into one.")
		case runs(child.name):
			operations = append(operations, child)
		default:
			complete = false // reported already: it may have been meant as the operation
		}
	}
	script = c.onlyScript(e, operations, complete, "WOML_STEP_OPERATION_COUNT", "Make it one script, or several steps.")
	if i := slices.IndexFunc(operations, isScript); script == nil && i >= 0 {
		script = operations[i]
	}
	return script, compensate
}

// onlyScript returns the one <script> in an element, and reports if there is anything else, or nothing although children
// are complete.
func (c *checker) onlyScript(e *element, children []*element, complete bool, code, hint string) *element {
	if len(children) == 1 && isScript(children[0]) {
		return children[0]
	}
	at, holds := e.start, "nothing"
	if n := len(children); n > 0 {
		at, holds = children[min(1, n-1)].start, fmt.Sprintf("%d elements", n)
		if n == 1 {
			holds = "<" + children[0].name + ">"
		}
	}
	if complete || len(children) > 0 {
		c.fail(at, code, fmt.Sprintf("<%s> must hold one <script>; this one holds %s.", e.name, holds), hint)
	}
	return nil
}

func isScript(e *element) bool { return e.name == "script" }

// retry reads the retry policy of a step or a compensation.
func (c *checker) retry(e *element) Retry {
	r := Retry{Max: 1, Backoff: "exponential", Delay: time.Second, MaxDelay: 30 * time.Second}
	var ok bool
	if r.Max, ok = c.number(e, "retry", 1, maxAttempts); !ok {
		return r
	}
	if r.Throttled, ok = c.number(e, "retry-throttled", 0, throttled); !ok {
		return r
	}
	if r.Max > 1 || r.Throttled > 0 {
		c.backoff(e, &r)
		return r
	}
	for _, name := range retryAttributes[1:] {
		if a := e.attribute(name); a != nil {
			c.fail(a.start, "WOML_RETRY_BACKOFF_REQUIRES_RETRY", fmt.Sprintf("Attribute %q means nothing where there is no second attempt.", name),
				fmt.Sprintf(`Add retry="3" to <%s>, or remove it.`, e.name))
		}
	}
	return r
}

// backoff reads how long to wait between attempts.
func (c *checker) backoff(e *element, r *Retry) {
	if a := e.attribute("retry-backoff"); a != nil {
		r.Backoff = a.value
		c.formed(a, backoff)
	}
	var delayed, limited bool
	r.Delay, delayed = c.period(e, "retry-delay", r.Delay, maxRetryDelay, "WOML_RETRY_DELAY_INVALID")
	r.MaxDelay = max(r.MaxDelay, r.Delay)
	a := e.attribute("retry-max-delay")
	if a == nil {
		return
	}
	if r.Backoff == "fixed" {
		c.fail(a.start, "WOML_RETRY_MAX_DELAY_NOT_ALLOWED", "A fixed delay never grows, so it has no maximum.",
			`Remove retry-max-delay, or write retry-backoff="exponential".`)
		return
	}
	r.MaxDelay, limited = c.period(e, "retry-max-delay", r.MaxDelay, maxRetryDelay, "WOML_RETRY_MAX_DELAY_INVALID")
	if limited && delayed && r.MaxDelay < r.Delay {
		c.fail(a.valueStart, "WOML_RETRY_MAX_DELAY_INVALID", fmt.Sprintf("The maximum delay %s is shorter than the first delay, %s.", a.value, r.Delay),
			"Make retry-max-delay at least as long as retry-delay.")
	}
}
