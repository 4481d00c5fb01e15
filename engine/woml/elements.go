package woml

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"faultlab/engine/plain"
)

// Elements are the elements of a document that run here, with their attributes.
func Elements() map[string][]string { return maps.Clone(attributesOf) }

// NotRun are the elements of the language that are known and refused.
func NotRun() []string { return slices.Sorted(maps.Keys(elementsNotRun)) }

var retryAttributes = []string{"retry", "retry-backoff", "retry-delay", "retry-max-delay", "retry-throttled"}

// attributesOf lists the elements that run here, with their attributes.
var attributesOf = map[string][]string{
	"woml":       {},
	"workflow":   {"id", "name", "description", "version"},
	"config":     {"concurrency", "timeout", "rate-limit", "queue"},
	"triggers":   {},
	"manual":     {"id"},
	"webhook":    {"id", "path", "method", "auth", "secret"},
	"schema":     {},
	"steps":      {},
	"step":       append([]string{"id", "name", "description"}, retryAttributes...),
	"script":     {},
	"compensate": retryAttributes,
}

// attributesNotRun are attributes of WOML that are not run here.
var attributesNotRun = map[string]map[string]string{
	"workflow": {"tags": "Remove it; a name and a description are shown everywhere."},
	"step":     {"timeout": `Limit the whole run with <config timeout="...">, or a request with its option timeout.`},
}

// What to write instead of an element that is not run here.
const (
	insteadTrigger   = "Start the workflow by a <webhook> or a <manual> trigger."
	insteadStep      = "Write the steps one after the other in <steps>, and decide inside their scripts."
	insteadLifecycle = "Do this work in a step of its own."
	insteadImport    = "Put the code into the script that needs it."
	insteadNotify    = "Send the message from a step with services.http.request."
	insteadApproval  = "Let one workflow end before the decision, and start a second one by a <webhook>."
)

// elementsNotRun are the other elements of WOML, with what to do instead.
var elementsNotRun = map[string]string{
	"imports": insteadImport, "module": insteadImport, "props": insteadImport, "prop": insteadImport, "provider": insteadImport,
	"lifecycle": insteadLifecycle, "on-start": insteadLifecycle, "on-success": insteadLifecycle, "on-error": insteadLifecycle,
	"on-cancel": insteadLifecycle, "on-complete": insteadLifecycle, "on-step-start": insteadLifecycle,
	"on-step-success": insteadLifecycle, "on-step-failure": insteadLifecycle, "on-step-complete": insteadLifecycle,
	"schedule": insteadTrigger, "interval": insteadTrigger, "event": insteadTrigger,
	"slack": insteadNotify, "telegram": insteadNotify, "discord": insteadNotify, "whatsapp": insteadNotify, "notify": insteadNotify,
	"branch": insteadStep, "choose": insteadStep, "when": insteadStep, "otherwise": insteadStep, "result": insteadStep,
	"switch": insteadStep, "case": insteadStep, "default": insteadStep,
	"parallel": insteadStep, "fork": insteadStep, "for-each": insteadStep,
	"approval": insteadApproval, "when-approved": insteadApproval, "when-rejected": insteadApproval,
}

// runs tells whether an element is one that runs here. What is inside of
// another one is not looked at.
func runs(name string) bool {
	_, known := attributesOf[name]
	return known
}

// each calls f for an element and for those in it that run here; what is inside of another one is not looked at.
func each(e *element, f func(*element)) {
	f(e)
	for _, child := range e.children {
		if child.element != nil && runs(e.name) {
			each(child.element, f)
		}
	}
}

// profile reports the elements and attributes that WOML does not have, and those that it has and that are not run here.
func (c *checker) profile(e *element) {
	if !runs(e.name) {
		c.notRun(e)
		return
	}
	for _, a := range e.attributes {
		if !slices.Contains(attributesOf[e.name], a.name) {
			c.attributeNotRun(e, a)
		}
	}
}

func (c *checker) notRun(e *element) {
	if instead, known := elementsNotRun[e.name]; known {
		c.fail(e.start, "WOML_FEATURE_NOT_EXECUTABLE", fmt.Sprintf("<%s> is valid WOML, and it is not run here.", e.name), instead)
		return
	}
	c.fail(e.start, "WOML_UNKNOWN_ELEMENT", fmt.Sprintf("WOML has no element <%s>.", e.name),
		didYouMean("<%s>", e.name, slices.Sorted(maps.Keys(attributesOf))))
}

func (c *checker) attributeNotRun(e *element, a attribute) {
	if instead, known := attributesNotRun[e.name][a.name]; known {
		c.fail(a.start, "WOML_FEATURE_NOT_EXECUTABLE",
			fmt.Sprintf("Attribute %q of <%s> is valid WOML, and it is not run here.", a.name, e.name), instead)
		return
	}
	code, known := "WOML_UNKNOWN_ATTRIBUTE", attributesOf[e.name]
	hint := didYouMean("%q", a.name, known)
	switch {
	case a.name == "retry" || strings.HasPrefix(a.name, "retry-"):
		code = "WOML_RETRY_HANDLER_UNSUPPORTED"
		if !slices.Contains(known, "retry") {
			hint = "Retry attributes belong to <step>."
		}
	case e.name == "config":
		code = "WOML_CONFIG_ATTRIBUTE_UNKNOWN"
	}
	c.fail(a.start, code, fmt.Sprintf("<%s> has no attribute %q.", e.name, a.name), hint)
}

