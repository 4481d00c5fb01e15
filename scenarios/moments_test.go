package scenarios

import (
	"strings"
	"testing"

	"faultlab/scenarios/lang"
)

// momentsWorkflow charges, makes a job, and refunds the charge where the job fails.
const momentsWorkflow = `-- flow.woml --
<woml>
  <workflow id="flow" name="Flow">
    <triggers>
      <manual id="go" />
      <webhook id="event" path="/event" auth="none" />
    </triggers>
    <steps>
      <step id="charge" retry="3">
        <script>
          const reply = await services.http.request({ method: "POST", url: "http://127.0.0.1:4040/charges", json: { amount: 120 },
            timeout: "10s", idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey } }, { name: "charge" });
          return { id: reply.data.id };
        </script>
        <compensate retry="3">
          <script>
            const reply = await services.http.request({ method: "POST", url: "http://127.0.0.1:4040/refunds", json: { charge: context.steps.charge.id },
              timeout: "10s", idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey } }, { name: "refund" });
            return { id: reply.data.id };
          </script>
        </compensate>
      </step>
      <step id="ship" retry="3">
        <script>
          const reply = await services.http.request({ method: "POST", url: "http://127.0.0.1:4040/jobs", json: { order: "order-42" },
            timeout: "10s", idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey } }, { name: "ship" });
          return { id: reply.data.id };
        </script>
      </step>
    </steps>
  </workflow>
</woml>
`

