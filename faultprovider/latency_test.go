package faultprovider

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// moments is the log with the milliseconds at which each entry was made.
func (l *lab) moments() string {
	var out []string
	for _, e := range l.p.Log(0) {
		out = append(out, fmt.Sprintf("%d:%s", e.At.Sub(epoch).Milliseconds(), e.Kind))
	}
	return strings.Join(out, " ")
}

func TestEachWayTakesItsTime(t *testing.T) {
	t.Parallel()
	const order = `{"orderId":"order-42","amount":120}`
	for name, c := range map[string]struct {
		fault string
		send  func(l *lab)
		want  string // the log
		back  int    // when the caller has its answer, in milliseconds
	}{
		"a new operation": {"none", func(l *lab) { l.send(http.MethodPost, "/jobs", order, with{"Idempotency-Key", "k"}) },
			"1:received 1:new 2:commit 3:reply", 3},
		"no commit": {"fail-before-commit", func(l *lab) { l.send(http.MethodPost, "/jobs", order, with{"Idempotency-Key", "k"}) },
			"1:received 1:new 2:reply", 2},
		"a drop": {"commit-then-drop", func(l *lab) { l.send(http.MethodPost, "/jobs", order, with{"Idempotency-Key", "k"}) },
			"1:received 1:new 2:commit 3:reset", 3},
		"a late commit": {`{"commit":{"when":"late","after":"5ms"},"reply":{"do":"normal"}}`, func(l *lab) { l.send(http.MethodPost, "/jobs", order, with{"Idempotency-Key", "k"}) },
			"1:received 1:new 2:reply 7:commit", 2},
		"slow": {`{"reply":{"do":"normal","slow":"5ms"}}`, func(l *lab) { l.send(http.MethodPost, "/jobs", order, with{"Idempotency-Key", "k"}) },
			"1:received 1:new 2:commit 8:reply", 8},
		"a look-up": {"none", func(l *lab) { l.send(http.MethodGet, "/jobs/by-idempotency-key/k", "") },
			"1:received 1:look-up 2:reply", 2},
		"nobody waits for it": {"none", func(l *lab) {
			ctx, cancel := l.v.WithTimeout(context.Background(), 500*time.Microsecond, errLate)
			defer cancel(nil)
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.base+"/jobs", strings.NewReader(order))
			if err != nil {
				l.t.Fatal(err)
			}
			req.Header.Set(RequestIDHeader, "r1")
			req.Header.Set("Idempotency-Key", "k")
			_, err = l.client.Do(req)
			l.want("the caller gets", ended(ctx, err), "too late")
			l.pass(500 * time.Microsecond)
		}, "0:received 0:new 0:gave-up 1:commit", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBoth(t, Options{Latency: time.Millisecond}, func(l *lab) {
				l.faults(c.fault)
				c.send(l)
				back := int(l.v.Now().Sub(epoch).Milliseconds())
				l.pass(10 * time.Millisecond)
				l.want("the log", l.moments(), c.want)
				if back != c.back {
					l.t.Errorf("the caller was back after %d ms, want %d", back, c.back)
				}
			})
		})
	}
}
