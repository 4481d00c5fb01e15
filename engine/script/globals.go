package script

import "github.com/dop251/goja"

// globals are the names that a script finds beside those of the language. Each is made when a script first names it:
// most scripts need three or four of them, and a runtime is made for every attempt.
var globals = map[string]struct {
	fixed bool // cannot be assigned
	make  func(*realm) goja.Value
}{
	"context":          {true, (*realm).context},
	"attempt":          {true, (*realm).attempt},
	"services":         {true, (*realm).services},
	"secrets":          {true, (*realm).secretsGlobal},
	"console":          {false, (*realm).console},
	"crypto":           {false, (*realm).crypto},
	"WomlServiceError": {true, from("errors", "WomlServiceError")},

	"setTimeout":     {false, func(rl *realm) goja.Value { return rl.function("setTimeout", rl.setTimeout) }},
	"clearTimeout":   {false, func(rl *realm) goja.Value { return rl.function("clearTimeout", rl.clearTimer) }},
	"setInterval":    {false, func(rl *realm) goja.Value { return rl.function("setInterval", rl.setInterval) }},
	"clearInterval":  {false, func(rl *realm) goja.Value { return rl.function("clearInterval", rl.clearTimer) }},
	"queueMicrotask": {false, from("clone", "queueMicrotask")},

	"structuredClone": {false, from("clone", "structuredClone")},
	"fetch":           {false, from("fetch", "fetch")},
	"Headers":         {false, from("fetch", "Headers")},
	"Response":        {false, from("fetch", "Response")},
	"AbortController": {false, from("abort", "AbortController")},
	"AbortSignal":     {false, from("abort", "AbortSignal")},
	"DOMException":    {false, from("abort", "DOMException")},
	"URL":             {false, from("url", "URL")},
	"URLSearchParams": {false, from("url", "URLSearchParams")},
	"TextEncoder":     {false, from("encoding", "TextEncoder")},
	"TextDecoder":     {false, from("encoding", "TextDecoder")},
	"atob":            {false, from("encoding", "atob")},
	"btoa":            {false, from("encoding", "btoa")},
}

func from(module, name string) func(*realm) goja.Value {
	return func(rl *realm) goja.Value { return rl.module(module).Get(name) }
}

// globalObject stands behind the global object as its prototype and moves a name there when it is first used.
type globalObject struct {
	unlisted
	rl *realm
}

// unlisted is what the objects have in common whose names are made when asked for: nothing is set, deleted or listed.
type unlisted struct{}

func (unlisted) Set(string, goja.Value) bool { return false }
func (unlisted) Delete(string) bool          { return false }
func (unlisted) Keys() []string              { return nil }
func (unlisted) Has(string) bool             { return false }

func (g *globalObject) Get(name string) goja.Value {
	entry, ok := globals[name]
	if !ok {
		return nil
	}
	v := entry.make(g.rl)
	free := goja.ToFlag(!entry.fixed)
	_ = g.rl.vm.GlobalObject().DefineDataProperty(name, v, free, free, goja.FLAG_FALSE)
	return v
}

func (g *globalObject) Has(name string) bool {
	_, ok := globals[name]
	return ok
}

// context is what the script is given to work on, deeply frozen: an attempt cannot change what the next one sees.
func (rl *realm) context() goja.Value {
	o := rl.vm.NewObject()
	steps := rl.vm.NewObject()
	for _, id := range sortedKeys(rl.in.Steps) {
		rl.fix(steps, id, rl.given("context.steps."+id, rl.in.Steps[id]))
	}
	if len(rl.in.Payload) > 0 {
		payload := rl.given("context.payload", rl.in.Payload)
		rl.fix(o, "payload", payload)
		rl.fix(o, "trigger", payload)
	}
	rl.fix(o, "steps", rl.shut(steps))
	for _, name := range sortedKeys(rl.in.Extra) {
		rl.fix(o, name, rl.given("context."+name, rl.in.Extra[name]))
	}
	return rl.shut(o)
}

// given decodes what the Host handed over. That it is JSON is the Host's promise: to break it ends the worker.
func (rl *realm) given(what string, text []byte) goja.Value {
	v, err := rl.decode(text, true)
	if err != nil {
		panic(what + ": " + err.Error())
	}
	return v
}

func (rl *realm) attempt() goja.Value {
	a := rl.in.Attempt
	o := rl.vm.NewObject()
	rl.fix(o, "number", rl.vm.ToValue(a.Number))
	rl.fix(o, "maxAttempts", rl.vm.ToValue(a.MaxAttempts))
	rl.fix(o, "idempotencyKey", rl.vm.ToValue(a.IdempotencyKey))
	return rl.shut(o)
}

// fixedObject is an object of the environment that scripts cannot change. Its members are made when first named.
type fixedObject struct {
	rl      *realm
	name    string
	members map[string]func() goja.Value
	made    map[string]goja.Value
}

func (rl *realm) fixed(name string, members map[string]func() goja.Value) goja.Value {
	return rl.vm.NewDynamicObject(&fixedObject{rl: rl, name: name, members: members, made: map[string]goja.Value{}})
}

func (f *fixedObject) Get(name string) goja.Value {
	if v := f.made[name]; v != nil {
		return v
	}
	member := f.members[name]
	if member == nil {
		return nil
	}
	f.made[name] = member()
	return f.made[name]
}

func (f *fixedObject) Has(name string) bool { return f.members[name] != nil }

func (f *fixedObject) Set(name string, _ goja.Value) bool {
	panic(f.rl.vm.NewTypeError("%s.%s cannot be assigned: %s is read-only", f.name, name, f.name))
}

func (f *fixedObject) Delete(name string) bool { return f.members[name] == nil }

func (f *fixedObject) Keys() []string { return sortedKeys(f.members) }

// secretsObject is the script's secrets: secrets.NAME, and nothing else. There is no list of them to print.
type secretsObject struct {
	unlisted
	rl *realm
}

func (rl *realm) secretsGlobal() goja.Value { return rl.vm.NewDynamicObject(&secretsObject{rl: rl}) }

// Get gives a secret's value, or throws. What the language itself asks of every object is not a secret's name.
func (s *secretsObject) Get(name string) goja.Value {
	if s.rl.objectProto.Get(name) != nil || name == "toJSON" || name == "then" {
		return nil
	}
	var value string
	var ok bool
	s.rl.ask(func(r *runner) { value, ok = r.host.Secret(name) })
	if !ok {
		s.rl.typeError("the secret " + name + " is not set; set it in the environment or in the secrets file")
	}
	s.rl.secrets.Know(name, value)
	return s.rl.vm.ToValue(value)
}
