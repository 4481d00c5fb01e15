package script

import (
	"slices"

	"github.com/dop251/goja"
)

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
	f.rl.typeError(f.name + "." + name + " cannot be assigned: " + f.name + " is read-only")
	return false
}

func (f *fixedObject) Delete(name string) bool { return f.members[name] == nil }

func (f *fixedObject) Keys() []string { return slices.Clone(sortedKeys(f.members)) }
