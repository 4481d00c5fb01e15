package tui

import (
	"cmp"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// Lesson is a list of scenarios that teach one thing.
type Lesson struct {
	Name, Title, Text string
	Scenarios         []*lang.Scenario
}

// course is a lesson being taken: before each scenario a text, then a prediction
// with the truth covered, then the truth and why.
type course struct {
	lesson *Lesson
	at     int             // of its scenarios
	right  int             // predictions that came true
	asked  int             // predictions that were made
	told   map[string]bool // the questions whose truth was seen, by scenario
}

// predicted counts a prediction. Whoever runs a scenario again knows the answer: that counts no more.
func (c *course) predicted(q *scenarios.Question, right bool) {
	id := strconv.Itoa(c.at) + " " + q.Text
	if c.told[id] {
		return
	}
	if c.told == nil {
		c.told = map[string]bool{}
	}
	c.told[id] = true
	c.asked++
	if right {
		c.right++
	}
}

// showLessons goes on with the lesson that is named; without a name it lists them, with how far one came.
func (u *ui) showLessons(c command) tea.Cmd {
	name := strings.TrimSpace(c.args)
	for i := range u.opt.Lessons {
		if l := &u.opt.Lessons[i]; l.Name == name {
			return u.begin(l)
		}
	}
	if name != "" {
		u.say(draw.Bad, "there is no lesson "+name)
		return nil
	}
	u.push(&menu{name: "Lessons", items: func(u *ui) []item {
		var out []item
		for i := range u.opt.Lessons {
			l := &u.opt.Lessons[i]
			done := u.settings.Lessons[l.Name]
			it := item{name: l.Title, mark: strconv.Itoa(done) + " of " + strconv.Itoa(len(l.Scenarios)), text: strings.Split(l.Text, "\n"),
				do: func(u *ui) tea.Cmd { u.pop(); return u.begin(l) }}
			it.text = append(it.text, "")
			for j, s := range l.Scenarios {
				mark := u.t.Glyphs.Open
				if j < done {
					mark = u.t.Glyphs.Good
				}
				it.text = append(it.text, mark+" "+s.Title)
			}
			out = append(out, it)
		}
		return out
	}})
	return nil
}

// begin goes on with a lesson where it was left, or from its beginning.
func (u *ui) begin(l *Lesson) tea.Cmd {
	at := u.settings.Lessons[l.Name]
	if at >= len(l.Scenarios) {
		at = 0
	}
	if len(l.Scenarios) == 0 {
		u.say(draw.Quiet, "the lesson has no scenario yet")
		return nil
	}
	u.course = &course{lesson: l, at: at}
	u.push(&lessonScreen{})
	return nil
}

// nextInLesson goes on: to the next scenario's text, or out of the lesson.
func (u *ui) nextInLesson(command) tea.Cmd {
	c := u.course
	if c == nil {
		u.say(draw.Quiet, "next: no lesson is open")
		return nil
	}
	c.at++
	u.settings.Lessons[c.lesson.Name] = max(u.settings.Lessons[c.lesson.Name], c.at)
	u.home()
	u.push(&lessonScreen{over: c.at >= len(c.lesson.Scenarios)})
	return u.keep()
}

// openFor opens a scenario of the lesson: it asks, and the truth is covered until it was answered.
func (u *ui) openFor(s *lang.Scenario) tea.Cmd {
	open := u.opt.Open
	return work(func() tea.Msg {
		b, err := open(s, true)
		return openedMsg{bench: b, scenario: s, err: err, lesson: true}
	})
}

// lessonScreen is the page before a scenario, and the one after the last.
type lessonScreen struct {
	over  bool
	pages draw.Pager
}

func (l *lessonScreen) on() lang.Screen { return lang.OnLesson }

func (l *lessonScreen) title(u *ui) draw.Spans {
	c := u.course
	return draw.Say(draw.Strong, c.lesson.Title, draw.Quiet, "  "+strconv.Itoa(min(c.at+1, len(c.lesson.Scenarios)))+" of "+strconv.Itoa(len(c.lesson.Scenarios)))
}

func (l *lessonScreen) draw(u *ui, width, height int) []string {
	t, c := u.t, u.course
	var texts []string
	title, foot := c.lesson.Title, "enter runs it"
	if l.over {
		texts = []string{"That was the lesson.", "", c.score()}
		foot = "esc goes back to the catalogue"
	} else {
		s := c.lesson.Scenarios[c.at]
		if c.at == 0 {
			texts = append(strings.Split(c.lesson.Text, "\n"), "")
		}
		title = s.Title
		texts = append(texts, strings.Split(cmp.Or(s.Before, s.Teach), "\n")...)
	}
	b := draw.Box{Title: draw.Say(draw.Strong, title), Frame: draw.Accent, Focus: true}
	b.Body = func(w, h int) []string {
		var out []draw.Spans
		measure := min(w, 78) // a line of text that can be read
		for _, p := range texts {
			out = append(append(out, t.Paragraph(draw.Text, "  ", p, measure, 40)...), nil)
		}
		return l.pages.Window(t, draw.Fixed(append(out, draw.Say(draw.Quiet, "  "+foot))...), w, h)
	}
	return t.Box(b, width, height)
}

func (c *course) score() string {
	switch c.asked {
	case 0:
		return ""
	case 1:
		return strconv.Itoa(c.right) + " of 1 prediction was right."
	}
	return strconv.Itoa(c.right) + " of " + strconv.Itoa(c.asked) + " predictions were right."
}

func (l *lessonScreen) offers(_ *ui, verb string) bool { return verb != "open" || !l.over }

func (l *lessonScreen) verb(u *ui, c command) (tea.Cmd, bool) {
	switch {
	case l.pages.Move(c.verb.Name):
	case c.verb.Name == "next" && !l.over, c.verb.Name == "open" && c.args == "" && !l.over:
		return u.openFor(u.course.lesson.Scenarios[u.course.at]), true
	case c.verb.Name == "open" && c.args == "":
		u.pop()
	default:
		return nil, false
	}
	return nil, true
}

// answerOnBench takes the prediction, and lets the script go on.
func answerOnBench(u *ui, c command) tea.Cmd {
	s := u.session
	q := s.state.Asked
	n, err := strconv.Atoi(strings.TrimSpace(c.args))
	switch {
	case q == nil:
		return nil
	case err != nil || n < 1 || n > len(q.Choices):
		u.say(draw.Quiet, "answer with a number from 1 to "+strconv.Itoa(len(q.Choices)))
		return nil
	}
	s.asked, s.guess = q, n-1
	if u.course != nil {
		u.course.predicted(q, n-1 == q.Answer)
	}
	bench := s.bench
	return work(func() tea.Msg { bench.Answer(); return newsMsg{} })
}

// question is what is asked, or after the truth is there, how the prediction did.
func (u *ui) question(width int) []draw.Spans {
	t, s := u.t, u.session
	switch {
	case s.state.Asked != nil:
		return asking(t, s.state.Asked, width)
	case s.asked != nil && s.state.AtRest:
		return answeredBy(t, s.asked, s.guess, width)
	}
	return nil
}

func asking(t *draw.Theme, q *scenarios.Question, width int) []draw.Spans {
	var out []draw.Spans
	out = append(out, t.Paragraph(draw.Unknown, "", q.Text, width, 4)...)
	for i, c := range q.Choices {
		out = append(out, draw.Say(draw.Cap, " "+strconv.Itoa(i+1)+" ", draw.Text, "  "+strconv.Quote(c)))
	}
	return out
}

func answeredBy(t *draw.Theme, q *scenarios.Question, guess, width int) []draw.Spans {
	var out []draw.Spans
	k, said := draw.Good, t.Glyphs.Good+" you said "+strconv.Quote(q.Choices[guess])+": correct"
	if guess != q.Answer {
		k, said = draw.Bad, t.Glyphs.Bad+" you said "+strconv.Quote(q.Choices[guess])+"; the answer is "+strconv.Quote(q.Choices[q.Answer])
	}
	out = append(out, t.Paragraph(k, "", said, width, 3)...)
	for _, p := range strings.Split(q.Because, "\n") {
		out = append(out, t.Paragraph(draw.Text, "", p, width, 6)...)
	}
	return append(out, draw.Say(draw.Accent, keyOfVerb("next", lang.OnBench), draw.Quiet, " goes on"))
}
