package jsondoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

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

func TestGetFindsWhatTheTreeHas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := []byte(text().Draw(t, "text"))
		v, err := Parse(in)
		if err != nil {
			t.Fatalf("Parse(%s): %v", in, err)
		}
		long := v.AppendJS(nil)
		for _, m := range v.Members {
			want, _ := v.Get(m.Name)
			got, ok := Get(long, m.Name)
			if !ok || string(got) != string(want.AppendJS(nil)) {
				t.Fatalf("Get(%s, %q) = %s, %v; want %s", long, m.Name, got, ok, want.AppendJS(nil))
			}
		}
		if f, ok := Get(long, "no such name"); ok {
			t.Fatalf("Get(%s) found %s under a name that is not there", long, f)
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
			return
		}
		out := v.AppendJS(nil)
		if !json.Valid(out) || !json.Valid(in) {
			t.Fatalf("%q became %q; is it JSON?", in, out)
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
