package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"faultlab/store"
)

// stoppedLook is at which look for an answer, after some 50 ms, a command asks whether
// the owner is stopped: one that runs has taken the command up by then.
const stoppedLook = 6

// tellStopped says that the owner of the state is stopped, if it is: nothing happens before it goes on.
func (a *app) tellStopped(owner store.ErrHeld) {
	if owner.PID != 0 && isStopped(owner.PID) {
		fmt.Fprintf(a.Err, "faultlab: process %d, which owns %s, is stopped: waiting for it to continue (kill -CONT %d); Ctrl-C takes the command back\n",
			owner.PID, clean(owner.Path), owner.PID)
	}
}

// isStopped reports whether a process is stopped, by a signal or a debugger.
func isStopped(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err == nil { // proc(5): the state follows the name, which may have any sign in it
		after := bytes.LastIndexByte(stat, ')') + 2
		return after < len(stat) && (stat[after] == 'T' || stat[after] == 't')
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		return false // there is a /proc, and the process is not in it
	}
	out, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && bytes.HasPrefix(bytes.TrimSpace(out), []byte("T"))
}
