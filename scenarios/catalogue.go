package scenarios

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"faultlab/engine/plain"
	"faultlab/scenarios/lang"
)

//go:embed catalogue/*.txtar
var catalogueFiles embed.FS

// order is the names of the catalogue's scenarios, one a line, in the order in which they teach.
//
//go:embed catalogue/order.txt
var order string

// scenarioNames are the names of the catalogue, in its order.
func scenarioNames() []string { return strings.Fields(order) }

// catalogue reads the embedded files, once. A test reads them all, so that none can be broken here.
var catalogue = sync.OnceValue(func() (list []*lang.Scenario) {
	for _, name := range scenarioNames() {
		file := "catalogue/" + name + lang.Ext
		src, err := catalogueFiles.ReadFile(file)
		if err != nil {
			panic("scenarios: " + err.Error())
		}
		s, err := lang.Parse(file, src)
		if err != nil {
			panic("scenarios: " + err.Error())
		}
		list = append(list, s)
	}
	return list
})

// Catalogue is every scenario that the program brings along, group by group. The scenarios are shared: nobody may change them.
func Catalogue() []*lang.Scenario { return slices.Clone(catalogue()) }

// Find is the scenario of the catalogue with this name. Its first word is enough, as
// B for b-commit-then-error, and so is any beginning that only one of them has.
func Find(name string) (*lang.Scenario, error) {
	name = strings.ToLower(name)
	near := beginning(name + "-")
	if len(near) != 1 {
		near = beginning(name)
	}
	for _, s := range catalogue() {
		if s.Name == name || len(near) == 1 && s.Name == near[0] {
			return s, nil
		}
	}
	switch {
	case len(near) > 0:
		return nil, fmt.Errorf("several scenarios begin with %q: %s", name, strings.Join(near, ", "))
	}
	if near = plain.Near(name, scenarioNames()); len(near) > 0 {
		return nil, fmt.Errorf("no scenario %q: did you mean %s", name, strings.Join(near, " or "))
	}
	return nil, fmt.Errorf("no scenario %q: `faultlab scenarios` lists them", name)
}

// beginning are the names that begin so, in the catalogue's order; none for an empty beginning.
func beginning(with string) []string {
	return slices.DeleteFunc(scenarioNames(), func(name string) bool { return with == "" || !strings.HasPrefix(name, with) })
}

// Unread is a scenario file that could not be read, or a scenario that could not even begin, and why.
type Unread struct {
	File string
	Err  error // file:line:column and the mistake, one a line
}

// Error is all of its mistakes.
func (u *Unread) Error() string { return u.Err.Error() }

// Unwrap gives the mistakes to errors.As.
func (u *Unread) Unwrap() error { return u.Err }

// Loaded is one scenario file of a folder: what is in it, or why it cannot be read.
type Loaded struct {
	Scenario *lang.Scenario
	Unread   *Unread
}

// LoadFile reads one scenario file, and judges its documents and what it names. Its mistakes have file:line:column.
func LoadFile(file string) (*lang.Scenario, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, unreadable(file, err)
	}
	return load(file, src)
}

func unreadable(file string, err error) error {
	return fmt.Errorf("cannot read %s: %w", file, errors.Unwrap(err))
}

func load(file string, src []byte) (*lang.Scenario, error) {
	s, errs := lang.Read(file, src)
	errs = append(errs, mistakes(s)...)
	if len(errs) > 0 {
		errs.Sort()
		return nil, errs
	}
	return s, nil
}

// Load reads one scenario file, whatever is in it.
func Load(file string) Loaded {
	s, err := LoadFile(file)
	if err != nil {
		return Loaded{Unread: &Unread{file, err}}
	}
	return Loaded{Scenario: s}
}

// LoadFolder reads every scenario file of a folder and of the folders in it, in the order of their paths. Files and
// folders whose names begin with a dot are left out.
func LoadFolder(folder string) (out []Loaded, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		hidden := path != folder && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil && path == folder:
			return err
		case err != nil:
			out = append(out, Loaded{Unread: &Unread{path, unreadable(path, err)}})
		case hidden && d.IsDir():
			return fs.SkipDir
		case !hidden && !d.IsDir() && filepath.Ext(path) == lang.Ext:
			out = append(out, Load(path))
		}
		return nil
	})
	if err != nil {
		return nil, unreadable(folder, err)
	}
	return out, nil
}
