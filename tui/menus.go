package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// menu is a list to choose from, with what the chosen thing does beside it.
type menu struct {
	name  string
	items func(u *ui) []item
	list  draw.Picker[item]
}

// item is one line of a menu. One without a do is a heading.
type item struct {
	name string
	mark string // beside the name, quietly
	text []string
	do   func(u *ui) tea.Cmd
}

func (n *menu) on() lang.Screen { return lang.OnMenu }

func (n *menu) title(u *ui) draw.Spans {
	if u.session != nil {
		return draw.Say(draw.Strong, u.session.scenario.Title, draw.Quiet, "  "+n.name)
	}
	return draw.Say(draw.Strong, n.name)
}

// show lists the items and gives the one under the cursor. Items of one name and mark
// are told apart by their number.
func (n *menu) show(u *ui) (picked item, all []item) {
	all = n.items(u)
	seen := map[string]int{}
	list := make([]draw.Item[item], len(all))
	for i, it := range all {
		list[i] = draw.Item[item]{Words: it.name + " " + strings.Join(it.text, " "), Value: it}
		if it.do != nil {
			id := it.name + "\x00" + it.mark
			seen[id]++
			list[i].ID = id + strings.Repeat("\x00", seen[id])
		}
	}
	n.list.List(list)
	picked, _ = n.list.Picked()
	return picked, all
}

func (n *menu) draw(u *ui, width, height int) []string {
	t := u.t
	picked, all := n.show(u)
	left := clamp(width*2/5, 26, 50)
	for _, it := range all { // also those that the filter hides: the list stays as wide as it is
		left = clamp(t.Width(it.spans(t, false, width))+4, left, max(left, width/2))
	}
	left = clamp(t.WidthOf(n.name)+8, left, max(left, width*3/5)) // the question is read in full
	b := draw.Box{Title: draw.Say(draw.Strong, n.name), Frame: draw.Accent, Focus: true, Side: n.list.Side(t, height-2)}
	b.Body = func(w, h int) []string {
		return n.list.Window(t, w, h, func(it item, _, picked bool) draw.Spans { return it.spans(t, picked, w) })
	}
	side := draw.Box{Title: draw.Say(draw.Strong, "What it does"), Frame: draw.Frame}
	side.Body = func(w, h int) []string {
		var out []draw.Spans
		for _, text := range picked.text {
			out = append(out, t.Paragraph(draw.Text, "", text, w-1, 12)...)
		}
		return t.Window(draw.Fixed(out...), 0, w, h)
	}
	return draw.Beside(t.Box(b, left, height), t.Box(side, width-left-1, height))
}

// spans is an item; what is said beside its name is seen however long that is.
func (it item) spans(t *draw.Theme, picked bool, width int) draw.Spans {
	if it.do == nil {
		return draw.Say(draw.Accent, it.name)
	}
	mark, ink := t.Mark(picked)
	out := mark.And(ink, it.name)
	if it.mark == "" {
		return out
	}
	beside := draw.Say(draw.Quiet, "  "+it.mark)
	return append(t.Cut(out, max(width/2, width-t.Width(beside))), beside...)
}

func (n *menu) typed(_ *ui, k tea.KeyMsg) (tea.Cmd, bool) { return nil, n.list.Type(k) }

func (n *menu) verb(u *ui, c command) (tea.Cmd, bool) {
	picked, _ := n.show(u)
	switch {
	case n.list.Move(c.verb.Name):
	case c.verb.Name == "filter":
		n.list.Begin(c.args)
	case c.verb.Name == "open" && c.args == "" && picked.do != nil:
		return picked.do(u), true
	default:
		return nil, false
	}
	return nil, true
}

// sends is an item's do that has the bench carry a verb out and leaves the menu open or not.
func sends(verb, args string, stay bool) func(*ui) tea.Cmd {
	return func(u *ui) tea.Cmd {
		said := strings.TrimSpace(verb + " " + args)
		if !stay {
			u.pop()
			said += howToUse()
		}
		u.say(draw.Quiet, said)
		return u.send(command{verb: lang.VerbNamed(verb), args: args})
	}
}

// howToUse says how to see what a setting does.
func howToUse() string {
	return ", for later runs: " + keyOfVerb("trigger", lang.OnBench) + " triggers one"
}

