package faultprovider

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestControls(t *testing.T) {
	t.Parallel()
	inBoth(t, Options{Seed: 3}, func(l *lab) {
		key := with{"Idempotency-Key", "k"}
		get := func(what string) string { return l.send(http.MethodGet, "/_test/"+what, "") }
		post := func(what, body string) string { return l.send(http.MethodPost, "/_test/"+what, body) }

		l.want("faults", post("faults", `{"faults":["none",{"reply":{"status":500}}]}`),
			`200 {"faults":["none",{"commit":{"when":"before-reply"},"reply":{"do":"status","status":500}}]}`)
		l.want("a bad list", post("faults", `{"faults":["slow","noen"]}`), `400 {"error":"refused","message":"1:19: unknown fault \"noen\": did you mean \"none\"?"}`)
		l.want("the old queue is kept", get("faults"), `200 {"faults":["none",{"commit":{"when":"before-reply"},"reply":{"do":"status","status":500}}]}`)

		l.want("contract", get("contract")[:34], `200 {"contract":{"name":"seed","ti`)
		l.want("preset", post("contract", `"stripe-v1"`)[:36], `200 {"contract":{"name":"stripe-v1",`)
		l.want("no such preset", brief("", post("contract", `"stripe"`)), `400 refused`)
		l.want("own", post("contract", `{"name":"mine","retention":{"for":"1h"}}`)[:31], `200 {"contract":{"name":"mine",`)
		l.want("bad knob", post("contract", `{"retenton":{}}`), `400 {"error":"refused","message":"1:2: unknown field \"retenton\": did you mean \"retention\"?"}`)
		l.want("the contract is kept", l.p.Contract().Name, "mine")

		l.want("clock", get("clock"), `200 {"now":"2026-03-01T12:00:00Z","virtual":true}`)
		l.want("advance", post("clock", `{"advance":"5s"}`), `200 {"now":"2026-03-01T12:00:05Z","virtual":true}`)
		l.want("advance nowhere", post("clock", `{"advance":"far"}`), `400 {"error":"refused","message":"1:12: \"advance\" must be a duration such as \"500ms\", \"2s\" or \"45d\", not \"far\""}`)

		job := idOf(l.send(http.MethodPost, "/jobs", `{"orderId":1}`, key))
		l.want("log", get("log?after=2"), `200 {"seq":3,"at":"2026-03-01T12:00:05Z","kind":"commit","request":1,"requestId":"r12","method":"POST","path":"/jobs","collection":"jobs","key":"k","effectId":"`+job+`"}`+"\n"+
			`{"seq":4,"at":"2026-03-01T12:00:05Z","kind":"reply","request":1,"requestId":"r12","method":"POST","path":"/jobs","collection":"jobs","key":"k","effectId":"`+job+`","status":201}`+"\n application/x-ndjson")
		l.want("log from nowhere", get("log?after=x"), `400 {"error":"bad_request","message":"after is the seq of an entry, not \"x\""}`)
		l.want("state", get("state"), `200 {"now":"2026-03-01T12:00:05Z","contract":"mine","faults":[{"commit":{"when":"before-reply"},"reply":{"do":"status","status":500}}],`+
			`"requests":1,"seq":4,"inFlight":[],"counts":{"jobs":1},"effects":[{"id":"`+job+`","collection":"jobs","operation":"create","key":"k","requestId":"r12",`+
			`"fingerprint":"`+l.p.Effects()[0].Fingerprint+`","body":{"id":"`+job+`","orderId":1},"committedAt":"2026-03-01T12:00:05Z"}]}`)
		l.send(http.MethodPost, "/jobs", "{\"orderId\":\"\u009b31m\u202e\"}", with{"Idempotency-Key", "k2"})
		if jobs := get("jobs"); !strings.Contains(jobs, `"orderId":"\u009b31m\u202e"`) {
			t.Errorf("what could disturb a terminal is printed as it is: %q", jobs)
		}
		l.want("reset", post("reset", ""), `200 {"reset":true}`)
		l.want("jobs", get("jobs"), `200 {"count":0,"jobs":[]}`)
		l.want("no such control", get("nothing"), `404 {"error":"not_found"}`)
		l.want("wrong method", l.send(http.MethodDelete, "/_test/jobs", ""), `404 {"error":"not_found"}`)
		l.want("a log is not posted", post("log?follow=1", ""), `404 {"error":"not_found"}`)
		l.want("too large", brief("", post("faults", strings.Repeat(" ", MaxBody+1))), "413 body_too_large")
		if s := l.p.State(); s.Requests != 0 {
			l.t.Errorf("%d control requests were counted", s.Requests)
		}
	})
}

