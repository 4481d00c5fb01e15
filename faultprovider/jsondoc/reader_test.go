package jsondoc

import (
	"reflect"
	"testing"
	"time"
)

type settings struct {
	text  string
	n     int
	part  float64
	d     time.Duration
	texts []string
	mode  string
	spans map[string]time.Duration
}

func read(text string) (s settings, err error) {
	r, err := Open([]byte(text), "field")
	if err != nil {
		return s, err
	}
	r.Read([]Field{
		{Name: "text", At: &s.text},
		{Name: "n", At: &s.n, Low: 1, High: 9},
		{Name: "part", At: &s.part},
		{Name: "inner.d", At: &s.d},
		{Name: "inner.texts", At: &s.texts},
		Enum("mode", &s.mode, []string{"slow", "fast"}, ""),
		{Name: "spans", At: &s.spans},
	})
	return s, r.Done()
}

func TestReader(t *testing.T) {
	t.Parallel()
	got, err := read(`{"text":"x","n":9,"part":0.5,"inner":{"d":"45d","texts":["a","b"]},"mode":"fast","spans":{"jobs":"1h"}}`)
	want := settings{"x", 9, 0.5, 45 * 24 * time.Hour, []string{"a", "b"}, "fast", map[string]time.Duration{"jobs": time.Hour}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("read %+v, %v; want %+v", got, err, want)
	}
	if got, err := read(`{}`); err != nil || !reflect.DeepEqual(got, settings{}) {
		t.Fatalf("an empty object read as %+v, %v", got, err)
	}
}

func TestReaderSaysWhatIsWrongAndWhere(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`:                            `1:1: an object is needed here, not a list`,
		`{"txet":1}`:                    `1:2: unknown field "txet": did you mean "text"?`,
		`{"zebra":1}`:                   `1:2: unknown field "zebra"`,
		`{"text":"a","text":"b"}`:       `1:13: field "text" is given twice`,
		"{\n  \"text\": 1}":             `2:11: "text" must be a string, not a number`,
		`{"n":10}`:                      `1:6: "n" must be an integer from 1 to 9, not 10`,
		`{"n":1.5}`:                     `1:6: "n" must be an integer from 1 to 9, not 1.5`,
		`{"part":0}`:                    `1:9: "part" must be above 0 and at most 1, not 0`,
		`{"inner":{"d":"-1s"}}`:         `1:15: "d" must be a duration such as "500ms", "2s" or "45d", not "-1s"`,
		`{"inner":{"d":"xd"}}`:          `1:15: "d" must be a duration such as "500ms", "2s" or "45d", not "xd"`,
		`{"inner":{"xyz":1},"n":0}`:     `1:11: unknown field "xyz"`,
		`{"inner":{"texts":["a",""]}}`:  `1:24: "texts" holds strings that are not empty`,
		`{"mode":"quick"}`:              `1:9: "mode" must be one of slow, fast, not "quick"`,
		`{"spans":{"jobs":"long"}}`:     `1:18: "jobs" must be a duration such as "500ms", "2s" or "45d", not "long"`,
		`{"n":"1","text":2,"unknown":}`: `1:29: unexpected '}', a value is missing`,
	} {
		if _, err := read(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v\n\twant %s", text, err, want)
		}
	}
}
