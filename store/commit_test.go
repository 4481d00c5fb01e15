package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func init() { children["commit"] = commitWithoutRoom }

// A COMMIT that SQLite refuses is an answer: nothing was written, and the next write finds no transaction open.
func TestACommitThatBreaksAConstraint(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.exec("CREATE TABLE lines (event TEXT REFERENCES events(id) DEFERRABLE INITIALLY DEFERRED)")
	line := func(n int) error {
		_, err := l.d.Write(t.Context(), call(n), l.connection(), "insert", json.RawMessage(`{"table":"lines","values":{"event":"evt-1"}}`))
		return err
	}
	if err := line(1); codeOf(err) != "CONSTRAINT" {
		t.Errorf("a line of no event: %v", err)
	}
	if _, there, err := l.d.Find(t.Context(), call(1), l.path); there || err != nil {
		t.Errorf("its mark is there: %v, %v", there, err)
	}
	if _, err := l.insert(call(2), "evt-1"); err != nil {
		t.Error(err)
	}
	if err := line(3); err != nil {
		t.Error(err)
	}
	if n, marks := l.value("SELECT count(*) FROM lines"), l.value(markCount); n != "1" || marks != "2" {
		t.Errorf("%s lines, %s marks; want 1 and 2", n, marks)
	}
}

// After a COMMIT that failed on the disk, the mark says at once whether the write happened: here it did not, and it can be made again.
func TestACommitThatTheDiskRefuses(t *testing.T) {
	t.Parallel()
	out, err := again("commit", "LEDGER="+filepath.Join(t.TempDir(), "ledger.db")).Output()
	if want := "UNAVAILABLE, there false\nagain , there true\n1 event\n"; err != nil || string(out) != want {
		t.Errorf("%v:\n%s\nwant:\n%s", err, out, want)
	}
}

// commitWithoutRoom writes what the file has no room for, and writes it again once there is room.
func commitWithoutRoom() {
	signal.Ignore(syscall.SIGXFSZ)
	d := NewDatabases("", nil)
	file := os.Getenv("LEDGER")
	connection := json.RawMessage(`{"driver":"sqlite","connection":` + quoteJSON(file) + `}`)
	do := func(n int, text string) error {
		_, err := d.Write(context.Background(), call(n), connection, "execute", json.RawMessage(`{"text":`+quoteJSON(text)+`}`))
		return err
	}
	room := func(size uint64) error {
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: 1 << 30})
	}
	err := errors.Join(do(1, "CREATE TABLE events (id TEXT)"), room(40_000))
	if err != nil {
		fmt.Println(err)
		return
	}
	large := "INSERT INTO events VALUES ('" + strings.Repeat("x", 100_000) + "')"
	for _, then := range []string{"", "again "} {
		err := do(2, large)
		_, there, lost := d.Find(context.Background(), call(2), file)
		fmt.Printf("%s%s, there %v\n", then, codeOf(err), there)
		if err := errors.Join(lost, room(1<<30)); err != nil {
			fmt.Println(err)
		}
	}
	out, err := d.Do(context.Background(), connection, "query", json.RawMessage(`{"text":"SELECT count(*) AS n FROM events"}`))
	if err = errors.Join(err, d.Close()); err != nil || !strings.Contains(string(out), `"n":1`) {
		fmt.Println(string(out), err)
		return
	}
	fmt.Println("1 event")
}

// A COMMIT whose error came although it was carried out is a success: the mark is there.
func TestACommitWhoseErrorIsWrong(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	result, err := l.insert(call(1), "evt-1")
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.d.connect(l.path)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{1: "", 2: "UNAVAILABLE"} {
		conn, err := f.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mark := call(n)
		u := unit{file: f, mark: &mark}
		got, err := u.afterCommit(t.Context(), conn, errors.New("commit: disk I/O error"), json.RawMessage(result))
		if codeOf(err) != want || (want == "") != (string(got) == result) {
			t.Errorf("call %d: %s, %v; want %q", n, got, err, want)
		}
		conn.Close()
	}
}
