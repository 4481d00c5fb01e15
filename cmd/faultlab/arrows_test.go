package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// rooms says which rooms of the program each room may know beside those within it, from
// the top down. What it knows through another one counts too: these are dependencies, not imports.
var rooms = []struct {
	room string
	may  string
}{
	{"cmd/faultlab", "tui scenarios store faultprovider engine"},
	{"tui", "tui/draw scenarios store faultprovider engine"},
	{"tui/draw", ""},
	{"tui/pin", ""},
	{"scenarios", "store faultprovider engine"},
	{"scenarios/lang", "engine/plain"},
	{"scenarios/expect", "scenarios/lang scenarios/timeline faultprovider engine"},
	{"scenarios/timeline", "faultprovider engine"},
	{"scenarios/explore", ""},
	{"store", "faultprovider engine"},
	{"faultprovider", "engine/clock engine/plain"},
	{"faultprovider/fault", "faultprovider/jsondoc engine/plain"},
	{"faultprovider/contract", "faultprovider/jsondoc engine/plain"},
	{"faultprovider/jsondoc", "engine/plain"},
	{"faultprovider/expect", "faultprovider engine/clock engine/plain"},
	{"faultprovider/ledgertest", "faultprovider engine/clock engine/plain"},
	{"engine", ""},
	{"engine/woml", "engine/ecma engine/plain"},
	{"engine/script", "engine/ecma engine/plain"},
	{"engine/ecma", ""},
	{"engine/plain", ""},
	{"engine/trigger", ""},
	{"engine/clock", ""},
	{"engine/assume", ""},
	{"engine/historytest", "engine"},
}

// outside says who may depend on heavy or telling modules: only these rooms, and those that may know them.
var outside = map[string]string{
	"github.com/charmbracelet/": "tui tui/draw",
	"github.com/muesli/termenv": "tui tui/draw",
	"github.com/spf13/cobra":    "cmd/faultlab",
	"modernc.org/sqlite":        "store",
	"github.com/dop251/goja":    "engine engine/script engine/woml",
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

const module = "faultlab/"

// within reports whether a package is one of the rooms, or below one of them.
func within(pkg, rooms string) bool {
	for _, r := range strings.Fields(rooms) {
		if pkg == r || strings.HasPrefix(pkg, r+"/") {
			return true
		}
	}
	return false
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestArrowsPointDown(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		seen[name] = true
		i := slices.IndexFunc(rooms, func(r struct{ room, may string }) bool { return r.room == name })
		if i < 0 {
			t.Errorf("package %s is in no room: say in the table whom it may know", name)
			continue
		}
		for _, dep := range p.Deps {
			if below, ours := strings.CutPrefix(dep, module); ours && !within(below, name+" "+rooms[i].may) {
				t.Errorf("%s knows %s; it may know %q", name, below, rooms[i].may)
			}
		}
		for prefix, may := range outside {
			direct := slices.ContainsFunc(p.Imports, func(d string) bool { return strings.HasPrefix(d, prefix) })
			if direct && !slices.Contains(strings.Fields(may), name) {
				t.Errorf("%s imports %s; only %s may", name, prefix, may)
			}
		}
	}
	for _, r := range rooms {
		if !seen[r.room] {
			t.Errorf("the table has a room %s that is not there", r.room)
		}
	}
}

// leaves are fuzzed: with goja's runtime or SQLite below them they would be 300 times slower.
var leaves = []string{"engine/woml", "scenarios/lang", "faultprovider/fault", "faultprovider/contract", "faultprovider/jsondoc", "engine/assume", "engine/ecma"}

func TestWhatIsFuzzedIsLight(t *testing.T) {
	t.Parallel()
	// goja's parser is light; its runtime is the package at its root.
	heavy := []string{"github.com/dop251/goja", "modernc.org/sqlite", "net/http"}
	for _, p := range packages(t) {
		if !slices.Contains(leaves, strings.TrimPrefix(p.ImportPath, module)) {
			continue
		}
		for _, h := range heavy {
			if slices.Contains(p.Deps, h) {
				t.Errorf("%s has %s below it", p.ImportPath, h)
			}
		}
	}
}
