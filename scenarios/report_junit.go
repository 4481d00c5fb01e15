package scenarios

import (
	"encoding/xml"
	"fmt"
	"io"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes reports as one JUnit test suite, a test case for each. Times are real ones.
func WriteJUnit(w io.Writer, reports []*Report) error {
	suite := junitSuite{Name: "faultlab", Tests: len(reports)}
	total := 0.0
	for _, r := range reports {
		c := junitCase{Class: "faultlab." + r.group(), Name: r.Scenario.Name, File: r.Scenario.File, Time: fmt.Sprintf("%.3f", r.Real.Seconds())}
		total += r.Real.Seconds()
		if lines := r.Complaints(); len(lines) > 0 {
			suite.Failures++
			c.Failure = &junitFailure{Message: clean(lines[0]), Text: cleanLines(lines)}
		}
		for _, left := range r.Left {
			c.Out += fmt.Sprintf("%s:%d: %s\n", r.Scenario.File, left.Line, clean(left.String()))
		}
		suite.Cases = append(suite.Cases, c)
	}
	suite.Time = fmt.Sprintf("%.3f", total)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(suite); err != nil {
		return fmt.Errorf("write the JUnit report: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r *Report) group() string {
	if r.Scenario.Group == "" {
		return "scenarios"
	}
	return r.Scenario.Group
}

// Complaints are what the replay found wrong, one a line, each with its place.
func (r *Report) Complaints() []string {
	var out []string
	for _, f := range r.Failures {
		out = append(out, fmt.Sprintf("%s:%d: %s: %s", r.Scenario.File, f.Line, f.What, f.Error()))
	}
	if r.Stopped != "" {
		out = append(out, r.Stopped)
	}
	return out
}
