package draw

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
)

func TestUntrustedTextCannotBreakALine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, in, want string }{
		{"plain text stays", "order-42", "order-42"},
		{"an escape code", "a\x1b[31mred", `a\x1b[31mred`},
		{"a C1 control", "a\u009bb", `a\x9bb`},
		{"a line break and a tab", "a\r\n\tb", `a\r\n\tb`},
		{"a right-to-left override", "a\u202eb", `a\u202eb`},
		{"a zero-width space", "a\u200bb", `a\u200bb`},
		{"a byte that is no UTF-8", "a\xffb", `a\xffb`},
		{"two such bytes in a row", "a\xc3\x28b", `a\xc3(b`},
		{"Chinese", "订单", "订单"},
		{"one emoji", "a😀b", "a😀b"},
		{"a joined emoji", "👩\u200d💻", `👩\u200d💻`},
		{"a flag", "🇩🇪", `\U0001f1e9\U0001f1ea`},
		{"a variation selector", "❤\ufe0f", `❤\ufe0f`},
		{"an accent", "e\u0301", "e\u0301"},
		{"too many accents", "e\u0301\u0301\u0301", `e\u0301\u0301\u0301`},
		{"a private character", "\ue000", `\ue000`},
		{"a wide space", "\u3000", `\u3000`},
		{"a skin tone", "👍🏽", `👍\U0001f3fd`},
	} {
		got, w, cut := Clean(c.in, 100, false)
		if got != c.want || cut {
			t.Errorf("%s: %q is shown as %q (cut %v), want %q", c.what, c.in, got, cut, c.want)
		}
		if real := ansi.StringWidth(got); w != real {
			t.Errorf("%s: measured as %d cells, is %d", c.what, w, real)
		}
	}
}

func TestASCIIModeShowsNothingElse(t *testing.T) {
	t.Parallel()
	got, w, _ := Clean("é订😀\u202e", 100, true)
	if want := `\xe9\u8ba2\U0001f600\u202e`; got != want || w != len(got) {
		t.Errorf("shown as %q of width %d", got, w)
	}
}

func FuzzLinesKeepTheirWidth(f *testing.F) {
	for _, s := range []string{"order-42", "\x1b[2J\x1b]0;x\a", "订单😀e\u0301", "👩\u200d💻🇩🇪", "a\u202eb\xff", strings.Repeat("w", 300), "\u0e33\u1100\u1161\u0915\u093f"} {
		f.Add(s, 20)
	}
	uni, asc := testTheme(f, "dark", Unicode), testTheme(f, "none", ASCII)
	f.Fuzz(func(t *testing.T, s string, width int) {
		if width < 0 || width > 250 {
			return
		}
		for _, th := range []*Theme{uni, asc} {
			line := th.Line(Say(Text, "│", Bad, s, Good, s), width)
			if got := ansi.StringWidth(line); got != width {
				t.Fatalf("%q in %d cells came out %d wide: %q", s, width, got, line)
			}
			checkPlain(t, ansi.Strip(line))
		}
		for _, l := range uni.Wrap(s, max(width, 1), 10) {
			if uni.WidthOf(l) > max(width, 8*4) { // one character can be an escape of ten cells, four of them a cluster
				t.Fatalf("wrapped to %d cells: %q", width, l)
			}
		}
	})
}

// checkPlain fails if a line, its colours stripped, could move the cursor or turn text around.
func checkPlain(t testing.TB, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("not UTF-8: %q", s)
	}
	for _, r := range s {
		if unicode.Is(unicode.C, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			t.Fatalf("the line holds %U: %q", r, s)
		}
	}
}

func TestALineEndsInAnEllipsisWhereItIsCut(t *testing.T) {
	t.Parallel()
	th := testTheme(t, "none", Unicode)
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"order-42", 8, "order-42"},
		{"order-42", 7, "order-…"},
		{"订单订单", 5, "订单…"},
		{"订单订单", 4, "订… "},
		{"x", 0, ""},
	} {
		if got := ansi.Strip(th.Line(Say(Text, c.in), c.width)); got != c.want {
			t.Errorf("%q in %d cells: %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestWrapping(t *testing.T) {
	t.Parallel()
	th := testTheme(t, "none", Unicode)
	for _, c := range []struct {
		in           string
		width, limit int
		want         string
	}{
		{"Look it up, then record it: the job is already there.", 28, 9, "Look it up, then record it:|the job is already there."},
		{"sha256:0123456789 is long", 8, 9, "sha256:0|12345678|9 is|long"},
		{"one\n\ntwo", 10, 9, "one||two"},
		{"a b c d", 1, 2, "a|…"},
		{"It goes on, and more follows", 11, 2, "It goes on,|and more…"},
		{"It goes on, and there is more", 11, 2, "It goes on,|and there…"},
		{"It goes on, abcdefghijk more", 11, 2, "It goes on,|abcdefghij…"},
		{"It goes on,\nand ends", 11, 2, "It goes on,|and ends"},
		{"It goes on,\nand ends\n\n", 11, 2, "It goes on,|and ends"},
		{"", 5, 9, ""},
	} {
		if got := strings.Join(th.Wrap(c.in, c.width, c.limit), "|"); got != c.want {
			t.Errorf("%q in %d cells: %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func testTheme(t testing.TB, name string, g Glyphs) *Theme {
	t.Helper()
	th, err := NewTheme(name, termenv.TrueColor, g)
	if err != nil {
		t.Fatal(err)
	}
	return th
}