func TestWallClockCannotBeMoved(t *testing.T) {
	t.Parallel()
	rt := newWall(t, Options{}).Transport()
	req, err := http.NewRequest(http.MethodPost, "http://provider/_test/clock", strings.NewReader(`{"advance":"1h"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if got := got(t.Context(), resp); got != `409 {"error":"refused","message":"this provider runs on the machine's clock, which cannot be moved; a scenario's clock can"}` {
		t.Error(got)
	}
}

// TestLogIsFollowed reads the live stream over a reset.
func TestLogIsFollowed(t *testing.T) {
	t.Parallel()
	p := newWall(t, Options{})
	seed := preset(t, "seed")
	address := newServer(t, p)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/_test/log?follow=1&after=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	send := func(key string) {
		t.Helper()
		if err := roundTrip(p.Transport(), &seed, key); err != nil {
			t.Fatal(err)
		}
	}
	send("a")
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	stream := bufio.NewReader(resp.Body)
	expect := func(seq int64, kind Kind, key string) {
		t.Helper()
		line, err := stream.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var e Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Seq != seq || e.Kind != kind || e.Key != key {
			t.Fatalf("%s %v, want entry %d, %s of %s", line, err, seq, kind, key)
		}
	}
	expect(2, NewOperation, "a")
	expect(3, Commit, "a")
	expect(4, Replied, "a")
	send("b")
	expect(5, Received, "")
	expect(6, NewOperation, "b")
	expect(7, Commit, "b")
	expect(8, Replied, "b")
	if err := p.Reset(); err != nil {
		t.Fatal(err)
	}
	send("c")
	expect(1, Received, "")
	expect(2, NewOperation, "c")
}

func TestLogForgetsTheOldest(t *testing.T) {
	t.Parallel()
	seed := preset(t, "seed")
	l := newLab(t, "simulated", Options{LogSize: 6})
	l.run(func() {
		for _, key := range []string{"a", "b", "c"} {
			l.post(&seed, "jobs", key, order)
		}
	})
	for after, want := range map[int64][2]int64{0: {7, 12}, 9: {10, 12}, 11: {12, 12}} {
		got := l.p.Log(after)
		if len(got) != int(want[1]-want[0]+1) || got[0].Seq != want[0] || got[len(got)-1].Seq != want[1] {
			t.Errorf("after %d: %+v, want %v", after, got, want)
		}
	}
	if got := l.p.Log(12); len(got) != 0 {
		t.Errorf("after the latest: %+v", got)
	}
}

// TestText is a row for each kind of entry: the fixture's lines, and lines like them.
func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e    Entry
		want string
	}{
		{Entry{Kind: NewOperation, Key: "k", Collection: "jobs", Fault: "none"}, "key=k NEW fault=none"},
		{Entry{Kind: NewOperation, Collection: "jobs", Fault: "slow"}, "key=- NEW fault=slow"},
		{Entry{Kind: Replay, Key: "k", Collection: "jobs", EffectID: "job_1"}, "key=k REPLAY job=job_1"},
		{Entry{Kind: Replay, Key: "k", Collection: "v1/charges", EffectID: "charge_1"}, "key=k REPLAY charge=charge_1"},
		{Entry{Kind: Replay, Key: "k", Collection: "jobs"}, "key=k REPLAY"},
		{Entry{Kind: Rejected, Key: "k", Note: "payload changed"}, "key=k REJECTED (payload changed)"},
		{Entry{Kind: Rejected, Note: "no key"}, ""},
		{Entry{Kind: InFlight, Key: "k", Note: "waits"}, "key=k IN FLIGHT (waits)"},
		{Entry{Kind: Failed, Key: "k", Note: "the disk is full"}, "key=k FAILED (the disk is full)"},
		{Entry{Kind: Looked, Key: "k"}, ""},
		{Entry{Kind: Commit, Key: "k"}, ""},
		{Entry{Kind: NewOperation, Key: "a\x1b[31mb\u202e", Fault: "none"}, `key="a\x1b[31mb\u202e" NEW fault=none`},
	} {
		if got := c.e.Text(); got != c.want {
			t.Errorf("%+v is %q, want %q", c.e, got, c.want)
		}
	}
}

// TestEntriesAreHarmlessJSON: an entry that is printed cannot disturb a terminal, and still says the same.
func TestEntriesAreHarmlessJSON(t *testing.T) {
	t.Parallel()
	e := Entry{Seq: 1, Kind: Received, RequestID: "\u202eid", Key: "a\u009b31mé\x7f😀\U000e0001"}
	text, err := encode(e)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"seq":1,"at":"0001-01-01T00:00:00Z","kind":"received","request":0,"requestId":"\u202eid","key":"a\u009b31mé\u007f😀\udb40\udc01"}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	var back Entry
	if err := json.Unmarshal(text, &back); err != nil || back != e {
		t.Errorf("%+v came back as %+v, %v", e, back, err)
	}
}

// TestResetBeginsAnew: under one seed, what comes after a reset has the ids and the draws of the first time.
func TestResetBeginsAnew(t *testing.T) {
	t.Parallel()
	seed := preset(t, "seed")
	inBoth(t, Options{Seed: 5}, func(l *lab) {
		story := func() (out []string) {
			l.faults(`{"name":"fail-before-commit","on":{"probability":0.5,"times":-1}}`)
			l.n = 0
			for i := range 20 {
				out = append(out, l.post(&seed, "jobs", strconv.Itoa(i), order))
			}
			return out
		}
		first := story()
		if err := l.p.Reset(); err != nil {
			l.t.Fatal(err)
		}
		l.want("after the reset", strings.Join(story(), "\n"), strings.Join(first, "\n"))
	})
}

func TestEntriesTieARequestTogether(t *testing.T) {
	t.Parallel()
	seed := preset(t, "seed")
	var seen []Entry
	l := newLab(t, "simulated", Options{Observe: func(e Entry) { seen = append(seen, e) }})
	l.run(func() {
		l.faults("slow-commit")
		l.v.Go("a", func() { l.post(&seed, "jobs", "a", order) })
		l.pass(time.Second)
		l.post(&seed, "jobs", "b", order)
	})
	kinds := map[int64]string{}
	for i, e := range seen {
		if e.Seq != int64(i+1) {
			t.Errorf("entry %d has the number %d", i+1, e.Seq)
		}
		kinds[e.Request] += string(e.Kind) + " "
	}
	if kinds[1] != "received new commit reply " || kinds[2] != kinds[1] || len(kinds) != 2 {
		t.Errorf("requests are %v", kinds)
	}
}
