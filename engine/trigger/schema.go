package trigger

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Issue is one place where a payload does not fit its schema.
type Issue struct {
	Path    string `json:"path"` // JSON pointer
	Message string `json:"message"`
}

// check holds a payload against the route's schema.
func (r *route) check(payload json.RawMessage) *refusal {
	if r.schema == nil {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(payload))
	if err != nil {
		return &refusal{status: 400, code: "WOML_TRIGGER_PAYLOAD_INVALID", message: "the payload is not JSON: " + err.Error()}
	}
	err = r.schema.Validate(value)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &invalid):
		return &refusal{status: 400, code: "WOML_TRIGGER_SCHEMA_INVALID", message: "the payload cannot be checked: " + err.Error()}
	}
	issues := leaves(invalid, message.NewPrinter(language.English), nil)
	slices.SortFunc(issues, func(a, b Issue) int {
		return strings.Compare(a.Path+"\x00"+a.Message, b.Path+"\x00"+b.Message)
	})
	issues = slices.Compact(issues)
	return &refusal{status: 400, code: "WOML_TRIGGER_SCHEMA_INVALID", message: "the payload does not fit the webhook's schema",
		issues: issues[:min(maxIssues, len(issues))]}
}

// leaves are the innermost failures: the outer ones only say that something inside failed.
func leaves(e *jsonschema.ValidationError, p *message.Printer, out []Issue) []Issue {
	if len(e.Causes) == 0 {
		return append(out, Issue{Path: pointer(e.InstanceLocation), Message: e.ErrorKind.LocalizedString(p)})
	}
	for _, c := range e.Causes {
		out = leaves(c, p, out)
	}
	return out
}

func pointer(path []string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	return b.String()
}
