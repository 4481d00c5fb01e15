package scenarios

import (
	"fmt"
	"io"
	"strings"

	"faultlab/engine"
	"faultlab/engine/plain"
	"faultlab/scenarios/timeline"
)

// WriteMarkdown writes the report as a reviewer reads it: verdict, wire diagram, a crowd counted, ledger, history.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	mark := "passed"
	if !r.Passed() {
		mark = "**FAILED**"
	}
	fmt.Fprintf(&b, "## %s\n\n", MarkdownText(r.Scenario.Title))
	fmt.Fprintf(&b, "`%s` · %s · %s · seed %d · %s on the bench's clock\n\n", strings.ReplaceAll(plain.Escape(r.Scenario.Name), "`", "'"), mark, r.Mode, r.Seed, plain.Seconds(r.Took))
	for _, p := range paragraphs(r.Scenario.Teach) {
		fmt.Fprintf(&b, "%s\n\n", MarkdownText(p))
	}
	for _, c := range r.Complaints() {
		fmt.Fprintf(&b, "- %s\n", MarkdownText(c))
	}
	if !r.Passed() {
		b.WriteString("\n")
	}
	r.operationsMarkdown(&b)
	fmt.Fprintf(&b, "### Wire\n\n```text\n%s```\n\n", strings.ReplaceAll(WireText(r.View.Wire, r.View.Start), "```", "'''"))
	if text := ArrivalsText(r.View); text != "" {
		fmt.Fprintf(&b, "### Arrivals\n\n```text\n%s```\n\n", text)
	}
	r.ledgerMarkdown(&b)
	r.historyMarkdown(&b)
	for _, left := range r.Left {
		fmt.Fprintf(&b, "> %s\n", MarkdownText(left.String()))
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "> %s\n", MarkdownText(warning))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) operationsMarkdown(b *strings.Builder) {
	if len(r.View.Operations) == 0 && r.View.WorstRun() < 0 {
		return
	}
	b.WriteString("### Verdict\n\n")
	for i, run := range r.View.Runs {
		if v := r.View.RunVerdicts[i]; v.RunVerdict != "" {
			fmt.Fprintf(b, "- run `%s` %s: **%s**. %s\n", run.ID, run.Status, v.RunVerdict, MarkdownText(v.Why()))
		}
	}
	if len(r.View.Operations) == 0 {
		b.WriteString("\n")
		return
	}
	b.WriteString("\n| operation | subject | believes | effects | verdict |\n| --- | --- | --- | --- | --- |\n")
	for _, o := range r.View.Operations {
		fmt.Fprintf(b, "| %s | %s | %s | %d | **%s** |\n", MarkdownText(o.Name()), MarkdownText(o.Subject), o.Belief, len(o.Effects), o.Verdict)
	}
	b.WriteString("\n")
	seen := map[string]bool{}
	for _, o := range r.View.Operations {
		if o.Why != "" && !seen[o.Why] {
			seen[o.Why] = true
			fmt.Fprintf(b, "%s\n\n", MarkdownText(o.Why))
		}
	}
}

func (r *Report) ledgerMarkdown(b *strings.Builder) {
	b.WriteString("### Ledger\n\n")
	if len(r.View.Effects) == 0 {
		b.WriteString("Empty.\n\n")
	} else {
		b.WriteString("| at | collection | id | key |\n| --- | --- | --- | --- |\n")
		for _, e := range r.View.Effects {
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", plain.Seconds(r.View.Since(e.CommittedAt)), MarkdownText(e.Collection), MarkdownText(e.ID), MarkdownText(timeline.ShortKey(e.Key)))
		}
		b.WriteString("\n")
	}
	if lines := r.View.LogLines(); len(lines) > 0 {
		fmt.Fprintf(b, "```text\n%s\n```\n\n", strings.ReplaceAll(cleanLines(lines), "```", "'''"))
	}
}

func cleanLines(lines []string) string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = plain.Escape(l)
	}
	return strings.Join(out, "\n")
}

func (r *Report) historyMarkdown(b *strings.Builder) {
	b.WriteString("### History\n\n")
	for _, run := range r.View.Runs {
		c := r.View.Counts(run)
		need, itself := "", ""
		if run.Reconcile {
			need = ", needs reconciling"
		}
		if c.ByTransport > 0 {
			itself = fmt.Sprintf(", %d of them by the transport itself", c.ByTransport)
		}
		fmt.Fprintf(b, "- `%s` %s: %s%s; %s, %s, %s%s\n", run.ID, MarkdownText(run.Admitted.Workflow), run.Status, need,
			plain.Count(c.Attempts, "attempt"), plain.Count(c.Calls, "call"), plain.Count(c.Requests, "request"), itself)
		for _, s := range run.Steps {
			for _, a := range s.Attempts {
				fmt.Fprintf(b, "  - %s, attempt %d: %s\n", MarkdownText(engine.StepName(s.ID, s.Undo)), a.N, MarkdownText(attemptText(a)))
			}
		}
	}
	b.WriteString("\n")
}

// attemptText is how an attempt ended, in one line.
func attemptText(a *engine.Attempt) string {
	out := string(a.Outcome)
	if out == "" {
		out = "open"
	}
	for _, c := range a.Calls {
		switch {
		case c.Status != 0:
			out += ", " + answerText(c)
		case c.Ended:
			out += ", " + string(c.How)
		}
	}
	if a.Reason != "" {
		out += ", " + a.Reason
	}
	return out
}

// answerText is the status of a call that was answered, and what it means where the number does not say it.
func answerText(c *engine.Call) string {
	switch c.How {
	case engine.HowInFlight, engine.HowKeyTaken:
		return string(c.How)
	case engine.HowUnreadable, engine.HowUnexpected:
		return fmt.Sprintf("%d, %s", c.Status, c.How)
	}
	return fmt.Sprint(c.Status)
}

func paragraphs(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// MarkdownText makes what others wrote text of one line that Markdown and its tables
// show as it stands: neither HTML, nor a link or an image, nor another cell.
func MarkdownText(s string) string { return markdownSigns.Replace(plain.Escape(s)) }

var markdownSigns = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "&", "&amp;", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "`", "'")

// WriteMarkdown writes that there is no report, and why.
func (u *Unread) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## `%s`\n\n**COULD NOT BE READ**\n\n", strings.ReplaceAll(plain.Escape(u.File), "`", "'"))
	for _, line := range strings.Split(u.Error(), "\n") {
		fmt.Fprintf(&b, "- %s\n", MarkdownText(line))
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}
