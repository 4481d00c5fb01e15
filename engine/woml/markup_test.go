package woml

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var markupRefusals = []refusal{
	{"too large", mark + strings.Repeat(" ", maxSource+1), "WOML_DOCUMENT_TOO_LARGE"},
	{"not UTF-8", "<woml>\ufffd" + mark + "\xff</woml>", "WOML_ENCODING_INVALID"},

	{"script without an end", inSteps(`<step id="one">` + mark + `<script>return 1;</step>`), "WOML_UNCLOSED_RAW_BODY"},
	{"script ended in upper case", inSteps(`<step id="one">` + mark + `<script>1</SCRIPT></step>`), "WOML_UNCLOSED_RAW_BODY"},
	{"script ended with white space", inSteps(`<step id="one">` + mark + `<script>1</script ></step>`), "WOML_UNCLOSED_RAW_BODY"},
	{"start tag of a script that never ends", `<woml>` + mark + `<script`, "WOML_UNCLOSED_RAW_BODY"},
	{"script without an end behind a declaration", `<!DOCTYPE woml><woml>` + mark + `<script>`, "WOML_UNCLOSED_RAW_BODY"},

	{"XML declaration", mark + `<?xml version="1.0"?>` + inWorkflow(oneStep), "WOML_DECLARATION_NOT_ALLOWED"},
	{"document type", mark + `<!DOCTYPE woml>` + inWorkflow(oneStep), "WOML_DECLARATION_NOT_ALLOWED"},
	{"CDATA", inSchema(mark + `<![CDATA[ {"a": ">"} ]]>`), "WOML_DECLARATION_NOT_ALLOWED"},
	{"declaration behind broken markup", `<woml></workflow>` + mark + `<?x?>`, "WOML_DECLARATION_NOT_ALLOWED"},

	{"nothing", mark, "WOML_MALFORMED_MARKUP"},
	{"white space only", mark + " \n ", "WOML_MALFORMED_MARKUP"},
	{"a comment only", mark + "<!-- <woml> -->", "WOML_MALFORMED_MARKUP"},
	{"text only", mark + "hello", "WOML_MALFORMED_MARKUP"},
	{"text in front", "<!-- a -->\n " + mark + "hello " + inWorkflow(oneStep), "WOML_MALFORMED_MARKUP"},
	{"text behind", inWorkflow(oneStep) + "\n" + mark + "hello", "WOML_MALFORMED_MARKUP"},
	{"second document behind", inWorkflow(oneStep) + "\n<woml" + mark + "></woml>", "WOML_MALFORMED_MARKUP"},
	{"comment without an end", "<woml>" + mark + "<!-- a --", "WOML_MALFORMED_MARKUP"},
	{"never closed", "<woml>\n" + mark + "<workflow id='demo'>", "WOML_MALFORMED_MARKUP"},
	{"closed by another name", inWorkflow(`<steps>` + mark + `</stepz>`), "WOML_MALFORMED_MARKUP"},
	{"closed twice", inWorkflow(oneStep) + mark + "</woml>", "WOML_MALFORMED_MARKUP"},
	{"end tag with an attribute", `<woml>` + mark + `</woml id="x">`, "WOML_MALFORMED_MARKUP"},
	{"end tag that never ends", `<woml>` + mark + `</woml`, "WOML_MALFORMED_MARKUP"},
	{"start tag that never ends", `<woml>` + mark + `<workflow id="x"`, "WOML_MALFORMED_MARKUP"},
	{"less-than in text", inSchema(`{"description": "a <` + mark + ` b"}`), "WOML_MALFORMED_MARKUP"},
	{"name with a strange character", inWorkflow(`<st&p` + mark + `></st&p>`), "WOML_MALFORMED_MARKUP"},
	{"ampersand in text", inSchema(`{"description": "a ` + mark + `& b"}`), "WOML_MALFORMED_MARKUP"},
	{"script ended in a string", inScript(`return "</script>";` + mark), "WOML_MALFORMED_MARKUP"},

	{"value not closed", inSteps("<step" + mark + " id='one' name='abc><script>1</script></step>"), "WOML_INVALID_ATTRIBUTE"},
	{"no value", inSteps(`<step id="one" ` + mark + `name><script>1</script></step>`), "WOML_INVALID_ATTRIBUTE"},
	{"value not in quotes", inSteps(`<step ` + mark + `id=one name="x"><script>1</script></step>`), "WOML_INVALID_ATTRIBUTE"},
	{"no white space between", inSteps(`<step id="one"` + mark + `name="x"><script>1</script></step>`), "WOML_INVALID_ATTRIBUTE"},
	{"value closed by another attribute", inSteps(`<step ` + mark + `a'b="c'><script>1</script></step>`), "WOML_INVALID_ATTRIBUTE"},
	{"name that is none", inSteps(`<step id="one" ` + mark + `1="x"><script>1</script></step>`), "WOML_INVALID_ATTRIBUTE"},
	{"stray slash", inWorkflow(`<config queue="a" ` + mark + `/ >` + oneStep), "WOML_INVALID_ATTRIBUTE"},

	{"attribute twice", inSteps(`<step id="one" retry="2" ` + mark + `retry="3"><script>1</script></step>`), "WOML_DUPLICATE_ATTRIBUTE"},
	{"two empty roots", "<woml/>\n" + mark + "<woml/>", "WOML_MULTIPLE_ROOTS"},
	{"empty root behind", inWorkflow(oneStep) + mark + "<woml />", "WOML_MULTIPLE_ROOTS"},
	{"text behind an empty root", "<woml/>\n " + mark + "text", "WOML_TEXT_OUTSIDE_ROOT"},
}

