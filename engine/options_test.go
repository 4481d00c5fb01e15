package engine

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// members gives what encoding/json gives of any object, however it is laid out.
func TestMembersAreThoseOfEncodingJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		object := drawObject().Draw(t, "object")
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "indented") {
			if text, err = json.MarshalIndent(object, " ", "\t"); err != nil {
				t.Fatal(err)
			}
		}
		got := map[string]any{}
		for name, value := range members(text) {
			var v any
			if err := json.Unmarshal(value, &v); err != nil {
				t.Fatalf("the value of %q in %s is %q: %v", name, text, value, err)
			}
			got[name] = v
		}
		if !reflect.DeepEqual(got, object) {
			t.Fatalf("the members of %s are %v", text, got)
		}
	})
}

func drawObject() *rapid.Generator[map[string]any] {
	name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"url", `a"b`, `\`, "{", "}", "é\u2028", ","}))
	value := rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "flag")
		case 2:
			return rapid.Float64Range(-1e9, 1e9).Draw(t, "number")
		case 3:
			return map[string]any{name.Draw(t, "inner"): []any{name.Draw(t, "deep"), map[string]any{}}}
		case 4:
			return []any{}
		}
		return name.Draw(t, "text")
	})
	return rapid.MapOfN(name, value, 0, 5)
}

func TestOptionsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ given, says string }{
		{`{"url":"http://a","count":3,"data":{"n":[1, 2]}}`, ""},
		{` { "url" : "http:\/\/a" , "count" : 3 , "data" : {"n":[1, 2]} } `, ""},
		{`{"url":"b","url":"http://a","count":3,"data":{"n":[1, 2]}}`, ""},
		{`{"URL":"http://a"}`, `the request has no option "URL"; did you mean "url"?`},
		{`{"url":7}`, `url of the request cannot be 7`},
		{`{"url":null}`, `url of the request cannot be null`},
		{`{"count":"0123456789012345678901234567890123456789"}`, `count of the request cannot be "012345678901234567890123456789012345678…`},
		{`["url"]`, `the request is not an object`},
		{`null`, `the request is not an object`},
		{`{"url":`, `the request is not an object`},
	} {
		var url string
		var count int
		var data json.RawMessage
		err := options("the request", json.RawMessage(r.given), option{"url", &url}, option{"data", &data}, option{"count", &count})
		if err == nil && (url != "http://a" || count != 3 || string(data) != `{"n":[1, 2]}`) {
			t.Errorf("%s reads as %q, %d, %s", r.given, url, count, data)
		}
		if said := errorText(err); said != r.says {
			t.Errorf("%s is refused with %q, want %q", r.given, said, r.says)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
