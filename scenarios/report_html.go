package scenarios

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"faultlab/engine"
	"faultlab/engine/plain"
	"faultlab/scenarios/explore"
	"faultlab/scenarios/timeline"
)

//go:embed report.html
var pageSource string

// page is the HTML report: one file, without a script, a font or anything else that is fetched.
var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"svg":     func(v *View) template.HTML { return template.HTML(timeline.WireSVG(v.Wire, v.Start)) }, // WireSVG escapes what it writes
	"glyph":   verdictGlyph,
	"tone":    verdictTone,
	"paras":   func(s string) []string { return strings.Split(strings.TrimSpace(s), "\n") },
	"clean":   plain.Escape,
	"counted": plain.Count,
}).Parse(pageSource))

func verdictGlyph(v string) string {
	switch g := gravity(v); {
	case v == "":
		return "·"
	case v == string(engine.RunHalfDone):
		return "½"
	case g > gravity(string(engine.Unresolved)):
		return "✕"
	case g > 0:
		return "?"
	}
	return "✓"
}

func verdictTone(v string) string {
	switch g := gravity(v); {
	case v == "":
		return "quiet"
	case g > gravity(string(engine.Unresolved)):
		return "bad"
	case g > 0:
		return "unknown"
	}
	return "good"
}

// htmlPage is what the page shows.
type htmlPage struct {
	Title    string
	Explored []htmlSearch
	Reports  []Result
}

type htmlSearch struct {
	*Explored
	Map   explore.Map
	Found []htmlFound
	Bad   bool
	Clean string
}

type htmlFound struct {
	*Counterexample
	Replay *Report
}

// WriteHTML writes the results of replays as one page.
func WriteHTML(w io.Writer, results []Result) error {
	return page.Execute(w, htmlPage{Title: "Scenarios", Reports: results})
}

// WriteExploredHTML writes the results of searches as one page.
func WriteExploredHTML(w io.Writer, all []*Explored) error {
	p := htmlPage{Title: "Schedules"}
	for _, r := range all {
		s := htmlSearch{Explored: r, Map: explore.MapOf(r.Cells, gravity), Bad: r.Bad(), Clean: r.claim()}
		for _, c := range r.Counterexamples {
			s.Found = append(s.Found, htmlFound{c, c.replay})
		}
		p.Explored = append(p.Explored, s)
	}
	return page.Execute(w, p)
}

// Passes reports whether a result's expectations were met.
func (r Result) Passes() bool { return r.Report != nil && r.Report.Passed() }

// Ordered returns the verdicts of a search, the gravest first.
func (r *Explored) Ordered() []string {
	var out []string
	for v := range r.Verdicts {
		out = append(out, v)
	}
	slices.SortFunc(out, byGravity)
	return out
}

// WriteExploredJUnit writes the results of searches as a JUnit test suite: a test case for each scenario, contract and verdict that can be bad.
func WriteExploredJUnit(w io.Writer, all []*Explored) error {
	suite := junitSuite{Name: "faultlab explore"}
	total := 0.0
	for _, r := range all {
		total += r.Seconds
		for _, v := range ExploreVerdicts() {
			suite.Tests++
			c := junitCase{Class: "faultlab.explore." + r.Scenario + "." + r.Contract, Name: v, Time: "0"}
			if r.bad[v] {
				suite.Failures++
				c.Failure = &junitFailure{Message: fmt.Sprintf("%d of %d schedules end %s", r.Verdicts[v], r.Schedules, v), Text: r.shortestText(v)}
			}
			suite.Cases = append(suite.Cases, c)
		}
		for _, p := range r.Problems {
			suite.Tests++
			suite.Errors++
			suite.Cases = append(suite.Cases, junitCase{Class: "faultlab.explore." + r.Scenario + "." + r.Contract, Name: "invariants", Time: "0",
				Error: &junitFailure{Message: p.Text, Text: explore.Schedule(p.Schedule).String()}})
		}
	}
	suite.Time = fmt.Sprintf("%.3f", total)
	return writeSuite(w, suite)
}

// WriteExploredMarkdown writes the results of searches as a reviewer reads them.
func WriteExploredMarkdown(w io.Writer, all []*Explored) error {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "## %s, contract %s\n\n```text\n", MarkdownText(r.Scenario), MarkdownText(r.Contract))
		if err := r.WriteText(&b, ""); err != nil {
			return err
		}
		b.WriteString("```\n\n")
		for _, c := range r.Counterexamples {
			fmt.Fprintf(&b, "### %s\n\n%s\n\n", MarkdownText(c.Verdict), MarkdownText(explore.Schedule(c.Schedule).String()))
			if c.replay != nil {
				fmt.Fprintf(&b, "```text\n%s```\n\n", strings.ReplaceAll(timeline.WireText(c.replay.View.Wire, c.replay.View.Start), "```", "'''"))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shortestText tells the shortest schedules with a verdict.
func (r *Explored) shortestText(verdict string) string {
	var b strings.Builder
	for _, c := range r.Counterexamples {
		if c.Verdict == verdict {
			fmt.Fprintf(&b, "%s: %s\n", c.Cause, explore.Schedule(c.Schedule))
		}
	}
	return b.String()
}
