package lang

import (
	_ "embed" // the manual begins with the package comment
	"strings"

	"faultlab/engine/plain"
)

//go:embed doc.go
var packageComment string

// lineWidth is the manual's width in characters, for a terminal of 80 columns.
const lineWidth = 78

// Manual is the manual of scenario files as plain text: how a file is written (the
// package comment's part about that), then every verb and every expectation, from
// the tables.
func Manual() string {
	var b strings.Builder
	b.WriteString(prose(packageComment))
	for _, group := range Groups {
		heading := false
		for i := range Verbs {
			v := &Verbs[i]
			if v.Group != group || !v.InFile() {
				continue
			}
			if !heading {
				b.WriteString("\n" + strings.ToUpper(group) + "\n")
				heading = true
			}
			entry(&b, v.Usage(), v.Help, v.Long)
		}
	}
	b.WriteString("\nEXPECTATIONS\n")
	for i := range Expectations {
		e := &Expectations[i]
		entry(&b, "expect "+e.Usage(), e.Help, e.Long)
	}
	return b.String()
}

// entry writes the usage of one form, and below it what it does.
func entry(b *strings.Builder, usage, help, long string) {
	b.WriteString("\n" + wrap(usage, "  ", "      "))
	b.WriteString(wrap(strings.TrimSpace(help+" "+long), "      ", "      "))
}

// prose is the package comment from its first heading on, headings in capitals.
func prose(comment string) string {
	_, text, _ := strings.Cut(comment, "\n// # ")
	text, _, _ = strings.Cut("// # "+text, "\npackage lang")
	var b strings.Builder
	var paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			b.WriteString(wrap(strings.Join(paragraph, " "), "", ""))
		}
		paragraph = nil
	}
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimPrefix(strings.TrimPrefix(line, "//"), " ")
		heading, isHeading := strings.CutPrefix(line, "# ")
		switch {
		case isHeading:
			b.WriteString(strings.ToUpper(heading) + "\n")
		case line == "":
			flush()
			b.WriteString("\n")
		case strings.HasPrefix(line, "\t"):
			b.WriteString("    " + line[1:] + "\n")
		default:
			paragraph = append(paragraph, line)
		}
	}
	flush()
	return b.String()
}

// wrap breaks a text into lines of the manual.
func wrap(text, first, rest string) string { return plain.Wrap(text, lineWidth, first, rest) + "\n" }
