package faultprovider_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"faultlab/engine/clock"
	"faultlab/faultprovider"
	"faultlab/faultprovider/ledgertest"
)

func post(t *testing.T, p *faultprovider.Provider, key string) string {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://provider/jobs", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Idempotency-Key", key)
	resp, err := p.Transport().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Status + " " + string(body)
}

// TestLedgerThatFails: nothing is answered as done that may not be kept.
func TestLedgerThatFails(t *testing.T) {
	t.Parallel()
	l := &ledgertest.Memory{}
	p, err := faultprovider.New(faultprovider.Options{Clock: clock.NewWall(), Ledger: l})
	if err != nil {
		t.Fatal(err)
	}
	if got := post(t, p, "a"); !strings.HasPrefix(got, "201 ") {
		t.Fatal(got)
	}
	full := errors.New("disk full")
	l.Fail(full)
	const failed = `500 Internal Server Error {"error":"ledger_failed","message":"the provider cannot keep what it does"}`
	for _, key := range []string{"b", "b", "a"} {
		if got := post(t, p, key); got != failed {
			t.Errorf("key %s: %s, want %s", key, got, failed)
		}
	}
	if !errors.Is(p.Err(), full) || p.State().Failed != "disk full" {
		t.Errorf("the provider says %v", p.Err())
	}
	l.Fail(nil)
	again, err := faultprovider.New(faultprovider.Options{Clock: clock.NewWall(), Ledger: l})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(again.Effects()); n != 1 {
		t.Errorf("%d effects are left, want the one that was durable", n)
	}
}

// stuck is a ledger whose disk does not answer until it is told how the write ends.
type stuck struct {
	ledgertest.Memory
	end chan error
}

func (s *stuck) Append(c faultprovider.Change) faultprovider.Ticket {
	_ = s.Memory.Append(c)
	return stuckTicket{s.end}
}

type stuckTicket struct{ end chan error }

func (t stuckTicket) Wait() error { return <-t.end }

// TestARepeatWaitsForWhatItSaw: a repeat is answered by an effect that may not be durable yet, so it waits too.
func TestARepeatWaitsForWhatItSaw(t *testing.T) {
	t.Parallel()
	l := &stuck{end: make(chan error)}
	committed, replayed := make(chan struct{}), make(chan struct{})
	p, err := faultprovider.New(faultprovider.Options{Clock: clock.NewWall(), Ledger: l, Observe: func(e faultprovider.Entry) {
		switch e.Kind {
		case faultprovider.Commit:
			close(committed)
		case faultprovider.Replay:
			close(replayed)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	var answers [2]string
	var both sync.WaitGroup
	both.Go(func() { answers[0] = post(t, p, "k") })
	<-committed
	both.Go(func() { answers[1] = post(t, p, "k") })
	<-replayed
	l.end <- errors.New("disk full")
	l.end <- errors.New("disk full")
	both.Wait()
	for _, got := range answers {
		if !strings.HasPrefix(got, "500 ") {
			t.Errorf("answered %s with what was never durable", got)
		}
	}
}

func TestNewSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	broken := faultprovider.Contract{Name: "broken"}
	for want, o := range map[string]faultprovider.Options{
		"a provider needs a clock":               {},
		"contract broken: carrier.in: must be o": {Clock: clock.NewWall(), Contract: broken},
		"read the provider's ledger: unreadable": {Clock: clock.NewWall(), Ledger: unreadable{}},
	} {
		if _, err := faultprovider.New(o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

type unreadable struct{ faultprovider.Ledger }

func (unreadable) Load(func(faultprovider.Change) error) error { return errors.New("unreadable") }
