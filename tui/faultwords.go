package tui

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"faultlab/faultprovider/fault"
)

// faultWords are faults as a row names them: each by its name, and one written as
// data by what it does. What cannot be read stays as it is.
func faultWords(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	var out []string
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		var one string
		if one, rest = nextFault(rest); strings.HasPrefix(one, "{") {
			if f, err := fault.Parse(one); err == nil {
				one = inWords(f)
			}
		}
		out = append(out, one)
	}
	return strings.Join(out, " ")
}

// nextFault cuts the first name or object off a list of faults.
func nextFault(text string) (first, rest string) {
	if strings.HasPrefix(text, "{") {
		d := json.NewDecoder(bytes.NewBufferString(text))
		var skip json.RawMessage
		if d.Decode(&skip) == nil {
			n := int(d.InputOffset())
			return text[:n], text[n:]
		}
		return text, ""
	}
	first, rest, _ = strings.Cut(text, " ")
	return first, rest
}

// inWords says a fault by its name, or by its three axes, and what narrows it.
func inWords(f fault.Fault) string {
	out := f.Name
	if out == "" {
		out = strings.NewReplacer("commits: ", "commit ", "the caller gets: ", "", "takes: ", "takes ", "\n", ", ").Replace(axes(f))
	}
	if f.On.Collection != "" {
		out += " on " + f.On.Collection
	}
	if f.On.Nth > 1 {
		out += ", request " + strconv.Itoa(f.On.Nth)
	}
	switch {
	case f.On.Times == fault.Always:
		out += ", always"
	case f.On.Times > 1:
		out += ", " + strconv.Itoa(f.On.Times) + " times"
	}
	return out
}
