package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Bell wakes the owner of a state file when somebody puts a command into its inbox. It
// is a named pipe, where the system and the folder can have one: commands that nobody
// rang for are found by looking, a little later.
type Bell struct {
	pipe *os.File
	end  chan struct{}
}

func bellOf(path string) string { return filepath.Join(inboxOf(path), "bell") }

// Bell gives the owner its bell. An error says that there can be none here.
func (s *Store) Bell() (*Bell, error) {
	name := bellOf(s.file.path)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, explain(name, err)
	}
	if err := makePipe(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, explain(name, err)
	}
	// For both directions: so it opens without a sender, and has no end when one goes.
	pipe, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, explain(name, err)
	}
	if info, err := pipe.Stat(); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return nil, errors.Join(fmt.Errorf("%s is not a named pipe; remove it", name), err, pipe.Close())
	}
	return &Bell{pipe, make(chan struct{})}, nil
}

// Wait returns when somebody rang, or with an error once the bell is closed.
func (b *Bell) Wait() error {
	_, err := b.pipe.Read(make([]byte, 512)) // all who rang meanwhile are one
	select {
	case <-b.end:
		return os.ErrClosed
	default:
		return err
	}
}

// Close ends Wait.
func (b *Bell) Close() error {
	close(b.end)
	// Where the system cannot interrupt a read, it is woken by its own pipe.
	_, err := b.pipe.Write([]byte{0})
	return errors.Join(err, b.pipe.Close())
}

// ring wakes the owner of a state file, if it listens. Nothing is lost where it does not.
func ring(path string) {
	pipe, err := openToRing(bellOf(path))
	if err != nil {
		return
	}
	defer pipe.Close()
	_, _ = pipe.Write([]byte{0}) // a full pipe has rung already
}
