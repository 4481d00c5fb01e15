package woml

import (
	"encoding/json"
	"fmt"
	"strings"
)

// workflow checks <workflow> and all in it.
func (c *checker) workflow(e *element) *Workflow {
	w := &Workflow{ID: c.id(e, workflowID)}
	w.Name, w.Description, w.Version = c.metadata(e, "name"), c.metadata(e, "description"), c.metadata(e, "version")
	parts := c.containers(e)
	if config := parts["config"]; config != nil {
		w.Config = c.config(config)
	}
	if triggers := parts["triggers"]; triggers != nil {
		w.Triggers = c.triggers(triggers)
	}
	if steps := parts["steps"]; steps != nil {
		w.Steps = c.steps(steps)
	}
	c.knownServices()
	return w
}

// containers finds the children of <workflow> by name, in whatever order they are, and reports what is there twice or
// has no place.
func (c *checker) containers(e *element) map[string]*element {
	children := c.elements(e)
	parts := map[string]*element{}
	for _, container := range []struct{ name, code string }{
		{"config", "WOML_CONFIG_DUPLICATE"}, {"triggers", "WOML_TRIGGER_CONTAINER_COUNT"}, {"steps", "WOML_STEPS_CONTAINER_COUNT"},
	} {
		for _, child := range children {
			switch {
			case child.name != container.name:
			case parts[child.name] == nil:
				parts[child.name] = child
			default:
				c.fail(child.start, container.code, fmt.Sprintf("<workflow> has a second <%s>.", child.name), fmt.Sprintf("Put all into one <%s>.", child.name))
			}
		}
	}
	if parts["steps"] == nil {
		c.fail(e.start, "WOML_STEPS_CONTAINER_COUNT", "<workflow> has no <steps>.", "Add <steps> with at least one <step>.")
	}
	for _, child := range children {
		if runs(child.name) && parts[child.name] == nil {
			c.misplaced(child, "workflow", "Its children are <config>, <triggers> and <steps>, in any order.")
		}
	}
	return parts
}

// config checks the policy of the runs.
func (c *checker) config(e *element) (config Config) {
	if len(e.children) > 0 {
		c.fail(e.children[0].start, "WOML_CONFIG_CHILD_NOT_ALLOWED", "<config> must be empty: its attributes say all.", "Write <config ... />.")
	}
	if len(e.attributes) == 0 {
		c.fail(e.start, "WOML_CONFIG_EMPTY", "<config> has no attribute.", "Give it concurrency, timeout, rate-limit or queue, or leave it out.")
	}
	config.Concurrency, _ = c.number(e, "concurrency", 0, concurrency)
	config.Timeout, _ = c.period(e, "timeout", 0, maxPolicyDuration, "WOML_CONFIG_TIMEOUT_INVALID")
	if a := e.attribute("rate-limit"); a != nil {
		config.Rate = c.rate(a)
	}
	if a := e.attribute("queue"); a != nil {
		config.Queue = a.value
		c.formed(a, queueName)
	}
	return config
}

// maxTriggers is the most triggers that one workflow can have.
const maxTriggers = 64

// triggers checks <triggers>.
func (c *checker) triggers(e *element) (triggers []Trigger) {
	children := c.elements(e)
	if len(children) == 0 && len(e.children) == 0 {
		c.fail(e.start, "WOML_TRIGGER_REQUIRED", "<triggers> has no trigger.",
			"Add a <manual> or a <webhook>, or leave <triggers> out if only other workflows call this one.")
	}
	if len(children) > maxTriggers {
		c.fail(children[maxTriggers].start, "WOML_TRIGGER_LIMIT_EXCEEDED",
			fmt.Sprintf("<triggers> has %d triggers; at most %d are allowed.", len(children), maxTriggers), "Split the workflow.")
		return nil
	}
	var elements []*element
	for _, child := range children {
		t := Trigger{Kind: child.name}
		t.Line, t.Column = c.position(child.start)
		switch child.name {
		case "manual":
			c.empty(child)
			t.ID = c.id(child, partID)
		case "webhook":
			c.webhook(child, &t)
		default:
			if runs(child.name) {
				c.fail(child.start, "WOML_TRIGGER_UNSUPPORTED", fmt.Sprintf("<%s> is not a trigger.", child.name), "Triggers are <manual> and <webhook>.")
			}
			continue
		}
		triggers, elements = append(triggers, t), append(elements, child)
	}
	c.uniqueTriggers(triggers, elements)
	return triggers
}

