package engine_test

import (
	"strings"
	"testing"

	"faultlab/engine"
)

// told is everything about a run that is written down or shown, bodies apart.
func (l *lab) told(run string, logged *strings.Builder) string {
	l.t.Helper()
	events, err := l.hist.Events(run)
	if err != nil {
		l.t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range events {
		if _, ok := e.Fact.(engine.Admitted); ok {
			continue
		}
		text, err := engine.EncodeFact(e.Fact)
		if err != nil {
			l.t.Fatal(err)
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.String() + logged.String()
}

func TestSecretsAreUsedAndNeverWrittenDown(t *testing.T) {
	t.Parallel()
	const secret = `tok en/"7` // each form of it: as it is, in a path, in a query, in JSON
	request := func(url string) string {
		return `await services.http.request({method: "POST", url: ` + url + `, json: {}, headers: {authorization: "Bearer " + secrets.TOKEN},
  idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey}}, {name: "create"});`
	}
	path, query := request("`http://p.test/hooks/${encodeURIComponent(secrets.TOKEN)}/jobs`"), request("`http://p.test/jobs?a=${encodeURIComponent(secrets.TOKEN)}`")
	for _, r := range []struct {
		name, script string
		answer       answer
		says         string // somewhere, in the secret's place
	}{
		{"in a path that is answered", path + `return 1;`, created, "/hooks/[secret TOKEN]/jobs"},
		{"in a query that is answered", query + `return 1;`, created, "/jobs?a=[secret TOKEN]"},
		{"in a path that is refused", path, answer{status: 404, body: `{}`}, "/hooks/[secret TOKEN]/jobs answered 404"},
		{"in a path that is dropped", path, dropped, "/hooks/[secret TOKEN]/jobs: dropped"},
		{"in a path that is not JSON", path, answer{status: 200, body: `<`}, "/hooks/[secret TOKEN]/jobs answered 200"},
		{"in a redirect", request("`http://p.test/jobs`"), answer{status: 302, header: map[string]string{"Location": "/x"}}, ""},
		{"in a bad request", `await services.http.request({url: "ftp://" + secrets.TOKEN});`, created, "[secret TOKEN]"},
		{"in an error", `throw new Error("no " + secrets.TOKEN);`, created, "no [secret TOKEN]"},
		{"in a value thrown", `throw {token: secrets.TOKEN};`, created, "[secret TOKEN]"},
		{"in the log", `console.log("with", secrets.TOKEN, {token: secrets.TOKEN}); return 1;`, created, "with [secret TOKEN]"},
		{"in a fetch", "await fetch(`http://p.test/hooks/${encodeURIComponent(secrets.TOKEN)}`); return 1;", created, "/hooks/[secret TOKEN]"},
		{"in SQL that fails", "await services.db({driver: \"sqlite\", connection: \"x\"}).query({text: `SELECT '${secrets.TOKEN}'`});", created, "near [secret TOKEN]"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			var logged strings.Builder
			l := newLab(t, nil, document("", "|"+r.script))
			l.options = func(o *engine.Options) {
				o.Secrets = func(name string) (string, bool) { return secret, name == "TOKEN" }
				o.Log = func(_ string, _ engine.Pos, _, text string) { logged.WriteString(text + "\n") }
				o.Database = failing{"WOML_DATABASE_QUERY_FAILED", "near " + secret}
			}
			l.replies(r.answer)
			run := l.once(`{}`)
			told := l.told(run.ID, &logged)
			for _, form := range []string{secret, "tok%20en", "tok+en", `tok en/\"7`, `tok en/\\\"7`} {
				if strings.Contains(told, form) {
					t.Errorf("%q is in:\n%s", form, told)
				}
			}
			if !strings.Contains(told, r.says) {
				t.Errorf("%q is not in:\n%s", r.says, told)
			}
		})
	}
}

// The address of a look-up is made with the secret, and written down without it.
func TestALookUpKnowsTheSecretInTheAddress(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", `|await services.http.request({method: "POST", url: "http://p.test/hooks/" + secrets.TOKEN + "/jobs", json: {orderId: "o1"},
  idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey}}); return 1;`))
	known := true
	l.options = func(o *engine.Options) {
		o.Secrets = func(string) (string, bool) { return "t0ken", known }
	}
	l.replies(dropped)
	run := l.once(`{}`)
	run, err := l.settle(run.ID, engine.Record, false)
	if err != nil || run.Status != engine.StatusSucceeded {
		t.Fatalf("run %s, %v", run.Status, err)
	}
	last := l.world.seen[len(l.world.seen)-1]
	if !strings.HasPrefix(last.path, "/hooks/t0ken/jobs/by-idempotency-key/") {
		t.Errorf("asked at %s", last.path)
	}
	c := run.Steps[0].Attempts[0].Calls[0]
	if at := c.Evidence[0].URL; !strings.HasPrefix(at, "http://p.test/hooks/[secret TOKEN]/jobs/by-idempotency-key/") {
		t.Errorf("the evidence is from %s", at)
	}
	known = false
	l.run(func() { _, err = l.eng.Lookup(t.Context(), run.ID, c.Key, engine.LookupOptions{}) })
	if !isRefused(err) || !strings.Contains(err.Error(), "TOKEN") {
		t.Errorf("without the secret: %v", err)
	}
}
