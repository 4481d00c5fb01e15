package engine_test

import (
	"testing"

	"faultlab/engine"
)

// What was assumed at admission stays with the run, whoever settles it later and whatever is assumed then.
func TestARunKeepsWhatItWasAdmittedToAssume(t *testing.T) {
	t.Parallel()
	at := func(path string) string {
		return `{"origins":{"*":{"enforces":true,"lookup":"{origin}/` + path + `/{key}"}}}`
	}
	for _, r := range []struct{ name, admitted, later, asked string }{
		{"declared then, nothing now", at("mine"), "", "/mine/"},
		{"declared then, another set now", at("mine"), at("other"), "/mine/"},
		{"nothing then, declared now", "", at("other"), "/other/"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", "|"+post))
			l.replies(lost)
			set := r.admitted
			l.options = func(o *engine.Options) {
				if o.Assume = nil; set != "" {
					o.Assume = declare(t, set)
				}
			}
			run := l.once(`{"orderId":"o1"}`)
			set = r.later
			l.begin(func(e *engine.Engine) {
				if _, err := e.Lookup(t.Context(), run.ID, "", engine.LookupOptions{}); err != nil {
					t.Error(err)
				}
			})
			key := run.Steps[0].Attempts[0].Key
			if got := l.world.seen[len(l.world.seen)-1].path; got != r.asked+key {
				t.Errorf("asked %s, want %s", got, r.asked+key)
			}
		})
	}
}
