package woml

import (
	"strings"
	"testing"
)

var shapeRefusals = []refusal{
	{"another root", "<!-- a -->\n" + mark + `<workflow id="demo">` + oneStep + `</workflow>`, "WOML_EXPECTED_DOCUMENT_ROOT"},
	{"no workflow", mark + `<woml></woml>`, "WOML_DOCUMENT_STRUCTURE_INVALID"},
	{"two workflows", `<woml><workflow id="a">` + oneStep + `</workflow>` + mark + `<workflow id="b"/></woml>`, "WOML_DOCUMENT_STRUCTURE_INVALID"},
	{"something beside the workflow", `<woml>` + mark + `<config/><workflow id="a">` + oneStep + `</workflow></woml>`, "WOML_DOCUMENT_STRUCTURE_INVALID"},
	{"attribute of the root", `<woml ` + mark + `version="1"><workflow id="a">` + oneStep + `</workflow></woml>`, "WOML_UNKNOWN_ATTRIBUTE"},
	{"text in the root", `<woml>` + mark + ` a <workflow id="a">` + oneStep + `</workflow></woml>`, "WOML_UNEXPECTED_CONTENT"},
	{"reusable step", `<woml>` + mark + `<step><script>1</script></step></woml>`, "WOML_FEATURE_NOT_EXECUTABLE"},
	{"imports", `<woml>` + mark + `<imports><module name="a" from="./a.js"/></imports><workflow id="a">` + oneStep + `</workflow></woml>`, "WOML_FEATURE_NOT_EXECUTABLE"},

	{"secret in a name", inSteps(`<step id="one" name="` + mark + `{{secrets.TOKEN}}"><script>1</script></step>`), "WOML_SECRET_SINK_UNSUPPORTED"},
	{"secret inside of a text", inSteps(`<step id="one" name="` + mark + `x {{secrets.TOKEN}} y"><script>1</script></step>`), "WOML_SECRET_SINK_UNSUPPORTED"},
	{"secret before an unknown attribute", inSteps(`<step x="1" id="` + mark + `{{secrets.TOKEN}}"><script>1</script></step>`), "WOML_SECRET_SINK_UNSUPPORTED"},
	{"secret written out", inTriggers(`<webhook id="in" path="/in" auth="bearer" secret="` + mark + `s3cr3t"/>`), "WOML_SECRET_LITERAL_FORBIDDEN"},
	{"secret in lower case", inTriggers(`<webhook id="in" path="/in" auth="bearer" secret="` + mark + `{{secrets.hook}}"/>`), "WOML_SECRET_REFERENCE_INVALID"},
	{"secret with more around it", inTriggers(`<webhook id="in" path="/in" auth="bearer" secret="` + mark + `Bearer {{secrets.HOOK}}"/>`), "WOML_SECRET_REFERENCE_INVALID"},

	{"unknown element", inSteps(mark + `<stp id="one"/>`), "WOML_UNKNOWN_ELEMENT"},
	{"unknown element in upper case", inSteps(mark + `<Step id="one"/>`), "WOML_UNKNOWN_ELEMENT"},
	{"unknown attribute before a bad id", `<woml><workflow id="BAD" ` + mark + `tag="x">` + oneStep + `</workflow></woml>`, "WOML_UNKNOWN_ATTRIBUTE"},
	{"attribute in upper case", inSteps(`<step ` + mark + `ID="one"><script>1</script></step>`), "WOML_UNKNOWN_ATTRIBUTE"},
	{"attribute of JavaScript's objects", inSteps(`<step id="one" ` + mark + `__proto__="x"><script>1</script></step>`), "WOML_UNKNOWN_ATTRIBUTE"},
	{"unknown attribute of config", inWorkflow(`<config ` + mark + `priority="1"/>` + oneStep), "WOML_CONFIG_ATTRIBUTE_UNKNOWN"},
	{"retry on a script", inSteps(`<step id="one"><script ` + mark + `retry="2">1</script></step>`), "WOML_RETRY_HANDLER_UNSUPPORTED"},
	{"retry on the workflow", `<woml><workflow id="demo" ` + mark + `retry="2">` + oneStep + `</workflow></woml>`, "WOML_RETRY_HANDLER_UNSUPPORTED"},
	{"unknown retry attribute", inSteps(`<step id="one" retry="2" ` + mark + `retry-jitter="full"><script>1</script></step>`), "WOML_RETRY_HANDLER_UNSUPPORTED"},
	{"timeout of a step", inSteps(`<step id="one" ` + mark + `timeout="1s"><script>1</script></step>`), "WOML_FEATURE_NOT_EXECUTABLE"},
	{"tags of a workflow", `<woml><workflow id="demo" ` + mark + `tags="a">` + oneStep + `</workflow></woml>`, "WOML_FEATURE_NOT_EXECUTABLE"},
}

// Every element of WOML that does not run here is refused by its name, with
// something to do instead, and what is inside of it is not looked at.
func TestElementsNotRunAreRefusedByName(t *testing.T) {
	t.Parallel()
	for name := range elementsNotRun {
		document := inSteps(`<step id="one"><script>1</script></step><` + name + ` a="{{secrets.X}}">text<b/></` + name + `>`)
		_, diags := Parse([]byte(document))
		if len(diags) != 1 || diags[0].Code != "WOML_FEATURE_NOT_EXECUTABLE" || !strings.Contains(diags[0].Message, "<"+name+"> is valid WOML") || diags[0].Hint == "" {
			t.Errorf("<%s>: %+v", name, diags)
		}
	}
}

func TestHintsNameTheNearest(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ document, hint string }{
		{inSteps(`<stp id="one"/>`), "Did you mean <step>?"},
		{inSteps(`<Step id="one"/>`), "Did you mean <step>?"},
		{inSteps(`<step ID="one"><script>1</script></step>`), `Did you mean "id"?`},
		{inSteps(`<step id="one" retry-dealy="1s"><script>1</script></step>`), `Did you mean "retry-delay"?`},
		{inTriggers(`<manual id="go" if="1"/>`), `Known are "id".`},
		{inWorkflow(`<config concurency="1"/>` + oneStep), `Did you mean "concurrency"?`},
		{inTriggers(`<manual id="go" xyz="1"/>`), `Known are "id".`},
		{inScript(`services.htp.request({})`), "Did you mean services.http?"},
		{inScript(`services.ftp2.get({})`), "Known are services.http, services.db, services.workflows."},
		{inScript(`services.workflows.call("a", {}, { timeot: 1 })`), `Did you mean "timeout"?`},
	} {
		if _, diags := Parse([]byte(row.document)); len(diags) == 0 || diags[0].Hint != row.hint {
			t.Errorf("%s: want %q, got %+v", row.document, row.hint, diags)
		}
	}
}
