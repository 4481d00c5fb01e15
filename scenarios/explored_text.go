package scenarios

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"faultlab/engine"
	"faultlab/engine/plain"
	"faultlab/scenarios/explore"
)

// textWidth is how wide a report is, where no line of it is one long name.
const textWidth = 88

// claims are what a search can say that no schedule does, by the verdict that would say otherwise.
var claims = []struct{ verdict, does string }{
	{string(engine.Duplicate), "makes two effects"},
	{string(engine.RunHalfDone), "is half done"},
	{string(engine.PhantomSuccess), "succeeds without its effect"},
	{string(engine.RunFailedThoughDone), "fails though done"},
	{string(engine.Uncompensated), "is left uncompensated"},
}

// met reports whether any schedule ended with a verdict, beyond the depth that is complete too.
func (r *Explored) met(verdict string) bool {
	_, known := r.bad[verdict]
	return known || r.Verdicts[verdict] > 0 || slices.ContainsFunc(r.Counterexamples, func(c *Counterexample) bool { return c.Verdict == verdict })
}

// claim is what no schedule does, as a sentence; empty where nothing is known.
func (r *Explored) claim() string {
	var none []string
	for _, c := range claims {
		if !r.met(c.verdict) && (c.verdict != string(engine.RunFailedThoughDone) || !r.met(string(engine.FalseFailure))) {
			none = append(none, c.does)
		}
	}
	n := len(none)
	switch {
	case n == 0 || r.Depth < 0 || r.Schedules == 0:
		return ""
	case n == 1:
		return "no schedule " + none[0]
	}
	return "no schedule " + strings.Join(none[:n-1], ", ") + " or " + none[n-1]
}

var operatorWords = map[string]string{
	OperatorPatient: "patient operator",
	OperatorPrompt:  "prompt operator",
	OperatorNone:    "no operator",
}

// bound tells what a search was bounded by.
func (r *Explored) bound() string {
	text := fmt.Sprintf("up to %s and %s", plain.Count(r.Faults, "fault"), plain.Count(r.Crashes, "crash"))
	if r.Redeliveries > 0 {
		text += " and " + plain.Count(r.Redeliveries, "redelivery")
	}
	if r.Decisions > 0 {
		text += " and " + plain.Count(r.Decisions, "other decision")
	}
	return text + ", " + operatorWords[r.Operator]
}

// WriteText writes the result as a person reads it. explain is added to what the search assumes.
func (r *Explored) WriteText(w io.Writer, explain string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "exploring %s, contract %s, %s\n", plain.Escape(r.Scenario), plain.Escape(r.Contract), r.bound())
	if r.Shard != "" {
		fmt.Fprintf(&b, "shard %s: only the schedules that are its part\n", r.Shard)
	}
	switch {
	case r.Depth < 0:
		b.WriteString("stopped before every schedule of any depth was searched: nothing is claimed\n")
	case !r.Complete:
		fmt.Fprintf(&b, "stopped early: every schedule of up to %s was searched; nothing is claimed beyond\n", plain.Count(r.Depth, "deviation"))
	}
	if r.Depth >= 0 {
		stand := fmt.Sprintf("%d schedules stand for all %d", r.CarriedOut, r.Schedules)
		if uint64(r.CarriedOut) >= r.Schedules {
			stand = plain.Count(int(r.Schedules), "schedule") + " carried out"
		}
		fmt.Fprintf(&b, "%-*s%.1f s\n", textWidth-8, stand, r.Seconds)
	}
	if claim := r.claim(); claim != "" {
		b.WriteString(plain.Wrap(claim, textWidth, "✓", "  ") + "\n")
	}
	verdicts := maps.Clone(r.Verdicts)
	for _, c := range r.Counterexamples {
		verdicts[c.Verdict] += 0
	}
	for _, v := range slices.SortedFunc(maps.Keys(verdicts), byGravity) {
		if gravity(v) > 0 {
			r.writeVerdict(&b, v)
		}
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "! a fault of faultlab itself, please report it: %s (%s)\n", plain.Escape(p.Text), plain.Escape(explore.Schedule(p.Schedule).String()))
	}
	assumed := "assumed: " + strings.Join(r.Assumed, ", ")
	if explain == "" {
		assumed += " (--explain lists them)"
	}
	b.WriteString(plain.Wrap(assumed, textWidth, "  ", "  ") + "\n" + explain)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeVerdict writes how many schedules ended with a verdict, and a shortest one for each of its causes.
