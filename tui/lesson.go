package tui

import (
	"cmp"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/scenarios"
	"faultlab/scenarios/lang"
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
func (m *model) showLessons(c command) tea.Cmd {
	name := strings.TrimSpace(c.args)
	for i := range m.opt.Lessons {
		if l := &m.opt.Lessons[i]; l.Name == name {
			return m.begin(l)
		}
	}
	if name != "" {
		m.say(inkBad, "there is no lesson "+name)
		return nil
	}
	m.push(&menu{name: "Lessons", items: func(m *model) []item {
		var out []item
		for i := range m.opt.Lessons {
			l := &m.opt.Lessons[i]
			done := m.memory.Lessons[l.Name]
			it := item{name: l.Title, mark: strconv.Itoa(done) + " of " + strconv.Itoa(len(l.Scenarios)), text: strings.Split(l.Text, "\n"),
				do: func(m *model) tea.Cmd { m.pop(); return m.begin(l) }}
			it.text = append(it.text, "")
			for j, s := range l.Scenarios {
				mark := m.t.glyphs.open
				if j < done {
					mark = m.t.glyphs.good
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
func (m *model) begin(l *Lesson) tea.Cmd {
	at := m.memory.Lessons[l.Name]
	if at >= len(l.Scenarios) {
		at = 0
	}
	if len(l.Scenarios) == 0 {
		m.say(inkQuiet, "the lesson has no scenario yet")
		return nil
	}
	m.course = &course{lesson: l, at: at}
	m.push(&lessonScreen{})
	return nil
}

// nextInLesson goes on: to the next scenario's text, or out of the lesson.
func (m *model) nextInLesson(command) tea.Cmd {
	c := m.course
	if c == nil {
		m.say(inkQuiet, "next: no lesson is being taken")
		return nil
	}
	if s, ok := m.top().(*lessonScreen); ok && !s.over {
		return m.openFor(c.lesson.Scenarios[c.at])
	}
	c.at++
	m.memory.Lessons[c.lesson.Name] = max(m.memory.Lessons[c.lesson.Name], c.at)
	m.stack = append(m.stack[:1], &lessonScreen{over: c.at >= len(c.lesson.Scenarios)})
	return m.keep()
}

// openFor opens a scenario of the lesson: it asks, and the truth is covered until it was answered.
func (m *model) openFor(s *lang.Scenario) tea.Cmd {
	open := m.opt.Open
	return work(func() tea.Msg {
		b, err := open(s, true)
		return openedMsg{bench: b, scenario: s, err: err, lesson: true}
	})
}

// lessonScreen is the page before a scenario, and the one after the last.
type lessonScreen struct {
	over   bool
	scroll int
}

func (l *lessonScreen) on() lang.Screen { return lang.OnLesson }

func (l *lessonScreen) title(m *model) spans {
	c := m.course
	return say(inkStrong, c.lesson.Title, inkQuiet, "  "+strconv.Itoa(min(c.at+1, len(c.lesson.Scenarios)))+" of "+strconv.Itoa(len(c.lesson.Scenarios)))
}

func (l *lessonScreen) draw(m *model, width, height int) []string {
	t, c := m.t, m.course
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
	b := box{title: say(inkStrong, title), frame: inkAccent, focus: true}
	b.body = func(w, h int) []string {
		var out []spans
		measure := min(w-2, 76) // a line of text that can be read
		for _, p := range texts {
			for _, x := range t.wrap(p, measure, 40) {
				out = append(out, say(inkText, "  "+x))
			}
			out = append(out, nil)
		}
		out = append(out, say(inkQuiet, "  "+foot))
		l.scroll = clamp(l.scroll, 0, max(0, len(out)-h))
		return t.window(fixed(out...), l.scroll, w, h)
	}
	return t.draw(b, width, height)
}

func (c *course) score() string {
	if c.asked == 0 {
		return ""
	}
	if c.asked == 1 {
		return strconv.Itoa(c.right) + " of 1 prediction was right."
	}
	return strconv.Itoa(c.right) + " of " + strconv.Itoa(c.asked) + " predictions were right."
}

func (l *lessonScreen) verb(m *model, c command) (tea.Cmd, bool) {
	switch c.verb.Name {
	case "up":
		l.scroll--
	case "down":
		l.scroll++
	case "open":
		if c.args != "" {
			return nil, false
		}
		if l.over {
			m.pop()
			return nil, true
		}
		return m.openFor(m.course.lesson.Scenarios[m.course.at]), true
	default:
		return nil, false
	}
	return nil, true
}

// answerOnBench takes the prediction, and lets the script go on.
func answerOnBench(m *model, c command) tea.Cmd {
	s := m.session
	q := s.state.Asked
	n, err := strconv.Atoi(strings.TrimSpace(c.args))
	switch {
	case q == nil:
		return nil
	case err != nil || n < 1 || n > len(q.Choices):
		m.say(inkQuiet, "answer with a number from 1 to "+strconv.Itoa(len(q.Choices)))
		return nil
	}
	s.asked, s.guess = q, n-1
	if m.course != nil {
		m.course.predicted(q, n-1 == q.Answer)
	}
	bench := s.bench
	return work(func() tea.Msg { bench.Answer(); return newsMsg{} })
}

// question is what is asked, or after the truth is there, how the prediction did.
func (m *model) question(width int) []spans {
	t, s := m.t, m.session
	switch {
	case s.state.Asked != nil:
		return t.asking(s.state.Asked, width)
	case s.asked != nil && s.state.AtRest:
		return t.answeredBy(s.asked, s.guess, width)
	}
	return nil
}

func (t *theme) asking(q *scenarios.Question, width int) []spans {
	var out []spans
	for _, l := range t.wrap(q.Text, width, 4) {
		out = append(out, say(inkUnknown, l))
	}
	for i, c := range q.Choices {
		out = append(out, say(inkCap, " "+strconv.Itoa(i+1)+" ", inkText, "  "+strconv.Quote(c)))
	}
	return out
}

func (t *theme) answeredBy(q *scenarios.Question, guess, width int) []spans {
	var out []spans
	k, said := inkGood, t.glyphs.good+" you said "+strconv.Quote(q.Choices[guess])+", and so it is"
	if guess != q.Answer {
		k, said = inkBad, t.glyphs.bad+" you said "+strconv.Quote(q.Choices[guess])+"; it is "+strconv.Quote(q.Choices[q.Answer])
	}
	for _, l := range t.wrap(said, width, 3) {
		out = append(out, say(k, l))
	}
	for _, p := range strings.Split(q.Because, "\n") {
		for _, l := range t.wrap(p, width, 6) {
			out = append(out, say(inkText, l))
		}
	}
	return append(out, say(inkAccent, keyOfVerb("next", lang.OnBench), inkQuiet, " goes on"))
}
