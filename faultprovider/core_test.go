package faultprovider

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"faultlab/engine/clock"
	"faultlab/faultprovider/fault"
)

// TestDecideIsAPlanInTime is a row for each way in which commit and reply lie in time.
func TestDecideIsAPlanInTime(t *testing.T) {
	t.Parallel()
	const never = -1
	s := time.Second
	for _, c := range []struct {
		name           string
		f              Fault
		commits, gets  time.Duration
		how            how
		status, result int
	}{
		{"none", Fault{}, 0, 0, answers, 201, 201},
		{"never", Fault{Commit: fault.Commit{When: fault.Never}}, never, 0, answers, 201, 201},
		{"before the reply, slowly", Fault{Commit: fault.Commit{When: fault.BeforeReply, After: 2 * s}}, 2 * s, 2 * s, answers, 201, 201},
		{"and a slow reply", Fault{Commit: fault.Commit{When: fault.BeforeReply, After: 2 * s}, Reply: fault.Reply{Slow: 3 * s}}, 2 * s, 5 * s, answers, 201, 201},
		{"late, after the reply", Fault{Commit: fault.Commit{When: fault.Late, After: 9 * s}, Reply: fault.Reply{Slow: s}}, 9 * s, s, answers, 201, 201},
		{"late, after an error", Fault{Commit: fault.Commit{When: fault.Late, After: 9 * s}, Reply: fault.Reply{Do: fault.Status, Status: 503}}, 9 * s, 0, answers, 503, 503},
		{"reset after the commit", Fault{Reply: fault.Reply{Do: fault.Reset, Slow: s}}, 0, s, resets, 201, 201},
		{"reset before the commit", Fault{Commit: fault.Commit{When: fault.Never}, Reply: fault.Reply{Do: fault.Reset}}, never, 0, resets, 201, 0},
		{"nothing, then a late commit", Fault{Commit: fault.Commit{When: fault.Late, After: 9 * s}, Reply: fault.Reply{Do: fault.Nothing}}, 9 * s, 0, nothing, 201, 201},
		{"nothing at all", Fault{Commit: fault.Commit{When: fault.Never}, Reply: fault.Reply{Do: fault.Nothing}}, never, 0, nothing, 201, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newWall(t, Options{})
			r := &Request{ID: "r1", Method: http.MethodPost, Path: "/jobs", Header: http.Header{"Idempotency-Key": {"k"}}, Body: []byte(`{"orderId":1}`)}
			seed := preset(t, "seed")
			var x, again exchange
			q := newQueue(1, nil)
			c.f.On.Times = fault.Always
			q.set([]Fault{c.f})
			x.decide(epoch, r, p.records, &q, &seed)
			again.decide(epoch, r, p.records, &q, &seed)
			if !reflect.DeepEqual(x, again) {
				t.Errorf("one request, two plans:\n%+v\n%+v", x, again)
			}
			commits := time.Duration(never)
			if x.commits {
				commits = x.at.Sub(epoch)
			}
			if gets := x.reply.at.Sub(epoch); commits != c.commits || gets != c.gets {
				t.Errorf("commits at %v, the caller gets it at %v; want %v and %v", commits, gets, c.commits, c.gets)
			}
			if x.reply.how != c.how || x.reply.status != c.status || x.result.status != c.result {
				t.Errorf("how %d, status %d, result %d", x.reply.how, x.reply.status, x.result.status)
			}
			if n := len(p.records.effects) + len(p.flights) + len(p.log.ring); n != 0 {
				t.Error("a decision left something behind")
			}
		})
	}
}

func TestGates(t *testing.T) {
	t.Parallel()
	seed := preset(t, "seed")
	inBoth(t, Options{}, func(l *lab) {
		var passed []string
		l.v.SetGate(func(at clock.Point, subject string) clock.Verdict {
			passed = append(passed, string(at)+" "+subject+" "+l.kinds())
			return clock.Pass
		})
		l.post(&seed, "jobs", "k", order)
		want := []string{"commit r1 received new:none", "reply r1 received new:none commit"}
		if !reflect.DeepEqual(passed, want) {
			l.t.Errorf("passed %q, want %q", passed, want)
		}
	})
}
