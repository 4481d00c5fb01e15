package scenarios

import (
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"faultlab/engine/plain"
	"faultlab/scenarios/lang"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class    string          `xml:"classname,attr"`
	Name     string          `xml:"name,attr"`
	File     string          `xml:"file,attr,omitempty"`
	Time     string          `xml:"time,attr"`
	Verdicts []junitProperty `xml:"properties>property,omitempty"`
	Failure  *junitFailure   `xml:"failure,omitempty"`
	Error    *junitFailure   `xml:"error,omitempty"` // the file could not be read
	Out      string          `xml:"system-out,omitempty"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes results as one JUnit test suite, a test case for each. Times are real ones.
func WriteJUnit(w io.Writer, results []Result) error {
	suite := junitSuite{Name: "faultlab", Tests: len(results)}
	total := 0.0
	for _, result := range results {
		if u := result.Unread; u != nil {
			suite.Errors++
			suite.Cases = append(suite.Cases, u.junit())
			continue
		}
		r := result.Report
		c := junitCase{Class: "faultlab." + r.group(), Name: r.Scenario.Name, File: r.Scenario.File, Time: fmt.Sprintf("%.3f", r.Real.Seconds())}
		total += r.Real.Seconds()
		for n, run := range r.View.Runs {
			if v := r.View.RunVerdicts[n].RunVerdict; v != "" {
				c.Verdicts = append(c.Verdicts, junitProperty{"verdict of " + run.ID, string(v)})
			}
		}
		if lines := r.Complaints(); len(lines) > 0 {
			suite.Failures++
			c.Failure = &junitFailure{Message: plain.Escape(lines[0]), Text: cleanLines(lines)}
		}
		for _, left := range r.Left {
			c.Out += fmt.Sprintf("%s:%d: %s\n", r.Scenario.File, left.Line, plain.Escape(left.String()))
		}
		suite.Cases = append(suite.Cases, c)
	}
	suite.Time = fmt.Sprintf("%.3f", total)
	return writeSuite(w, suite)
}

func writeSuite(w io.Writer, suite junitSuite) error {
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
		return folderOf(r.Scenario.File)
	}
	return r.Scenario.Group
}

// folderOf is the class of a file's test case: two files of one name in two folders are two cases.
func folderOf(file string) string {
	dir := path.Dir(filepath.ToSlash(file))
	if dir == "." || dir == "/" {
		return "scenarios"
	}
	return strings.ReplaceAll(strings.Trim(dir, "./"), "/", ".")
}

// junit is the test case of a file that could not be read.
func (u *Unread) junit() junitCase {
	lines := strings.Split(u.Error(), "\n")
	return junitCase{Class: "faultlab." + folderOf(u.File), Name: strings.TrimSuffix(path.Base(filepath.ToSlash(u.File)), lang.Ext), File: u.File,
		Time: "0.000", Error: &junitFailure{Message: plain.Escape(lines[0]), Text: cleanLines(lines)}}
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
