package faultprovider

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"faultlab/engine/clock"
	"faultlab/faultprovider/contract"
)

// TestPairsUnderOneKeyCommitOnce sends two requests under one key at the same moment, many times over, on the machine's
// clock: an enforcing contract makes one effect of each pair.
func TestPairsUnderOneKeyCommitOnce(t *testing.T) {
	t.Parallel()
	for _, c := range contract.Presets() {
		pairs := 500
		switch c.Name {
		case "ignores-key":
			continue
		case "seed":
			pairs = 10_000
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p, err := New(Options{Clock: clock.NewWall(), Contract: c})
			if err != nil {
				t.Fatal(err)
			}
			sendPairs(t, p, &c, pairs)
			if n := len(p.Effects()); n != pairs {
				t.Errorf("%d pairs made %d effects", pairs, n)
			}
			if s := p.State(); len(s.InFlight) != 0 || s.Requests != int64(2*pairs) {
				t.Errorf("%d keys are still in flight after %d requests", len(s.InFlight), s.Requests)
			}
		})
	}
}

// sendPairs sends pairs, 64 at a time, the two of a pair at once.
func sendPairs(t *testing.T, p *Provider, c *Contract, pairs int) {
	rt := p.Transport()
	slots := make(chan struct{}, 64)
	var all sync.WaitGroup
	for n := range pairs {
		slots <- struct{}{}
		begin := make(chan struct{})
		var pair sync.WaitGroup
		for range 2 {
			pair.Go(func() {
				<-begin
				if err := roundTrip(rt, c, fmt.Sprint("key-", n)); err != nil {
					t.Error(err)
				}
			})
		}
		close(begin)
		all.Go(func() { pair.Wait(); <-slots })
	}
	all.Wait()
}

func roundTrip(rt http.RoundTripper, c *Contract, key string) error {
	body, headers := keyed(c, key, order, time.Now())
	req, err := http.NewRequest(http.MethodPost, "http://provider/jobs", strings.NewReader(body))
	if err != nil {
		return err
	}
	for _, h := range headers {
		req.Header.Set(h[0], h[1])
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// TestPairsWhileTheFirstIsSlow lets the second request of a pair come while the first one's commit is still to come.
func TestPairsWhileTheFirstIsSlow(t *testing.T) {
	t.Parallel()
	for _, c := range contract.Presets() {
		if c.Name == "ignores-key" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			inBoth(t, Options{Contract: c}, func(l *lab) {
				const pairs = 50
				l.faults(`{"name":"slow-commit","on":{"times":-1}}`)
				for n := range 2 * pairs {
					l.v.Go(fmt.Sprint("caller ", n), func() {
						l.pass(time.Duration(n/pairs) * time.Second)
						body, headers := keyed(&c, fmt.Sprint("key-", n%pairs), order, l.v.Now())
						l.sendAs(fmt.Sprint("r", n), http.MethodPost, "/jobs", body, headers...)
					})
				}
				l.pass(time.Minute)
				if n := len(l.p.Effects()); n != pairs {
					l.t.Errorf("%d pairs made %d effects", pairs, n)
				}
			})
		})
	}
}

func TestCallerThatGivesUpWaitingLeavesTheFlightAlone(t *testing.T) {
	t.Parallel()
	seed := preset(t, "seed")
	inBoth(t, Options{}, func(l *lab) {
		l.faults("late-commit") // after 30 s; its caller leaves after 10 s
		l.v.Go("first", func() { l.post(&seed, "jobs", "k", order) })
		l.pass(time.Second)
		l.want("second", l.post(&seed, "jobs", "k", order), "too late")
		l.pass(10 * time.Second)
		first := l.post(&seed, "jobs", "k", order) // waits from 21 s to 30 s
		l.want("third", brief(l.p.Effects()[0].ID, first), "200 same")
		l.want("log", l.kinds(), "received new:late-commit received in-flight:waits gave-up gave-up received in-flight:waits commit replay reply:200")
		if at := l.v.Now().Sub(epoch); at != 30*time.Second {
			l.t.Errorf("answered at %v", at)
		}
	})
}

