package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"faultlab/engine"
	"faultlab/engine/trigger"
	"faultlab/store"
)

// code names an error for machines, beside those of the language (WOML_...).
type code string

// The codes of commands, one for each exit code and for what a caller may want to tell apart.
const (
	codeUsage       code = "FAULTLAB_USAGE"
	codeFailed      code = "FAULTLAB_FAILED"
	codeNoRun       code = "FAULTLAB_NO_RUN"
	codeRefused     code = "FAULTLAB_REFUSED"
	codeStateHeld   code = "FAULTLAB_STATE_HELD"
	codeNoAnswer    code = "FAULTLAB_NO_ANSWER"
	codeInterrupted code = "FAULTLAB_INTERRUPTED"
)

// commandCodes are not shown to people: the sentence and the exit code say it.
var commandCodes = []code{codeUsage, codeFailed, codeNoRun, codeRefused, codeStateHeld, codeNoAnswer, codeInterrupted}

// problem is an error with its code, as it travels through the inbox and as --json prints it.
type problem struct {
	Code    code   `json:"code"`
	Message string `json:"message"`
}

// problemOf is what went wrong with a command about a run.
func problemOf(run string, err error) *problem {
	if errors.Is(err, engine.ErrNoRun) {
		return &problem{codeNoRun, noRun(run)}
	}
	return &problem{codeOf(err, exitFailed), err.Error()}
}

func (p *problem) Error() string {
	if slices.Contains(commandCodes, p.Code) {
		return p.Message
	}
	return p.Message + " [" + string(p.Code) + "]"
}

// ErrorCode implements trigger.Coded.
func (p *problem) ErrorCode() string { return string(p.Code) }

// err is the end of a command by this problem; nil where there is none.
func (p *problem) err() error {
	if p == nil {
		return nil
	}
	return failed(p)
}

// codeOf is the code of a command's error; exit is what the command ends with.
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

// printError says why a command ended: one sentence a mistake, or one JSON object for machines.
func printError(w io.Writer, err error, exit int, asJSON bool) {
	text := err.Error()
	switch {
	case text == "": // its output has said it all
	case asJSON:
		var e struct {
			Error problem `json:"error"`
		}
		e.Error = problem{codeOf(err, exit), text}
		if p := (*problem)(nil); errors.As(err, &p) {
			e.Error = *p
		}
		raw, _ := json.Marshal(e) // strings always encode
		fmt.Fprintf(w, "%s\n", raw)
	default:
		for _, line := range strings.Split(text, "\n") { // several only where a file has several mistakes
			fmt.Fprintln(w, "faultlab: "+clean(line))
		}
	}
}