const secretPrefix = "{{secrets."

// secretPlaces lets a secret be named only where it is used as one: in the attribute secret of a webhook. There it must be
// the exact reference.
func (c *checker) secretPlaces(e *element) {
	const hint = `Write secret="{{secrets.NAME}}" and keep the value in the environment or in a secrets file.`
	for _, a := range e.attributes {
		named, allowed := strings.Contains(a.value, secretPrefix), e.name == "webhook" && a.name == "secret"
		switch {
		case !runs(e.name), !allowed && !named, allowed && secretName(a.value) != "":
		case !allowed:
			c.fail(a.valueStart, "WOML_SECRET_SINK_UNSUPPORTED",
				fmt.Sprintf("Attribute %q of <%s> would show the secret that it names.", a.name, e.name),
				"A secret is named in the attribute secret of a <webhook>, and read in a script as secrets.NAME.")
		case named:
			c.fail(a.valueStart, "WOML_SECRET_REFERENCE_INVALID",
				"This is not a reference to a secret: it is {{secrets.NAME}} and nothing else, and NAME is upper case, such as HOOK_TOKEN.", hint)
		default:
			c.fail(a.valueStart, "WOML_SECRET_LITERAL_FORBIDDEN", "A secret must not be written into a document.", hint)
		}
	}
}

// secretName returns NAME of exactly {{secrets.NAME}}, and "" for anything else.
func secretName(reference string) string {
	name, found := strings.CutPrefix(reference, secretPrefix)
	name, closed := strings.CutSuffix(name, "}}")
	if !found || !closed || !secretNamePattern.MatchString(name) {
		return ""
	}
	return name
}

// shape checks that the root is <woml> with one <workflow> and nothing else,
// and returns that workflow.
func (c *checker) shape(root *element) *element {
	if root.name != "woml" {
		c.fail(root.start, "WOML_EXPECTED_DOCUMENT_ROOT", fmt.Sprintf("The root of a document is <woml>, not <%s>.", root.name),
			"Put the <workflow> into <woml> and </woml>.")
		return nil
	}
	for _, a := range root.attributes {
		c.fail(a.start, "WOML_UNKNOWN_ATTRIBUTE", fmt.Sprintf("<woml> has no attribute %q.", a.name),
			"Remove it; the version of a workflow is an attribute of <workflow>.")
	}
	var workflow *element
	for _, child := range c.elements(root) {
		switch {
		case child.name == "workflow" && workflow == nil:
			workflow = child
		case child.name == "step":
			c.fail(child.start, "WOML_FEATURE_NOT_EXECUTABLE", "A reusable <step> outside of a workflow is valid WOML, and it is not run here.",
				"Put it into the <steps> of a <workflow>.")
		case elementsNotRun[child.name] != "":
			c.notRun(child)
		default:
			c.fail(child.start, "WOML_DOCUMENT_STRUCTURE_INVALID", fmt.Sprintf("<woml> holds one <workflow>; <%s> has no place here.", child.name),
				"Move it into the workflow, or into a file of its own.")
		}
	}
	if workflow == nil && len(c.errors) == 0 {
		c.fail(root.start, "WOML_DOCUMENT_STRUCTURE_INVALID", "<woml> holds no <workflow>.", "Put one <workflow> into it.")
	}
	return workflow
}

// elements lists the elements in e and reports text between them.
func (c *checker) elements(e *element) []*element {
	children := make([]*element, 0, len(e.children))
	for _, child := range e.children {
		if child.element == nil {
			c.fail(child.start, "WOML_UNEXPECTED_CONTENT", fmt.Sprintf("<%s> holds elements only, and there is text in it.", e.name),
				"Remove the text, or write <!-- and --> around it.")
			continue
		}
		children = append(children, child.element)
	}
	return children
}

// empty reports the first thing in an element that must hold nothing.
func (c *checker) empty(e *element) {
	if len(e.children) > 0 {
		c.fail(e.children[0].start, "WOML_INVALID_STRUCTURE", fmt.Sprintf("<%s> must be empty.", e.name), fmt.Sprintf("Close it at once: <%s ... />.", e.name))
	}
}

// misplaced reports an element that has no place in its parent.
func (c *checker) misplaced(e *element, parent, hint string) {
	c.fail(e.start, "WOML_INVALID_STRUCTURE", fmt.Sprintf("<%s> has no place in <%s>.", e.name, parent), hint)
}

// didYouMean is the hint for a name that is not known: the nearest known one, or all of them if none is near.
func didYouMean(format, name string, known []string) string {
	if best := plain.Nearest(name, known); best != "" {
		return fmt.Sprintf("Did you mean "+format+"?", best)
	}
	if len(known) == 0 {
		return "Remove it."
	}
	quoted := make([]string, len(known))
	for i, candidate := range known {
		quoted[i] = fmt.Sprintf(format, candidate)
	}
	return "Known are " + strings.Join(quoted, ", ") + "."
}