func TestCommitDoesNotCareForItsCaller(t *testing.T) {
	t.Parallel()
	seed := preset(t, "seed")
	inBoth(t, Options{}, func(l *lab) {
		l.faults(`{"name":"slow-commit","commit":{"after":"20s"}}`)
		l.want("caller", l.post(&seed, "jobs", "k", order), "too late")
		l.want("meanwhile", l.kinds(), "received new:slow-commit gave-up")
		l.pass(10 * time.Second)
		l.want("then", l.kinds(), "received new:slow-commit gave-up commit")
	})
}

func TestResetVoidsLateCommits(t *testing.T) {
	t.Parallel()
	seed := preset(t, "seed")
	inBoth(t, Options{}, func(l *lab) {
		l.faults("late-commit", "commit-then-error")
		l.post(&seed, "jobs", "k", order)
		if err := l.p.Reset(); err != nil {
			l.t.Error(err)
		}
		l.pass(time.Minute)
		if s := l.p.State(); len(s.Effects)+len(s.Faults)+len(s.InFlight) != 0 || s.Seq != 0 || s.Requests != 0 {
			l.t.Errorf("something outlived the reset: %+v", s)
		}
		l.want("anew", brief("", l.post(&seed, "jobs", "k", order)), "201 new")
	})
}

// TestWallClock plays what takes time on the machine's clock, in milliseconds.
func TestWallClock(t *testing.T) {
	t.Parallel()
	p, err := New(Options{Clock: clock.NewWall()})
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(t, p)
	for name, client := range map[string]*http.Client{
		"simulated": {Transport: p.Transport()},
		"socket":    {Transport: &http.Transport{DisableKeepAlives: true}},
	} {
		send := func(key, f string, patience time.Duration) (string, error) {
			l := &lab{t: t, p: p}
			l.faults(f)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, server+"/jobs", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Idempotency-Key", name+key)
			resp, err := client.Do(req)
			if err != nil {
				return "", err
			}
			defer func() { _ = resp.Body.Close() }()
			body, err := io.ReadAll(resp.Body)
			return string(body), err
		}
		if _, err := send("hang", "commit-then-hang", 20*time.Millisecond); err == nil {
			t.Errorf("%s: a hang ended in an answer", name)
		}
		if body, err := send("hang", "none", time.Minute); err != nil || !strings.Contains(body, "job_") {
			t.Errorf("%s: after a hang: %s, %v", name, body, err)
		}
		if body, err := send("slow", `{"reply":{"slow":"5ms"}}`, time.Minute); err != nil || !strings.Contains(body, "job_") {
			t.Errorf("%s: slow: %s, %v", name, body, err)
		}
		if body, err := send("drip", `{"reply":{"drip":"100us"}}`, time.Minute); err != nil || !strings.Contains(body, "job_") {
			t.Errorf("%s: drip: %s, %v", name, body, err)
		}
	}
	if n := len(p.Effects()); n != 6 {
		t.Errorf("%d effects, want 3 of each shell", n)
	}
}

// TestResetLetsWaitersGo: who waits for a flight that a reset ended executes in the new epoch.
func TestResetLetsWaitersGo(t *testing.T) {
	t.Parallel()
	seed := preset(t, "seed")
	inBoth(t, Options{}, func(l *lab) {
		l.faults("late-commit")
		l.v.Go("first", func() { l.post(&seed, "jobs", "k", order) })
		l.pass(time.Second)
		var second string
		l.v.Go("second", func() { second = l.post(&seed, "jobs", "k", order) })
		l.pass(time.Second)
		if err := l.p.Reset(); err != nil {
			l.t.Error(err)
		}
		l.pass(time.Minute)
		if effects := l.p.Effects(); len(effects) != 1 || effects[0].ID != idOf(second) {
			l.t.Errorf("the second got %s, the ledger has %+v", second, effects)
		}
	})
}
