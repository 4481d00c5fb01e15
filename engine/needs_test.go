package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"faultlab/engine"
)

// What an open run needs is looked at before an attempt is spent on it. The run is left as
// it is, the others go on, and so does this one once all is there.
func TestWhatAnOpenRunNeedsIsLookedAtFirst(t *testing.T) {
	t.Parallel()
	withSecret := strings.Replace(post, `json:`, `headers: {"X-Token": secrets.TOKEN}, json:`, 1)
	undone := func(undo string) string { return doing("charges") + "~~~" + undo }
	for _, r := range []struct {
		name      string
		steps     []string
		child     string // workflow that is loaded at first; empty for none
		secrets   bool   // after the restart
		workflows bool
		secret    string // that is missing
		workflow  string
		writes    string // after the restart
	}{
		{"a secret of the step at which it stands", []string{retry3 + withSecret}, "", false, true, "TOKEN", "", "jobs"},
		{"a secret of a later step", []string{retry3 + post, "|" + withSecret}, "", false, true, "TOKEN", "", "jobs"},
		{"a secret of an inverse", []string{"|" + undone(withSecret), retry3 + post}, "", false, true, "TOKEN", "", "charges jobs"},
		{"a secret of a step that is done", []string{"|" + strings.Replace(withSecret, "/jobs", "/charges", 1), retry3 + post}, "", false, true, "", "", "charges jobs jobs"},
		{"a workflow that it calls later", []string{retry3 + post, `|return await services.workflows.call("other", {});`}, "other", true, false, "", "other", "jobs"},
		{"nothing that is not there", []string{retry3 + withSecret}, "", true, true, "", "", "jobs jobs"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			docs := []string{document("", r.steps...)}
			if r.child != "" {
				docs = append(docs, workflowOf(r.child, "", `return 1;`))
			}
			l := newLab(t, nil, docs...)
			jobs := 0
			l.world.answer = func(_ int, s seen) answer {
				if s.path != "/jobs" {
					return created
				}
				if jobs++; jobs == 1 {
					return hidden
				}
				return replay
			}
			set := true
			l.options = func(o *engine.Options) { o.Secrets = func(string) (string, bool) { return "t", set } }
			eng := l.start()
			var id string
			l.run(func() {
				id, _ = l.admit("orders", "", `{"orderId":"o1"}`)
				_ = l.clk.Sleep(t.Context(), 500*time.Millisecond)
				eng.Kill()
			})
			all := l.docs
			if set = r.secrets; !r.workflows {
				l.docs = l.docs[:1]
			}
			eng = l.start()
			var err error
			l.run(func() { err = eng.Recover() })
			var needs *engine.NeedsError
			if missing := r.secret+r.workflow != ""; missing != errors.As(err, &needs) || missing &&
				(needs.Run != id || strings.Join(needs.Secrets, " ") != r.secret || strings.Join(needs.Workflows, " ") != r.workflow) {
				t.Errorf("recovery says %v, want that %s%s is missing", err, r.secret, r.workflow)
			}
			if l.writes() != r.writes {
				t.Errorf("wrote %s, want %s", l.writes(), r.writes)
			}
			set, l.docs = true, all
			eng.Close()
			if run := l.restart(id); run.Status != engine.StatusSucceeded || run.Steps[0].Attempts[0].N != 1 {
				t.Errorf("with all of it: run %s: %s", run.Status, run.Message)
			}
		})
	}
}
