package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user without rights, by convention.
const nobody = 65534

// openAsAnother opens a file as a user who is not root, whom permissions do not bind.
func openAsAnother() {
	if os.Getuid() == 0 {
		if err := syscall.Setuid(nobody); err != nil {
			fmt.Println(err)
			return
		}
	}
	path := os.Getenv("STATE")
	if s, err := Open(path, Options{}); err != nil {
		fmt.Println("open:", err)
	} else {
		fmt.Println("open: fine", s.Close())
	}
	r, err := OpenReader(path)
	if err != nil {
		fmt.Println("read:", err)
		return
	}
	defer r.Close()
	runs, err := r.Open()
	fmt.Println("read: open runs", runs, err)
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		file, dir os.FileMode
		open      string
		read      string
	}{
		{"a read-only file", 0o400, 0o700, "change its permissions", "read: open runs [run_a] <nil>"},
		{"a read-only folder", 0o600, 0o500, "make the file and its folder writable", "read: open runs [run_a] <nil>"},
		{"a secret file", 0, 0o700, "change its permissions", "change its permissions"},
		{"a secret folder", 0o600, 0, "permission", "change its permissions"},
		{"their own", 0o600, 0o700, "open: fine <nil>", "read: open runs [run_a] <nil>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "theirs")
			path := filepath.Join(dir, "state.db")
			s := open(t, path)
			admit(t, s, "run_a")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			give(t, dir, path, c.file, c.dir)
			out, err := again("other user", "STATE="+path).Output()
			if err != nil {
				t.Fatal(err)
			}
			opened, read, _ := strings.Cut(string(out), "read: ")
			if !strings.Contains(opened, c.open) || strings.Count(opened, "\n") != 1 {
				t.Errorf("opening says %q, want %q", opened, c.open)
			}
			if !strings.Contains("read: "+read, c.read) {
				t.Errorf("reading says %q, want %q", read, c.read)
			}
		})
	}
}

// give hands files to the user who will open them, and lets that user reach them.
func give(t *testing.T, dir, path string, file, folder os.FileMode) {
	t.Helper()
	if os.Getuid() == 0 {
		for d := filepath.Dir(dir); len(d) > len(os.TempDir()); d = filepath.Dir(d) {
			if err := os.Chmod(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{dir, path} {
			if err := os.Chown(name, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Chmod(path, file); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, folder); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
}
