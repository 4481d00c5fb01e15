package scenarios

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"faultlab/scenarios/lang"
)

//go:embed catalogue/*.txtar
var catalogueFiles embed.FS

// Group is a heading of the catalogue with its scenarios, in the order in which they teach.
type Group struct {
	Name  string
	Names []string
}

// Catalogue is every scenario that the program brings along, group by group. The scenarios are shared: nobody may change them.
func Catalogue() []*lang.Scenario { return slices.Clone(catalogue().list) }

// Find is the scenario of the catalogue with this name. Its first word is enough, as
// B for b-commit-then-error, and so is any beginning that only one of them has.
func Find(name string) (*lang.Scenario, error) {
	c := catalogue()
	name = strings.ToLower(name)
	if s, ok := c.byName[name]; ok {
		return s, nil
	}
	near := c.beginning(name + "-")
	if len(near) != 1 {
		near = c.beginning(name)
	}
	if name == "" {
		near = nil // every name begins so
	}
	switch len(near) {
	case 1:
		return c.byName[near[0]], nil
	case 0:
		if near = lang.Nearest(name, scenarioNames()); len(near) == 0 {
			return nil, fmt.Errorf("no scenario %q: `faultlab scenarios` lists them", name)
		}
		return nil, fmt.Errorf("no scenario %q: did you mean %s", name, strings.Join(near, " or "))
	}
	return nil, fmt.Errorf("several scenarios begin with %q: %s", name, strings.Join(near, ", "))
}

// LoadFile reads one scenario file, and judges its documents and what it names. Its mistakes have file:line:column.
func LoadFile(file string) (*lang.Scenario, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", file, errors.Unwrap(err))
	}
	return load(file, src)
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

// book is the catalogue as it was read.
type book struct {
	list   []*lang.Scenario
	byName map[string]*lang.Scenario
}

// beginning are the names that begin so, in the catalogue's order.
func (c book) beginning(name string) []string {
	var out []string
	for _, s := range c.list {
		if strings.HasPrefix(s.Name, name) {
			out = append(out, s.Name)
		}
	}
	return out
}

// catalogue reads the embedded files, once. A test reads them all, so that none can be broken here.
var catalogue = sync.OnceValue(func() book {
	c := book{byName: map[string]*lang.Scenario{}}
	for _, g := range Groups {
		for _, name := range g.Names {
			file := "catalogue/" + name + lang.Ext
			src, err := catalogueFiles.ReadFile(file)
			if err != nil {
				panic("scenarios: " + err.Error())
			}
			s, err := lang.Parse(file, src)
			if err != nil {
				panic("scenarios: " + err.Error())
			}
			c.list, c.byName[name] = append(c.list, s), s
		}
	}
	return c
})

// scenarioNames are the names of the catalogue, in its order.
func scenarioNames() []string {
	var out []string
	for _, g := range Groups {
		out = append(out, g.Names...)
	}
	return out
}