// faultMenu queues, composes and removes faults. It stays open: several can be queued.
func faultMenu(*ui) *menu {
	return &menu{name: "Faults", items: func(u *ui) []item {
		var out, edits []item
		queued := u.session.view.Faults
		if len(queued) > 0 {
			out = append(out, item{name: "queued, taken in this order"})
		}
		for i, f := range queued {
			text := faultText(f)
			out = append(out, item{name: f.Words(), mark: "remove", text: append([]string{"Removes this fault from the queue.", ""}, text...), do: requeue(slices.Delete(slices.Clone(queued), i, i+1))})
			edits = append(edits, item{name: f.Words(), mark: "edit", text: append([]string{"Opens this fault in the palette to edit. It stays queued until you enter the new one.", ""}, text...), do: editFault(queued, i)})
		}
		out = append(out, edits...)
		out = append(out, item{name: "compose"}, item{name: "a fault of your own", mark: "three axes",
			text: []string{"Choose when the effect commits, what the caller gets, and which requests it takes."},
			do:   func(u *ui) tea.Cmd { u.push(composeMenu(fault.Fault{}, 0)); return nil }})
		out = append(out, item{name: "named faults"})
		for _, a := range fault.Aliases()[1:] {
			out = append(out, item{name: a.Name, text: []string{a.Summary, "", axes(a.Fault)}, do: sends("fault", a.Name, true)})
		}
		return out
	}}
}

// faultText says what a queued fault does.
func faultText(f fault.Fault) []string {
	for _, a := range fault.Aliases() {
		if a.Name == f.Line() {
			return []string{a.Summary, "", axes(f)}
		}
	}
	return []string{axes(f)}
}

// axes says a fault by its three axes, one a line.
func axes(f fault.Fault) string {
	commits, gets, takes := f.Axes()
	return "commits: " + commits + "\nthe caller gets: " + gets + "\ntakes: " + takes
}

// editFault lets the person write a queued fault anew; the one that is written takes its place.
func editFault(queued []fault.Fault, i int) func(*ui) tea.Cmd {
	return func(u *ui) tea.Cmd {
		p := newPalette("fault " + spelled(queued[i]))
		u.command(p)
		p.does = func(u *ui, c command) tea.Cmd {
			if c.verb.Name != "fault" {
				return u.run(c)
			}
			faults, err := scenarios.FaultsOf(c.typed)
			if err != nil { // before the queue is emptied
				u.command(p)
				u.say(draw.Bad, err.Error())
				return nil
			}
			now := u.session.view.Faults // a request may have taken one meanwhile
			at := i
			if !slices.Equal(now, queued) {
				at = slices.Index(now, queued[i])
			}
			if at < 0 {
				return u.run(c)
			}
			return requeue(slices.Concat(now[:at], faults, now[at+1:]))(u)
		}
		return nil
	}
}

// spelled is a queued fault as it is written in a line: a name, or JSON as it stands.
func spelled(f fault.Fault) string {
	if f := f.Line(); !strings.HasPrefix(f, "{") {
		return lang.Quote(f)
	}
	return f.Line()
}

// requeue makes the queue anew: the bench knows how to empty it and how to add to it.
func requeue(rest []fault.Fault) func(*ui) tea.Cmd {
	return func(u *ui) tea.Cmd {
		s := u.session
		bench := s.bench
		args := make([]string, len(rest))
		for i, f := range rest {
			args[i] = spelled(f)
		}
		return work(func() tea.Msg {
			err := bench.Do("clearfaults")
			if err == nil && len(args) > 0 {
				err = bench.Do("fault " + strings.Join(args, " "))
			}
			return doneMsg{bench, "clearfaults", err}
		})
	}
}

// choice is one value of an axis.
type choice struct {
	name, text string
	set        func(*fault.Fault)
}

