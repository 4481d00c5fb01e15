package script

import (
	"regexp"
	"strconv"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
)

// failure is a WomlServiceError that was made in this realm: whatever the script does to the object, this is known.
type failure struct {
	err          *ServiceError
	line, column int
	unmanaged    bool // it is fetch's TypeError, to the script an error like any other
}

// site is where in the script the present call stands.
func (rl *realm) site() file.Position {
	var frames [6]goja.StackFrame
	for _, frame := range rl.vm.CaptureCallStack(len(frames), frames[:0]) {
		if frame.SrcName() == fileName {
			return frame.Position()
		}
	}
	return file.Position{}
}

// serviceError makes the object that the script catches.
func (rl *realm) serviceError(e *ServiceError, at file.Position) *goja.Object {
	o, err := rl.vm.New(rl.module("errors").Get("WomlServiceError"), rl.vm.ToValue(e.Message), rl.withFields(rl.vm.NewObject(), e))
	if err != nil {
		panic(err)
	}
	return rl.failed(o, e, at)
}

// failed remembers that an error object stands for a call's failure.
func (rl *realm) failed(o *goja.Object, e *ServiceError, at file.Position) *goja.Object {
	line, column := place(rl.program.source, at)
	rl.failures[o] = &failure{err: e, line: line, column: column}
	return o
}

// withFields sets the fields that scripts read of a call's failure.
func (rl *realm) withFields(o *goja.Object, e *ServiceError) *goja.Object {
	details := goja.Value(rl.vm.NewObject())
	if len(e.Details) > 0 {
		details = rl.given("a service error's details", e.Details)
	}
	rl.set(o, "code", e.Code, "service", e.Service, "operation", e.Operation, "callId", e.CallID,
		"retryable", e.Retryable, "ambiguous", e.Ambiguous, "details", details)
	return o
}

func (rl *realm) failureOf(v goja.Value) *failure {
	o, _ := v.(*goja.Object)
	return rl.failures[o]
}

// thrown says in an Error what the script threw, or let through.
func (rl *realm) thrown(v goja.Value) *Error {
	if f := rl.failureOf(v); f != nil && !f.unmanaged {
		return &Error{Code: f.err.Code, Message: rl.sentence(f.err.Message), Service: f.err, Line: f.line, Column: f.column}
	}
	e := &Error{Code: CodeThrown}
	if o, ok := v.(*goja.Object); ok && rl.refusals[o] {
		e.Code = CodeUnsupported
	}
	if ex := rl.vm.Try(func() { rl.describe(e, v) }); ex != nil {
		e.Message = "the script threw an error that cannot be shown"
	}
	return e
}

func (rl *realm) sentence(s string) string { return cut(rl.secrets.Clean(s), MaxMessage) }

func (rl *realm) describe(e *Error, v goja.Value) {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Error" {
		e.Message = rl.sentence("the script threw " + rl.inspect(v, true))
		return
	}
	e.Message = rl.sentence(heading(o))
	if stack, ok := o.Get("stack").(goja.String); ok {
		e.Line, e.Column = rl.whereIn(stack.String())
	}
	// The error of a failed fetch, or one that the script made of a call's failure, carries it as its cause.
	if f := rl.failureOf(o.Get("cause")); f != nil {
		e.Service = f.err
		if e.Line == 0 {
			e.Line, e.Column = f.line, f.column
		}
	}
}

// heading is an error's first line: its message, with its name in front where that says something.
func heading(o *goja.Object) string {
	name, message := textOf(o.Get("name")), textOf(o.Get("message"))
	switch {
	case message == "":
		return name
	case name == "" || name == "Error":
		return message
	}
	return name + ": " + message
}

func textOf(v goja.Value) string {
	if s, ok := v.(goja.String); ok {
		return s.String()
	}
	return ""
}

var scriptFrame = regexp.MustCompile(`(?m)^\tat (?:.* \()?` + fileName + `:(\d+):(\d+)\(\d+\)\)?$`)

// whereIn finds the innermost frame of the script in an error's stack.
func (rl *realm) whereIn(stack string) (line, column int) {
	m := scriptFrame.FindStringSubmatch(stack)
	if m == nil {
		return 0, 0
	}
	line, _ = strconv.Atoi(m[1])
	column, _ = strconv.Atoi(m[2])
	return place(rl.program.source, file.Position{Line: line, Column: column})
}
