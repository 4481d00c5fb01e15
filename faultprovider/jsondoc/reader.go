package jsondoc

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Reader reads the members of one object into variables. A member that is not there leaves its variable alone. The
// first problem is kept for Done, which also refuses unknown and repeated members.
type Reader struct {
	text  []byte
	what  string // what a member is called in an error: "field"
	value Value
	asked []string
	err   *Error
}

// Open parses a text that must be one object.
func Open(text []byte, what string) (*Reader, error) {
	v, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return OpenValue(text, what, v)
}

// OpenValue reads a value of text that must be an object.
func OpenValue(text []byte, what string, v Value) (*Reader, error) {
	r := &Reader{text: text, what: what, value: v}
	if v.Type != Object {
		r.Fail(v.Offset, "an object is needed here, not %s", v.Type)
		return nil, r.err
	}
	return r, nil
}

// Fail notes a problem at a place; the first place in the text counts.
func (r *Reader) Fail(offset int, format string, args ...any) {
	if r.err == nil || offset < r.err.Offset {
		line, column := Position(r.text, offset)
		r.err = &Error{Offset: offset, Line: line, Column: column, Msg: fmt.Sprintf(format, args...)}
	}
}

// FailAt notes a problem with the member of that name.
func (r *Reader) FailAt(name, format string, args ...any) {
	offset := r.value.Offset
	if v, ok := r.value.Get(name); ok {
		offset = v.Offset
	}
	r.Fail(offset, format, args...)
}

// Has reports whether the member is there.
func (r *Reader) Has(name string) bool {
	_, ok := r.value.Get(name)
	return ok
}

// Is reports whether the member is there and of this type.
func (r *Reader) Is(name string, is Type) bool {
	v, ok := r.value.Get(name)
	return ok && v.Type == is
}

// asks notes that a member can be there, and reports whether it is.
func (r *Reader) asks(name string) bool {
	r.asked = append(r.asked, name)
	return r.Has(name)
}

func (r *Reader) member(name string, want Type) (Value, bool) {
	r.asked = append(r.asked, name)
	v, ok := r.value.Get(name)
	if ok && v.Type != want {
		r.Fail(v.Offset, "%q must be %s, not %s", name, want, v.Type)
		return v, false
	}
	return v, ok
}

// word reads a string, one of values unless there are none.
func (r *Reader) word(name string, dst reflect.Value, values []string) {
	v, ok := r.member(name, String)
	switch {
	case !ok:
	case values != nil && !slices.Contains(values, v.Text):
		r.Fail(v.Offset, "%q must be one of %s, not %q", name, strings.Join(values, ", "), v.Text)
	default:
		dst.SetString(v.Text)
	}
}

// int reads an integer from low to high.
func (r *Reader) int(name string, dst *int, low, high int) {
	v, ok := r.member(name, Number)
	if !ok {
		return
	}
	n, err := strconv.Atoi(v.Text)
	if err != nil || n < low || n > high {
		r.Fail(v.Offset, "%q must be an integer from %d to %d, not %s", name, low, high, v.Text)
		return
	}
	*dst = n
}

// fraction reads a number above 0, up to 1.
func (r *Reader) fraction(name string, dst *float64) {
	v, ok := r.member(name, Number)
	if !ok {
		return
	}
	f, err := strconv.ParseFloat(v.Text, 64)
	if err != nil || f <= 0 || f > 1 {
		r.Fail(v.Offset, "%q must be above 0 and at most 1, not %s", name, v.Text)
		return
	}
	*dst = f
}

// duration reads a duration, "1m30s" or "45d", that is not negative.
func (r *Reader) duration(name string, dst *time.Duration) {
	v, ok := r.member(name, String)
	if !ok {
		return
	}
	d, err := ParseDuration(v.Text)
	if err != nil {
		r.Fail(v.Offset, "%q must be a duration such as \"500ms\", \"2s\" or \"45d\", not %q", name, v.Text)
		return
	}
	*dst = d
}

// Each calls f for the items of a list.
func (r *Reader) Each(name string, f func(Value)) {
	if v, ok := r.member(name, Array); ok {
		for _, item := range v.Items {
			f(item)
		}
	}
}

// texts reads a list of strings that are not empty.
func (r *Reader) texts(name string, dst *[]string) {
	if r.Has(name) {
		*dst = nil
	}
	r.Each(name, func(v Value) {
		if v.Type != String || v.Text == "" {
			r.Fail(v.Offset, "%q holds strings that are not empty", name)
			return
		}
		*dst = append(*dst, v.Text)
	})
}

// Within reads an object within this one.
func (r *Reader) Within(name string, f func(*Reader)) {
	v, ok := r.member(name, Object)
	if !ok {
		return
	}
	inner := &Reader{text: r.text, what: r.what, value: v}
	f(inner)
	r.Merge(inner)
}

// durations reads an object whose members all are durations.
func (r *Reader) durations(name string, dst *map[string]time.Duration) {
	r.Within(name, func(inner *Reader) {
		*dst = map[string]time.Duration{}
		for _, m := range inner.value.Members {
			var d time.Duration
			inner.duration(m.Name, &d)
			(*dst)[m.Name] = d
		}
	})
}

// Done returns the first problem, unknown and repeated members included. It is nil or an *Error.
func (r *Reader) Done() error {
	seen := map[string]bool{}
	for _, m := range r.value.Members {
		if !slices.Contains(r.asked, m.Name) {
			r.Fail(m.Offset, "unknown %s %q%s", r.what, m.Name, Hint(m.Name, r.asked))
		}
		if seen[m.Name] {
			r.Fail(m.Offset, "%s %q is given twice", r.what, m.Name)
		}
		seen[m.Name] = true
	}
	if r.err == nil {
		return nil
	}
	return r.err
}

// ParseDuration is time.ParseDuration with whole days ("45d") and without negative durations.
func ParseDuration(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 0 || n > math.MaxInt64/int(24*time.Hour) {
			return 0, fmt.Errorf("%q is not a number of days", s)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		return 0, fmt.Errorf("%q is negative", s)
	}
	return d, err
}

// Null reports whether the member is there and null.
func (r *Reader) Null(name string) bool {
	v, ok := r.value.Get(name)
	if ok && v.Type == Null {
		r.asked = append(r.asked, name)
		return true
	}
	return false
}

// Merge takes over the first problem of another reader of the same text, unknown and repeated members included.
func (r *Reader) Merge(inner *Reader) {
	if inner.Done() != nil {
		r.Fail(inner.err.Offset, "%s", inner.err.Msg)
	}
}
