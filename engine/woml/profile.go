package woml

import (
	"fmt"
	"slices"
	"strings"
)

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

// profile reports the elements and attributes that WOML does not have, and
// those that it has and that are not run here.
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
	for _, child := range e.children {
		if child.element != nil {
			c.profile(child.element)
		}
	}
}

func (c *checker) notRun(e *element) {
	if instead, known := elementsNotRun[e.name]; known {
		c.fail(e.start, codeFeatureNotExecutable, fmt.Sprintf("<%s> is valid WOML, and it is not run here.", e.name), instead)
		return
	}
	c.fail(e.start, codeUnknownElement, fmt.Sprintf("WOML has no element <%s>.", e.name),
		didYouMean("<%s>", e.name, sortedKeys(attributesOf)))
}

func (c *checker) attributeNotRun(e *element, a attribute) {
	if instead, known := attributesNotRun[e.name][a.name]; known {
		c.fail(a.start, codeFeatureNotExecutable,
			fmt.Sprintf("Attribute %q of <%s> is valid WOML, and it is not run here.", a.name, e.name), instead)
		return
	}
	code, known := codeUnknownAttribute, attributesOf[e.name]
	hint := didYouMean("%q", a.name, known)
	switch {
	case a.name == "retry" || strings.HasPrefix(a.name, "retry-"):
		code = codeRetryHandlerUnsupported
		if !slices.Contains(known, "retry") {
			hint = "Retry attributes belong to <step>."
		}
	case e.name == "config":
		code = codeConfigAttributeUnknown
	}
	c.fail(a.start, code, fmt.Sprintf("<%s> has no attribute %q.", e.name, a.name), hint)
}

const secretPrefix = "{{secrets."

// secretPlaces lets a secret be named only where it is used as one: in the
// attribute secret of a webhook. There it must be the exact reference.
func (c *checker) secretPlaces(e *element) {
	if !runs(e.name) {
		return
	}
	for _, a := range e.attributes {
		switch named := strings.Contains(a.value, secretPrefix); {
		case e.name == "webhook" && a.name == "secret":
			if secretName(a.value) == "" {
				c.badSecret(a, named)
			}
		case named:
			c.fail(a.valueStart, codeSecretSinkUnsupported,
				fmt.Sprintf("Attribute %q of <%s> would show the secret that it names.", a.name, e.name),
				"A secret is named in the attribute secret of a <webhook>, and read in a script as secrets.NAME.")
		}
	}
	for _, child := range e.children {
		if child.element != nil {
			c.secretPlaces(child.element)
		}
	}
}

func (c *checker) badSecret(a attribute, named bool) {
	const hint = `Write secret="{{secrets.NAME}}" and keep the value in the environment or in a secrets file.`
	if named {
		c.fail(a.valueStart, codeSecretReferenceInvalid,
			"This is not a reference to a secret: it is {{secrets.NAME}} and nothing else, and NAME is upper case, such as HOOK_TOKEN.", hint)
		return
	}
	c.fail(a.valueStart, codeSecretLiteralForbidden, "A secret must not be written into a document.", hint)
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
