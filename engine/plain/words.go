package plain

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Count is "1 job", "2 jobs".
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, Plural(one))
}

// Plural is the name of several of a thing.
func Plural(one string) string {
	switch {
	case strings.HasSuffix(one, "s"), strings.HasSuffix(one, "x"), strings.HasSuffix(one, "ch"), strings.HasSuffix(one, "sh"):
		return one + "es"
	case strings.HasSuffix(one, "y") && len(one) > 1 && !strings.ContainsRune("aeiou", rune(one[len(one)-2])):
		return one[:len(one)-1] + "ies"
	}
	return one + "s"
}

// Duration is a length of time as a person says it: 1s, 250ms, 1m30s, 24h.
func Duration(d time.Duration) string {
	s := d.Round(time.Millisecond).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Seconds is a length of time in seconds with three decimals, as clocks show it.
func Seconds(d time.Duration) string { return fmt.Sprintf("%.3fs", d.Seconds()) }

// OneLine makes what others wrote one line of plain text: control and format characters cannot disturb a terminal.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp): // escape codes and bidi marks among them
			return utf8.RuneError
		}
		return r
	}, s)
}
