//go:build unix

package store

import (
	"errors"
	"os"
	"syscall"
)

var errLocked = errors.New("locked by another process")

// tryLock takes flock(2) without waiting. It belongs to the open file: a second Open in one process is refused too.
func tryLock(f *os.File) error { return flock(f, syscall.LOCK_EX|syscall.LOCK_NB) }

// waitLock is tryLock, and waits.
func waitLock(f *os.File) error { return flock(f, syscall.LOCK_EX) }

// isLocked reports whether another open file holds the lock. Several can ask at once.
func isLocked(f *os.File) bool {
	return errors.Is(flock(f, syscall.LOCK_SH|syscall.LOCK_NB), errLocked)
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		default:
			return err
		}
	}
}

// namesOf counts the names (hard links) of a file.
func namesOf(info os.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 1
}

func makePipe(name string) error { return syscall.Mkfifo(name, 0o600) }

// openToRing opens a pipe that somebody reads, and fails at once where nobody does.
func openToRing(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
}
