package store

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"faultlab/faultprovider"
)

func openLedger(t testing.TB, path string) *Ledger {
	t.Helper()
	l, err := OpenLedger(path, Options{Command: "go test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close %s: %v", path, err)
		}
	})
	return l
}

func loaded(t testing.TB, l *Ledger) (all []faultprovider.Change) {
	t.Helper()
	if err := l.Load(func(c faultprovider.Change) error { all = append(all, c); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

// logged is a change that only logs the nth request.
func logged(n int) faultprovider.Change {
	return faultprovider.Change{Entries: []faultprovider.Entry{{Seq: int64(n), Kind: faultprovider.Received, Method: "POST", Path: "/jobs"}}}
}

// committed is what one POST of a job leaves: an effect, its key and two lines of the log.
func committed(n int) faultprovider.Change {
	at := time.Unix(1772366400, int64(n)).UTC()
	key, id := fmt.Sprintf("sha256:%064x", n), fmt.Sprintf("job_%08x", n)
	return faultprovider.Change{
		Effects: []faultprovider.Effect{{ID: id, Collection: "jobs", Operation: faultprovider.Create, Key: key, RequestID: fmt.Sprintf("run_%d-a-1-1", n),
			Fingerprint: key[7:], Body: []byte(`{"id":"` + id + `","orderId":"order-42"}`), CommittedAt: at}},
		Keys: []faultprovider.KeyRecord{{Scope: key[7:], Key: key, Fingerprint: key[7:], EffectID: id, Collection: "jobs", Status: 201, FirstSeen: at, Completed: at}},
		Entries: []faultprovider.Entry{{Seq: int64(n), At: at, Kind: faultprovider.Commit, Request: int64(n), Method: "POST", Path: "/jobs", Collection: "jobs",
			Key: key, EffectID: id}},
	}
}

func TestALedgerGivesBackWhatWasAppended(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "provider.db")
	l := openLedger(t, path)
	if got := loaded(t, l); got != nil {
		t.Errorf("a new ledger holds %v", got)
	}
	var want []faultprovider.Change
	var last faultprovider.Ticket
	for n := range 200 {
		c := committed(n)
		if n%3 == 0 {
			c = logged(n)
		}
		want, last = append(want, c), l.Append(c)
	}
	if got := loaded(t, l); !reflect.DeepEqual(got, want) { // also what is not durable yet
		t.Errorf("it gives back %d changes, want %d", len(got), len(want))
	}
	if err := errors.Join(last.Wait(), l.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(logged(1)).Wait(); !errors.Is(err, ErrLedgerClosed) {
		t.Errorf("a closed ledger gives %v", err)
	}
	l = openLedger(t, path)
	want = append(want, logged(200))
	l.Append(logged(200))
	if got := loaded(t, l); !reflect.DeepEqual(got, want) {
		t.Errorf("opened again, it gives back %d changes, want %d", len(got), len(want))
	}
	tired := errors.New("enough")
	if err := l.Load(func(faultprovider.Change) error { return tired }); !errors.Is(err, tired) {
		t.Errorf("an error of the reader gives %v", err)
	}
}

func TestAResetForgetsEverything(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "provider.db")
	l := openLedger(t, path)
	for n := range 100 {
		l.Append(committed(n)) // not waited for
	}
	if err := l.Reset(); err != nil {
		t.Fatal(err)
	}
	l.Append(logged(1))
	if got := loaded(t, l); !reflect.DeepEqual(got, []faultprovider.Change{logged(1)}) {
		t.Errorf("after a reset it holds %v", got)
	}
	if err := errors.Join(l.Close(), l.Reset()); !errors.Is(err, ErrLedgerClosed) {
		t.Errorf("resetting a closed ledger gives %v", err)
	}
	if got := loaded(t, openLedger(t, path)); len(got) != 1 {
		t.Errorf("opened again, it holds %v", got)
	}
}

func TestALedgerKeepsTheOrderOfEach(t *testing.T) {
	t.Parallel()
	l := openLedger(t, filepath.Join(t.TempDir(), "provider.db"))
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 50 {
				if err := l.Append(logged(1000*g + i)).Wait(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	next := map[int64]int64{}
	for _, c := range loaded(t, l) {
		g, i := c.Entries[0].Seq/1000, c.Entries[0].Seq%1000
		if next[g] != i {
			t.Fatalf("of %d, change %d stands where %d is due", g, i, next[g])
		}
		next[g]++
	}
	if len(next) != 8 {
		t.Errorf("changes of %d appenders", len(next))
	}
}

func TestAFullDiskEndsALedger(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "provider.db")
	l := openLedger(t, path)
	if err := l.Append(committed(1)).Wait(); err != nil {
		t.Fatal(err)
	}
	if err := l.between(func() error { return l.file.conn.exec("PRAGMA max_page_count = 3") }); err != nil {
		t.Fatal(err)
	}
	big := committed(2)
	big.Effects[0].Body = slices.Concat([]byte{0x22}, bytes.Repeat([]byte("x"), 1<<16), []byte{0x22})
	err := l.Append(big).Wait()
	wantProblem(t, err, Full, "the ledger takes nothing more", path)
	if later := l.Append(committed(3)).Wait(); later != err {
		t.Errorf("an append after it gives %v", later)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := loaded(t, openLedger(t, path)); !reflect.DeepEqual(got, []faultprovider.Change{committed(1)}) {
		t.Errorf("opened again, it holds %v", got)
	}
}

func TestALedgerIsNoHistory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs, effects := filepath.Join(dir, "state.db"), filepath.Join(dir, "provider.db")
	written(t, runs)
	l := openLedger(t, effects)
	var held ErrHeld
	if _, err := OpenLedger(effects, Options{}); !errors.As(err, &held) {
		t.Errorf("a second owner gets %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := OpenLedger(runs, Options{})
	wantProblem(t, err, Foreign, "it is a faultlab history of runs")
	_, err = Open(effects, Options{})
	wantProblem(t, err, Foreign, "it is a faultlab provider's ledger")
	edit(t, effects, `INSERT INTO changes VALUES (7, '{"effects":7}')`)
	err = openLedger(t, effects).Load(func(faultprovider.Change) error { return nil })
	wantProblem(t, err, Damaged, "change 7")
}

// BenchmarkLedger commits what a provider does for one POST, each waited for.
func BenchmarkLedger(b *testing.B) {
	for _, appenders := range []int{1, 16} {
		b.Run(fmt.Sprintf("appenders=%d", appenders), func(b *testing.B) {
			l := openLedger(b, filepath.Join(b.TempDir(), "provider.db"))
			b.ResetTimer()
			var all sync.WaitGroup
			for g := range appenders {
				all.Go(func() {
					for n := g; n < b.N; n += appenders {
						l.Append(logged(n))
						ticket := l.Append(committed(n))
						l.Append(logged(n))
						if err := ticket.Wait(); err != nil {
							b.Error(err)
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}
