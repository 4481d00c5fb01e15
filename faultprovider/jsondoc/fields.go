package jsondoc

import (
	"reflect"
	"strings"
	"time"

	"faultlab/engine/plain"
)

// Field is one member of a kind of files: how it is read, written and explained. Members that stand within an object
// have its name and a dot before theirs, and follow each other.
type Field struct {
	Name      string
	At        any      // *string, a pointer to a kind of string, *int, *float64, *time.Duration, *[]string, *map[string]time.Duration or a Custom
	Values    []string // of a word; nil: any text
	Low, High int      // of an int
	Is        string   // what it can be, for the manual
	Doc       string   // what it does, for the manual
	Omit      bool     // it is not written when it is the zero value
}

// Custom is a value with a form of its own.
type Custom interface{ ReadJSON(r *Reader, name string) }

// Enum is the field of a word that is one of values.
func Enum[T ~string](name string, at *T, values []T, doc string) Field {
	f := Field{Name: name, At: at, Doc: doc}
	for _, v := range values {
		f.Values = append(f.Values, string(v))
	}
	f.Is = strings.Join(f.Values, ", ")
	return f
}

// Explain returns the name of each field, what it can be and what it does.
func Explain(fields []Field) [][3]string {
	out := make([][3]string, len(fields))
	for i, f := range fields {
		out[i] = [3]string{f.Name, f.Is, f.Doc}
	}
	return out
}

// group is the fields from the first one on that stand in one object, their names without its own.
func group(fields []Field) (name string, inner []Field) {
	name, _, nested := strings.Cut(fields[0].Name, ".")
	for nested && len(inner) < len(fields) {
		rest, ok := strings.CutPrefix(fields[len(inner)].Name, name+".")
		if !ok {
			break
		}
		f := fields[len(inner)]
		f.Name = rest
		inner = append(inner, f)
	}
	return name, inner
}

// Read reads the members that the fields describe. A member that is not there leaves its variable alone.
func (r *Reader) Read(fields []Field) {
	for i := 0; i < len(fields); i++ {
		if name, inner := group(fields[i:]); inner != nil {
			r.Within(name, func(r *Reader) { r.Read(inner) })
			i += len(inner) - 1
			continue
		}
		r.read(&fields[i])
	}
}

func (r *Reader) read(f *Field) {
	switch at := f.At.(type) {
	case *int:
		r.int(f.Name, at, f.Low, f.High)
	case *float64:
		r.fraction(f.Name, at)
	case *time.Duration:
		r.duration(f.Name, at)
	case *[]string:
		r.texts(f.Name, at)
	case *map[string]time.Duration:
		r.durations(f.Name, at)
	case Custom:
		if r.asks(f.Name) {
			at.ReadJSON(r, f.Name)
		}
	default:
		r.word(f.Name, reflect.ValueOf(at).Elem(), f.Values)
	}
}

// Write writes the fields as one object.
func Write(fields []Field) ([]byte, error) {
	out := []byte("{")
	for i := 0; i < len(fields); i++ {
		name, inner := group(fields[i:])
		var text []byte
		var err error
		switch at := fields[i].At; {
		case inner != nil:
			i += len(inner) - 1
			text, err = Write(inner)
		case fields[i].Omit && reflect.ValueOf(at).Elem().IsZero():
			continue
		default:
			text, err = plain.JSON(written(at))
		}
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(AppendString(out, name), ':'), text...)
	}
	return append(out, '}'), nil
}

// written is a value as encoding/json writes it: a duration as its text, no list as an empty one.
func written(at any) any {
	switch at := at.(type) {
	case *time.Duration:
		return at.String()
	case *[]string:
		return append([]string{}, *at...)
	case *map[string]time.Duration:
		out := map[string]string{}
		for name, d := range *at {
			out[name] = d.String()
		}
		return out
	}
	return at
}
