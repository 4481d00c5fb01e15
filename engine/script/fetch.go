package script

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// The Go side of the modules encoding and fetch: bytes, UTF-8 and base64.

func (rl *realm) buffer(b []byte) goja.Value { return rl.vm.ToValue(rl.vm.NewArrayBuffer(b)) }

// toBytes is the content of a buffer or view as a buffer of its own, or undefined for anything else.
func (rl *realm) toBytes(c goja.FunctionCall) goja.Value {
	if o, ok := c.Argument(0).(*goja.Object); ok {
		if b, ok := bytesOf(o); ok {
			return rl.buffer(append([]byte(nil), b...))
		}
	}
	return goja.Undefined()
}

// toUTF8 is a string's bytes as a buffer; a lone surrogate becomes U+FFFD.
func (rl *realm) toUTF8(c goja.FunctionCall) goja.Value {
	return rl.buffer([]byte(validText(c.Argument(0))))
}

// fromUTF8 decodes a buffer. The second argument demands valid UTF-8, the third keeps a byte order mark.
func (rl *realm) fromUTF8(c goja.FunctionCall) goja.Value {
	o, ok := c.Argument(0).(*goja.Object)
	if !ok {
		return rl.vm.ToValue("")
	}
	b, _ := bytesOf(o)
	s := string(b)
	if !c.Argument(2).ToBoolean() {
		s = strings.TrimPrefix(s, "\uFEFF")
	}
	if !utf8.ValidString(s) {
		if c.Argument(1).ToBoolean() {
			rl.typeError("the data is not valid UTF-8")
		}
		s = string([]rune(s))
	}
	return rl.vm.ToValue(s)
}

// toBase64 takes a binary string, each character below 256, and gives undefined for another.
func (rl *realm) toBase64(c goja.FunctionCall) goja.Value {
	var b []byte
	for _, r := range c.Argument(0).String() {
		if r > 0xff {
			return goja.Undefined()
		}
		b = append(b, byte(r))
	}
	return rl.vm.ToValue(base64.StdEncoding.EncodeToString(b))
}

// bytesToBase64 is the base64 of a buffer.
func (rl *realm) bytesToBase64(c goja.FunctionCall) goja.Value {
	b, _ := bytesOf(c.Argument(0).(*goja.Object))
	return rl.vm.ToValue(base64.StdEncoding.EncodeToString(b))
}

// fromBase64 is the forgiving decoding of the Infra standard: white space is dropped, padding may be missing. It
// gives undefined for what is not base64.
func (rl *realm) fromBase64(c goja.FunctionCall) goja.Value {
	s := strings.NewReplacer(" ", "", "\t", "", "\n", "", "\f", "", "\r", "").Replace(c.Argument(0).String())
	if len(s)%4 == 0 {
		s = strings.TrimSuffix(strings.TrimSuffix(s, "="), "=")
	}
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return goja.Undefined()
	}
	units := make([]uint16, len(b))
	for i, x := range b {
		units[i] = uint16(x)
	}
	return goja.StringFromUTF16(units)
}

// parseBody is JSON.parse of a buffer.
func (rl *realm) parseBody(c goja.FunctionCall) goja.Value {
	b, _ := bytesOf(c.Argument(0).(*goja.Object))
	v, err := rl.decode([]byte(strings.TrimPrefix(string(b), "\uFEFF")), false)
	if err != nil {
		panic(rl.newError("SyntaxError", "the body is not JSON: "+err.Error()))
	}
	return v
}

func (rl *realm) newError(class, text string) *goja.Object {
	o, err := rl.vm.New(rl.vm.Get(class), rl.vm.ToValue(text))
	if err != nil {
		panic(err)
	}
	return o
}

// fetchOptions are the members of fetch's second argument by the Fetch standard. What means nothing outside of a
// browser is ignored, as it is elsewhere; any other name is a mistake, and what it was to do would be lost.
var fetchOptions = []string{"method", "headers", "body", "redirect", "signal", "cache", "credentials", "duplex", "integrity", "keepalive", "mode",
	"priority", "referrer", "referrerPolicy", "window"}

// checkFetch throws a TypeError for a member of fetch's second argument that there is none of.
func (rl *realm) checkFetch(c goja.FunctionCall) goja.Value {
	if o, ok := c.Argument(0).(*goja.Object); ok {
		for _, name := range o.Keys() {
			if !slices.Contains(fetchOptions, name) {
				rl.typeError(UnknownOption("fetch", name, fetchOptions))
			}
		}
	}
	return goja.Undefined()
}

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
		o := rl.object("head", head, "body", rl.buffer(done.Body))
		if done.BodyErr != nil {
			rl.put(o, "broken", rl.serviceError(done.BodyErr, at))
		}
		return o, nil
	})
	return rl.object("ticket", ticket, "done", promise)
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