// scenarioOf is a scenario of these lines and the workflow that charges and ships.
func scenarioOf(t *testing.T, script string) *lang.Scenario {
	t.Helper()
	s, err := load("moments.txtar", []byte("title  T\n"+script+"\n"+momentsWorkflow))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMoments is what the words for moments mean: where a worker dies, which request a fault takes, when an event
// comes again, who goes first. Each row holds simulated and on sockets.
func TestMoments(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"in flight: the provider has the request and has done nothing": "crash in-flight step=charge\ntrigger go\nadvance 1ms\nadvance 0s\n" +
			"expect crashed\nexpect charges 0\nexpect requests 1\nwait\nexpect charges 1\nexpect attempts 1",
		"after the record: the reply is on disk, and nothing was sent after it": "crash after-record step=charge call=1\ntrigger go\nwait\n" +
			"expect crashed 1\nexpect charges 1\nexpect requests 1\nexpect status 201",
		"the look-up: answered, and its evidence lost": "fault {\"name\":\"commit-then-drop\",\"on\":{\"collection\":\"charges\"}}\ncrash look-up\ntrigger go\nwait\nlookup\n" +
			"expect crashed\nexpect lookups 1\nrestart\nexpect lookups 1\nlookup\nexpect evidence found matches",
		"a step is not its compensation": "fault {\"name\":\"bad-request\",\"on\":{\"collection\":\"jobs\"}}\ncrash before-send step=~charge\ntrigger go\nwait\n" +
			"expect crashed\nexpect step charge succeeded\nexpect charges 1\nexpect refunds 0",
		"a crash of another run does not count":     "crash before-send run=2 step=charge\ntrigger go\nwait\nexpect run succeeded\nexpect not crashed\ntrigger go\nwait\nexpect crashed\nexpect charges 1",
		"a crash of another request does not count": "fault fail-before-commit\ncrash before-send step=charge request=2\ntrigger go\nwait\nexpect run succeeded\nexpect not crashed",
		"several crashes come in their order": "crash after-reply step=ship\ncrash before-send step=charge\ntrigger go\nwait\nexpect not crashed 2\nexpect charges 1\nexpect jobs 1\n" +
			"restart\nwait\ntrigger go\nwait\nexpect crashed 2\nexpect charges 1",
		"a fault of one attempt": "fault fail-before-commit step=ship attempt=2\nfault fail-before-commit step=ship attempt=1 request=1\ntrigger go\nwait\n" +
			"expect outcome 1 failed step=ship\nexpect outcome 2 failed step=ship\nexpect outcome 3 succeeded step=ship\nexpect faults taken",
		"a fault of a request that is never made": "fault fail-before-commit step=ship request=2\ntrigger go\nwait\nexpect run succeeded\nexpect not faults taken",
		"an event comes again in flight":          "deliver event {\"a\":1} id=evt-1 when=in-flight\ndeliver event {\"a\":1} id=evt-1\nwait\nexpect runs 1\nexpect delivery 202 n=1\nexpect delivery 202 duplicate n=2",
		"an event comes again when the worker is back": "crash after-effect step=charge\ndeliver event {\"a\":1} id=evt-1\ndeliver event {\"a\":1} id=evt-1 when=after-crash\nwait\n" +
			"expect delivery 202\nrestart\nwait\nexpect delivery 202 duplicate\nexpect runs 1",
		"nobody is there":                                   "crash\ntrigger go\ndeliver event {\"a\":1} id=evt-1\nexpect delivery none\nexpect runs 0\nrestart\ntrigger go\nwait\nexpect run succeeded",
		"in the middle of several":                          "crash before-send\ntrigger go times=5\nwait\nexpect crashed\nexpect charges 0\nexpect not runs 0",
		"a record and its part":                             "trigger go\nwait\nexpect record charges/* /amount 120\nexpect not record charges/* /amount 121\nexpect jobs 1 step=ship\nexpect jobs 1 write=ship\nexpect jobs 0 write=charge\nexpect jobs 1 write=\"POST /jobs\"",
		"a line acts before what falls due at its instant":  "trigger go\nadvance 3ms\nexpect not status 201\ncrash\nexpect calls 1\nexpect step charge running",
		"and advance 0s is all of the instant":              "trigger go\nadvance 3ms\nadvance 0s\nexpect step charge succeeded\nexpect charges 1",
		"a decision works at once after a wait for the end": "fault commit-then-drop\ntrigger go\nwait for run failed\nresubmit --force\nwait\nexpect attempts 2 step=charge\nexpect run succeeded",
		"and after a wait for what is unknown":              "fault commit-then-drop\ntrigger go\nwait for step charge unknown\nlookup\nrecord\nwait\nexpect run succeeded",
		"as many 429s as the policy bears cost no attempt": "policy retry=2 throttled=3\nfault rate-limited rate-limited rate-limited fail-before-commit\ntrigger go\nwait\n" +
			"expect run succeeded\nexpect attempts 5 step=charge\nexpect charges 1",
		"and one more does": "policy retry=2 throttled=1\nfault rate-limited rate-limited rate-limited\ntrigger go\nwait\nexpect run failed\nexpect attempts 3 step=charge\nexpect charges 0",
		"0 unless said":     "policy retry=2\nfault rate-limited rate-limited\ntrigger go\nwait\nexpect run failed\nexpect attempts 2 step=charge",
		"every kept connection that dies costs a repeat": "client naive idle=3\nfault {\"name\":\"drop-before-commit\",\"on\":{\"times\":-1}}\ntrigger go\nwait\n" +
			"expect run failed reconcile needed\nexpect attempts 1\nexpect calls 1\nexpect requests 4",
		"a client that keeps none yet repeats nothing": "client naive\nfault commit-then-drop\ntrigger go\nwait\nexpect run failed reconcile needed\nexpect requests 1",
		"a kept connection of an earlier call":         "client naive\nfault {\"name\":\"commit-then-drop\",\"on\":{\"collection\":\"jobs\"}}\ntrigger go\nwait\nexpect run succeeded\nexpect calls 2\nexpect requests 3\nexpect log REPLAY times 1",
		"a client that repeats once": "client repeats-once\nfault commit-then-drop\ntrigger go\nwait\nexpect run succeeded\nexpect attempts 1 step=charge\nexpect calls 1 step=charge\n" +
			"expect requests 2 step=charge\nexpect log REPLAY times 1\nexpect charges 1",
		"and only once":              "client repeats-once\nfault {\"name\":\"drop-before-commit\",\"on\":{\"times\":-1}}\ntrigger go\nwait\nexpect run failed reconcile needed\nexpect requests 2",
		"a key that stays in flight": "contract ietf\nassume {\"origins\":{\"http://127.0.0.1:4040\":{}}}\nfault stuck\nsend POST /jobs {\"a\":1} key=\"\\\"k\\\"\"\nexpect reply none\nadvance 1h\nsend POST /jobs {\"a\":1} key=\"\\\"k\\\"\"\nexpect reply 409\nexpect jobs 0",
	} {
		for _, mode := range []string{Simulated, Sockets} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				r := replay(t, scenarioOf(t, script), Options{Mode: mode})
				if !r.Passed() {
					t.Errorf("%s\n%s", strings.Join(r.Complaints(), "\n"), WireText(r.View.Wire, r.View.Start))
				}
			})
		}
	}
}

