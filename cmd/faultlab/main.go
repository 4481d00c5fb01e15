// Command faultlab is a workbench for retry safety. It reads flags, calls the
// rooms that know the rules, and turns what they say into text and exit codes; it
// has no rules of its own.
package main

import (
	"os"
	"time"
)

func main() {
	time.Local = time.UTC // a script's local time is the same on every machine
	tuneMemory()
	surviveReaders()
	os.Exit(execute(streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Args[1:]))
}