// What is wrong in one place does not hide what is wrong in another.
func TestAllErrorsAreReportedInTheOrderOfTheChecks(t *testing.T) {
	t.Parallel()
	document := `<woml><workflow id="Demo" name=" " color="red">
  <config queue="BAD" timeout="x"/>
  <triggers><manual id="go-now"/><webhook id="in" path="in" auth="maybe"/></triggers>
  <steps>
    <step id="one" retry="0" retry="1"><script>return services.ftp.get(fetch = 1, secrets.x);</script></step>
    <step id="one" name="{{secrets.KEY}}"><parallel/></step>
  </steps>
</workflow></woml>`
	want := []string{
		"WOML_DUPLICATE_ATTRIBUTE", "WOML_SECRET_SINK_UNSUPPORTED", "WOML_UNKNOWN_ATTRIBUTE", "WOML_FEATURE_NOT_EXECUTABLE",
		"WOML_INVALID_ID", "WOML_EMPTY_METADATA", "WOML_CONFIG_TIMEOUT_INVALID", "WOML_CONFIG_QUEUE_INVALID",
		"WOML_INVALID_ID", "WOML_WEBHOOK_PATH_INVALID", "WOML_WEBHOOK_AUTH_INVALID",
		"WOML_SCRIPT_FETCH_WRITE_UNSUPPORTED", "WOML_SCRIPT_SECRET_NAME_INVALID", "WOML_RETRY_INVALID", "WOML_DUPLICATE_ID", "WOML_MODULE_SERVICE_UNKNOWN",
	}
	_, diags := Parse([]byte(document))
	equalCodes(t, diags, want)
}

func equalCodes(t *testing.T, diags []Diagnostic, want []string) {
	t.Helper()
	var got []string
	for _, d := range diags {
		got = append(got, d.Code)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// A document of errors only is cut short, not answered with a book.
func TestErrorsAreBounded(t *testing.T) {
	t.Parallel()
	_, diags := Parse([]byte(inSteps(strings.Repeat("<x/>", 2*maxDiagnostics))))
	if len(diags) != maxDiagnostics {
		t.Errorf("%d diagnostics, want %d", len(diags), maxDiagnostics)
	}
}

// Columns count UTF-16 units, a byte order mark is one, lines end at "\n" alone.
func TestPositions(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{
		"plain":               "<woml>\n  " + mark + "<x/></woml>",
		"two units":           "<woml><!-- 😀 -->" + mark + "<x/></woml>",
		"one unit":            "<woml><!-- é漢 -->" + mark + "<x/></woml>",
		"byte order mark":     "\ufeff<woml>" + mark + "<x/></woml>",
		"carriage returns":    "<woml>\r\n\r" + mark + "<x/></woml>",
		"other line breaks":   "<woml><!-- \u2028 -->" + mark + "<x/></woml>",
		"in a script":         "<woml>" + strings.TrimPrefix(inScript("\n// 😀\nreturn '😀' + "+mark+"secrets;"), "<woml>"),
		"script, odd breaks":  inScript("1\r\n2\r3\u20284\u2029 + " + mark + "secrets;"),
		"syntax, odd breaks":  inScript("1\r\n;2\r;3\u2028;4\u2029; + " + mark + "; é"),
		"syntax behind émoji": inScript("'😀é' " + mark + "1"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, line, column := marked(t, document)
			_, diags := Parse([]byte(text))
			if len(diags) == 0 || diags[0].Line != line || diags[0].Column != column {
				t.Errorf("want %d:%d, got %+v", line, column, diags)
			}
		})
	}
}

// Asking in any order gives what counting from the start gives.
func TestPositionIsTheSameInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("a\n\ré😀\ufeff"))).Draw(t, "text")
		asked := rapid.SliceOf(rapid.IntRange(0, len(text))).Draw(t, "offsets")
		s := newSource(text)
		for _, offset := range asked {
			for offset < len(text) && text[offset]&0xC0 == 0x80 {
				offset++ // inside of a character
			}
			line, column := s.position(offset)
			fresh, freshColumn := newSource(text).position(offset)
			if line != fresh || column != freshColumn || line != strings.Count(text[:offset], "\n")+1 {
				t.Fatalf("offset %d is %d:%d, want %d:%d", offset, line, column, fresh, freshColumn)
			}
		}
	})
}