// TestTheOrderOfRuns: two runs whose first requests are sent at one instant, with and without an order.
func TestTheOrderOfRuns(t *testing.T) {
	t.Parallel()
	for order, want := range map[string]string{"": "1 2 3", "order 2 1\n": "2 3 1", "order 3 2 1\n": "3 2 1", "order 1 3\n": "1 2 3", "order 2 1\norder 3 1\n": "2 3 1"} {
		for _, mode := range []string{Simulated, Sockets} {
			r := replay(t, scenarioOf(t, order+"trigger go times=3\nwait"), Options{Mode: mode})
			var got []string // the runs in the order in which their charges arrive
			for _, e := range r.View.Log {
				if e.Kind == "received" && strings.HasSuffix(e.Path, "/charges") {
					for i, run := range r.View.Runs {
						if strings.HasPrefix(e.RequestID, run.ID+"/") {
							got = append(got, string(rune('1'+i)))
						}
					}
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s%s: they arrive as %v, want %s", order, mode, got, want)
			}
		}
	}
}

// TestAReportTellsTheMomentOfTheLastLine: what comes later is neither in the verdict nor in the ledger.
func TestAReportTellsTheMomentOfTheLastLine(t *testing.T) {
	t.Parallel()
	r := replay(t, scenarioOf(t, "fault late-commit\ntrigger go\nadvance 29s\nlookup\nabandon --force\nexpect charges 0\nexpect step charge unknown"), Options{})
	if !r.Passed() {
		t.Fatal(r.Complaints())
	}
	if len(r.View.Effects) != 0 || r.Took.Seconds() >= 30 || len(r.Timeline) != r.View.N {
		t.Errorf("the report has %d effects, %v and %d entries of %d", len(r.View.Effects), r.Took, len(r.Timeline), r.View.N)
	}
	for _, o := range r.View.Operations {
		if o.Verdict == "false failure" {
			t.Errorf("%s: a commit that came later makes it a %s", o.Step, o.Verdict)
		}
	}
}

// TestWhatNeverHappenedIsSaid: a crash, a fault and a delivery that were prepared for nothing.
func TestWhatNeverHappenedIsSaid(t *testing.T) {
	t.Parallel()
	r := replay(t, scenarioOf(t, "fault none {\"name\":\"look-up-drop\",\"on\":{\"requests\":\"look-up\",\"times\":2}}\ncrash after-effect step=ship attempt=2\n"+
		"deliver event {\"a\":1} when=after-crash\ntrigger go\nwait\nexpect run succeeded"), Options{})
	var got []string
	for _, l := range r.Left {
		got = append(got, l.String())
		if l.Line < 2 || l.Line > 4 {
			t.Errorf("%s: it is said of line %d", l, l.Line)
		}
	}
	want := []string{
		`fault {"name":"look-up-drop","on":{"requests":"look-up","times":2}}: no request took it`,
		"crash after-effect step=ship attempt=2: it never happened: the worker did not come to this point",
		`deliver event {"a":1} when=after-crash: it was never made: its moment did not come`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("said\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !r.Passed() {
		t.Error("it fails though nothing expects it")
	}
	failing := replay(t, scenarioOf(t, "crash after-effect step=ship attempt=2\ntrigger go\nwait\nexpect crashed"), Options{})
	if failing.Passed() || !strings.Contains(failing.Complaints()[0], "still armed: after-effect step=ship attempt=2") {
		t.Errorf("expected where it never happened: %v", failing.Complaints())
	}
}
