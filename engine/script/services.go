package script

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/dop251/goja"
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

var dbOperations = []string{"query", "execute", "read", "insert", "update", "delete", "transaction"}

// services is the frozen object of that name.
func (rl *realm) services() goja.Value {
	http := rl.vm.NewObject()
	rl.put(http, "request", rl.function("request", func(c goja.FunctionCall) goja.Value {
		return rl.begin(Call{Service: ServiceHTTP, Operation: "request"}, c.Argument(0), c.Argument(1))
	}))
	workflows := rl.vm.NewObject()
	for _, operation := range []string{"call", "start"} {
		rl.put(workflows, operation, rl.function(operation, func(c goja.FunctionCall) goja.Value {
			return rl.callWorkflow(operation, c)
		}))
	}
	o := rl.vm.NewObject()
	rl.put(o, "http", rl.freeze(http))
	rl.put(o, "db", rl.function("db", rl.db))
	rl.put(o, "workflows", rl.freeze(workflows))
	return rl.freeze(o)
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
	o := rl.vm.NewObject()
	for _, operation := range dbOperations {
		rl.put(o, operation, rl.function(operation, func(c goja.FunctionCall) goja.Value {
			return rl.begin(Call{Service: ServiceDB, Operation: operation, Target: target}, c.Argument(0), c.Argument(1))
		}))
	}
	return rl.freeze(o)
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
	return rl.startCall(c, func(done Completion) (goja.Value, error) { return rl.decode(done.Value, false) })
}

// request is a value's JSON, or what is wrong with it.
func (rl *realm) request(service, what string, v goja.Value) (text json.RawMessage, bad string) {
	if goja.IsUndefined(v) {
		return nil, what + " is missing; pass an object"
	}
	e := encoder{rl: rl, root: what, binary: service == ServiceDB, limit: maxRequest}
	if f := e.value(v); f != nil {
		return nil, f.text
	}
	return e.out, ""
}

// options reads a call's last argument, {name} and, where the operation has it, timeout.
func (rl *realm) options(c *Call, v goja.Value) (bad string) {
	if goja.IsUndefined(v) {
		return ""
	}
	text, bad := rl.request("", "the options", v)
	if bad != "" {
		return bad
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil || all == nil {
		return `the options are not an object; pass {name: "..."}`
	}
	for _, key := range sortedKeys(all) {
		switch {
		case key == "name":
			if err := json.Unmarshal(all[key], &c.Name); err != nil || !callName.MatchString(c.Name) {
				return fmt.Sprintf("the name %s is not one: it takes a lower-case letter, then up to 127 of a-z, 0-9, dot, dash and underscore", all[key])
			}
		case key == "timeout" && c.Service == ServiceWorkflows && c.Operation == "call":
			c.Options, _ = json.Marshal(map[string]json.RawMessage{key: all[key]})
		default:
			return fmt.Sprintf("the option %q is unknown here", key)
		}
	}
	return ""
}

// refusal is a ServiceError for a call that was never begun.
func refusal(c Call, text string) *ServiceError {
	return &ServiceError{Code: inputInvalid[c.Service], Message: text, Service: c.Service, Operation: c.Operation}
}

// startCall begins a call and gives its promise, which resolves to what read makes of the completion.
func (rl *realm) startCall(c Call, read func(Completion) (goja.Value, error)) goja.Value {
	if rl.outcome != nil {
		e := refusal(c, "the script has already returned or thrown, so nothing new is begun; await every call")
		e.Code = CodeEnded
		return rl.refused(e)
	}
	id := rl.ticket()
	var no *ServiceError
	rl.ask(func(r *runner) {
		if no = r.host.Start(id, c); no == nil {
			r.calls = append(r.calls, id)
		}
	})
	if no != nil {
		return rl.refused(no)
	}
	at := rl.site()
	promise, resolve, reject := rl.vm.NewPromise()
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
	return rl.vm.ToValue(promise)
}

func (rl *realm) ticket() int {
	rl.last++
	return rl.last
}

func (rl *realm) refused(e *ServiceError) goja.Value {
	return rl.rejection(rl.serviceError(e, rl.site()))
}

func (rl *realm) rejection(reason goja.Value) goja.Value {
	promise, _, reject := rl.vm.NewPromise()
	if err := reject(reason); err != nil {
		panic(err)
	}
	return rl.vm.ToValue(promise)
}