func (r *Explored) writeVerdict(b *strings.Builder, verdict string) {
	glyph := "✕"
	if !r.bad[verdict] {
		glyph = "?"
	}
	much := fmt.Sprintf("%d of %d", r.Verdicts[verdict], r.Schedules)
	if r.Verdicts[verdict] == 0 {
		much = "seen beyond that depth"
	}
	if verdict == string(engine.Unresolved) {
		much += ": no look-up can prove what happened"
	}
	fmt.Fprintf(b, "%s %-20s %s\n", glyph, verdict, much)
	for _, c := range r.Counterexamples {
		if c.Verdict != verdict {
			continue
		}
		fmt.Fprintf(b, "    shortest: %s", c.short())
		if c.Cause != "" {
			fmt.Fprintf(b, "   (%s)", plain.Escape(c.Cause))
		}
		if c.File != "" {
			fmt.Fprintf(b, "   → %s", plain.Escape(c.File))
		}
		b.WriteString("\n")
	}
}

// short tells the schedule without its places: "crash after-effect, look-up-drop x 2".
func (c *Counterexample) short() string {
	s := c.Schedule
	if len(s) == 0 {
		return "nothing goes wrong"
	}
	var parts []string
	for i := 0; i < len(s); {
		n := 1
		for i+n < len(s) && s[i+n].Alt == s[i].Alt {
			n++
		}
		part := plain.Escape(s[i].Alt)
		if n > 1 {
			part += fmt.Sprintf(" x %d", n)
		}
		parts, i = append(parts, part), i+n
	}
	return strings.Join(parts, ", ")
}

// WorstOf returns the gravest verdict of schedules; empty where all is as it should be.
func WorstOf(hits []explore.Hit) string {
	worst := ""
	for _, h := range hits {
		if gravity(h.Verdict) > 0 && (worst == "" || byGravity(h.Verdict, worst) < 0) {
			worst = h.Verdict
		}
	}
	return worst
}

// ByScenario groups results by their scenario, in the order in which they come.
func ByScenario(all []*Explored) (groups [][]*Explored) {
	at := map[string]int{}
	for _, r := range all {
		i, ok := at[r.Scenario]
		if !ok {
			i = len(groups)
			at[r.Scenario], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// WriteContracts writes a table of one scenario's results under several contracts, and under which of them it is safe. It
// writes nothing for a single one.
func WriteContracts(w io.Writer, all []*Explored) error {
	if len(all) < 2 {
		return nil
	}
	met := map[string]bool{}
	for _, r := range all {
		for v := range r.Verdicts {
			met[v] = met[v] || gravity(v) > 0
		}
		for _, c := range r.Counterexamples {
			met[c.Verdict] = true
		}
	}
	maps.DeleteFunc(met, func(_ string, bad bool) bool { return !bad })
	verdicts := slices.SortedFunc(maps.Keys(met), byGravity)
	first := all[0]
	fmt.Fprintf(w, "\n%s under each contract, %s: schedules by verdict\n", plain.Escape(first.Scenario), first.bound())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(append([]string{"", "contract", "schedules"}, verdicts...), "\t"))
	for _, r := range all {
		row := []string{map[bool]string{true: "✕", false: "✓"}[r.Bad()], plain.Escape(r.Contract), fmt.Sprint(r.Schedules)}
		if !r.Bad() && !r.Complete {
			row[0] = "·"
		}
		for _, v := range verdicts {
			row = append(row, r.tableCell(v))
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var safe, unknown []string
	unsafe := map[string][]string{} // by why
	var order []string
	for _, r := range all {
		name := plain.Escape(r.Contract)
		switch {
		case r.Bad():
			why := r.why()
			if unsafe[why] == nil {
				order = append(order, why)
			}
			unsafe[why] = append(unsafe[why], name)
		case r.Complete:
			safe = append(safe, name)
		default:
			unknown = append(unknown, name)
		}
	}
	var b strings.Builder
	list := func(title string, names []string) {
		if len(names) > 0 {
			b.WriteString(plain.Wrap(title+": "+strings.Join(names, ", "), textWidth, "", "  ") + "\n")
		}
	}
	list("✓ safe within the bound", safe)
	for _, why := range order {
		list("✕ not safe, "+why, unsafe[why])
	}
	list("· not known, stopped early", unknown)
	_, err := io.WriteString(w, b.String())
	return err
}

// why tells the gravest verdict that counts as bad, with a shortest schedule that ends with it.
func (r *Explored) why() string {
	for _, c := range r.Counterexamples {
		if r.bad[c.Verdict] {
			return c.Verdict + " by " + c.short()
		}
	}
	return "a fault of faultlab itself"
}

// tableCell is how many schedules ended with a verdict, as the table of contracts has it.
func (r *Explored) tableCell(verdict string) string {
	switch n := r.Verdicts[verdict]; {
	case n > 0:
		return fmt.Sprint(n)
	case r.met(verdict):
		return "seen"
	}
	return cmp.Or(map[bool]string{true: "?"}[r.Depth < 0], "-")
}
