// Package pin keeps Bubble Tea from asking the terminal for its background while a
// program is being initialised.
//
// Bubble Tea v1 asks in its init, in every command of the program, and waits 5 s
// where nothing answers (a serial line, a CI runner's pty). It does not ask a terminal
// whose TERM is "dumb", so that is what TERM is until package tui, which imports both,
// puts it back in its own init.
//
// Go initialises packages that are ready in the order of their import paths. This one
// imports nothing but os, so it is ready before os/exec and os/signal, which Bubble
// Tea needs: it comes first under every module path that sorts before "os/exec",
// as all that begin with a host name up to "n" do.
package pin

import "os"

var term, set = os.LookupEnv("TERM")

func init() { os.Setenv("TERM", "dumb") } //nolint:errcheck // the name is valid

// Restore gives TERM the value that it had before.
func Restore() {
	if set {
		os.Setenv("TERM", term) //nolint:errcheck // the name is valid
	} else {
		os.Unsetenv("TERM") //nolint:errcheck // the name is valid
	}
}
