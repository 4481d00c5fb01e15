package engine

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
)

// maxDelivered is how deep a delivered payload may nest: a script puts it into requests,
// results and payloads of its own, which nest deeper then.
const maxDelivered = maxNesting / 2

// payloadFlaw says why a payload that is valid JSON could not be passed on as it is: a
// script would read other values than were sent, or could not send them. It is empty
// where nothing stands against it.
func payloadFlaw(raw []byte, deepest int) string {
	if nesting(raw) > deepest {
		return fmt.Sprintf("is nested more than %d deep", deepest)
	}
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			end, lone := jsonString(raw, i)
			if lone {
				return fmt.Sprintf("has half of a surrogate pair at byte %d, which is no character of UTF-8", i+1)
			}
			i = end
		case c == '-' || c >= '0' && c <= '9':
			end := i
			for end < len(raw) && numberByte(raw[end]) {
				end++
			}
			if f, _ := strconv.ParseFloat(string(raw[i:end]), 64); math.IsInf(f, 0) {
				return fmt.Sprintf("has a number at byte %d that is larger than a script can hold", i+1)
			}
			i = end - 1
		}
	}
	return ""
}

func numberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'
}

// jsonString is the place of the quote that ends the string which begins at from, and
// whether an escape in it is half of a surrogate pair.
func jsonString(raw []byte, from int) (end int, lone bool) {
	high := false // the escape just before is the first half of a pair
	for i := from + 1; i < len(raw); i++ {
		unit := rune(-1)
		switch {
		case raw[i] == '"':
			return i, lone || high
		case raw[i] == '\\' && i+5 < len(raw) && raw[i+1] == 'u':
			n, _ := strconv.ParseUint(string(raw[i+2:i+6]), 16, 16)
			unit = rune(n)
			i += 5
		case raw[i] == '\\':
			i++
		}
		low := unit >= 0xdc00 && unit < 0xe000
		lone = lone || low != high
		high = utf16.IsSurrogate(unit) && !low
	}
	return len(raw), lone
}
