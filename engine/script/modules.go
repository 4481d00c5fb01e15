package script

import (
	"embed"
	"sync"

	"github.com/dop251/goja"
)

// Globals that are easiest said in JavaScript live in modules: js/NAME.js is one function of the object native, with
// the Go functions that it needs, and returns what it declares.
//
//go:embed js
var sources embed.FS

type native = func(*realm, goja.FunctionCall) goja.Value

// natives are the Go functions of a module.
func natives(module string) map[string]native {
	switch module {
	case "abort":
		return map[string]native{"setTimeout": (*realm).setTimeout}
	case "fetch":
		return map[string]native{
			"send": (*realm).fetchSend, "check": (*realm).checkFetch, "cancel": (*realm).fetchCancel, "failed": (*realm).fetchFailed, "json": (*realm).parseBody,
			"bytes": (*realm).toBytes, "base64": (*realm).bytesToBase64, "utf8": (*realm).toUTF8, "text": (*realm).fromUTF8,
		}
	case "regexp":
		return map[string]native{"pattern": (*realm).regexpPattern, "written": (*realm).regexpWritten, "refuse": (*realm).refuseFeature}
	case "locale", "code":
		return map[string]native{"refuse": (*realm).refuseFeature}
	case "url":
		return map[string]native{"parse": (*realm).parseURL, "encode": (*realm).formEncode, "decode": (*realm).formDecode}
	case "encoding":
		return map[string]native{
			"utf8": (*realm).toUTF8, "text": (*realm).fromUTF8, "bytes": (*realm).toBytes,
			"toBase64": (*realm).toBase64, "fromBase64": (*realm).fromBase64,
		}
	}
	return nil
}

// programs are the compiled modules, each compiled when first needed.
var programs = map[string]func() *goja.Program{
	"abort":    sync.OnceValue(func() *goja.Program { return compileModule("abort") }),
	"code":     sync.OnceValue(func() *goja.Program { return compileModule("code") }),
	"clone":    sync.OnceValue(func() *goja.Program { return compileModule("clone") }),
	"encoding": sync.OnceValue(func() *goja.Program { return compileModule("encoding") }),
	"errors":   sync.OnceValue(func() *goja.Program { return compileModule("errors") }),
	"fetch":    sync.OnceValue(func() *goja.Program { return compileModule("fetch") }),
	"date":     sync.OnceValue(func() *goja.Program { return compileModule("date") }),
	"locale":   sync.OnceValue(func() *goja.Program { return compileModule("locale") }),
	"regexp":   sync.OnceValue(func() *goja.Program { return compileModule("regexp") }),
	"url":      sync.OnceValue(func() *goja.Program { return compileModule("url") }),
}

func compileModule(name string) *goja.Program {
	text, err := sources.ReadFile("js/" + name + ".js")
	if err != nil {
		panic(err) // it is embedded
	}
	return goja.MustCompile("woml:"+name, string(text), true)
}

// module is what a module declares, in this realm.
func (rl *realm) module(name string) *goja.Object {
	if m := rl.modules[name]; m != nil {
		return m
	}
	native := rl.vm.NewObject()
	for key, f := range natives(name) {
		_ = native.Set(key, rl.function(key, func(c goja.FunctionCall) goja.Value { return f(rl, c) }))
	}
	v, err := rl.vm.RunProgram(programs[name]())
	if err != nil {
		panic(err)
	}
	open, _ := goja.AssertFunction(v)
	if v, err = open(goja.Undefined(), native, rl.vm.GlobalObject()); err != nil {
		panic(err)
	}
	if rl.modules == nil {
		rl.modules = map[string]*goja.Object{}
	}
	rl.modules[name] = v.(*goja.Object)
	return rl.modules[name]
}
