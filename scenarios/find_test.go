package scenarios

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"faultlab/scenarios/lang"
)

func TestScenariosAreFoundByTheirNamesOrBeginnings(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"b-commit-then-error": "b-commit-then-error",
		"B":                   "b-commit-then-error",
		"c":                   "c-commit-then-drop",
		"c2":                  "c2-look-up-then-record",
		"clock":               "clock-skew",
	} {
		if s, err := Find(name); err != nil || s.Name != want {
			t.Errorf("%s finds %v, %v", name, s, err)
		}
	}
	for name, want := range map[string]string{
		"crash":               "several scenarios begin with \"crash\": crash-before-the-send, ",
		"b-commit-then-eror":  "did you mean b-commit-then-error",
		"qqqqqqqqqqqqqqqqqqq": "`faultlab scenarios` lists them",
	} {
		if _, err := Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

const smallScenario = `title Small
trigger go
wait
expect run succeeded
-- small.woml --
<woml><workflow id="small"><triggers><manual id="go" /></triggers><steps><step id="one"><script>return 1;</script></step></steps></workflow></woml>
`

func TestAScenarioFileIsJudgedWhenItIsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct{ was, becomes, want string }{
		"fault":    {"trigger go", "fault comit-then-drop\ntrigger go", `:2:7: unknown fault "comit-then-drop": did you mean "commit-then-drop"?`},
		"trigger":  {"trigger go", "trigger gone", `:2:9: unknown trigger "gone"; valid here: go`},
		"contract": {"trigger go", "contract strip\ntrigger go", ":2:10: "},
		"step":     {"expect run succeeded", "expect step two succeeded", `:4:13: unknown step "two"; valid here: one`},
		"verb":     {"wait", "wiat", ":3:1: "},
		"document": {`<step id="one">`, `<step id="One">`, ":6:"},
	} {
		file := filepath.Join(dir, name+".txtar")
		if err := os.WriteFile(file, []byte(strings.Replace(smallScenario, c.was, c.becomes, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := LoadFile(file)
		var errs lang.Errors
		if name != "document" && !errors.As(err, &errs) || err == nil || !strings.Contains(err.Error(), file+c.want) {
			t.Errorf("%s: %v, want %s%s", name, err, file, c.want)
		}
	}
}

func TestABrokenDocumentIsPlacedInItsScenario(t *testing.T) {
	t.Parallel()
	s, err := lang.Parse("broken.txtar", []byte(strings.Replace(smallScenario, `<step id="one">`, `<step id="One">`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(s, Options{}); err == nil || !strings.HasPrefix(err.Error(), "broken.txtar:6:") {
		t.Errorf("it says %v", err)
	}
}

func TestAFolderGivesWhatCanBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"b.txtar": smallScenario, "a.txtar": smallScenario, "c.txtar": "nonsense\n", "d.txt": "not mine",
		"sub/deep/e.txtar": smallScenario, ".git/f.txtar": smallScenario} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := LoadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range all {
		if l.Unread == nil {
			got = append(got, l.Scenario.Name)
			continue
		}
		got = append(got, "not "+filepath.Base(l.Unread.File))
		if !strings.Contains(l.Unread.Error(), "c.txtar:1:1: ") {
			t.Errorf("of the broken one it says %v", l.Unread)
		}
	}
	if want := "a, b, not c.txtar, e"; strings.Join(got, ", ") != want {
		t.Errorf("it gives %v, want %s", got, want)
	}
	if _, err := LoadFolder(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there gives no error")
	}
}

func TestABenchSaysWhatItCannotBe(t *testing.T) {
	t.Parallel()
	naive, err := Find("transport-repeats-by-itself")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s    *lang.Scenario
		o    Options
		want string
	}{
		{naive, Options{Mode: Simulated}, "runs on real sockets only"},
		{Catalogue()[0], Options{Mode: "magic"}, `not "magic"`},
		{Catalogue()[0], Options{Mode: Sockets, ListenAddr: "256.0.0.1:1"}, "listen for the provider"},
	} {
		if _, err := Open(c.s, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
