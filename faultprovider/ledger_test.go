package faultprovider_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
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
