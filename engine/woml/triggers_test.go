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
	{"no trigger", inWorkflow(mark + `<triggers></triggers>` + oneStep), "WOML_TRIGGER_REQUIRED"},
	{"text among the triggers", inTriggers(mark + "a"), "WOML_UNEXPECTED_CONTENT"},
	{"65 triggers", inTriggers(manyTriggers(64) + mark + `<manual id="last"/>`), "WOML_TRIGGER_LIMIT_EXCEEDED"},
	{"a step among the triggers", inTriggers(mark + `<step id="a"><script>1</script></step>`), "WOML_TRIGGER_UNSUPPORTED"},
	{"a schedule", inTriggers(mark + `<schedule id="a" cron="0 0 * * *"/>`), "WOML_FEATURE_NOT_EXECUTABLE"},
	{"two of one id", inTriggers(`<manual id="a"/><webhook id="` + mark + `a" path="/a" auth="none"/>`), "WOML_TRIGGER_ID_DUPLICATE"},
	{"manual without an id", inTriggers(mark + `<manual/>`), "WOML_MISSING_ATTRIBUTE"},
	{"manual with an id of hyphens", inTriggers(`<manual id="` + mark + `go-now"/>`), "WOML_INVALID_ID"},
	{"manual with a child", inTriggers(`<manual id="BAD">` + mark + `<schema>{}</schema></manual>`), "WOML_INVALID_STRUCTURE"},

	{"webhook without a path", inTriggers(mark + `<webhook id="in" auth="none"/>`), "WOML_MISSING_ATTRIBUTE"},
	{"webhook without auth", inTriggers(mark + `<webhook id="in" path="/in"/>`), "WOML_MISSING_ATTRIBUTE"},
	{"relative path", inTriggers(webhookAt(mark + "in")), "WOML_WEBHOOK_PATH_INVALID"},
	{"path with a slash at its end", inTriggers(webhookAt(mark + "/in/")), "WOML_WEBHOOK_PATH_INVALID"},
	{"path with two slashes", inTriggers(webhookAt(mark + "/in//a")), "WOML_WEBHOOK_PATH_INVALID"},
	{"path with a parameter", inTriggers(webhookAt(mark + "/in/:id")), "WOML_WEBHOOK_PATH_INVALID"},
	{"path with an escape", inTriggers(webhookAt(mark + "/a%20b")), "WOML_WEBHOOK_PATH_INVALID"},
	{"reserved path", inTriggers(webhookAt(mark + "/_woml")), "WOML_WEBHOOK_PATH_INVALID"},
	{"below a reserved path", inTriggers(webhookAt(mark + "/_woml/x")), "WOML_WEBHOOK_PATH_INVALID"},
	{"path that is too long", inTriggers(webhookAt(mark + "/" + strings.Repeat("a", 2048))), "WOML_WEBHOOK_PATH_INVALID"},
	{"two webhooks on one path", inTriggers(webhookAt("/in") + `<webhook id="b" path="` + mark + `/in" auth="none"/>`), "WOML_WEBHOOK_PATH_SHARED"},
	{"another method", inTriggers(`<webhook id="in" path="/in" method="` + mark + `PUT" auth="none"/>`), "WOML_WEBHOOK_METHOD_UNSUPPORTED"},
	{"method in lower case", inTriggers(`<webhook id="in" path="/in" method="` + mark + `post" auth="none"/>`), "WOML_WEBHOOK_METHOD_UNSUPPORTED"},
	{"another auth", inTriggers(`<webhook id="in" path="/in" auth="` + mark + `basic"/>`), "WOML_WEBHOOK_AUTH_INVALID"},
	{"secret without auth", inTriggers(`<webhook id="in" path="/in" auth="none" ` + mark + `secret="{{secrets.KEY}}"/>`), "WOML_WEBHOOK_AUTH_INVALID"},
	{"bearer without a secret", inTriggers(mark + `<webhook id="in" path="/in" auth="bearer"/>`), "WOML_MISSING_ATTRIBUTE"},
	{"text in a webhook", inTriggers(`<webhook id="in" path="/in" auth="none">` + mark + `{}</webhook>`), "WOML_UNEXPECTED_CONTENT"},
	{"two schemas", inTriggers(`<webhook id="in" path="/in" auth="none"><schema>{}</schema>` + mark + `<schema>{}</schema></webhook>`), "WOML_WEBHOOK_STRUCTURE_INVALID"},
	{"a script in a webhook", inTriggers(`<webhook id="in" path="/in" auth="none">` + mark + `<script>1</script></webhook>`), "WOML_WEBHOOK_STRUCTURE_INVALID"},

	{"element in a schema", inSchema(mark + `<manual id="x"/>`), "WOML_WEBHOOK_SCHEMA_STRUCTURE_INVALID"},
	{"empty schema", inTriggers(`<webhook id="in" path="/in" auth="none">` + mark + `<schema></schema></webhook>`), "WOML_WEBHOOK_SCHEMA_JSON_INVALID"},
	{"blank schema", inTriggers(`<webhook id="in" path="/in" auth="none">` + mark + "<schema> \n </schema></webhook>"), "WOML_WEBHOOK_SCHEMA_JSON_INVALID"},
	{"schema that closes itself", inTriggers(`<webhook id="in" path="/in" auth="none">` + mark + `<schema/></webhook>`), "WOML_WEBHOOK_SCHEMA_JSON_INVALID"},
	{"comma too many", inSchema(mark + "\n { \"type\": \"object\", }"), "WOML_WEBHOOK_SCHEMA_JSON_INVALID"},
	{"byte order mark in a schema", inSchema(mark + "\ufeff{}"), "WOML_WEBHOOK_SCHEMA_JSON_INVALID"},
	{"number beyond a double", inSchema(mark + `{"minimum": 1e400}`), "WOML_WEBHOOK_SCHEMA_INVALID"},
	{"number beyond any exponent", inSchema(mark + `{"allOf": [{"multipleOf": 1e-99999999}]}`), "WOML_WEBHOOK_SCHEMA_INVALID"},
	{"list as a schema", inSchema(mark + `[]`), "WOML_WEBHOOK_SCHEMA_INVALID"},
	{"true as a schema", inSchema(mark + `true`), "WOML_WEBHOOK_SCHEMA_INVALID"},
	{"unknown type", inSchema(mark + `{"type": "order"}`), "WOML_WEBHOOK_SCHEMA_INVALID"},
	{"pattern that is none", inSchema(mark + `{"pattern": "["}`), "WOML_WEBHOOK_SCHEMA_INVALID"},
	{"reference to nothing", inSchema(mark + `{"$ref": "#/$defs/order"}`), "WOML_WEBHOOK_SCHEMA_INVALID"},
	{"remote reference", inSchema(mark + `{"$ref": "https://example.com/s.json"}`), "WOML_WEBHOOK_SCHEMA_INVALID"},
	{"reference to a file", inSchema(mark + `{"$ref": "order.json"}`), "WOML_WEBHOOK_SCHEMA_INVALID"},
	{"another dialect", inSchema(mark + `{"$schema": "http://json-schema.org/draft-07/schema#"}`), "WOML_WEBHOOK_SCHEMA_INVALID"},
	{"schema that is too deep", inSchema(mark + strings.Repeat(`{"not":`, maxSchemaDepth) + "{}" + strings.Repeat("}", maxSchemaDepth)), "WOML_WEBHOOK_SCHEMA_INVALID"},
	{"schema that is too large", inSchema(mark + `{"allOf":[{}` + strings.Repeat(",{}", maxSchemaParts) + "]}"), "WOML_WEBHOOK_SCHEMA_INVALID"},
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
	equalCodes(t, diags, []string{"WOML_WEBHOOK_SCHEMA_INVALID"})
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
