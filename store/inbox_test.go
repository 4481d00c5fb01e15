package store

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"faultlab/engine"
	"faultlab/engine/historytest"
)

// put asks for something, and goes on waiting for the answer until the test ends.
func put(t *testing.T, path string, c engine.Command) *Question {
	t.Helper()
	q, err := Put(path, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.leave() })
	return q
}

// killed leaves the files of a question as a process does that was killed while it asked.
func (q *Question) killed(t *testing.T) {
	t.Helper()
	if err := q.asker.Close(); err != nil {
		t.Fatal(err)
	}
}

// inboxNames are the files in the inbox.
func inboxNames(t *testing.T, path string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(inboxOf(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func waiting(t *testing.T, s *Store) (ids []string) {
	t.Helper()
	commands, err := s.Inbox(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands {
		ids = append(ids, c.ID)
	}
	return ids
}

func TestCommandsComeInOrderAndAsTheyWerePut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	if ids := waiting(t, s); ids != nil {
		t.Errorf("nobody asked, and %v wait", ids)
	}
	want := engine.Command{ID: "c-3", Verb: "resolve", Run: "run_a", Args: []byte(`{"decision":"record"}`), Before: historytest.At}
	put(t, path, want)
	put(t, path, engine.Command{ID: "c-1", Verb: "cancel"})
	put(t, path, engine.Command{ID: "c-2", Verb: "cancel"})
	for n, id := range []string{"c-3", "c-1", "c-2"} { // the file system's clock may be coarse
		at := historytest.At.Add(time.Duration(n) * time.Second)
		if err := os.Chtimes(filepath.Join(inboxOf(path), id+commandSuffix), at, at); err != nil {
			t.Fatal(err)
		}
	}
	commands, err := s.Inbox(nil)
	if err != nil || len(commands) != 3 || !reflect.DeepEqual(commands[0], want) {
		t.Fatalf("the inbox holds %+v (%v)", commands, err)
	}
	if ids := waiting(t, s); !reflect.DeepEqual(ids, []string{"c-3", "c-1", "c-2"}) {
		t.Errorf("in order: %v", ids)
	}
	if err := errors.Join(s.Ack("c-1"), s.Ack("c-1")); err != nil {
		t.Error(err)
	}
	if ids := waiting(t, s); !reflect.DeepEqual(ids, []string{"c-3", "c-2"}) {
		t.Errorf("after one was carried out: %v", ids)
	}
	for _, name := range []string{inboxOf(path), filepath.Join(inboxOf(path), "c-2.command")} {
		if fi, err := os.Stat(name); err != nil || fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s may be read by others: %v (%v)", name, fi.Mode(), err)
		}
	}
}

// The owner dies after the commit and before it took the command away.
func TestACommandInTheHistoryIsNotCarriedOutTwice(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	admit(t, s, "run_a")
	for _, fact := range []engine.Fact{
		engine.CancelAsked{Inbox: "cancel"},
		engine.Decided{Decision: engine.Abandon, Inbox: "resolve"},
	} {
		if err := put(t, path, engine.Command{ID: engine.CommandOf(fact)}).leave(); err != nil {
			t.Fatal(err)
		}
		s.Append(engine.Event{Run: "run_a", At: historytest.At, Fact: fact}) // a read sees it, durable or not
	}
	rerun := admission("run_b")
	rerun.Fact = engine.Admitted{Workflow: "w", RerunOf: "run_a", Inbox: "rerun"}
	put(t, path, engine.Command{ID: "rerun"})
	put(t, path, engine.Command{ID: "new"})
	if err := s.Append(rerun).Wait(); err != nil {
		t.Fatal(err)
	}
	resolving := func(id string) bool { return id == "resolve" }
	if commands, err := s.Inbox(resolving); err != nil || len(commands) != 1 || commands[0].ID != "new" {
		t.Errorf("waiting: %v (%v)", commands, err)
	}
	if names := inboxNames(t, path); !slices.Contains(names, "resolve.command") { // it is busy, so somebody may still wait
		t.Errorf("the busy command is gone: %v", names)
	}
	if ids := waiting(t, s); !reflect.DeepEqual(ids, []string{"new"}) {
		t.Errorf("waiting: %v", ids)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, path, engine.Command{ID: "cancel"})
	if ids := waiting(t, open(t, path)); !reflect.DeepEqual(ids, []string{"new"}) {
		t.Errorf("waiting at the next owner: %v", ids)
	}
}

func TestAnAnswerReachesTheOneWhoAsked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	q := put(t, path, engine.Command{ID: "c-1"})
	looks := 0
	answer, err := q.Await(func() error {
		looks++
		if looks < 3 {
			return nil
		}
		return errors.Join(s.PutAnswer("c-1", []byte(`{"ok":true}`)), s.Ack("c-1"))
	})
	if err != nil || string(answer) != `{"ok":true}` || looks != 3 {
		t.Errorf("after %d looks: %q %v", looks, answer, err)
	}
	entries, err := os.ReadDir(inboxOf(path))
	if err != nil || len(entries) != 0 {
		t.Errorf("left in the inbox: %v (%v)", entries, err)
	}
}

func TestNoAnswer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	tired := errors.New("waited long enough")
	if _, err := put(t, path, engine.Command{ID: "c-1"}).Await(func() error { return tired }); !errors.Is(err, tired) {
		t.Errorf("giving up gives %v", err)
	}
	if ids := waiting(t, s); ids != nil {
		t.Errorf("a command that was taken back waits: %v", ids)
	}
	if err := s.PutAnswer("c-1", []byte("late")); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(inboxOf(path), "c-1.answer")); err == nil {
		t.Error("an answer that nobody waits for is left")
	}
	if _, err := put(t, path, engine.Command{ID: "c-3"}).Await(func() error { return errors.Join(s.PutAnswer("c-3", []byte("too late")), tired) }); !errors.Is(err, tired) {
		t.Errorf("giving up as the answer comes gives %v", err)
	}
	if entries, err := os.ReadDir(inboxOf(path)); err != nil || len(entries) != 0 {
		t.Errorf("left in the inbox: %v (%v)", entries, err)
	}
	_, err := put(t, path, engine.Command{ID: "c-2"}).Await(func() error { return s.Ack("c-2") })
	if !errors.Is(err, ErrNotAnswered) {
		t.Errorf("a command that is gone without an answer gives %v", err)
	}
}

