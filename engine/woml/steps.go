package woml

import (
	"fmt"
	"slices"
	"time"
)

const (
	maxAttempts     = 10
	maxRetryDelay   = 24 * time.Hour
	defaultDelay    = time.Second
	defaultMaxDelay = 30 * time.Second
)

// steps checks <steps>.
func (c *checker) steps(e *element) []Step {
	children := c.elements(e)
	if len(children) == 0 && len(e.children) == 0 {
		c.fail(e.start, codeEmptySteps, "<steps> has no step.", `Add <step id="..."> with a <script>.`)
	}
	ids := map[string]bool{}
	var steps []Step
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
	s.ID = c.id(e)
	if ids[s.ID] && s.ID != "" {
		c.fail(e.attribute("id").valueStart, codeDuplicateID, fmt.Sprintf("Two steps have the id %s.", excerpt(s.ID)), "Give this one another id.")
	}
	ids[s.ID] = true
	script, compensate := c.operation(e)
	var found, foundInverse *analysis
	if script != nil {
		s.Script, found = c.script(script)
	}
	if compensate != nil {
		s.Compensate = &Compensate{}
		if inverse := c.inverse(compensate); inverse != nil {
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
			c.fail(child.start, codeCompensateInvalid, "<step> has a second <compensate>.", "Put all of the inverse into one.")
		case runs(child.name):
			operations = append(operations, child)
		default:
			complete = false // reported already: it may have been meant as the operation
		}
	}
	if len(operations) == 1 && operations[0].name == "script" {
		return operations[0], compensate
	}
	at := e.start
	if len(operations) > 0 {
		at = operations[min(1, len(operations)-1)].start
	}
	if complete || len(operations) > 0 {
		c.fail(at, codeStepOperationCount, fmt.Sprintf("<step> must hold one <script>; this one holds %s.", listed(operations)),
			"Make it one script, or several steps.")
	}
	if i := slices.IndexFunc(operations, isScript); i >= 0 {
		return operations[i], compensate
	}
	return nil, compensate
}

// inverse finds the one <script> of a <compensate>.
func (c *checker) inverse(e *element) *element {
	children := c.elements(e)
	if len(children) == 1 && isScript(children[0]) {
		return children[0]
	}
	at := e.start
	if len(children) > 0 {
		at = children[min(1, len(children)-1)].start
	}
	c.fail(at, codeCompensateInvalid, fmt.Sprintf("<compensate> must hold one <script>; this one holds %s.", listed(children)),
		"Put all of the inverse into one script.")
	return nil
}

func isScript(e *element) bool { return e.name == "script" }

// listed names a few elements for a message.
func listed(elements []*element) string {
	switch len(elements) {
	case 0:
		return "nothing"
	case 1:
		return "<" + elements[0].name + ">"
	}
	return fmt.Sprintf("%d elements", len(elements))
}

// maxThrottled bounds the attempts that a 429 makes free.
const maxThrottled = 100

// retry reads the retry policy of a step or a compensation.
func (c *checker) retry(e *element) Retry {
	r := Retry{Max: 1, Backoff: "exponential", Delay: defaultDelay, MaxDelay: defaultMaxDelay}
	if a := e.attribute("retry"); a != nil {
		if r.Max = count(a.value); r.Max < 1 || r.Max > maxAttempts {
			c.fail(a.valueStart, codeRetryInvalid, fmt.Sprintf("Retry %s is not a whole number from 1 to %d.", excerpt(a.value), maxAttempts),
				"It is the number of attempts in all: 3 means at most two more after the first.")
			return r
		}
	}
	if a := e.attribute("retry-throttled"); a != nil {
		if r.Throttled = count(a.value); r.Throttled > maxThrottled || r.Throttled < 1 && a.value != "0" {
			c.fail(a.valueStart, codeRetryInvalid, fmt.Sprintf("%s is not a whole number from 0 to %d.", excerpt(a.value), maxThrottled),
				"It is the number of attempts answered with 429 that do not count towards retry.")
			return r
		}
	}
	if r.Max > 1 || r.Throttled > 0 {
		c.backoff(e, &r)
		return r
	}
	for _, name := range retryAttributes[1:] {
		if a := e.attribute(name); a != nil {
			c.fail(a.start, codeRetryBackoffRequires, fmt.Sprintf("Attribute %q means nothing where there is no second attempt.", name),
				fmt.Sprintf(`Add retry="3" to <%s>, or remove it.`, e.name))
		}
	}
	return r
}

// backoff reads how long to wait between attempts.
func (c *checker) backoff(e *element, r *Retry) {
	if a := e.attribute("retry-backoff"); a != nil {
		if r.Backoff = a.value; r.Backoff != "fixed" && r.Backoff != "exponential" {
			c.fail(a.valueStart, codeRetryBackoffInvalid, fmt.Sprintf("%s is not a backoff.", excerpt(a.value)), `Write "fixed" or "exponential".`)
		}
	}
	delayed := true
	if a := e.attribute("retry-delay"); a != nil {
		r.Delay, delayed = c.delay(a, codeRetryDelayInvalid)
		r.MaxDelay = max(r.MaxDelay, r.Delay)
	}
	a := e.attribute("retry-max-delay")
	if a == nil {
		return
	}
	if r.Backoff == "fixed" {
		c.fail(a.start, codeRetryMaxDelayNotAllowed, "A fixed delay never grows, so it has no maximum.", `Remove retry-max-delay, or write retry-backoff="exponential".`)
		return
	}
	limit, valid := c.delay(a, codeRetryMaxDelayInvalid)
	if valid && delayed && limit < r.Delay {
		c.fail(a.valueStart, codeRetryMaxDelayInvalid, fmt.Sprintf("The maximum delay %s is shorter than the first delay, %s.", a.value, r.Delay),
			"Make retry-max-delay at least as long as retry-delay.")
	}
	r.MaxDelay = limit
}

func (c *checker) delay(a *attribute, code string) (time.Duration, bool) {
	d, err := duration(a.value, maxRetryDelay)
	if err != nil {
		c.fail(a.valueStart, code, fmt.Sprintf("%s %s %v.", a.name, excerpt(a.value), err), durationHint)
	}
	return d, err == nil
}
