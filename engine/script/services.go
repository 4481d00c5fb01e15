package script

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"faultlab/engine/plain"
)

// Codes of the refusals that need no Host, by service.
var inputInvalid = map[string]string{
	ServiceHTTP:      "WOML_HTTP_INPUT_INVALID",
	ServiceDB:        "WOML_DATABASE_INPUT_INVALID",
	ServiceWorkflows: "WOML_WORKFLOW_INPUT_INVALID",
	ServiceFetch:     "WOML_FETCH_INPUT_INVALID",
}

// CodeEnded refuses a call that a script wants to begin after its own promise has settled.
const CodeEnded = "WOML_SCRIPT_ENDED"

var callName = regexp.MustCompile(`^[a-z][a-z0-9._-]{0,127}$`)

// services is the object of that name.
func (rl *realm) services() goja.Value {
	return rl.fixed("services", map[string]func() goja.Value{
		"http":      func() goja.Value { return rl.operations("services.http", rl.callHTTP, "request") },
		"db":        func() goja.Value { return rl.function("db", rl.db) },
		"workflows": func() goja.Value { return rl.operations("services.workflows", rl.callWorkflow, "call", "start") },
	})
}

// operations is an object of functions that differ in their operation.
func (rl *realm) operations(name string, run func(string, goja.FunctionCall) goja.Value, operations ...string) goja.Value {
	members := map[string]func() goja.Value{}
	for _, operation := range operations {
		members[operation] = func() goja.Value {
			return rl.function(operation, func(c goja.FunctionCall) goja.Value { return run(operation, c) })
		}
	}
	return rl.fixed(name, members)
}

func (rl *realm) callHTTP(operation string, c goja.FunctionCall) goja.Value {
	return rl.begin(Call{Service: ServiceHTTP, Operation: operation}, c.Argument(0), c.Argument(1))
}

// db is services.db: the operations on one target. Nothing is opened before the first of them.
func (rl *realm) db(c goja.FunctionCall) goja.Value {
	target, bad := rl.request(ServiceDB, "services.db's target", c.Argument(0))
	if bad == "" && target[0] != '{' {
		bad = `services.db takes an object: {driver: "sqlite", connection: "..."}`
	}
	if bad != "" {
		panic(rl.serviceError(refusal(Call{Service: ServiceDB, Operation: "open"}, bad), rl.site()))
	}
	return rl.operations("the database", func(operation string, c goja.FunctionCall) goja.Value {
		return rl.begin(Call{Service: ServiceDB, Operation: operation, Target: target}, c.Argument(0), c.Argument(1))
	}, "query", "execute", "read", "insert", "update", "delete", "transaction")
}

func (rl *realm) callWorkflow(operation string, c goja.FunctionCall) goja.Value {
	call := Call{Service: ServiceWorkflows, Operation: operation}
	id, ok := c.Argument(0).(goja.String)
	if !ok {
		return rl.refused(refusal(call, "services.workflows."+operation+" takes the workflow's id, a string, first"))
	}
	call.Target = appendString(nil, id)
	return rl.begin(call, c.Argument(1), c.Argument(2))
}

// begin makes a call's JSON, starts it and gives its promise. It never throws: what is wrong rejects the promise.
func (rl *realm) begin(c Call, input, options goja.Value) (promise goja.Value) {
	var bad string
	ex := rl.vm.Try(func() {
		c.Input, bad = rl.request(c.Service, "the request", input)
		if bad == "" {
			bad = rl.options(&c, options)
		}
	})
	switch {
	case ex != nil:
		return rl.rejection(ex.Value())
	case bad != "":
		return rl.refused(refusal(c, bad))
	}
	promise, _ = rl.startCall(c, func(done Completion) (goja.Value, error) { return rl.decode(done.Value, false) })
	return promise
}

// request is a value's JSON, or what is wrong with it.
func (rl *realm) request(service, what string, v goja.Value) (text json.RawMessage, bad string) {
	if goja.IsUndefined(v) {
		return nil, what + " is missing; pass an object"
	}
	e := encoder{rl: rl, root: what, binary: service == ServiceDB, limit: maxRequest, out: make([]byte, 0, 512)}
	if f := e.encode(v); f != nil {
		return nil, f.text
	}
	return e.out, ""
}

