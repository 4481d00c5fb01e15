package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// lock is the file beside a state file whose holder owns it: path.lock, with the
// holder's process id and command inside. The system frees it when the process ends, however it ends.
type lock struct{ f *os.File }

// acquireLock takes the lock of a state file or says who has it.
func acquireLock(path, command string) (*lock, error) {
	name := path + ".lock"
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, unlockable(path, err)
		}
		switch err := tryLock(f); {
		case errors.Is(err, errLocked):
			held := holder(path, f)
			f.Close()
			return nil, held
		case err != nil:
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", name, err)
		}
		if !isAt(f, name) { // the former holder has taken it away since it was opened
			f.Close()
			continue
		}
		l := &lock{f}
		if err := l.sign(command); err != nil {
			l.release()
			return nil, explain(name, err)
		}
		return l, nil
	}
}

// Owned reports whether a process owns the state file.
func Owned(path string) bool {
	f, err := os.Open(path + ".lock")
	if err != nil {
		return false
	}
	defer f.Close()
	return isLocked(f)
}

// unlockable says why no file can be made beside a state file.
func unlockable(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return &FileError{filepath.Dir(path), ReadOnly, err}
	}
	return explain(path+".lock", err)
}

func (l *lock) sign(command string) error {
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	_, err := l.f.WriteAt(fmt.Appendf(nil, "%d\n%s\n", os.Getpid(), command), 0)
	return err
}

func holder(path string, f *os.File) ErrHeld {
	text, _ := io.ReadAll(io.NewSectionReader(f, 0, 4096)) // what cannot be read is not said
	pid, command, _ := strings.Cut(string(text), "\n")
	n, _ := strconv.Atoi(pid)
	return ErrHeld{Path: path, PID: n, Command: strings.TrimSpace(command)}
}

func isAt(f *os.File, name string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(name)
	return err == nil && os.SameFile(opened, there)
}

// release gives the lock up and takes its file away, while it is still held.
func (l *lock) release() error {
	return errors.Join(os.Remove(l.f.Name()), l.f.Close())
}

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
