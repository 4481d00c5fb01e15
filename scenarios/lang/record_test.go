package lang

import (
	"strings"
	"testing"
	"time"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	s := &Scenario{Title: "What I did", Teach: "One.\nTwo.", Runs: RunsBoth, Subject: "orderId", Seed: 9, Cases: []string{"a", "b"}, Lessons: []Place{{"key", 2}},
		Names: []string{"workflow.woml", "payload.json", "other.json"},
		Files: map[string][]byte{"workflow.woml": []byte("<woml/>\n"), "payload.json": []byte("{}"), "other.json": []byte("{}")}}
	ms := time.Millisecond
	out, err := Record(s, []Step{
		{0, 0, must("fault commit-then-drop")},
		{0, 0, must("trigger fulfill payload.json")},
		{10 * ms, 10 * ms, must("pause")},
		{1500 * ms, 1500 * ms, must("lookup")},
		{2000 * ms, 5000 * ms, must("advance 3s")},
		{5000 * ms, 5000 * ms, must("record --force")},
		{9000 * ms, 9000 * ms, must("wait")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `title  What I did
teach  One.
teach  Two.
lesson key 2
case   a b
subject orderId
seed   9

fault  commit-then-drop
trigger fulfill payload.json
advance 1.5s
advance 0s
lookup
advance 500ms
advance 3s
record --force
wait
-- workflow.woml --
<woml/>
-- payload.json --
{}
`
	if string(out) != want {
		t.Errorf("wrote\n%s\nwant\n%s", out, want)
	}
}

func TestRecordRefusesWhatWouldReadAsSomethingElse(t *testing.T) {
	t.Parallel()
	trigger := []Step{{Line: must("trigger t p")}}
	for _, c := range []struct {
		name, want string
		files      map[string][]byte
		title      string
	}{
		{"a file that is not there", "there is no embedded file \"p\"", nil, "T"},
		{"a file that is not text", "p is not UTF-8 text", map[string][]byte{"p": {0xff}}, "T"},
		{"a file with a file's line in it", "p has a line that reads as the beginning of an embedded file", map[string][]byte{"p": []byte("x\n-- y --\n")}, "T"},
		{"no title", "a scenario needs a title", map[string][]byte{"p": nil}, ""},
		{"a title that is no text", "a control character", map[string][]byte{"p": nil}, "\x1b[2J"},
	} {
		s := &Scenario{Title: c.title, Files: c.files}
		for name := range c.files {
			s.Names = append(s.Names, name)
		}
		if _, err := Record(s, trigger); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: said %v, want %s", c.name, err, c.want)
		}
	}
}
