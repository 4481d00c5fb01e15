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
func (r Route) check(payload json.RawMessage) *refusal {
	if r.Schema == nil {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(payload))
	if err != nil {
		return &refusal{status: 400, code: "WOML_TRIGGER_PAYLOAD_INVALID", message: "the payload is not JSON: " + err.Error()}
	}
	err = r.Schema.Validate(value)
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

// Unfit is a payload that does not fit a schema.
type Unfit struct {
	Issues []Issue // at most 100, sorted by path
	no     *refusal
}

func (u *Unfit) Error() string {
	text := u.no.message
	for i, is := range u.Issues {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		if is.Path != "" {
			sep += is.Path + " "
		}
		text += sep + is.Message
	}
	return text
}

// ErrorCode is the code that a webhook's answer would carry.
func (u *Unfit) ErrorCode() string { return u.no.code }

// Fits holds a payload against a webhook's schema, which may be nil, as a delivery over
// HTTP would. A payload that does not fit is an *Unfit.
func Fits(schema Schema, payload json.RawMessage) error {
	if no := (Route{Schema: schema}).check(payload); no != nil {
		return &Unfit{no.issues, no}
	}
	return nil
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