func (c *checker) uniqueTriggers(triggers []Trigger, elements []*element) {
	ids, paths := map[string]bool{}, map[string]string{}
	for i, t := range triggers {
		c.uniqueID(elements[i], ids, t.ID, "WOML_TRIGGER_ID_DUPLICATE", "triggers")
		if other, taken := paths[t.Path]; taken {
			c.fail(elements[i].attribute("path").valueStart, "WOML_WEBHOOK_PATH_SHARED",
				fmt.Sprintf("Webhooks %s and %s have the same path.", excerpt(other), excerpt(t.ID)), "Give each webhook a path of its own.")
		}
		if t.Path != "" {
			paths[t.Path] = t.ID
		}
	}
}

// webhook checks <webhook>: id, path, method, auth and secret, schema.
func (c *checker) webhook(e *element, t *Trigger) {
	t.ID = c.id(e, partID)
	if a := c.require(e, "path"); a != nil {
		t.Path = a.value
		form := webhookPath
		if strings.HasPrefix(a.value+"/", "/_woml/") { // reserved
			form.longest = 0
		}
		c.formed(a, form)
	}
	if a := e.attribute("method"); a != nil {
		c.formed(a, webhookMethod)
	}
	c.auth(e, t)
	var schema *element
	for _, child := range c.elements(e) {
		switch {
		case child.name == "schema" && schema == nil:
			schema = child
		case runs(child.name):
			c.fail(child.start, "WOML_WEBHOOK_STRUCTURE_INVALID", "<webhook> holds at most one <schema>, and nothing else.", "Remove it.")
		}
	}
	if schema != nil {
		t.Schema = c.schema(schema)
	}
}

func (c *checker) auth(e *element, t *Trigger) {
	a := c.require(e, "auth")
	if a == nil {
		return
	}
	c.formed(a, webhookAuth)
	switch t.Auth = a.value; t.Auth {
	case "none":
		if secret := e.attribute("secret"); secret != nil {
			c.fail(secret.start, "WOML_WEBHOOK_AUTH_INVALID", `A webhook with auth="none" checks no secret.`, `Remove the secret, or write auth="bearer".`)
		}
	case "bearer":
		if secret := c.require(e, "secret"); secret != nil {
			t.Secret = secretName(secret.value)
		}
	}
}

// schema checks <schema>: the text in it, without comments, is the JSON of a JSON Schema.
func (c *checker) schema(e *element) json.RawMessage {
	var text strings.Builder
	for _, child := range e.children {
		if child.element == nil {
			text.WriteString(c.text[child.start:child.end])
			continue
		}
		if runs(child.element.name) {
			c.fail(child.start, "WOML_WEBHOOK_SCHEMA_STRUCTURE_INVALID", fmt.Sprintf("<schema> holds JSON only, and there is <%s> in it.", child.element.name),
				"Write the schema as JSON.")
		}
		return nil
	}
	if text.Len() == 0 {
		c.fail(e.start, "WOML_WEBHOOK_SCHEMA_JSON_INVALID", "<schema> is empty.", `Write a JSON Schema such as {"type": "object"} into it, or leave it out.`)
		return nil
	}
	start := e.children[0].start
	if offset, err := jsonError(text.String()); err != nil {
		c.fail(start, "WOML_WEBHOOK_SCHEMA_JSON_INVALID",
			fmt.Sprintf("The JSON in <schema> is broken at %s: %v.", c.place(schemaOffset(e, offset)), err), "Check commas, quotes and brackets there.")
		return nil
	}
	raw := json.RawMessage(strings.TrimSpace(text.String()))
	if _, err := CompileSchema(raw); err != nil {
		c.fail(start, "WOML_WEBHOOK_SCHEMA_INVALID", fmt.Sprintf("This is not a JSON Schema (2020-12): %v.", err), schemaHint)
		return nil
	}
	return raw
}

// schemaOffset turns an offset into the joined texts of an element into one of the document.
func schemaOffset(e *element, offset int) int {
	at := e.bodyStart
	for _, child := range e.children {
		length := child.end - child.start
		if at = child.start + offset; offset <= length {
			break
		}
		offset -= length
	}
	return at
}
