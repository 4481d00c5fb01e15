package pin_test

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// A program that shows nothing of the workbench, but has it built in.
const program = `package main

import (
	"fmt"
	"os"

	_ "MODULE/tui"
)

func main() { fmt.Println("started on", os.Getenv("TERM")) }
`

// Under whatever name the module is built, the program starts without asking the
// terminal anything: one that does not answer would hold it up for 5 s.
func TestNoModulePathAsksTheTerminal(t *testing.T) {
	t.Parallel()
	for _, module := range []string{"github.com/example/faultlab", "gitlab.com/example/faultlab"} {
		t.Run(module, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			copyModule(t, "../..", dir, module)
			path := filepath.Join(dir, "starts")
			build := exec.Command("go", "build", "-gcflags="+module+"/...=-N -l", "-ldflags=-s -w", "-o", path, "./cmd/starts")
			build.Dir = dir
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			cmd := exec.Command(path)
			cmd.Env = []string{"TERM=xterm-256color", "COLORTERM=truecolor"}
			tty, err := pty.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer tty.Close()
			out, _ := io.ReadAll(tty) // ends with an error when the program closes the terminal
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if want := "started on xterm-256color\r\n"; string(out) != want {
				t.Errorf("the terminal got %q, want only %q", out, want)
			}
		})
	}
}

// copyModule copies all but tests and commands, under another module path.
func copyModule(t *testing.T, from, to, module string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && (name == "cmd" || name == ".git" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case strings.HasSuffix(name, "_test.go") || name == ".git":
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch {
		case name == "go.mod":
			data = bytes.Replace(data, []byte("module faultlab"), []byte("module "+module), 1)
		case strings.HasSuffix(name, ".go"):
			data = bytes.ReplaceAll(data, []byte(`"faultlab/`), []byte(`"`+module+"/"))
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(to, "cmd", "starts"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(program, "MODULE", module)
	if err := os.WriteFile(filepath.Join(to, "cmd", "starts", "main.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
