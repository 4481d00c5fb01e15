package woml

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const maxPolicy = 1_000_000 // of concurrency and of a rate's count

const maxPolicyDuration = 365 * 24 * time.Hour

// containers are the children of <workflow>; nil where one is missing.
type containers struct{ config, triggers, steps *element }

// workflow checks <workflow> and all in it.
func (c *checker) workflow(e *element) *Workflow {
	w := &Workflow{}
	if id := c.require(e, "id"); id != nil {
		w.ID = id.value
		if len(id.value) > maxID || !workflowIDPattern.MatchString(id.value) {
			c.fail(id.valueStart, codeInvalidID,
				fmt.Sprintf("%s is not the id of a workflow: lower-case words with hyphens between them, at most %d characters.", excerpt(id.value), maxID),
				"Such as fulfill-paid-order.")
		}
	}
	w.Name, w.Description, w.Version = c.metadata(e, "name"), c.metadata(e, "description"), c.metadata(e, "version")
	parts := c.containers(e)
	if parts.config != nil {
		w.Config = c.config(parts.config)
	}
	if parts.triggers != nil {
		w.Triggers = c.triggers(parts.triggers)
	}
	if parts.steps != nil {
		w.Steps = c.steps(parts.steps)
	}
	c.knownServices()
	return w
}

// containers finds the children of <workflow>, in whatever order they are, and
// reports what is there twice or has no place.
func (c *checker) containers(e *element) containers {
	byName := map[string][]*element{}
	var others []*element
	for _, child := range c.elements(e) {
		switch child.name {
		case "config", "triggers", "steps":
			byName[child.name] = append(byName[child.name], child)
		default:
			others = append(others, child)
		}
	}
	take := func(name, code string) *element {
		found := byName[name]
		if len(found) == 0 {
			return nil
		}
		for _, again := range found[1:] {
			c.fail(again.start, code, fmt.Sprintf("<workflow> has a second <%s>.", name), fmt.Sprintf("Put all into one <%s>.", name))
		}
		return found[0]
	}
	parts := containers{
		config:   take("config", codeConfigDuplicate),
		triggers: take("triggers", codeTriggerContainerCount),
		steps:    take("steps", codeStepsContainerCount),
	}
	if parts.steps == nil {
		c.fail(e.start, codeStepsContainerCount, "<workflow> has no <steps>.", "Add <steps> with at least one <step>.")
	}
	for _, other := range others {
		if runs(other.name) {
			c.misplaced(other, "workflow", "Its children are <config>, <triggers> and <steps>, in any order.")
		}
	}
	return parts
}

// misplaced reports an element that has no place in its parent.
func (c *checker) misplaced(e *element, parent, hint string) {
	c.fail(e.start, codeInvalidStructure, fmt.Sprintf("<%s> has no place in <%s>.", e.name, parent), hint)
}

// config checks the policy of the runs.
func (c *checker) config(e *element) (config Config) {
	if len(e.children) > 0 {
		c.fail(e.children[0].start, codeConfigChildNotAllowed, "<config> must be empty: its attributes say all.", "Write <config ... />.")
	}
	if len(e.attributes) == 0 {
		c.fail(e.start, codeConfigEmpty, "<config> has no attribute.", "Give it concurrency, timeout, rate-limit or queue, or leave it out.")
	}
	if a := e.attribute("concurrency"); a != nil {
		config.Concurrency = count(a.value)
		if config.Concurrency == 0 {
			c.fail(a.valueStart, codeConfigConcurrencyInvalid,
				fmt.Sprintf("Concurrency %s is not a whole number from 1 to %d.", excerpt(a.value), maxPolicy), `Such as concurrency="4".`)
		}
	}
	if a := e.attribute("timeout"); a != nil {
		var err error
		if config.Timeout, err = duration(a.value, maxPolicyDuration); err != nil {
			c.fail(a.valueStart, codeConfigTimeoutInvalid, fmt.Sprintf("Timeout %s %v.", excerpt(a.value), err), durationHint)
		}
	}
	if a := e.attribute("rate-limit"); a != nil {
		config.Rate = c.rate(a)
	}
	if a := e.attribute("queue"); a != nil {
		config.Queue = a.value
		if len(a.value) > maxQueue || !queuePattern.MatchString(a.value) {
			c.fail(a.valueStart, codeConfigQueueInvalid,
				fmt.Sprintf("%s is not the name of a queue: lower-case words with one dot, underscore or hyphen between them, at most %d characters.", excerpt(a.value), maxQueue),
				"Such as orders or payments.high.")
		}
	}
	return config
}

// rate reads count/duration, such as 100/1m.
func (c *checker) rate(a *attribute) Rate {
	const hint = `Such as rate-limit="100/1m": at most 100 first starts in any minute.`
	number, window, found := strings.Cut(a.value, "/")
	if !found || count(number) == 0 {
		c.fail(a.valueStart, codeConfigRateLimitInvalid,
			fmt.Sprintf("Rate limit %s is not a whole number from 1 to %d, a slash and a duration.", excerpt(a.value), maxPolicy), hint)
		return Rate{}
	}
	per, err := duration(window, maxPolicyDuration)
	if err != nil {
		c.fail(a.valueStart, codeConfigRateLimitInvalid, fmt.Sprintf("The duration in rate limit %s %v.", excerpt(a.value), err), hint)
	}
	return Rate{Count: count(number), Per: per}
}

// count reads a whole number from 1 to maxPolicy, and gives 0 for anything else.
func count(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPolicy || strconv.Itoa(n) != text {
		return 0
	}
	return n
}
