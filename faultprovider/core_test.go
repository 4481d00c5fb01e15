package faultprovider

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"faultlab/engine/clock"
	"faultlab/faultprovider/fault"
)

// always gives every request the same fault.
type always Fault

func (a always) take(*match) Fault { return Fault(a) }

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
			x.decide(epoch, r, p.books, always(c.f), &seed)
			again.decide(epoch, r, p.books, always(c.f), &seed)
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
			if n := p.books.n + len(p.flights) + len(p.log.ring); n != 0 {
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

// TestTableIsAMap drives the table and two maps with the same steps and demands the same answers.
func TestTableIsAMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		table := newTable()
		effects, bound := map[string]Effect{}, map[digest]binding{}
		names := rapid.SampledFrom([]string{"jobs", "charges", "v1/jobs"})
		ids := rapid.SampledFrom([]string{"a", "b", `"quoted"`, "", "ü", "job_12345678"})
		t.Repeat(map[string]func(*rapid.T){
			"commit": func(t *rapid.T) {
				e := Effect{Collection: names.Draw(t, "collection"), ID: ids.Draw(t, "id"), Operation: rapid.SampledFrom([]Operation{Create, Put}).Draw(t, "op"),
					Key: ids.Draw(t, "key"), RequestID: ids.Draw(t, "request"), CommittedAt: epoch.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "at")))}
				fp := fingerprint{byte(rapid.IntRange(0, 2).Draw(t, "print"))}
				e.Fingerprint = fp.hex()
				e.Body = append(beginBody(e.ID, 9), `,"n":1}`...)
				scope := sum([]byte(ids.Draw(t, "scope")))
				b := &binding{print: fp, status: rapid.SampledFrom([]int{0, 201, 503}).Draw(t, "status"), locked: rapid.Bool().Draw(t, "locked"),
					first: e.CommittedAt.UnixNano() - int64(rapid.IntRange(-1, 5).Draw(t, "first")), completed: e.CommittedAt.UnixNano()}
				if rapid.Bool().Draw(t, "error body") {
					b.body = []byte("x")
				}
				if rapid.Bool().Draw(t, "unkeyed") {
					b = nil
				}
				table.put(&e, fp, scope, b)
				if effects[e.Collection+"/"+e.ID] = e; b != nil {
					bound[scope] = *b
				}
			},
			"bind an error": func(t *rapid.T) {
				scope := sum([]byte(ids.Draw(t, "scope")))
				b := binding{row: -1, status: 503, body: []byte("y"), first: 1, completed: 2}
				table.bind(scope, b)
				bound[scope] = b
			},
			"": func(t *rapid.T) {
				for name, want := range effects {
					i := table.find(want.Collection, want.ID)
					if i < 0 {
						t.Fatalf("%s is lost", name)
					}
					if got := table.effect(i); !reflect.DeepEqual(got, want) {
						t.Fatalf("%s is\n%+v, was\n%+v", name, got, want)
					}
				}
				for scope, want := range bound {
					if got, ok := table.known(scope); !ok || !reflect.DeepEqual(got, want) {
						t.Fatalf("under a key is %+v, was %+v", got, want)
					}
				}
				if table.n != len(effects) || table.find("jobs", "nobody") >= 0 || table.find("nowhere", "a") >= 0 {
					t.Fatalf("%d rows for %d effects", table.n, len(effects))
				}
			},
		})
	})
}

// TestIndexGrows puts in more numbers than any shard begins with, many of them in one shard.
func TestIndexGrows(t *testing.T) {
	t.Parallel()
	hash := func(n int32) uint64 { return uint64(n%3) << 56 } // three shards, and every hash of a shard the same slot
	x := index{hash: hash}
	for n := int32(1); n <= 600; n++ {
		x.set(hash(n), n, func(m int32) bool { return m == n })
		x.set(hash(n), n, func(m int32) bool { return m == n })
	}
	for n := int32(1); n <= 700; n++ {
		got, ok := x.get(hash(n), func(m int32) bool { return m == n })
		if want := n <= 600; ok != want || ok && got != n {
			t.Fatalf("%d is found: %v, as %d", n, ok, got)
		}
	}
	if x.shards[0].used+x.shards[1].used+x.shards[2].used != 600 {
		t.Error("a number was put in twice")
	}
}
