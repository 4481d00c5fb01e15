package clock

import (
	"runtime/debug"
	"sync/atomic"
)

// PanicFunc is told of a panic in an actor: its name, the value, and the stack at the panic.
type PanicFunc func(name string, value any, stack []byte)

// panics holds who is told. While nobody is, a panic in an actor ends the program as any other does.
type panics struct{ f atomic.Pointer[PanicFunc] }

// OnPanic sets who is told of panics in actors; nil lets them end the program.
func (p *panics) OnPanic(f func(name string, value any, stack []byte)) {
	if f == nil {
		p.f.Store(nil)
		return
	}
	told := PanicFunc(f)
	p.f.Store(&told)
}

// guard runs f and tells of its panic. It does not return from one that nobody is told of, nor from runtime.Goexit.
func (p *panics) guard(name string, f func()) {
	returned := false
	defer func() {
		told := p.f.Load()
		if returned || told == nil {
			return
		}
		if value := recover(); value != nil {
			(*told)(name, value, debug.Stack())
		}
	}()
	f()
	returned = true
}
