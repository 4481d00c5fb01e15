package expect

import (
	"slices"
	"testing"
	"time"

	"faultlab/faultprovider"
)

func TestARequestHasTheKeyThatTheProviderRead(t *testing.T) {
	t.Parallel()
	got := Requests([]faultprovider.Entry{
		{Kind: faultprovider.Received, Request: 1, Method: "POST", Path: "/jobs?a=1"},
		{Kind: faultprovider.Received, Request: 2, Method: "POST", Path: "/jobs", Key: "k2"},
		{Kind: faultprovider.NewOperation, Request: 1, Key: "k1", Fault: "none"},
		{Kind: faultprovider.NewOperation, Request: 2, Key: "k2", Fault: "none"},
	})
	if len(got) != 2 || !slices.Equal(Keys(got), []string{"k1", "k2"}) {
		t.Fatalf("requests %+v, keys %q", got, Keys(got))
	}
	for _, c := range []struct {
		where Where
		want  int
	}{
		{Where{}, 2}, {Where{Path: "/jobs"}, 2}, {Where{Path: "/jobs?a=1"}, 1}, {Where{Method: "post", Key: "k2"}, 1}, {Where{Method: "GET"}, 0},
	} {
		n := 0
		for _, r := range got {
			if c.where.Request(r) {
				n++
			}
		}
		if n != c.want {
			t.Errorf("%+v chooses %d requests, want %d", c.where, n, c.want)
		}
	}
}

func TestPeak(t *testing.T) {
	t.Parallel()
	at := func(ms ...int) (out []time.Time) {
		for _, m := range ms {
			out = append(out, time.UnixMilli(int64(m)))
		}
		return out
	}
	for _, c := range []struct {
		at   []time.Time
		want int
	}{{nil, 0}, {at(5), 1}, {at(30, 0, 10, 20), 2}, {at(0, 10, 10, 21), 3}} {
		if got := Peak(c.at, 10*time.Millisecond); got != c.want {
			t.Errorf("%v: %d, want %d", c.at, got, c.want)
		}
	}
}

func TestAnEffectIsChosenByCollectionAndKey(t *testing.T) {
	t.Parallel()
	e := faultprovider.Effect{Collection: "jobs", Key: "k1"}
	if !(Where{Collection: "jobs"}).Effect(e) || !(Where{Key: "k1"}).Effect(e) || (Where{Collection: "jobs", Key: "k2"}).Effect(e) {
		t.Error("an effect is not chosen by its collection and key")
	}
}
