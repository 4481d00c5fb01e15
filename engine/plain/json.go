package plain

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/gowebpki/jcs"
)

// Canonical is one form for equal JSON texts: that of RFC 8785 where a double holds each number, else one of its own, in
// which numbers are compared exactly. What has no canonical form, such as a lone surrogate, stays as it stands.
func Canonical(raw []byte) []byte {
	if longNumber(raw) {
		if exact, ok := exactNumbers(raw); ok {
			return append([]byte("exact numbers\n"), rfc8785(exact)...)
		}
	}
	return rfc8785(raw)
}

// JSON is a value as encoding/json writes it, without escapes for HTML.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func rfc8785(raw []byte) []byte {
	if text, err := jcs.Transform(raw); err == nil {
		return text
	}
	return raw
}

// longNumber reports whether a number of a JSON text may be none that a double holds
// exactly: up to 15 digits and small exponents always come back as they were.
func longNumber(raw []byte) bool {
	digits, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted, digits = !quoted, 0
		case quoted:
		case c >= '0' && c <= '9':
			if digits++; digits > 15 {
				return true
			}
		case c == 'e' || c == 'E':
			if digits > 0 { // not that of true or false
				return true
			}
		case c != '.':
			digits = 0
		}
	}
	return false
}

// exactNumbers is the text with texts in the place of numbers that no double holds, and
// marks on all that are texts already, so that neither is taken for the other. ok is false
// where it has no such number.
func exactNumbers(raw []byte) (text []byte, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, false
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, false
	}
	inexact := false
	v = marked(v, &inexact)
	if !inexact {
		return nil, false
	}
	out, err := JSON(v)
	if err != nil {
		return nil, false
	}
	return out, true
}

func marked(v any, inexact *bool) any {
	switch v := v.(type) {
	case string:
		return "text " + v
	case json.Number:
		f, err := v.Float64()
		if exact := decimal(v.String()); err != nil || decimal(strconv.FormatFloat(f, 'e', -1, 64)) != exact {
			*inexact = true
			return "number " + exact
		}
		return v
	case []any:
		for i := range v {
			v[i] = marked(v[i], inexact)
		}
	case map[string]any:
		for name := range v {
			v[name] = marked(v[name], inexact)
		}
	}
	return v
}

// decimal is a number's one spelling: its significant digits and the power of ten behind them.
func decimal(text string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	sign := ""
	if rest, negative := strings.CutPrefix(mantissa, "-"); negative {
		sign, mantissa = "-", rest
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return "0"
	}
	power, err := strconv.ParseInt(strings.TrimPrefix(exponent, "+"), 10, 32)
	if err != nil && exponent != "" {
		return sign + significant + "e" + exponent // beyond all that is compared with it
	}
	return sign + significant + "e" + strconv.FormatInt(power-int64(len(fraction))+int64(len(digits)-len(significant)), 10)
}
