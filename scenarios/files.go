package scenarios

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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
	return nil, fmt.Errorf("the scenario has no file %q; it has %s", name, cmp.Or(strings.Join(b.s.Names, ", "), "none"))
}

// takeFile reads a file from disk for the scenario, unless it has one of that name, and
// gives the name under which it has it from then on. JSON and names of nothing are left alone.
func (b *Bench) takeFile(name string) (string, error) {
	b.mu.Lock()
	_, embedded := b.s.Files[name]
	b.mu.Unlock()
	if embedded || json.Valid([]byte(name)) {
		return name, nil
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	name = b.freeName(filepath.Base(name), src)
	b.extra[name] = src
	return name, nil
}

// freeName is a file's name, with a number where the scenario has another file of that name. b.mu is held.
func (b *Bench) freeName(base string, src []byte) string {
	ext := filepath.Ext(base)
	name := base
	for n := 2; ; n++ {
		_, embedded := b.s.Files[name]
		if old, taken := b.extra[name]; !embedded && (!taken || bytes.Equal(old, src)) {
			return name
		}
		name = strings.TrimSuffix(base, ext) + "-" + strconv.Itoa(n) + ext
	}
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
