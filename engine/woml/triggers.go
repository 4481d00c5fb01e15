package woml

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxTriggers is the most triggers that one workflow can have.
const maxTriggers = 64

// triggers checks <triggers>.
func (c *checker) triggers(e *element) []Trigger {
	children := c.elements(e)
	if len(children) == 0 && len(e.children) == 0 {
		c.fail(e.start, codeTriggerRequired, "<triggers> has no trigger.",
			"Add a <manual> or a <webhook>, or leave <triggers> out if only other workflows call this one.")
	}
	if len(children) > maxTriggers {
		c.fail(children[maxTriggers].start, codeTriggerLimitExceeded,
			fmt.Sprintf("<triggers> has %d triggers; at most %d are allowed.", len(children), maxTriggers), "Split the workflow.")
		return nil
	}
	var triggers []Trigger
	var elements []*element
	for _, child := range children {
		if t, ok := c.trigger(child); ok {
			triggers, elements = append(triggers, t), append(elements, child)
		}
	}
	c.uniqueTriggers(triggers, elements)
	return triggers
}

// trigger checks one child of <triggers>; ok tells whether it is one.
func (c *checker) trigger(e *element) (t Trigger, ok bool) {
	t.Line, t.Column = c.position(e.start)
	switch t.Kind = e.name; t.Kind {
	case "manual":
		c.empty(e)
		t.ID = c.id(e)
	case "webhook":
		c.webhook(e, &t)
	default:
		if runs(e.name) {
			c.fail(e.start, codeTriggerUnsupported, fmt.Sprintf("<%s> is not a trigger.", e.name), "Triggers are <manual> and <webhook>.")
		}
		return t, false
	}
	return t, true
}

// id checks the required id of a trigger or a step.
func (c *checker) id(e *element) string {
	a := c.require(e, "id")
	if a == nil {
		return ""
	}
	if len(a.value) > maxID || !idPattern.MatchString(a.value) {
		c.fail(a.valueStart, codeInvalidID,
			fmt.Sprintf("%s is not an id: a lower-case letter, then letters and digits, at most %d characters.", excerpt(a.value), maxID),
			"Such as createFulfillment; scripts say context.steps.createFulfillment.")
	}
	return a.value
}

func (c *checker) uniqueTriggers(triggers []Trigger, elements []*element) {
	ids, paths := map[string]bool{}, map[string]string{}
	for i, t := range triggers {
		if ids[t.ID] && t.ID != "" {
			c.fail(elements[i].attribute("id").valueStart, codeTriggerIDDuplicate,
				fmt.Sprintf("Two triggers have the id %s.", excerpt(t.ID)), "Give this one another id.")
		}
		ids[t.ID] = true
		if other, taken := paths[t.Path]; taken {
			c.fail(elements[i].attribute("path").valueStart, codeWebhookPathShared,
				fmt.Sprintf("Webhooks %s and %s have the same path.", excerpt(other), excerpt(t.ID)), "Give each webhook a path of its own.")
		}
		if t.Path != "" {
			paths[t.Path] = t.ID
		}
	}
}

// webhook checks <webhook>: id, path, method, auth and secret, schema.
func (c *checker) webhook(e *element, t *Trigger) {
	t.ID = c.id(e)
	if a := c.require(e, "path"); a != nil {
		t.Path = a.value
		reserved := a.value == "/_woml" || strings.HasPrefix(a.value, "/_woml/")
		if len(a.value) > maxPath || reserved || !webhookPath.MatchString(a.value) {
			c.fail(a.valueStart, codeWebhookPathInvalid, fmt.Sprintf("%s is not the path of a webhook.", excerpt(a.value)),
				fmt.Sprintf("Write fixed segments such as /webhooks/orders: no parameters, no slash at the end, at most %d characters, and not below /_woml.", maxPath))
		}
	}
	if a := e.attribute("method"); a != nil && a.value != "POST" {
		c.fail(a.valueStart, codeWebhookMethodUnsupported, fmt.Sprintf("A webhook takes POST only, not %s.", excerpt(a.value)), `Write method="POST", or leave it out.`)
	}
	c.auth(e, t)
	var schema *element
	for _, child := range c.elements(e) {
		switch {
		case child.name == "schema" && schema == nil:
			schema = child
		case runs(child.name):
			c.fail(child.start, codeWebhookStructureInvalid, "<webhook> holds at most one <schema>, and nothing else.", "Remove it.")
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
	switch t.Auth = a.value; t.Auth {
	case "none":
		if secret := e.attribute("secret"); secret != nil {
			c.fail(secret.start, codeWebhookAuthInvalid, `A webhook with auth="none" checks no secret.`, `Remove the secret, or write auth="bearer".`)
		}
	case "bearer":
		if secret := c.require(e, "secret"); secret != nil {
			t.Secret = secretName(secret.value)
		}
	default:
		c.fail(a.valueStart, codeWebhookAuthInvalid, fmt.Sprintf("%s is not a way to authenticate a webhook.", excerpt(a.value)), `Write "bearer" or "none".`)
	}
}

// schema checks <schema>: the text in it, without comments, is the JSON of a
// JSON Schema.
func (c *checker) schema(e *element) json.RawMessage {
	for _, child := range e.children {
		if child.element == nil {
			continue
		}
		if runs(child.element.name) {
			c.fail(child.start, codeSchemaStructureInvalid, fmt.Sprintf("<schema> holds JSON only, and there is <%s> in it.", child.element.name),
				"Write the schema as JSON.")
		}
		return nil
	}
	if len(e.children) == 0 {
		c.fail(e.start, codeSchemaJSONInvalid, "<schema> is empty.", `Write a JSON Schema such as {"type": "object"} into it, or leave it out.`)
		return nil
	}
	var text strings.Builder
	for _, child := range e.children {
		text.WriteString(c.text[child.start:child.end])
	}
	start := e.children[0].start
	if offset, err := jsonError(text.String()); err != nil {
		c.fail(start, codeSchemaJSONInvalid,
			fmt.Sprintf("The JSON in <schema> is broken at %s: %v.", c.place(schemaOffset(e, offset)), err), "Check commas, quotes and brackets there.")
		return nil
	}
	raw := json.RawMessage(strings.TrimSpace(text.String()))
	if _, err := CompileSchema(raw); err != nil {
		c.fail(start, codeSchemaInvalid, fmt.Sprintf("This is not a JSON Schema (2020-12): %v.", err), schemaHint)
		return nil
	}
	return raw
}

// schemaOffset turns an offset into the joined texts of an element into one of
// the document.
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
