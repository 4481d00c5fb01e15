package script

import "github.com/dop251/goja"

// fetchSend begins one request of fetch. It gives the ticket and a promise of the response's head, its body and what
// cut the body short.
func (rl *realm) fetchSend(c goja.FunctionCall) goja.Value {
	call := Call{Service: ServiceFetch, Operation: "request"}
	var bad string
	if call.Input, bad = rl.request(ServiceFetch, "the request", c.Argument(0)); bad != "" {
		rl.typeError("fetch: " + bad)
	}
	at := rl.site()
	promise, ticket := rl.startCall(call, func(done Completion) (goja.Value, error) {
		head, err := rl.decode(done.Value, false)
		if err != nil {
			return nil, err
		}
		o := rl.vm.NewObject()
		rl.put(o, "head", head)
		rl.put(o, "body", rl.buffer(done.Body))
		if done.BodyErr != nil {
			rl.put(o, "broken", rl.serviceError(done.BodyErr, at))
		}
		return o, nil
	})
	o := rl.vm.NewObject()
	rl.put(o, "ticket", rl.vm.ToValue(ticket))
	rl.put(o, "done", promise)
	return o
}

// fetchFailed is the TypeError by which fetch fails, with the call's failure as its cause.
func (rl *realm) fetchFailed(c goja.FunctionCall) goja.Value {
	cause := c.Argument(1)
	f := rl.failureOf(cause)
	o := rl.newError("TypeError", c.Argument(0).String()+": "+f.err.Message)
	_ = o.DefineDataProperty("cause", cause, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	rl.failures[o] = &failure{err: f.err, line: f.line, column: f.column, unmanaged: true}
	return o
}

// fetchCancel withdraws a request that an AbortSignal gave up. Its end still comes, to nobody.
func (rl *realm) fetchCancel(c goja.FunctionCall) goja.Value {
	id := int(c.Argument(0).ToInteger())
	if rl.pending[id] != nil {
		rl.ask(func(r *runner) { r.host.Cancel(id) })
	}
	return goja.Undefined()
}
