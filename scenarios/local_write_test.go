package scenarios

import (
	"strings"
	"testing"

	"faultlab/scenarios/lang"
)

// writesThenSends is a scenario of these lines and a step that writes a row and then sends.
func writesThenSends(options, lines string) string {
	return lines + `-- flow.woml --
<woml><workflow id="flow"><triggers><manual id="go" /></triggers><steps><step id="one" retry="3" retry-delay="1s"><script>
const db = services.db({ driver: "sqlite", connection: "x.db"` + options + ` });
await db.execute({ text: "CREATE TABLE IF NOT EXISTS t (a)" }, { name: "create" });
const made = await db.execute({ text: "INSERT INTO t VALUES (1)" }, { name: "insert" });
const r = await services.http.request({ method: "POST", url: "http://127.0.0.1:4040/jobs", json: { orderId: 1 },
  idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey } }, { name: "job" });
return { rows: made.rowsAffected, job: r.data.id };
</script></step></steps></workflow></woml>
`
}

// A step that writes a row and then sends is retried: the row is written once, and the
// wire says which writes were not made again, or why a write leaves no marker.
func TestALocalWriteIsMadeOnceOverAttempts(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ name, options, lines, says string }{
		{"with markers", "", "fault fail-before-commit\ntrigger go\nwait\nexpect run succeeded\nexpect attempts 2\nexpect jobs 1\nexpect rows x.db t 1\n", "db execute insert  written by an earlier attempt: its result again"},
		{"without", ", markers: false", "fault fail-before-commit\ntrigger go\nwait\nexpect run failed\nexpect attempts 1\nexpect rows x.db t 1\n", "db execute insert  leaves no marker: markers: false"},
		{"a crash once the row is written", "", "crash after-record step=one call=2\ntrigger go\nwait\nexpect crashed\nrestart\nwait\nexpect run succeeded\nexpect attempts 1\nexpect rows x.db t 1\nexpect jobs 1\n", ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			s, err := lang.Parse("local.txtar", []byte("title a local write\n"+writesThenSends(r.options, r.lines)))
			if err != nil {
				t.Fatal(err)
			}
			report := replay(t, s, Options{})
			for _, c := range report.Complaints() {
				t.Error(c)
			}
			if text := WireText(report.View.Wire, report.View.Start); !strings.Contains(text, r.says) {
				t.Errorf("the wire does not say %q:\n%s", r.says, text)
			}
		})
	}
}
