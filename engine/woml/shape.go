package woml

import "fmt"

// shape checks that the root is <woml> with one <workflow> and nothing else,
// and returns that workflow.
func (c *checker) shape(root *element) *element {
	if root.name != "woml" {
		c.fail(root.start, codeExpectedDocumentRoot, fmt.Sprintf("The root of a document is <woml>, not <%s>.", root.name),
			"Put the <workflow> into <woml> and </woml>.")
		return nil
	}
	for _, a := range root.attributes {
		c.fail(a.start, codeUnknownAttribute, fmt.Sprintf("<woml> has no attribute %q.", a.name),
			"Remove it; the version of a workflow is an attribute of <workflow>.")
	}
	var workflow *element
	for _, child := range c.elements(root) {
		switch {
		case child.name == "workflow" && workflow == nil:
			workflow = child
		case child.name == "step":
			c.fail(child.start, codeFeatureNotExecutable, "A reusable <step> outside of a workflow is valid WOML, and it is not run here.",
				"Put it into the <steps> of a <workflow>.")
		case elementsNotRun[child.name] != "":
			c.notRun(child)
		default:
			c.fail(child.start, codeDocumentStructure, fmt.Sprintf("<woml> holds one <workflow>; <%s> has no place here.", child.name),
				"Move it into the workflow, or into a file of its own.")
		}
	}
	if workflow == nil && len(c.errors) == 0 {
		c.fail(root.start, codeDocumentStructure, "<woml> holds no <workflow>.", "Put one <workflow> into it.")
	}
	return workflow
}

// elements lists the elements in e and reports text between them.
func (c *checker) elements(e *element) []*element {
	children := make([]*element, 0, len(e.children))
	for _, child := range e.children {
		if child.element == nil {
			c.fail(child.start, codeUnexpectedContent, fmt.Sprintf("<%s> holds elements only, and there is text in it.", e.name),
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
		c.fail(e.children[0].start, codeInvalidStructure, fmt.Sprintf("<%s> must be empty.", e.name), fmt.Sprintf("Close it at once: <%s ... />.", e.name))
	}
}

// require finds an attribute that the element must have, nil if it has not.
func (c *checker) require(e *element, name string) *attribute {
	a := e.attribute(name)
	if a == nil {
		c.fail(e.start, codeMissingAttribute, fmt.Sprintf("<%s> needs the attribute %q.", e.name, name), fmt.Sprintf(`Add %s="...".`, name))
	}
	return a
}

// metadata returns the value of an optional text, which must not be blank.
func (c *checker) metadata(e *element, name string) string {
	a := e.attribute(name)
	if a == nil {
		return ""
	}
	if isBlank(a.value) {
		c.fail(a.valueStart, codeEmptyMetadata, fmt.Sprintf("Attribute %q of <%s> is empty.", name, e.name), "Give it a text, or leave it out.")
	}
	return a.value
}
