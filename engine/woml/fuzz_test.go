package woml

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"
)

// FuzzParse holds for any text: no panic, a document exactly when there is no
// error, positions inside of the text, scripts where they are said to be, and
// the same answer each time.
func FuzzParse(f *testing.F) {
	for _, refusals := range tables {
		for _, r := range refusals {
			if len(r.document) < 4096 {
				f.Add([]byte(strings.Replace(r.document, mark, "", 1)))
			}
		}
	}
	for _, w := range warnings {
		f.Add([]byte(strings.Replace(w.document, mark, "", 1)))
	}
	f.Add([]byte(hashed))
	f.Fuzz(func(t *testing.T, src []byte) {
		doc, diags := Parse(src)
		lines := strings.Split(string(src), "\n")
		hasError := false
		for _, d := range diags {
			hasError = hasError || d.Severity == severityError
			inside(t, lines, d.Line, d.Column)
			if d.Code == "" || d.Message == "" {
				t.Errorf("an empty diagnostic: %+v", d)
			}
		}
		if (doc == nil) != hasError {
			t.Fatalf("document %v, diagnostics %+v", doc != nil, diags)
		}
		if doc == nil {
			return
		}
		if again, _ := Parse([]byte(doc.Source)); again == nil || again.Hash != doc.Hash || doc.Source != string(src) {
			t.Error("reading the document again gives another one")
		}
		for _, s := range doc.Workflow.Steps {
			inside(t, lines, s.Line, s.Column)
			rest := from(lines, s.Script.Line, s.Script.Column)
			if !strings.HasPrefix(rest, s.Script.Source) {
				t.Errorf("the script of %s is not at %d:%d", s.ID, s.Script.Line, s.Script.Column)
			}
		}
		for _, trigger := range doc.Workflow.Triggers {
			inside(t, lines, trigger.Line, trigger.Column)
			if trigger.Schema != nil {
				if _, err := CompileSchema(trigger.Schema); err != nil {
					t.Errorf("the schema of %s does not compile: %v", trigger.ID, err)
				}
			}
		}
	})
}

// FuzzCompileSchema holds for any JSON: no panic, and what compiles validates
// without one.
func FuzzCompileSchema(f *testing.F) {
	for _, schema := range []string{
		`{"type": "object"}`, `{"$ref": "#"}`, `{"$id": "a", "$ref": "a#/b"}`, `{"pattern": "(?=a)"}`, `{"$dynamicRef": "#a", "$dynamicAnchor": "a"}`,
		`{"$defs": {"a": {"$anchor": "b"}}, "$ref": "#b"}`, `{"$vocabulary": {}}`, `{"format": "regex"}`, `{"items": {"minimum": 1e400}}`,
	} {
		f.Add([]byte(schema))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		schema, err := CompileSchema(json.RawMessage(raw))
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a reason")
			}
			return
		}
		for _, payload := range []any{map[string]any{"a": "b", "c": []any{json.Number("1"), nil, true}}, map[string]any{}} {
			_ = schema.Validate(payload) // any answer will do
		}
	})
}

// inside checks that a position is one of the text, its end included.
func inside(t *testing.T, lines []string, line, column int) {
	t.Helper()
	if line < 1 || line > len(lines) || column < 1 || column > units(lines[line-1])+1 {
		t.Errorf("position %d:%d is not in the text", line, column)
	}
}

// from returns the text from a position on.
func from(lines []string, line, column int) string {
	rest := strings.Join(lines[line-1:], "\n")
	for i := range rest {
		if units(rest[:i]) == column-1 {
			return rest[i:]
		}
	}
	return ""
}

func units(text string) int { return len(utf16.Encode([]rune(text))) }
