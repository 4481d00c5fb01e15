package scenarios

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// file is an embedded file of the scenario or, where somebody types at the
// workbench, one on disk, which from then on belongs to the scenario so that a recording has it.
func (b *Bench) file(name string) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if src, ok := b.s.Files[name]; ok {
		return src, nil
	}
	if src, ok := b.extra[name]; ok {
		return src, nil
	}
	return nil, fmt.Errorf("the scenario has no file %q; it has %s", name, listOr(b.s.Names, "none"))
}

// takeFile reads a file from disk for the scenario, unless it has one of that name. JSON and names of nothing are left alone.
func (b *Bench) takeFile(name string) error {
	b.mu.Lock()
	_, embedded := b.s.Files[name]
	b.mu.Unlock()
	if embedded || json.Valid([]byte(name)) {
		return nil
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	b.mu.Lock()
	b.extra[name] = src
	b.mu.Unlock()
	return nil
}

// payload is JSON given in the line, or the content of a file.
func (b *Bench) payload(arg string) ([]byte, error) {
	if s := strings.TrimSpace(arg); strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
		if !json.Valid([]byte(s)) {
			return nil, fmt.Errorf("%s is not JSON", s)
		}
		return []byte(s), nil
	}
	return b.file(arg)
}

func listOr(names []string, none string) string {
	if len(names) == 0 {
		return none
	}
	return strings.Join(names, ", ")
}
