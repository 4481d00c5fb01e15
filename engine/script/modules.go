package script

import (
	"embed"
	"sync"

	"github.com/dop251/goja"
)

// Globals that are easiest said in JavaScript live in modules: js/NAME.js is one function of the object native, with
// the Go functions that it needs, and the global object. It returns what it declares.
//
//go:embed js
var sources embed.FS

type native = func(*realm, goja.FunctionCall) goja.Value

// module is a module's Go functions and its program, compiled when first needed.
type module struct {
	natives map[string]native
	program func() *goja.Program
}

func newModule(name string, natives map[string]native) module {
	return module{natives, sync.OnceValue(func() *goja.Program {
		text, err := sources.ReadFile("js/" + name + ".js")
		if err != nil {
			panic(err) // it is embedded
		}
		return goja.MustCompile("woml:"+name, string(text), true)
	})}
}

var modules = map[string]module{}

func init() {
	refuse := map[string]native{"refuse": (*realm).refuseFeature}
	for name, natives := range map[string]map[string]native{
		"abort": {"setTimeout": (*realm).setTimeout}, "clone": nil, "code": refuse, "date": nil, "errors": nil, "locale": refuse,
		"encoding": {
			"utf8": (*realm).toUTF8, "text": (*realm).fromUTF8, "bytes": (*realm).toBytes,
			"toBase64": (*realm).toBase64, "fromBase64": (*realm).fromBase64,
		},
		"fetch": {
			"send": (*realm).fetchSend, "check": (*realm).checkFetch, "cancel": (*realm).fetchCancel, "failed": (*realm).fetchFailed, "json": (*realm).parseBody,
			"bytes": (*realm).toBytes, "base64": (*realm).bytesToBase64, "utf8": (*realm).toUTF8, "text": (*realm).fromUTF8,
		},
		"regexp": {"pattern": (*realm).regexpPattern, "written": (*realm).regexpWritten, "refuse": (*realm).refuseFeature},
		"url":    {"parse": (*realm).parseURL, "encode": (*realm).formEncode, "decode": (*realm).formDecode},
	} {
		modules[name] = newModule(name, natives)
	}
}

// module is what a module declares, in this realm.
func (rl *realm) module(name string) *goja.Object {
	if m := rl.modules[name]; m != nil {
		return m
	}
	native := rl.vm.NewObject()
	for key, f := range modules[name].natives {
		_ = native.Set(key, rl.function(key, func(c goja.FunctionCall) goja.Value { return f(rl, c) }))
	}
	v, err := rl.vm.RunProgram(modules[name].program())
	if err != nil {
		panic(err)
	}
	open, _ := goja.AssertFunction(v)
	if v, err = open(goja.Undefined(), native, rl.vm.GlobalObject()); err != nil {
		panic(err)
	}
	rl.modules[name] = v.(*goja.Object)
	return rl.modules[name]
}