func TestWhatIsNoCommandIsSaidAndStays(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	put(t, path, engine.Command{ID: "c-1"})
	for name, text := range map[string]string{"junk.command": "junk", "other.command": `{"id":"c-2"}`, "c-9.command.unfinished": "x"} {
		if err := os.WriteFile(filepath.Join(inboxOf(path), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commands, err := s.Inbox(nil)
	if len(commands) != 1 || err == nil || !strings.Contains(err.Error(), "junk.command is not a command; remove it") || !strings.Contains(err.Error(), "other.command") {
		t.Errorf("the inbox gives %v, %v", commands, err)
	}
	for _, id := range []string{"", "../c", ".c", "a/b", strings.Repeat("c", 101)} {
		if _, err := Put(path, engine.Command{ID: id}); err == nil {
			t.Errorf("a command with id %q is put", id)
		}
	}
}

// What a killed asker or owner leaves is taken away, and who still waits gets its answer.
func TestWhatKilledProcessesLeaveIsSwept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	put(t, path, engine.Command{ID: "waits"})
	put(t, path, engine.Command{ID: "late"}).killed(t)
	put(t, path, engine.Command{ID: "early"}).killed(t)
	before := put(t, path, engine.Command{ID: "before"})
	for _, id := range []string{"waits", "before"} {
		if err := errors.Join(s.PutAnswer(id, []byte("{}")), s.Ack(id)); err != nil {
			t.Fatal(err)
		}
	}
	before.killed(t)
	if err := errors.Join(s.PutAnswer("early", []byte("{}")), s.Ack("early")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"writing.command.unfinished", "writing.asker", "other.command.unfinished", "answering.answer.unfinished", "old.answer"} {
		if err := os.WriteFile(filepath.Join(inboxOf(path), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range []struct {
		by   string
		do   func() error
		want []string
	}{
		{"the owner", s.SweepInbox, []string{"answering.answer.unfinished", "late.asker", "late.command", "old.answer", "other.command.unfinished", "waits.answer", "waits.asker"}},
		{"the next owner", s.sweepAll, []string{"late.asker", "late.command", "waits.answer", "waits.asker"}},
	} {
		if err := r.do(); err != nil {
			t.Errorf("%s: %v", r.by, err)
		}
		if names := inboxNames(t, path); !reflect.DeepEqual(names, r.want) {
			t.Errorf("%s leaves %v, want %v", r.by, names, r.want)
		}
	}
	if err := errors.Join(s.PutAnswer("late", []byte("{}")), s.Ack("late"), s.SweepInbox()); err != nil {
		t.Fatal(err)
	}
	if names, want := inboxNames(t, path), []string{"waits.answer", "waits.asker"}; !reflect.DeepEqual(names, want) {
		t.Errorf("once the last command is carried out, %v is left, want %v", names, want)
	}
}

func TestABellWakesTheOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	ring(path) // nobody listens yet
	bell, err := s.Bell()
	if err != nil {
		t.Fatal(err)
	}
	rung := make(chan error)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			err := bell.Wait()
			rung <- err
			if err != nil {
				return
			}
		}
	})
	for _, id := range []string{"c-1", "c-2"} {
		put(t, path, engine.Command{ID: id})
		if err := <-rung; err != nil {
			t.Fatal(err)
		}
	}
	closed := make(chan error, 1)
	all.Go(func() { closed <- bell.Close() })
	if err := <-rung; !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed bell gives %v", err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	all.Wait()
	if err := os.Remove(bellOf(path)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bellOf(path), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Bell(); err == nil {
		t.Error("an ordinary file is taken for a bell")
	}
}
