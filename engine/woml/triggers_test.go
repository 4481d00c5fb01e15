package woml

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var triggerRefusals = []refusal{
	{"no trigger", inWorkflow(mark + `<triggers></triggers>` + oneStep), codeTriggerRequired},
	{"text among the triggers", inTriggers(mark + "a"), codeUnexpectedContent},
	{"65 triggers", inTriggers(manyTriggers(64) + mark + `<manual id="last"/>`), codeTriggerLimitExceeded},
	{"a step among the triggers", inTriggers(mark + `<step id="a"><script>1</script></step>`), codeTriggerUnsupported},
	{"a schedule", inTriggers(mark + `<schedule id="a" cron="0 0 * * *"/>`), codeFeatureNotExecutable},
	{"two of one id", inTriggers(`<manual id="a"/><webhook id="` + mark + `a" path="/a" auth="none"/>`), codeTriggerIDDuplicate},
	{"manual without an id", inTriggers(mark + `<manual/>`), codeMissingAttribute},
	{"manual with an id of hyphens", inTriggers(`<manual id="` + mark + `go-now"/>`), codeInvalidID},
	{"manual with a child", inTriggers(`<manual id="BAD">` + mark + `<schema>{}</schema></manual>`), codeInvalidStructure},

	{"webhook without a path", inTriggers(mark + `<webhook id="in" auth="none"/>`), codeMissingAttribute},
	{"webhook without auth", inTriggers(mark + `<webhook id="in" path="/in"/>`), codeMissingAttribute},
	{"relative path", inTriggers(webhookAt(mark + "in")), codeWebhookPathInvalid},
	{"path with a slash at its end", inTriggers(webhookAt(mark + "/in/")), codeWebhookPathInvalid},
	{"path with two slashes", inTriggers(webhookAt(mark + "/in//a")), codeWebhookPathInvalid},
	{"path with a parameter", inTriggers(webhookAt(mark + "/in/:id")), codeWebhookPathInvalid},
	{"path with an escape", inTriggers(webhookAt(mark + "/a%20b")), codeWebhookPathInvalid},
	{"reserved path", inTriggers(webhookAt(mark + "/_woml")), codeWebhookPathInvalid},
	{"below a reserved path", inTriggers(webhookAt(mark + "/_woml/x")), codeWebhookPathInvalid},
	{"path that is too long", inTriggers(webhookAt(mark + "/" + strings.Repeat("a", 2048))), codeWebhookPathInvalid},
	{"two webhooks on one path", inTriggers(webhookAt("/in") + `<webhook id="b" path="` + mark + `/in" auth="none"/>`), codeWebhookPathShared},
	{"another method", inTriggers(`<webhook id="in" path="/in" method="` + mark + `PUT" auth="none"/>`), codeWebhookMethodUnsupported},
	{"method in lower case", inTriggers(`<webhook id="in" path="/in" method="` + mark + `post" auth="none"/>`), codeWebhookMethodUnsupported},
	{"another auth", inTriggers(`<webhook id="in" path="/in" auth="` + mark + `basic"/>`), codeWebhookAuthInvalid},
	{"secret without auth", inTriggers(`<webhook id="in" path="/in" auth="none" ` + mark + `secret="{{secrets.KEY}}"/>`), codeWebhookAuthInvalid},
	{"bearer without a secret", inTriggers(mark + `<webhook id="in" path="/in" auth="bearer"/>`), codeMissingAttribute},
	{"text in a webhook", inTriggers(`<webhook id="in" path="/in" auth="none">` + mark + `{}</webhook>`), codeUnexpectedContent},
	{"two schemas", inTriggers(`<webhook id="in" path="/in" auth="none"><schema>{}</schema>` + mark + `<schema>{}</schema></webhook>`), codeWebhookStructureInvalid},
	{"a script in a webhook", inTriggers(`<webhook id="in" path="/in" auth="none">` + mark + `<script>1</script></webhook>`), codeWebhookStructureInvalid},

	{"element in a schema", inSchema(mark + `<manual id="x"/>`), codeSchemaStructureInvalid},
	{"empty schema", inTriggers(`<webhook id="in" path="/in" auth="none">` + mark + `<schema></schema></webhook>`), codeSchemaJSONInvalid},
	{"blank schema", inTriggers(`<webhook id="in" path="/in" auth="none">` + mark + "<schema> \n </schema></webhook>"), codeSchemaJSONInvalid},
	{"schema that closes itself", inTriggers(`<webhook id="in" path="/in" auth="none">` + mark + `<schema/></webhook>`), codeSchemaJSONInvalid},
	{"comma too many", inSchema(mark + "\n { \"type\": \"object\", }"), codeSchemaJSONInvalid},
	{"byte order mark in a schema", inSchema(mark + "\ufeff{}"), codeSchemaJSONInvalid},
	{"number beyond a double", inSchema(mark + `{"minimum": 1e400}`), codeSchemaInvalid},
	{"number beyond any exponent", inSchema(mark + `{"allOf": [{"multipleOf": 1e-99999999}]}`), codeSchemaInvalid},
	{"list as a schema", inSchema(mark + `[]`), codeSchemaInvalid},
	{"true as a schema", inSchema(mark + `true`), codeSchemaInvalid},
	{"unknown type", inSchema(mark + `{"type": "order"}`), codeSchemaInvalid},
	{"pattern that is none", inSchema(mark + `{"pattern": "["}`), codeSchemaInvalid},
	{"reference to nothing", inSchema(mark + `{"$ref": "#/$defs/order"}`), codeSchemaInvalid},
	{"remote reference", inSchema(mark + `{"$ref": "https://example.com/s.json"}`), codeSchemaInvalid},
	{"reference to a file", inSchema(mark + `{"$ref": "order.json"}`), codeSchemaInvalid},
	{"another dialect", inSchema(mark + `{"$schema": "http://json-schema.org/draft-07/schema#"}`), codeSchemaInvalid},
	{"schema that is too deep", inSchema(mark + strings.Repeat(`{"not":`, maxSchemaDepth) + "{}" + strings.Repeat("}", maxSchemaDepth)), codeSchemaInvalid},
	{"schema that is too large", inSchema(mark + `{"allOf":[{}` + strings.Repeat(",{}", maxSchemaParts) + "]}"), codeSchemaInvalid},
}

