//go:build unix

package tui

import (
	"os"
	"syscall"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// askTerminal asks for the background and waits for at most three times the limit, in milliseconds,
// when somebody types meanwhile, else once. typed is what was typed before the answer.
func askTerminal(in, out *os.File, limit int) (light, known bool, typed []byte) {
	old, err := term.MakeRaw(in.Fd())
	if err != nil {
		return false, false, nil
	}
	defer term.Restore(in.Fd(), old) //nolint:errcheck // the program's own raw mode follows
	if _, err := out.WriteString(askBackground); err != nil {
		return false, false, nil
	}
	var reply []byte
	for range 3 {
		fds := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, limit)
		if err == unix.EINTR {
			continue
		}
		if n < 1 || err != nil {
			break
		}
		buf := make([]byte, 1024)
		if n, err = unix.Read(int(in.Fd()), buf); n < 1 || err != nil {
			break
		}
		if reply = append(reply, buf[:n]...); answered(reply) {
			break
		}
	}
	light, known = lightBackground(reply)
	return light, known, typedAhead(reply)
}

// endingSignals are ours to handle: Bubble Tea leaves SIGHUP to the system, which would end the program with the terminal raw.
var endingSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// canSuspend reports whether a shell can bring the program back: the system ignores the
// stop of a process group that nobody in its session looks after (an orphaned one).
func canSuspend() bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	group, parent := unix.Getpgrp(), os.Getppid()
	if theirs, err := unix.Getsid(parent); err != nil || theirs != session {
		return false
	}
	return group != session // the session's own group has no parent inside
}
