package changecode

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"faultlab/faultprovider"
)

func entry() faultprovider.Change {
	return faultprovider.Change{Entries: []faultprovider.Entry{{Seq: 7, Kind: faultprovider.Received, Method: "POST", Path: "/jobs"}}}
}

func whole() faultprovider.Change {
	c := entry()
	c.Effects = []faultprovider.Effect{{ID: "job_1", Body: []byte("{}"), CommittedAt: time.Unix(1772366400, 0).UTC()}}
	c.Keys = []faultprovider.KeyRecord{{Scope: "\xff", Status: 201, Body: []byte{}}}
	return c
}

// draw fills any value that a Change is made of.
func draw(t *rapid.T, v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		if rapid.Bool().Draw(t, "a time") {
			v.Set(reflect.ValueOf(time.Unix(0, rapid.Int64().Draw(t, "nanoseconds")).UTC()))
		}
	case v.Kind() == reflect.Pointer:
		if rapid.Bool().Draw(t, "not nil") {
			v.Set(reflect.New(v.Type().Elem()))
			draw(t, v.Elem())
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			draw(t, v.Field(i))
		}
	case v.Kind() == reflect.String:
		v.SetString(string(rapid.SliceOf(rapid.Byte()).Draw(t, "text")))
	case v.Kind() == reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	case v.CanInt():
		v.SetInt(rapid.Int64().Draw(t, "number"))
	case v.Type().Elem().Kind() == reflect.Uint8:
		if rapid.Bool().Draw(t, "not nil") {
			v.SetBytes(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		}
	default: // a list
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			element := reflect.New(v.Type().Elem()).Elem()
			draw(t, element)
			v.Set(reflect.Append(v, element))
		}
	}
}

// All fields that a Change has come back, whichever they are.
func TestChangesComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c faultprovider.Change
		draw(t, reflect.ValueOf(&c).Elem())
		got, err := Decode(Encode(&c))
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Fatalf("came back (%v)\n%+v, was\n%+v", err, got, c)
		}
	})
}

// A record may have fields that this version does not know, or lack some that it does.
func TestChangesOfOtherVersions(t *testing.T) {
	t.Parallel()
	c := entry()
	c.Entries[0].Note = "note"
	data := Encode(&c)
	if data[0] != 0 || data[1] != 0 || data[2] != 1 {
		t.Fatalf("the change begins with %v", data[:3])
	}
	record := data[4:]
	newer := append([]byte{0, 0, 1, byte(len(record) + 3)}, append(slices.Clone(record), 1, 2, 3)...)
	if got, err := Decode(newer); err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("a newer record is read as %+v (%v)", got, err)
	}
	older := append([]byte{0, 0, 1, byte(len(record) - 7)}, record[:len(record)-7]...) // without the note, the cause and the scope
	want := entry()
	if got, err := Decode(older); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("an older record is read as %+v (%v)", got, err)
	}
}

func FuzzDecode(f *testing.F) {
	c := whole()
	f.Add(Encode(&c))
	f.Add([]byte{1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Decode(data)
		if err != nil {
			return
		}
		again, err := Decode(Encode(&c))
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%+v is read again as %+v (%v)", c, again, err)
		}
	})
}
