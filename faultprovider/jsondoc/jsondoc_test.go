package jsondoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"
)

func TestReserializeIsWhatNodeDoes(t *testing.T) {
	t.Parallel()
	for _, c := range asNode {
		got, err := Reserialize([]byte(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("Reserialize(%q) = %q, %v; Node says %q", c.in, got, err, c.want)
		}
	}
}

func TestWhatIsNotJSONIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                              "1:1: unexpected end, a value is missing",
		"{":                             "1:2: unexpected end, a name in double quotes is missing",
		`{"a"}`:                         "1:5: unexpected '}', a colon is missing after the name",
		`{"a":1,}`:                      "1:8: unexpected '}', a name in double quotes is missing",
		"[1,\n 2,]":                     "2:4: unexpected ']', a value is missing",
		"01":                            "1:2: unexpected '1' after the value",
		"1.":                            "1:3: unexpected end, a digit is missing",
		"-":                             "1:2: unexpected end, a digit is missing",
		"1e+":                           "1:4: unexpected end, a digit is missing",
		`"\x"`:                          "1:2: unknown escape in a string",
		`"é\u12g4"`:                     `1:3: \u takes four hexadecimal digits`,
		"\"a\nb\"":                      `1:3: unexpected '\n' in a string, write it as an escape`,
		`"a`:                            "1:3: unexpected end in a string",
		`"a\`:                           "1:4: unexpected end in a string",
		"nul":                           "1:1: unexpected 'n', a value is missing",
		"1 2":                           "1:3: unexpected '2' after the value",
		"\ufeff{}":                      `1:1: unexpected '\ufeff', a value is missing`,
		"[1 2]":                         "1:4: unexpected '2', the list goes on with , or ]",
		`{"a":1 "b":2}`:                 `1:8: unexpected '"', the object goes on with , or }`,
		strings.Repeat("[", MaxDepth+2): "1:10002: nested deeper than 10000",
	} {
		_, err := Parse([]byte(in))
		var syntax *Error
		if !errors.As(err, &syntax) || err.Error() != want {
			t.Errorf("Parse(%.20q): %v, want %s", in, err, want)
		}
		if normal([]byte(in)) {
			t.Errorf("normal(%.20q) although it is not JSON", in)
		}
	}
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{`{"b":1, "a":2}`, `{"a":2,"b":1}`},
		{`{"2":1,"10":2,"a":3}`, `{"10":2,"2":1,"a":3}`},
		{`[1.0,1,1e0]`, `[1,1,1]`},
		{`{"\ufb33":1,"\ud83d\ude00":2}`, "{\"\U0001f600\":2,\"\ufb33\":1}"}, // by UTF-16, not by code point
		{`"é"`, `"é"`},
		{`"e\u0301"`, "\"e\u0301\""}, // NFD stays NFD: RFC 8785 does not normalize
	} {
		if got, err := Canonical([]byte(c.in)); err != nil || string(got) != c.want {
			t.Errorf("Canonical(%s) = %s, %v; want %s", c.in, got, err, c.want)
		}
	}
}

// text draws JSON texts, odd ones included.
func text() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string { return drawValue(t, 3) })
}

func drawValue(t *rapid.T, depth int) string {
	space := rapid.SampledFrom([]string{"", "", "", "", " ", "\n"}).Draw(t, "space")
	kinds := 3
	if depth > 0 {
		kinds = 5
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return space + rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word")
	case 1:
		return space + rapid.SampledFrom([]string{"0", "-0", "7", "-12", "1.0", "1e3", "1e-9", "123456789012345", "9007199254740993", "0.1"}).Draw(t, "number")
	case 2, 3:
		return space + drawString(t)
	case 4:
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			items = append(items, drawValue(t, depth-1))
		}
		return "[" + strings.Join(items, space+",") + "]"
	}
	var members []string
	for range rapid.IntRange(0, 4).Draw(t, "n") {
		members = append(members, drawString(t)+space+":"+drawValue(t, depth-1))
	}
	return "{" + strings.Join(members, ",") + "}" + space
}

func drawString(t *rapid.T) string {
	return `"` + rapid.SampledFrom([]string{"", "a", "b", "orderId", "1", "10", "01", `\"`, `\u0041`, "é", `\ud800`, "x y"}).Draw(t, "string") + `"`
}

func TestThePlainWayIsTheLongWay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := []byte(text().Draw(t, "text"))
		v, err := Parse(in)
		if err != nil {
			t.Fatalf("Parse(%s): %v", in, err)
		}
		long := v.AppendJS(nil)
		if normal(in) && !bytes.Equal(long, in) {
			t.Fatalf("normal(%s), but it re-serializes as %s", in, long)
		}
		if c, err := Canonical(in); err != nil || !bytes.Equal(c, v.AppendCanonical(nil)) {
			t.Fatalf("Canonical(%s) = %s, %v; the long way gives %s", in, c, err, v.AppendCanonical(nil))
		}
		for _, m := range v.Members {
			want, _ := v.Get(m.Name)
			got, ok := Field(long, m.Name)
			if !ok || string(got) != string(want.AppendJS(nil)) {
				t.Fatalf("Field(%s, %q) = %s, %v; want %s", long, m.Name, got, ok, want.AppendJS(nil))
			}
		}
		if f, ok := Field(long, "no such name"); ok {
			t.Fatalf("Field(%s) found %s under a name that is not there", long, f)
		}
	})
}

func TestPlainTextsTakeThePlainWay(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		`{"orderId":"order-42","paymentId":"pay-42","amount":120}`, `{}`, `[]`, `[[1,-2],{"a":null}]`, `"x"`, `0`, `{"":{}}`,
	} {
		if !normal([]byte(in)) {
			t.Errorf("%s takes the long way", in)
		}
	}
}

func TestCanonicalAgreesWithAnotherImplementation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := []byte("[" + text().Draw(t, "text") + "]")
		want, err := jcs.Transform(in)
		if err != nil {
			return // it refuses duplicates and lone surrogates
		}
		if got, err := Canonical(in); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("Canonical(%s) = %s, %v; jcs says %s", in, got, err, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, c := range asNode {
		f.Add([]byte(c.in))
	}
	f.Add([]byte(`{"a":1,}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := Parse(in)
		if err != nil {
			if normal(in) {
				t.Fatalf("normal(%q), but Parse says %v", in, err)
			}
			return
		}
		out := v.AppendJS(nil)
		if !json.Valid(out) || !json.Valid(in) {
			t.Fatalf("%q became %q; is it JSON?", in, out)
		}
		if normal(in) && !bytes.Equal(in, out) {
			t.Fatalf("normal(%q), but it re-serializes as %q", in, out)
		}
		if c, err := Canonical(in); err != nil || !bytes.Equal(c, v.AppendCanonical(nil)) {
			t.Fatalf("Canonical(%q) = %q, %v; the long way gives %q", in, c, err, v.AppendCanonical(nil))
		}
		if again, err := Reserialize(out); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%q is not a fixed point: %q, %v", out, again, err)
		}
	})
}

func BenchmarkReserialize(b *testing.B) {
	in := []byte(`{"orderId":"order-42","paymentId":"pay-42","amount":120}`)
	for b.Loop() {
		if _, err := Reserialize(in); err != nil {
			b.Fatal(err)
		}
	}
}
