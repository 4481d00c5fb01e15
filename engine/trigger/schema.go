package trigger

import (
	"bytes"
	"cmp"
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

// Fits holds a payload against a webhook's schema, which may be nil, as a delivery over HTTP would. Its error is a *Refusal.
func Fits(schema Schema, payload json.RawMessage) error {
	if no := fits(schema, payload); no != nil {
		return no
	}
	return nil
}

func fits(schema Schema, payload json.RawMessage) *Refusal {
	if schema == nil {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(payload))
	if err != nil {
		return refuse("WOML_TRIGGER_PAYLOAD_INVALID", "the payload is not JSON: "+err.Error())
	}
	err = schema.Validate(value)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &invalid):
		return refuse("WOML_TRIGGER_SCHEMA_INVALID", "the payload cannot be checked: "+err.Error())
	}
	issues := leaves(invalid, message.NewPrinter(language.English), nil)
	slices.SortFunc(issues, func(a, b Issue) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Message, b.Message))
	})
	issues = slices.Compact(issues)
	no := refuse("WOML_TRIGGER_SCHEMA_INVALID", "the payload does not fit the webhook's schema")
	no.Issues = issues[:min(maxIssues, len(issues))]
	return no
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