// composition is the three axes, in the order in which they are asked.
var composition = []struct {
	name    string
	choices []choice
}{
	{"When does the effect commit?", []choice{
		{"before the reply", "The record is in the ledger before the caller gets anything.", func(f *fault.Fault) { f.Commit.When = fault.BeforeReply }},
		{"never", "Nothing is stored.", func(f *fault.Fault) { f.Commit.When = fault.Never }},
		{"2s late", "The record is stored 2 s after the request, whatever the caller got meanwhile.", late(2 * time.Second)},
		{"30s late", "The record is stored 30 s after the request: later than most callers wait.", late(30 * time.Second)},
		{"never, request stays open", "Nothing is stored, and the key stays in flight.", func(f *fault.Fault) { f.Commit.When = fault.Stuck }},
	}},
	{"What does the caller get?", []choice{
		{"a normal answer", "The answer that the contract prescribes.", func(f *fault.Fault) { f.Reply.Do = fault.Normal }},
		{"status 503", "A server error: it proves nothing.", gets(503)},
		{"status 429", "Too many requests: nothing was done, says the caller's table.", gets(429)},
		{"status 409", "A conflict: it may say that the record exists.", gets(409)},
		{"a reset", "The connection is reset and no byte of an answer comes.", func(f *fault.Fault) { f.Reply.Do = fault.Reset }},
		{"nothing", "No answer until the caller gives up.", func(f *fault.Fault) { f.Reply.Do = fault.Nothing }},
		{"a cut body", "The answer breaks off in the middle.", func(f *fault.Fault) { f.Reply.Do = fault.Cut }},
		{"a cut body, then a reset", "The answer breaks off in the middle with a reset.", func(f *fault.Fault) { f.Reply.Do = fault.CutReset }},
		{"a cut chunked body", "A chunked answer ends before its last chunk.", func(f *fault.Fault) { f.Reply.Do = fault.CutChunked }},
		{"not JSON", "The right status with a page of HTML.", func(f *fault.Fault) { f.Reply.Do = fault.NotJSON }},
		{"too large a body", "The right status with more than the caller reads.", func(f *fault.Fault) { f.Reply.Do = fault.TooLarge }},
		{"a normal answer, 5s late", "The answer comes 5 s late.", func(f *fault.Fault) { f.Reply = fault.Reply{Do: fault.Normal, Slow: 5 * time.Second} }},
	}},
	{"Which requests does it take?", []choice{
		{"new operations", "A write that would commit a new effect.", func(f *fault.Fault) { f.On.Requests = fault.New }},
		{"replays", "A write whose key is known.", func(f *fault.Fault) { f.On.Requests = fault.Replay }},
		{"look-ups", "A look-up by key, or a read.", func(f *fault.Fault) { f.On.Requests = fault.LookUp }},
		{"any", "Every request.", func(f *fault.Fault) { f.On.Requests = fault.Any }},
		{"any, always", "Every request, until the queue is emptied.", func(f *fault.Fault) { f.On = fault.On{Requests: fault.Any, Times: fault.Always} }},
		{"the second one", "The second write that would commit a new effect; the first passes.", func(f *fault.Fault) { f.On = fault.On{Requests: fault.New, Nth: 2} }},
		{"by chance, half of them", "Each request with a probability of one half, drawn from the seed, until the queue is emptied.", func(f *fault.Fault) {
			f.On = fault.On{Requests: fault.Any, Probability: 0.5, Times: fault.Always}
		}},
	}},
}

// newestKey is the choice of the key that was sent last; none before a request had one.
func newestKey(u *ui) []choice {
	log := u.session.view.Log
	for i := len(log) - 1; i >= 0; i-- {
		if key := log[i].Key; key != "" {
			return []choice{{"one key, the newest", "Every request under the key that was sent last, and no other.", func(f *fault.Fault) {
				f.On = fault.On{Requests: fault.Any, Key: key}
			}}}
		}
	}
	return nil
}

func late(d time.Duration) func(*fault.Fault) {
	return func(f *fault.Fault) { f.Commit = fault.Commit{When: fault.Late, After: d} }
}

func gets(status int) func(*fault.Fault) {
	return func(f *fault.Fault) { f.Reply = fault.Reply{Do: fault.Status, Status: status} }
}

