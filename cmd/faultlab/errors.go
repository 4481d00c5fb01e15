package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"faultlab/engine"
	"faultlab/engine/plain"
	"faultlab/engine/trigger"
	"faultlab/store"
)

// Exit codes beside 0.
const (
	exitFailed   = 1   // a scenario's expectation, a check or a run failed; no such run; a decision was refused
	exitUsage    = 2   // wrong use
	exitNoAnswer = 3   // lookup: the provider did not answer
	exitSignal   = 128 // added to a signal's number, as shells do
)

// exit ends a command with a code. The error is nil where the output has said everything.
type exit struct {
	code  int
	err   error
	final bool // also where a signal cut the command short
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// quiet ends a command whose reason was printed already.
func quiet(code int) error { return &exit{code: code} }

// quietly is quiet of a command that a signal makes end early and say what it knows: its code stands.
func quietly(code int) error { return &exit{code: code, final: true} }

// quietIf is quiet(exitFailed) where something failed, and nil elsewhere.
func quietIf(bad bool) error {
	if bad {
		return quiet(exitFailed)
	}
	return nil
}

// failed ends a command with exit code 1, or with the code that the error has already; nil stays nil.
func failed(err error) error {
	if e := (*exit)(nil); err == nil || errors.As(err, &e) {
		return err
	}
	return &exit{code: exitFailed, err: err}
}

// misused ends a command with exit code 2; nil stays nil.
func misused(err error) error {
	if err == nil {
		return nil
	}
	return &exit{code: exitUsage, err: err}
}

// usage is misused with a new sentence.
func usage(format string, args ...any) error { return misused(fmt.Errorf(format, args...)) }

// code names an error for machines, beside those of the language (WOML_...).
type code string

// The codes of commands, one for each exit code and for what a caller may want to tell apart.
const (
	codePrefix           = "FAULTLAB_" // of all codes of commands
	codeUsage       code = "FAULTLAB_USAGE"
	codeFailed      code = "FAULTLAB_FAILED"
	codeNoRun       code = "FAULTLAB_NO_RUN"
	codeRefused     code = "FAULTLAB_REFUSED"
	codeStateHeld   code = "FAULTLAB_STATE_HELD"
	codeNoAnswer    code = "FAULTLAB_NO_ANSWER"
	codeInterrupted code = "FAULTLAB_INTERRUPTED"
)

// problem is an error with its code, as it travels through the inbox and as --json prints it.
type problem struct {
	Code    code   `json:"code"`
	Message string `json:"message"`
}

// problemOf returns what went wrong with a command about a run.
func problemOf(run string, err error) *problem {
	if errors.Is(err, engine.ErrNoRun) {
		return &problem{codeNoRun, "there is no run " + run + ": faultlab list shows the runs"}
	}
	return &problem{codeOf(err, exitFailed), err.Error()}
}

// runError ends a command about a run that cannot be had.
func runError(run string, err error) error {
	if errors.Is(err, engine.ErrNoRun) {
		return failed(problemOf(run, err))
	}
	return failed(err)
}

// Error leaves the codes of commands out: the sentence and the exit code say it.
func (p *problem) Error() string {
	if p.Code == "" || strings.HasPrefix(string(p.Code), codePrefix) {
		return p.Message
	}
	return p.Message + " [" + string(p.Code) + "]"
}

// ErrorCode implements trigger.Coded.
func (p *problem) ErrorCode() string { return string(p.Code) }

// err ends a command with this problem; nil where there is none.
func (p *problem) err() error {
	if p == nil {
		return nil
	}
	return failed(p)
}

// codeOf returns the code of a command's error; exit is what the command ends with.
func codeOf(err error, exit int) code {
	var coded trigger.Coded
	switch {
	case errors.As(err, &coded):
		return code(coded.ErrorCode())
	case errors.Is(err, engine.ErrNoRun):
		return codeNoRun
	case errors.As(err, new(*engine.Refused)):
		return codeRefused
	case errors.As(err, new(store.ErrHeld)):
		return codeStateHeld
	case exit > exitSignal:
		return codeInterrupted
	case exit == exitUsage:
		return codeUsage
	case exit == exitNoAnswer:
		return codeNoAnswer
	}
	return codeFailed
}

// printError says why a command ended: one sentence for each mistake, or one JSON object for machines.
func printError(w io.Writer, err error, exit int, asJSON bool) {
	text := err.Error()
	switch {
	case text == "": // the output has said everything
	case asJSON:
		e := problem{codeOf(err, exit), text}
		if p := (*problem)(nil); errors.As(err, &p) {
			e = *p
		}
		raw, _ := json.Marshal(map[string]problem{"error": e}) // strings always encode
		fmt.Fprintf(w, "%s\n", raw)
	default:
		for line := range strings.SplitSeq(text, "\n") { // several only where a file has several mistakes
			fmt.Fprintln(w, "faultlab: "+plain.Escape(line))
		}
	}
}
