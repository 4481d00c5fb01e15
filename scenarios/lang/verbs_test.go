package lang

import (
	"slices"
	"strings"
	"testing"
)

func TestTheTableIsWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	last := 0
	for i := range Verbs {
		v := &Verbs[i]
		if seen[v.Name] {
			t.Errorf("two verbs are named %s", v.Name)
		}
		seen[v.Name] = true
		group := slices.Index(Groups, v.Group)
		if group < last {
			t.Errorf("%s: group %q is not in its place", v.Name, v.Group)
		}
		last = group
		if v.Use == 0 || v.Use&InHead != 0 && v.Use != InHead {
			t.Errorf("%s is for the head alone, or for the script or the workbench", v.Name)
		}
		if (len(v.Keys) > 0) != (v.On != 0) {
			t.Errorf("%s: keys work on some screen, and only keys do", v.Name)
		}
		if len(v.Keys) > 0 && !v.Interactive() {
			t.Errorf("%s has a key but is not for the workbench", v.Name)
		}
		if v.Label != "" && len(v.Keys) == 0 {
			t.Errorf("%s stands in the footer without a key", v.Name)
		}
		checkForm(t, v.Name, &v.Form)
	}
}

func TestEveryExpectationHasAForm(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{"not": true}
	for i := range Expectations {
		e := &Expectations[i]
		if seen[e.Name] {
			t.Errorf("two expectations are named %s", e.Name)
		}
		seen[e.Name] = true
		checkForm(t, "expect "+e.Name, e)
	}
}

func checkForm(t *testing.T, label string, f *Form) {
	t.Helper()
	if !strings.HasSuffix(f.Help, ".") || f.Long != "" && !strings.HasSuffix(f.Long, ".") {
		t.Errorf("%s has no help in whole sentences", label)
	}
	optional := false
	places := f.positional()
	for i, a := range places {
		if a.Kind == KindChoice && len(a.Choices) == 0 || a.Kind == "" || a.Name == "" {
			t.Errorf("%s: argument %d is not declared whole", label, i)
		}
		if optional && !a.Optional {
			t.Errorf("%s: %s is needed after one that is not", label, a.Name)
		}
		optional = optional || a.Optional
		if rest := a.Kind == KindText || a.Kind == KindProse || a.Many; rest && i < len(places)-1 {
			t.Errorf("%s: %s takes all, but another follows", label, a.Name)
		}
	}
	for _, group := range f.OneOf {
		for _, name := range group {
			if f.option(name) == nil {
				t.Errorf("%s: %s excludes others but is no option", label, name)
			}
		}
	}
}

func TestNoKeyDoesTwoThingsOnOneScreen(t *testing.T) {
	t.Parallel()
	for screen := Screen(1); screen&OnAny != 0; screen <<= 1 {
		owner := map[string]string{}
		for i := range Verbs {
			v := &Verbs[i]
			if v.On&screen == 0 {
				continue
			}
			for _, k := range v.Keys {
				if owner[k] != "" {
					t.Errorf("screen %d: %q is bound to %s and %s", screen, k, owner[k], v.Name)
				}
				owner[k] = v.Name
			}
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"deliver":  "deliver TRIGGER PAYLOAD [id=WORD] [token=WORD] [twice|at-once] [when=in-flight|after-crash]",
		"escalate": "escalate [run=RUN] [step=STEP] [write=WRITE] [key=KEY] REASON",
		"fault":    "fault FAULT... [step=STEP] [attempt=NUMBER] [request=NUMBER]",
		"wait":     "wait [for EXPECTATION]",
		"send":     "send GET|HEAD|POST|PUT|PATCH|DELETE PATH [BODY] [key=KEY] [header=WORD...] [times=NUMBER] [at-once]",
		"client":   "client naive|repeats-once [idle=NUMBER]",
		"order":    "order RUN...",
		"crash":    "crash [now|before-send|in-flight|after-effect|after-reply|after-record|during-backoff|look-up] [run=RUN] [step=STEP] [attempt=NUMBER] [call=NUMBER] [request=NUMBER]",
		"policy":   "policy [retry=NUMBER] [retry-backoff=fixed|exponential] [retry-delay=DURATION] [retry-max-delay=DURATION] [throttled=WHOLE] [document]",
	} {
		if got := VerbNamed(name).Usage(); got != want {
			t.Errorf("usage is %s\nwant     %s", got, want)
		}
	}
	if got, want := expectationNamed("run").Usage(), "run queued|running|waiting|cancelling|succeeded|failed|cancelled [reconcile needed|not-needed] [run=RUN]"; got != want {
		t.Errorf("usage is %s\nwant     %s", got, want)
	}
}

func TestTheManualSaysAll(t *testing.T) {
	t.Parallel()
	m := Manual()
	for i := range Verbs {
		if v := &Verbs[i]; v.InFile() != strings.Contains(m, "\n  "+strings.SplitN(v.Usage(), " ", 2)[0]) {
			t.Errorf("%s stands in files: %v, but not so in the manual", v.Name, v.InFile())
		}
	}
	for i := range Expectations {
		if !strings.Contains(m, "\n  expect "+Expectations[i].Name+" ") {
			t.Errorf("the manual does not know expect %s", Expectations[i].Name)
		}
	}
	for _, line := range strings.Split(m, "\n") {
		if len([]rune(line)) > 80 || strings.HasSuffix(line, " ") || strings.Contains(line, "//") && !strings.Contains(line, "http") {
			t.Errorf("this line does not fit the manual: %q", line)
		}
	}
	for _, heading := range []string{"SCENARIO FILES\n", "\nWORDS\n", "\nEXPECTATIONS\n"} {
		if !strings.Contains(m, heading) {
			t.Errorf("the manual has no heading %q", heading)
		}
	}
}

func TestTheStarterParsesAndIsTidy(t *testing.T) {
	t.Parallel()
	for name, title := range map[string]string{
		"my-first": "My first", "": "My scenario", "é_x": "É x", "--": "--", "a\nwait\x1b": "A wait", "\xff": "?",
	} {
		src := Starter(name)
		s, err := Parse("x.txtar", src)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if s.Title != title {
			t.Errorf("%q: title is %q, want %q", name, s.Title, title)
		}
		if tidy, _ := Format(src); string(tidy) != string(src) {
			t.Errorf("%q: it is not tidy, tidy would be\n%s", name, tidy)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	values := []string{"trigger", "theme", "title", "twin", "teach", "before-send"}
	for word, want := range map[string]string{"triger": "trigger", "Titel": "title", "tigger": "trigger", "xyz": "", "before": "before-send", "": "", "win": "twin", "tr": "trigger"} {
		got := ""
		if near := Nearest(word, values); len(near) > 0 {
			got = near[0]
		}
		if got != want {
			t.Errorf("nearest to %q is %q, want %q", word, got, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"250ms": "250ms", "1m30s": "1m30s", "45d": "1080h0m0s", "0s": "0s", "-1s": "", "1": "", "d": "", "1.5d": "", "-1d": "", "999999d": "", "": ""} {
		got := ""
		if d, err := ParseDuration(text); err == nil {
			got = d.String()
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
