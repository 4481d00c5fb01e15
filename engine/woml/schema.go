package woml

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja/parser"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"faultlab/engine/ecma"
)

const (
	schemaHint    = `References must stay inside the schema, such as "#/$defs/order"; patterns are regular expressions of JavaScript.`
	schemaURL     = "https://schema.invalid/" // a name to resolve "#/..." against; nothing is fetched
	schemaDialect = "https://json-schema.org/draft/2020-12/schema"

	// The time to compile a schema grows with the square of its size and depth.
	maxSchemaParts = 5000
	maxSchemaDepth = 64
)

// Schema validates payloads of a webhook.
type Schema struct{ compiled *jsonschema.Schema }

// Validate checks a payload as [jsonschema.UnmarshalJSON] decodes it. The
// error is a [*jsonschema.ValidationError] where the payload does not fit, and
// a plain one where it cannot be compared: a number beyond what a double holds.
func (s *Schema) Validate(payload any) error {
	if err := checkNumbers(payload); err != nil {
		return err
	}
	return s.compiled.Validate(payload)
}

// CompileSchema makes a validator from the schema of a [Trigger]: JSON Schema
// 2020-12, formats asserted, references inside of it only, patterns as
// JavaScript reads them. It is how [Parse] checks a schema, so the schema of a
// checked document always compiles. The error completes a sentence that starts
// with the schema.
func CompileSchema(raw json.RawMessage) (*Schema, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	object, ok := document.(map[string]any)
	if !ok {
		return nil, errors.New("it is not a JSON object")
	}
	if err := checkNumbers(document); err != nil {
		return nil, err
	}
	if err := checkSize(document); err != nil {
		return nil, err
	}
	if dialect, given := object["$schema"]; given && dialect != schemaDialect && dialect != schemaDialect+"#" {
		return nil, fmt.Errorf("its $schema is not %s", schemaDialect)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	compiler.UseLoader(noLoader{})
	compiler.UseRegexpEngine(compilePattern)
	if err := compiler.AddResource(schemaURL, document); err != nil {
		return nil, err
	}
	compiled, err := compiler.Compile(schemaURL)
	if err != nil {
		return nil, errors.New(schemaReason(err))
	}
	return &Schema{compiled}, nil
}

// eachValue calls f for a JSON value and all in it, with how deep each stands.
func eachValue(value any, depth int, f func(value any, depth int) error) error {
	if err := f(value, depth); err != nil {
		return err
	}
	switch value := value.(type) {
	case map[string]any:
		for _, child := range value {
			if err := eachValue(child, depth+1, f); err != nil {
				return err
			}
		}
	case []any:
		for _, child := range value {
			if err := eachValue(child, depth+1, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkNumbers refuses numbers that the validator cannot compare: it computes with
// exact fractions, and gives up or takes very long where an exponent is large.
func checkNumbers(value any) error {
	return eachValue(value, 0, func(value any, _ int) error {
		number, ok := value.(json.Number)
		if !ok {
			return nil
		}
		_, exponent, _ := strings.Cut(strings.ToLower(number.String()), "e")
		exponent = strings.TrimLeft(strings.TrimLeft(exponent, "+-"), "0")
		if _, err := number.Float64(); err != nil || len(exponent) > 3 || len(number) > 400 {
			return fmt.Errorf("it has the number %s, which is beyond what a double holds", excerpt(number.String()))
		}
		return nil
	})
}

// checkSize refuses schemas that would take very long to compile.
func checkSize(schema any) error {
	parts := 0
	return eachValue(schema, 1, func(value any, depth int) error {
		switch value.(type) {
		case map[string]any, []any:
			if parts++; parts > maxSchemaParts || depth > maxSchemaDepth {
				return fmt.Errorf("it has more than %d objects and arrays, or they nest more than %d deep", maxSchemaParts, maxSchemaDepth)
			}
		}
		return nil
	})
}

// noLoader refuses every reference that leaves the schema.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, errors.New("it refers to something outside of itself")
}

// schemaReason says in one line why a schema does not compile.
func schemaReason(err error) string {
	var invalid *jsonschema.SchemaValidationError
	var load *jsonschema.LoadURLError
	var validation *jsonschema.ValidationError
	switch {
	case errors.As(err, &load):
		return fmt.Sprintf("it refers to %s, outside of itself", strings.TrimPrefix(load.URL, schemaURL))
	case errors.As(err, &invalid) && errors.As(invalid.Err, &validation):
		for len(validation.Causes) > 0 {
			validation = validation.Causes[0]
		}
		reason := validation.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		return fmt.Sprintf("at %q, %s", "/"+strings.Join(validation.InstanceLocation, "/"), reason)
	}
	return strings.ReplaceAll(strings.ReplaceAll(err.Error(), schemaURL, ""), "\n", " ")
}

// jsonError tells where a text stops to be JSON; the error is nil if it is.
func jsonError(text string) (offset int, err error) {
	var value json.RawMessage
	err = json.Unmarshal([]byte(text), &value)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = max(0, int(syntax.Offset)-1)
		if r, size := utf8.DecodeRuneInString(text[offset:]); size > 1 {
			err = fmt.Errorf("%q has no place there", r)
		}
	}
	return offset, err
}

// pattern is a regular expression of JavaScript with backtracking. There is no
// limit to its time: whoever writes such a pattern also writes the workflow.
type pattern regexp2.Regexp

func (p *pattern) String() string { return (*regexp2.Regexp)(p).String() }

func (p *pattern) MatchString(s string) bool {
	matched, err := (*regexp2.Regexp)(p).MatchString(s)
	return matched && err == nil
}

// compilePattern compiles a regular expression as JavaScript reads it with the
// flag u: into one that runs in linear time where that is possible.
func compilePattern(text string) (jsonschema.Regexp, error) {
	fitted, err := ecma.Pattern(text, "u")
	var bad *ecma.PatternError
	switch {
	case err == nil:
		text = fitted
	case errors.As(err, &bad) && bad.Valid:
		return nil, err
	}
	if linear, err := parser.TransformRegExp(text, false, true); err == nil {
		if compiled, err := regexp.Compile(linear); err == nil {
			return compiled, nil
		}
	}
	compiled, err := regexp2.Compile(text, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	return (*pattern)(compiled), nil
}
