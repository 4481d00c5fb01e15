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

// inWords says a fault by its name and what narrows it, or by its three axes.
func inWords(f fault.Fault) string {
	if f.Name != "" {
		return f.Name + narrowed(f.On)
	}
	return strings.NewReplacer("commits: ", "commit ", "the caller gets: ", "", "takes: ", "takes ", "\n", ", ").Replace(axes(f))
}

// narrowed says which of the requests of its kind a fault takes, and how many.
func narrowed(on fault.On) string {
	out := ""
	if on.Collection != "" {
		out += " on " + on.Collection
	}
	if on.Key != "" {
		out += " under key …" + on.Key[max(0, len(on.Key)-4):]
	}
	if on.Step != "" {
		out += " in step " + on.Step
	}
	if on.Attempt > 0 {
		out += ", attempt " + strconv.Itoa(on.Attempt)
	}
	if on.Request > 0 {
		out += ", request " + strconv.Itoa(on.Request) + " of it"
	}
	if on.Nth > 1 {
		out += ", request " + strconv.Itoa(on.Nth)
	}
	if on.Probability > 0 {
		out += ", each with chance " + strconv.FormatFloat(on.Probability, 'g', 3, 64)
	}
	switch {
	case on.Times == fault.Always:
		out += ", always"
	case on.Times > 1:
		out += ", " + strconv.Itoa(on.Times) + " times"
	}
	return out
}
