package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"faultlab/engine"
	"faultlab/engine/historytest"
)

// The histories that the first version kept, as it kept them.
const versionOne = `
PRAGMA journal_mode = WAL;
INSERT INTO documents VALUES ('sha256:def', '<woml/>');
INSERT INTO runs VALUES
	(1, 'run_a', 'w', 'failed', 0, 1, 1772366400000000001, 1772366400000000005, NULL),
	(2, 'run_b', 'w', 'cancelling', 1, 0, 1772366400000000002, NULL, 'run_a');
INSERT INTO events VALUES
	(1, 1, 1, 1772366400000000001, '{"workflow":"w","def":"sha256:def","trigger":"hook","dkey":"k","digest":"d","payload":{"n":1},"seed":7}'),
	(2, 2, 1, 1772366400000000002, '{"workflow":"w","def":"sha256:def","trigger":"","digest":"","seed":8,"rerun":"run_a"}'),
	(3, 1, 5, 1772366400000000003, '{"s":"a","a":1,"c":1,"r":1,"id":"x","m":"POST","url":"http://h/jobs"}'),
	(4, 2, 11, 1772366400000000004, '{"inbox":"cmd-1"}'),
	(5, 1, 12, 1772366400000000005, '{"status":"failed","rec":true}'),
	(6, 1, 14, 1772366400000000006, '{"decision":"escalate","key":"k","inbox":"cmd-2"}');
INSERT INTO bodies VALUES (1, 3, 'a', CAST('{}' AS BLOB));
INSERT INTO deliveries VALUES ('w', 'hook', 'k', 1, 'd');
`

func writeVersionOne(t *testing.T, path string) {
	t.Helper()
	edit(t, path, history.migrations[0]+fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = 1;", history.id)+versionOne)
}

func TestAnOlderFileIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	writeVersionOne(t, path)
	_, err := OpenReader(path)
	wantProblem(t, err, Older, "keeps a backup")

	s := open(t, path)
	want := versionOneInMemory(t)
	if err := historytest.Compare(want, s); err != nil {
		t.Error(err)
	}
	for id, want := range map[string]bool{"cmd-1": true, "cmd-2": true, "cmd-3": false} {
		if got, err := s.carriedOut(id); err != nil || got != want {
			t.Errorf("command %s was carried out: %v, want %v (%v)", id, got, want, err)
		}
	}
	admit(t, s, "run_c")
	if events, err := s.Events("run_c"); err != nil || events[0].Seq != 7 {
		t.Errorf("the next event is %v (%v)", events, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	checkBackup(t, path+".v1")
	if again := open(t, path); again.last != 7 {
		t.Errorf("opened again, the last place is %d", again.last)
	}
}

func versionOneInMemory(t *testing.T) *engine.Memory {
	t.Helper()
	m := engine.NewMemory()
	for n, e := range []engine.Event{
		{Run: "run_a", Fact: engine.Admitted{Workflow: "w", Definition: "sha256:def", Source: "<woml/>", Trigger: "hook", Delivery: "k",
			Digest: "d", Payload: []byte(`{"n":1}`), Seed: 7}},
		{Run: "run_b", Fact: engine.Admitted{Workflow: "w", Definition: "sha256:def", Source: "<woml/>", Seed: 8, RerunOf: "run_a"}},
		{Run: "run_a", Fact: engine.RequestSent{Pos: engine.Pos{Step: "a", Attempt: 1, Call: 1, Request: 1}, ID: "x", Method: "POST",
			URL: "http://h/jobs", Body: []byte("{}")}},
		{Run: "run_b", Fact: engine.CancelAsked{Inbox: "cmd-1"}},
		{Run: "run_a", Fact: engine.Ended{Status: engine.StatusFailed, Reconcile: true}},
		{Run: "run_a", Fact: engine.Decided{Decision: engine.Escalate, Key: "k", Inbox: "cmd-2"}},
	} {
		e.At = historytest.At.Add(time.Duration(n))
		if err := m.Append(e).Wait(); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func checkBackup(t *testing.T, path string) {
	t.Helper()
	if fi, err := os.Stat(path); err != nil || fi.Mode() != 0o600 {
		t.Fatalf("the backup: %v %v", fi, err)
	}
	c, err := dial(path, "ro")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var got []int64
	for _, query := range []string{"PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM events",
		"SELECT count(*) FROM sqlite_schema WHERE name = 'commands'"} {
		n, err := c.number(query)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, n)
	}
	if want := []int64{history.id, 1, 6, 0}; !reflect.DeepEqual(got, want) {
		t.Errorf("the backup has application, version, events and commands %v, want %v", got, want)
	}
}

func TestAnUpgradeThatFailsLeavesTheFileAsItWas(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	writeVersionOne(t, path)
	edit(t, path, "CREATE TABLE pruned(other)")
	for range 2 {
		if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "from version 1 to 2") {
			t.Fatalf("an upgrade that fails gives %v", err)
		}
	}
	checkBackup(t, path+".v1")
	edit(t, path, "DROP TABLE pruned")
	checkBackup(t, path) // is still what the backup is
	if s := open(t, path); s.last != 6 {
		t.Errorf("the last place is %d", s.last)
	}
}

func TestABackupThatCannotBeMadeStopsTheUpgrade(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	writeVersionOne(t, path)
	if err := os.MkdirAll(filepath.Join(path+".v1", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), path+".v1") {
		t.Fatalf("without a backup, opening gives %v", err)
	}
	checkBackup(t, path)
}

func TestANewFileIsMadeWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	for _, left := range []string{".new", ".new-journal", ".new-wal"} { // by a crash
		if err := os.WriteFile(path+left, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, path)
	admit(t, s, "run_a")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a crash left is still there: %v", err)
	}
}
