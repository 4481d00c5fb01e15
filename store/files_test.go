package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"faultlab/engine"
)

// written makes a proper state file with a few runs, closed.
func written(t testing.TB, path string) {
	t.Helper()
	s := open(t, path)
	for n := range 40 {
		for _, events := range typical(n) {
			if err := s.Append(events...).Wait(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// edit runs SQL on a file, made if there is none, as another program would.
func edit(t testing.TB, path, script string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	c, err := dial(path, "rw")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.script(script), c.Close()); err != nil {
		t.Fatal(err)
	}
}

func rewrite(t testing.TB, path string, change func(data []byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatIsNotUsableIsRefusedAndUntouched(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		what Problem
		says string
		make func(t *testing.T, path string)
	}{
		{"a text", Foreign, "it is not a SQLite database", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("dear diary\n", 50)), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"a short text", Foreign, "it is not a SQLite database", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("hello\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"another program's database", Foreign, "database of another program", func(t *testing.T, path string) {
			edit(t, path, "PRAGMA journal_mode = WAL; CREATE TABLE runs(id)")
		}},
		{"a newer version", Newer, "use that one", func(t *testing.T, path string) {
			written(t, path)
			edit(t, path, "PRAGMA user_version = 99")
		}},
		{"no version", Damaged, "it has no version", func(t *testing.T, path string) {
			written(t, path)
			edit(t, path, "PRAGMA user_version = 0")
		}},
		{"cut in its header", Damaged, "it is cut off", func(t *testing.T, path string) {
			written(t, path)
			rewrite(t, path, func(data []byte) []byte { return data[:50] })
		}},
		{"cut in half", Damaged, "put a backup in its place", func(t *testing.T, path string) {
			written(t, path)
			rewrite(t, path, func(data []byte) []byte { return data[:len(data)/2] })
		}},
		{"cut within a page", Damaged, "put a backup in its place", func(t *testing.T, path string) {
			written(t, path)
			rewrite(t, path, func(data []byte) []byte { return data[:len(data)-100] })
		}},
		{"torn in the middle", Damaged, "put a backup in its place", func(t *testing.T, path string) {
			written(t, path)
			rewrite(t, path, func(data []byte) []byte {
				copy(data[len(data)/2:], bytes.Repeat([]byte{0xa5}, 4096))
				return data
			})
		}},
		{"empty beside a log", Damaged, "its -wal file is not", func(t *testing.T, path string) {
			for name, text := range map[string]string{path: "", path + "-wal": "something"} {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state.db")
			c.make(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Open(path, Options{})
			wantProblem(t, err, c.what, path, c.says)
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed (%v)", err)
			}
			if _, err := os.Lstat(path + ".lock"); err == nil {
				t.Error("a lock file is left")
			}
			if c.what == Foreign || c.what == Newer {
				_, err = OpenReader(path)
				wantProblem(t, err, c.what, path)
			}
		})
	}
}

// wantProblem wants one sentence that says so.
func wantProblem(t testing.TB, err error, what Problem, says ...string) {
	t.Helper()
	var file *FileError
	if !errors.As(err, &file) || file.What != what {
		t.Errorf("the error is %v, want a FileError: %s", err, what)
		return
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%q does not say %q", err, s)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%q is not one sentence", err)
	}
}

func TestNotARegularFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := Open(dir, Options{})
	wantProblem(t, err, NotRegular, dir)
	_, err = OpenReader(dir)
	wantProblem(t, err, NotRegular, dir)
	_, err = OpenReader(filepath.Join(dir, "nothing.db"))
	wantProblem(t, err, Missing, "`faultlab run` makes it")
	if _, err := os.Lstat(filepath.Join(dir, "nothing.db")); err == nil {
		t.Error("a reader made a file")
	}
}

func TestNamesAndLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a state?mode=ro#%41.db")
	s := open(t, path)
	admit(t, s, "run_a")
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	var held ErrHeld
	if _, err := Open(link, Options{}); !errors.As(err, &held) {
		t.Errorf("a link to a file that is held: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, link)
	if runs, err := s.Open(); err != nil || len(runs) != 1 {
		t.Errorf("through a link: %v %v", runs, err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestAnEmptyFileIsANewOne(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	admit(t, open(t, path), "run_a")
	if fi, err := os.Stat(path); err != nil || fi.Mode() != 0o600 {
		t.Errorf("its mode is %v (%v)", fi.Mode(), err)
	}
}

func TestAHistoryThatHasLostItsBeginning(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	written(t, path)
	edit(t, path, "DELETE FROM events WHERE run = 1 AND before = 0")
	_, err := open(t, path).Events(typical(0)[0][0].Run)
	wantProblem(t, err, Damaged, "lost its beginning")
}

func TestAnEventThatNobodyKnows(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	written(t, path)
	edit(t, path, `UPDATE events SET data = replace(data, char(10) || '1 2 ', char(10) || '1 77 ') WHERE run = 1; UPDATE events SET data = replace(data, '}', '') WHERE run = 2`)
	s := open(t, path)
	var unknown *engine.UnknownKindError
	if _, err := s.Events(typical(0)[0][0].Run); !errors.As(err, &unknown) {
		t.Errorf("a kind of a newer version: %v", err)
	}
	if _, err := s.Events(typical(1)[0][0].Run); err == nil {
		t.Error("malformed JSON is read")
	}
}
