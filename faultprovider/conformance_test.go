package faultprovider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
)

// story is what one shell made of one fault under one contract: what the caller saw, the log, and the ledger.
func story(t *testing.T, shell string, c Contract, f Fault) string {
	l := newLab(t, shell, Options{Contract: c, Seed: 7, Latency: time.Millisecond})
	l.run(func() {
		l.p.QueueFaults([]Fault{f})
		const order = `"orderId":"order-42","amount":120`
		l.say("post: %s", l.post(&c, "jobs", "k1", order))
		l.say("look up: %s", l.send(http.MethodGet, "/jobs/by-idempotency-key/k1", ""))
		l.pass(time.Second)
		l.say("again: %s", l.post(&c, "jobs", "k1", order))
		l.say("changed: %s", l.post(&c, "jobs", "k1", `"orderId":"order-43"`))
		l.say("without a key: %s", l.send(http.MethodPost, "/charges", `{"amount":1}`))
		l.pass(time.Minute)
		l.say("look up: %s", l.send(http.MethodGet, "/jobs/by-idempotency-key/k1", ""))
		l.say("list: %s", l.send(http.MethodGet, "/jobs?orderId=order-42", ""))
		l.say("put: %s", l.send(http.MethodPut, "/plans/gold", `{"price":3}`))
		l.say("delete: %s", l.send(http.MethodDelete, "/plans/gold", ""))
		l.pass(25 * time.Hour)
		l.say("after a day: %s", l.post(&c, "jobs", "k1", order))
	})
	l.lines = append(l.lines, "log:")
	for _, e := range l.p.Log(0) {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		l.lines = append(l.lines, string(line))
	}
	l.lines = append(l.lines, "ledger:")
	for _, e := range l.p.Effects() {
		l.lines = append(l.lines, fmt.Sprintf("%+v %s", e.CommittedAt.Sub(epoch), must(json.Marshal(e))))
	}
	return strings.Join(l.lines, "\n")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestTwoShellsOneTruth plays every named fault under every preset through both shells and demands the same story:
// what the caller saw, the log and the ledger, times included.
func TestTwoShellsOneTruth(t *testing.T) {
	t.Parallel()
	for _, c := range contract.Presets() {
		for _, a := range fault.Aliases() {
			t.Run(c.Name+"/"+a.Name, func(t *testing.T) {
				t.Parallel()
				simulated, socket := story(t, "simulated", c, a.Fault), story(t, "socket", c, a.Fault)
				if simulated != socket {
					t.Errorf("the shells differ at\n%s", firstDifference(simulated, socket))
				}
			})
		}
	}
}

func firstDifference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return fmt.Sprintf("line %d\n\tsimulated %s\n\tsocket    %s", i+1, as[i], bs[i])
		}
	}
	return fmt.Sprintf("line %d: one ends there", min(len(as), len(bs))+1)
}