// options reads a call's last argument, {name} and, where the operation has it, timeout.
func (rl *realm) options(c *Call, v goja.Value) (bad string) {
	if goja.IsUndefined(v) {
		return ""
	}
	o, ok := v.(*goja.Object)
	if !ok {
		return `the options are not an object; pass {name: "..."}`
	}
	known := []string{"name"}
	if c.Service == ServiceWorkflows && c.Operation == "call" {
		known = append(known, "timeout")
	}
	for _, key := range o.Keys() {
		if goja.IsUndefined(o.Get(key)) {
			continue
		}
		if !slices.Contains(known, key) {
			e := refusal(*c, UnknownOption("the last argument of "+PublicService(c.Service)+"."+c.Operation, key, known))
			panic(rl.optionError(e))
		}
		text, bad := rl.request("", "the option "+key, o.Get(key))
		switch {
		case bad != "":
			return bad
		case key == "name":
			if c.Name = textOf(o.Get(key)); !callName.MatchString(c.Name) {
				return fmt.Sprintf("the name %s is not one: it takes a lower-case letter, then up to 127 of a-z, 0-9, dot, dash and underscore", text)
			}
		case key == "timeout":
			c.Options = slices.Concat([]byte(`{"timeout":`), text, []byte("}"))
		}
	}
	return ""
}

// refusal is a ServiceError for a call that was never begun.
func refusal(c Call, text string) *ServiceError {
	return &ServiceError{Code: inputInvalid[c.Service], Message: text, Service: PublicService(c.Service), Operation: c.Operation}
}

// startCall begins a call and gives its promise, which resolves to what read makes of the completion, and its ticket,
// 0 if it was refused.
func (rl *realm) startCall(c Call, read func(Completion) (goja.Value, error)) (goja.Value, int) {
	if rl.outcome != nil {
		e := refusal(c, "the script has already returned or thrown, so nothing new is begun; await every call")
		e.Code = CodeEnded
		return rl.refused(e), 0
	}
	id := rl.ticket()
	var no *ServiceError
	rl.ask(func(r *runner) {
		if no = r.host.Start(id, c); no == nil {
			r.calls = append(r.calls, id)
		}
	})
	if no != nil {
		return rl.refused(no), 0
	}
	at := rl.site()
	p, resolve, reject := rl.vm.NewPromise()
	rl.pending[id] = func(done Completion) error {
		if done.Err != nil {
			return reject(rl.serviceError(done.Err, at))
		}
		v, err := read(done)
		if err != nil {
			return fmt.Errorf("ticket %d (%s.%s) completed with %w", id, c.Service, c.Operation, err)
		}
		return resolve(v)
	}
	return rl.vm.ToValue(p), id
}

func (rl *realm) ticket() int {
	rl.last++
	return rl.last
}

func (rl *realm) refused(e *ServiceError) goja.Value {
	if e.UnknownOption {
		return rl.rejection(rl.optionError(e))
	}
	return rl.rejection(rl.serviceError(e, rl.site()))
}

func (rl *realm) rejection(reason goja.Value) goja.Value {
	promise, _, reject := rl.vm.NewPromise()
	if err := reject(reason); err != nil {
		panic(err)
	}
	return rl.vm.ToValue(promise)
}

// UnknownOption says that something has no option of a name, and which one may have been meant.
func UnknownOption(what, name string, known []string) string {
	if near := plain.Nearest(name, known); near != "" {
		return fmt.Sprintf("%s has no option %q; did you mean %q?", what, name, near)
	}
	return fmt.Sprintf("%s has no option %q; it takes %s", what, name, strings.Join(known, ", "))
}

// optionError is the TypeError by which a call with an unknown option is refused. It has the fields of the refusal.
func (rl *realm) optionError(e *ServiceError) *goja.Object {
	return rl.failed(rl.withFields(rl.newError("TypeError", e.Message), e), e, rl.site())
}
