package jsondoc

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// Reserialize is JSON.stringify(JSON.parse(text)) of JavaScript: array-index names first in their numeric order, then the
// others in theirs, the last of duplicates in the place of the first, numbers as doubles, no white space.
func Reserialize(text []byte) ([]byte, error) {
	v, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return v.AppendJS(make([]byte, 0, len(text))), nil
}

// AppendJS appends the value as JSON.stringify writes it.
func (v Value) AppendJS(dst []byte) []byte {
	switch v.Type {
	case Null:
		return append(dst, "null"...)
	case Bool:
		return append(dst, v.Text...)
	case Number:
		return appendNumber(dst, v.Text)
	case String:
		return AppendString(dst, v.Text)
	case Array:
		dst = append(dst, '[')
		for i, item := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.AppendJS(dst)
		}
		return append(dst, ']')
	}
	members := inOrder(v.Members)
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, m.Name), ':')
		dst = m.Value.AppendJS(dst)
	}
	return append(dst, '}')
}

// inOrder keeps the last value of each name, in the place of the first, and puts array indexes first, by their number.
func inOrder(members []Member) []Member {
	at := make(map[string]int, len(members))
	out := make([]Member, 0, len(members))
	for _, m := range members {
		if i, ok := at[m.Name]; ok {
			out[i].Value = m.Value
			continue
		}
		at[m.Name] = len(out)
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b Member) int { return cmp.Compare(rank(a.Name), rank(b.Name)) })
	return out
}

// rank is the place of a name among those of an object.
func rank(name string) uint64 {
	if n, ok := arrayIndex(name); ok {
		return n
	}
	return math.MaxUint32
}

// arrayIndex is ECMAScript's array index: a canonical integer from 0 to 2^32-2.
func arrayIndex(name string) (uint64, bool) {
	if name == "" || len(name) > 10 || name[0] == '0' && len(name) > 1 {
		return 0, false
	}
	n, err := strconv.ParseUint(name, 10, 64)
	return n, err == nil && n < math.MaxUint32 && name[0] != '+'
}

// surrogate reports the lone surrogate that s begins with.
func surrogate(s string) (uint16, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1] < 0xa0 {
		return 0, false
	}
	return 0xd000 | uint16(s[1]&0x3f)<<6 | uint16(s[2]&0x3f), true
}

const hex = "0123456789abcdef"

// AppendString quotes a string as JSON.stringify does.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		if u, ok := surrogate(s[i:]); ok {
			dst = append(dst, '\\', 'u', 'd', hex[u>>8&0xf], hex[u>>4&0xf], hex[u&0xf])
			i += 2
			continue
		}
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= 0x20:
			dst = append(dst, c)
		case c == '\b':
			dst = append(dst, '\\', 'b')
		case c == '\f':
			dst = append(dst, '\\', 'f')
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
	}
	return append(dst, '"')
}

// appendNumber writes a number as ECMAScript's Number::toString does; what a double cannot hold is null, as in JSON.stringify.
func appendNumber(dst []byte, text string) []byte {
	f, _ := strconv.ParseFloat(text, 64)
	switch {
	case math.IsInf(f, 0):
		return append(dst, "null"...)
	case f == 0:
		return append(dst, '0')
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// Go writes at least two digits of exponent, ECMAScript as many as needed.
	if e := len(dst) - 2; dst[e] == '0' && (dst[e-1] == '+' || dst[e-1] == '-') && e > start {
		dst = append(dst[:e], dst[e+1])
	}
	return dst
}