// composeMenu asks for one axis, and for the next, and queues what was composed.
func composeMenu(f fault.Fault, axis int) *menu {
	c := composition[axis]
	return &menu{name: c.name, items: func(u *ui) []item {
		var out []item
		choices := c.choices
		if axis == len(composition)-1 {
			choices = append(slices.Clip(choices), newestKey(u)...)
		}
		for _, ch := range choices {
			next := f
			ch.set(&next)
			out = append(out, item{name: ch.name, text: []string{ch.text, "", "The fault so far", axes(next)}, do: func(u *ui) tea.Cmd {
				u.pop()
				if axis+1 < len(composition) {
					u.push(composeMenu(next, axis+1))
					return nil
				}
				text, err := json.Marshal(next)
				if err != nil {
					u.say(draw.Bad, err.Error())
					return nil
				}
				// It stands in the palette, to be edited before it is queued.
				u.command(newPalette("fault " + string(text)))
				u.say(draw.Text, next.Words()+". Enter queues it, esc drops it, and the line can be edited.")
				return nil
			}})
		}
		return out
	}}
}

// contractMenu chooses the contract that the provider keeps, and shows its rules.
func contractMenu(*ui) *menu {
	return &menu{name: "Contracts", items: func(u *ui) []item {
		var out []item
		for _, c := range contract.Presets() {
			it := item{name: c.Name, text: rulesOf(c), do: sends("contract", c.Name, false)}
			if c.Name == u.session.view.Contract {
				it.mark = "kept now"
			}
			out = append(out, it)
		}
		return out
	}}
}

// rulesOf says a contract's rules, one a line.
func rulesOf(c contract.Contract) []string {
	out := []string{c.Title, ""}
	rule := func(name, text string) { out = append(out, name+": "+text) }
	rule("key", string(c.Carrier.In)+" "+c.Carrier.Name)
	rule("without a key", refusal(c.Missing))
	rule("changed payload", refusal(c.Mismatch)+", compared by "+string(c.Fingerprint.By))
	rule("a repeat gets", string(c.Replay.Do))
	rule("in flight", refusal(c.InFlight.Refusal))
	rule("after a 5xx the key is", string(c.AfterError))
	kept := "for ever"
	if c.Retention.For > 0 {
		kept = "for " + c.Retention.For.String()
	}
	rule("a key is known", kept)
	rule("look-up", string(c.LookUp.By))
	if c.Note != "" {
		out = append(out, "", c.Note)
	}
	for _, a := range c.Assumptions {
		out = append(out, "assumed: "+a)
	}
	return out
}

func refusal(r contract.Refusal) string {
	if r.Status != 0 {
		return fmt.Sprintf("%s %d", r.Do, r.Status)
	}
	return string(r.Do)
}

// policyMenu changes how often and how fast the runs that follow are retried.
func policyMenu(*ui) *menu {
	return &menu{name: "Retry policy", items: func(*ui) []item {
		set := func(name, args, text string) item {
			send := sends("policy", args, false)
			return item{name: name, text: []string{text, "", "policy " + args, "", "Applies to later runs; open runs keep their own."}, do: func(u *ui) tea.Cmd {
				cmd := send(u)
				u.say(draw.Quiet, "policy: "+name+howToUse())
				return cmd
			}}
		}
		return []item{
			set("as the document says", "document", "Goes back to the document's own policy."),
			set("no retry", "retry=1", "One attempt. Whatever fails, stays failed."),
			set("patient", "retry=5 retry-backoff=exponential retry-delay=1s retry-max-delay=30s", "Five attempts, each pause twice as long as the one before."),
			set("hasty", "retry=5 retry-backoff=fixed retry-delay=50ms", "Five attempts, 50 ms apart: what an outage looks like from the provider's side."),
			set("stubborn", "retry=10 retry-backoff=fixed retry-delay=1s", "Ten attempts, 1 s apart."),
			{name: "another", text: []string{"Written out."}, do: func(u *ui) tea.Cmd {
				u.pop()
				u.command(newPalette("policy retry="))
				return nil
			}},
		}
	}}
}

// keyMenu changes where the runs that follow take their key from.
func keyMenu(*ui) *menu {
	return &menu{name: "Key", items: func(*ui) []item {
		set := func(name, text string) item {
			return item{name: name, text: []string{text, "", "Applies to later runs."}, do: sends("key", name, false)}
		}
		return []item{
			set("document", "As the scripts say."),
			set("run", "One key for all attempts of a step in one run. A rerun has another one."),
			set("business", "A key made of the subject: the same in every run, so a rerun is the same operation."),
			set("attempt", "A new key for each attempt. This is the bug: the provider cannot recognise a retry."),
		}
	}}
}