func webhookAt(path string) string { return `<webhook id="in" path="` + path + `" auth="none"/>` }

func manyTriggers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `<manual id="t%d"/>`, i)
	}
	return b.String()
}

// The place inside of the JSON is named, across comments.
func TestSchemaErrorsNameTheirPlace(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ schema, want string }{
		{"\n{\n  \"a\": }", "line 3, column 8"},
		{"{<!-- a\n-->\n \"a\" 1}", "line 3, column 6"},
		{`{"type": "object"`, "unexpected end"},
		{`{"type": 5}`, `at "/type"`},
		{`{"properties": {"a": {"minimum": "x"}}}`, `at "/properties/a/minimum"`},
		{`{"$ref": "https://example.com/s.json"}`, "refers to https://example.com/s.json"},
	} {
		_, diags := Parse([]byte(inSchema(row.schema)))
		if len(diags) != 1 || !strings.Contains(diags[0].Message, row.want) {
			t.Errorf("%s: want %q in %+v", row.schema, row.want, diags)
		}
	}
}

// A schema cannot make the product read a file.
func TestSchemaReadsNoFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(path, []byte(`{"type": "object"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, diags := Parse([]byte(inSchema(`{"$ref": "file://` + path + `"}`)))
	equalCodes(t, diags, []string{codeSchemaInvalid})
}

// A schema of a checked document validates payloads, with formats, and with
// patterns as JavaScript has them.
func TestCompileSchemaValidates(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		schema, payload string
		valid           bool
	}{
		{`{"type": "object", "required": ["a"]}`, `{"a": 1}`, true},
		{`{"type": "object", "required": ["a"]}`, `{}`, false},
		{`{"properties": {"at": {"format": "date-time"}}}`, `{"at": "2026-08-01T10:00:00Z"}`, true},
		{`{"properties": {"at": {"format": "date-time"}}}`, `{"at": "yesterday"}`, false},
		{`{"properties": {"id": {"pattern": "^(?!test)\\w+$"}}}`, `{"id": "order"}`, true},
		{`{"properties": {"id": {"pattern": "^(?!test)\\w+$"}}}`, `{"id": "test1"}`, false},
		{`{"properties": {"id": {"pattern": "^\\d+$"}}}`, `{"id": "42"}`, true},
		{`{"properties": {"id": {"pattern": "^\\d+$"}}}`, `{"id": "4a"}`, false},
		{`{"$defs": {"n": {"type": "number"}}, "properties": {"a": {"$ref": "#/$defs/n"}}}`, `{"a": "x"}`, false},
	} {
		schema, err := CompileSchema(json.RawMessage(row.schema))
		if err != nil {
			t.Errorf("%s: %v", row.schema, err)
			continue
		}
		payload, err := jsonschema.UnmarshalJSON(strings.NewReader(row.payload))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(payload); (err == nil) != row.valid {
			t.Errorf("%s against %s: %v, want valid %v", row.payload, row.schema, err, row.valid)
		}
	}
	if _, err := CompileSchema(json.RawMessage(`{`)); err == nil {
		t.Error("broken JSON compiles")
	}
}

// A payload of a stranger cannot make the validator compute for ever, or panic.
func TestValidateRefusesNumbersThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	schema, err := CompileSchema(json.RawMessage(`{"properties": {"amount": {"minimum": 0, "multipleOf": 0.01}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for number, comparable := range map[string]bool{
		"12.34": true, "1e300": true, "-0": true, "0e5": true, "1E+2": true,
		"1e400": false, "1e99999999": false, "1e-99999999": false, "0." + strings.Repeat("0", 500) + "1": false,
	} {
		payload, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"amount": ` + number + `}`))
		if err != nil {
			t.Fatal(err)
		}
		var misfit *jsonschema.ValidationError
		if err := schema.Validate(payload); (err == nil || errors.As(err, &misfit)) != comparable {
			t.Errorf("%.20s: %v", number, err)
		}
	}
}
