package engine_test

import (
	"testing"
	"time"

	"faultlab/engine"
)

// Which header is a key's is what was assumed when the run was admitted, whatever the worker that sends assumes.
func TestAKeyInAPlainHeaderIsFoundByTheRunsOwnAssumptions(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", `|await new Promise(done => setTimeout(done, 1000));
  await services.http.request({method: "POST", url: "http://provider.test/jobs", json: {}, headers: {"x-key": "k-1"}}); return 1;`))
	l.replies(created)
	lives := []string{`{"origins":{"*":{"carrier":{"header":"X-Key"}}}}`, `{}`}
	l.options = func(o *engine.Options) { o.Assume, lives = declare(t, lives[0]), lives[1:] }
	run := l.restart(l.crashAt("", 300*time.Millisecond))
	if got := run.Steps[0].Last().Calls[0].Requests[0].Plain; got != "k-1" {
		t.Errorf("the plain key is %q", got)
	}
}
