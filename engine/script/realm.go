package script

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// realm is the JavaScript side of one run: a fresh runtime and what the script began in it. Only the worker's
// goroutine touches it while a turn is on; between turns nobody does, so that the runner may read it.
type realm struct {
	vm      *goja.Runtime
	in      *Input
	limits  Limits
	program *Program
	// ask has f carried out by the runner's goroutine, which alone talks to the Host, and waits for it. It does
	// not return when the runner has given the script up.
	ask func(f func(r *runner))

	main      *goja.Promise                  // the script's promise
	outcome   *outcome                       // what the script came to, once it has settled
	pending   map[int]func(Completion) error // what to do when a ticket completes
	last      int                            // the last ticket given
	intervals map[int]int                    // the present ticket of an interval, by the ticket that the script knows

	rejected []*goja.Promise           // rejected promises that nobody handles, oldest first
	failures map[*goja.Object]*failure // the WomlServiceErrors made here
	refusals map[*goja.Object]bool     // errors made here that refuse a feature of the language
	patterns map[string]string         // of the regular expressions rewritten at run time: what the script wrote
	secrets  Redactor

	objectProto, arrayProto *goja.Object
	intrinsics              map[string]goja.Callable
	modules                 map[string]*goja.Object
	random                  *rand.Rand // of crypto; Math.random has its own
}

// outcome is what a settled script came to: a value or an error.
type outcome struct {
	value []byte
	err   *Error
}

func newRealm(p *Program, in *Input, limits Limits, ask func(func(*runner))) *realm {
	rl := &realm{vm: goja.New(), in: in, limits: limits, program: p, ask: ask,
		pending: map[int]func(Completion) error{}, intervals: map[int]int{}, failures: map[*goja.Object]*failure{}, refusals: map[*goja.Object]bool{},
		patterns: map[string]string{}, intrinsics: map[string]goja.Callable{}, modules: map[string]*goja.Object{}}
	vm := rl.vm
	vm.SetMaxCallStackSize(limits.Stack)
	vm.SetParserOptions(parser.WithDisableSourceMaps)
	vm.SetTimeSource(rl.now)
	vm.SetRandSource(seeded(in.Seed, streamMath))
	vm.SetPromiseRejectionTracker(rl.track)
	rl.objectProto = vm.NewObject().Prototype()
	rl.arrayProto = vm.NewArray().Prototype()
	_ = vm.GlobalObject().SetPrototype(vm.NewDynamicObject(&globalObject{rl: rl}))
	return rl
}

func (rl *realm) now() (now time.Time) {
	rl.ask(func(r *runner) { now = r.host.Now() })
	return now
}

// start runs the script to its first wait.
func (rl *realm) start() error {
	rl.replaceGlobals()
	v, err := rl.vm.RunProgram(rl.program.code)
	if err != nil {
		return err
	}
	rl.main = v.Export().(*goja.Promise)
	rl.conclude()
	return nil
}

// deliver completes a ticket and runs the script to its next wait.
func (rl *realm) deliver(c Completion) error {
	complete := rl.pending[c.ID]
	if complete == nil {
		return fmt.Errorf("ticket %d completed, which is not open", c.ID)
	}
	delete(rl.pending, c.ID)
	if err := complete(c); err != nil {
		return err
	}
	rl.conclude()
	return nil
}

// conclude reads the outcome as soon as the script's promise has settled, before anything else can change it.
func (rl *realm) conclude() {
	if rl.outcome != nil || rl.main.State() == goja.PromiseStatePending {
		return
	}
	if rl.main.State() == goja.PromiseStateRejected {
		rl.fail(rl.main.Result())
	} else {
		rl.outcome = rl.result(rl.main.Result())
	}
}

func (rl *realm) result(v goja.Value) *outcome {
	if goja.IsUndefined(v) {
		return &outcome{err: &Error{Code: CodeNonJSONResult, Message: "the script returned nothing; return a JSON value, or null"}}
	}
	e := encoder{rl: rl, root: "result", strict: true, limit: rl.limits.Result, out: make([]byte, 0, 256)}
	switch bad := e.result(v); {
	case bad == nil:
		return &outcome{value: e.out}
	case bad.tooLarge:
		return &outcome{err: &Error{Code: CodeResultTooLarge, Message: fmt.Sprintf("the script's result is larger than %d bytes of JSON; return less of it", e.limit)}}
	default:
		return &outcome{err: &Error{Code: CodeNonJSONResult, Message: rl.sentence("the script's result is not JSON: " + bad.text)}}
	}
}

// fail ends the script with what it threw.
func (rl *realm) fail(v goja.Value) {
	if rl.outcome == nil {
		rl.outcome = &outcome{err: rl.thrown(v)}
	}
}

// track keeps the list of rejections that nobody handles.
func (rl *realm) track(p *goja.Promise, op goja.PromiseRejectionOperation) {
	if op == goja.PromiseRejectionReject {
		rl.rejected = append(rl.rejected, p)
		return
	}
	rl.rejected = slices.DeleteFunc(rl.rejected, func(other *goja.Promise) bool { return other == p })
}

// unhandled are the failures of calls among the rejections that nobody handles.
func (rl *realm) unhandled() (list []ServiceError) {
	for _, p := range rl.rejected {
		if f := rl.failureOf(p.Result()); f != nil && p != rl.main {
			list = append(list, *f.err)
		}
	}
	return list
}

// complain tells the log about rejections that nobody handles.
func (rl *realm) complain() error {
	for _, p := range rl.rejected {
		if p == rl.main {
			continue
		}
		text := "nobody handled a rejected promise: " + rl.thrown(p.Result()).Message
		rl.ask(func(r *runner) { r.host.Log("error", cut(text, MaxLog)) })
	}
	return nil
}

// intrinsic calls a function of Object as it is when first needed here.
func (rl *realm) intrinsic(name string, args ...goja.Value) *goja.Object {
	f := rl.intrinsics[name]
	if f == nil {
		f, _ = goja.AssertFunction(rl.vm.Get("Object").(*goja.Object).Get(name))
		rl.intrinsics[name] = f
	}
	v, err := f(goja.Undefined(), args...)
	if err != nil {
		panic(err)
	}
	return v.(*goja.Object)
}

// object makes an object of names and values in turn.
func (rl *realm) object(pairs ...any) *goja.Object {
	o := rl.vm.NewObject()
	rl.set(o, pairs...)
	return o
}

func (rl *realm) set(o *goja.Object, pairs ...any) {
	for i := 0; i < len(pairs); i += 2 {
		_ = rl.put(o, pairs[i].(string), rl.vm.ToValue(pairs[i+1]))
	}
}

// function makes a function with a name of its own.
func (rl *realm) function(name string, f func(goja.FunctionCall) goja.Value) *goja.Object {
	o := rl.vm.ToValue(f).(*goja.Object)
	_ = o.DefineDataProperty("name", rl.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return o
}

// typeError throws a TypeError.
func (rl *realm) typeError(text string) { panic(rl.vm.NewTypeError("%s", text)) }
