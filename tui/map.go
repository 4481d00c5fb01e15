package tui

import (
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine/plain"
	"faultlab/faultprovider/contract"
	"faultlab/scenarios"
	"faultlab/scenarios/explore"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// The bound of a map's first search; one more fault at a time is asked for, up to mostFaults.
const (
	mapFaults  = 2
	mapCrashes = 1
	mostFaults = 9
)

// mapScreen is the map of a scenario's schedules: what went wrong first down, what came next across.
type mapScreen struct {
	search *mapSearch
	state  mapState
	cells  explore.Map // of the state

	row, column string // what the chosen cell's deviations do
	firstRow    int    // that is seen
	firstColumn int
	alone       int // where the pane does not stand beside the map: 0 both if there is room, 1 the map, 2 the pane

	shown  map[string]*scenarios.ScheduleShown // by schedule; nil while it is carried out
	failed map[string]string                   // why a schedule cannot be shown
	others []otherSearch                       // that were done here before
	opened *lang.Scenario                      // the schedule that is open on a bench
}

// otherSearch is what came of a search that another one took the place of.
type otherSearch struct {
	contract, operator string
	faults             int
	worst              string
	count, of          uint64
}

// showMap searches the schedules of a scenario and shows the map: of the one that is named, or that is chosen or open.
func (m *model) showMap(c command) tea.Cmd {
	s := m.toMap(strings.TrimSpace(c.args))
	if s == nil {
		return nil
	}
	screen := &mapScreen{row: explore.Nothing}
	m.push(screen)
	o := scenarios.ExploreOptions{Operator: scenarios.OperatorPatient}
	o.Bound[explore.Fault], o.Bound[explore.Crash] = mapFaults, mapCrashes
	return screen.begin(&m.ui, s, o)
}

// toMap is the scenario that a map is asked of; nil where there is none, which is said.
func (m *model) toMap(name string) *lang.Scenario {
	if name != "" {
		for _, s := range m.opt.Scenarios {
			if s.Name == name {
				return s
			}
		}
		m.say(draw.Bad, "no scenario is named "+name+"; did you mean "+strings.Join(lang.Nearest(name, m.names()), ", "))
		return nil
	}
	if c, ok := m.top().(*catalogue); ok {
		return c.chosen(&m.ui)
	}
	switch {
	case m.session == nil:
		m.say(draw.Quiet, "map: open a scenario first")
	case m.session.storedRun() != "":
		m.say(draw.Quiet, "map: a stored run has no scenario to search")
	case m.session.covered:
		m.say(draw.Quiet, "map: the provider's side is covered; t uncovers it")
	default:
		if under := m.mapUnder(); under != nil && under.opened == m.session.scenario {
			for m.top() != screen(under) {
				m.pop()
			}
			return nil
		}
		return m.session.scenario
	}
	return nil
}

// mapUnder is the newest map of the stack; nil where there is none.
func (m *model) mapUnder() *mapScreen {
	for _, x := range slices.Backward(m.stack) {
		if s, ok := x.(*mapScreen); ok {
			return s
		}
	}
	return nil
}

// lookAtMap pulls what there is to know of the search.
func (m *model) lookAtMap() (cmd tea.Cmd, changed bool) {
	if s := m.mapUnder(); s != nil {
		return s.pull()
	}
	return nil, false
}

// stopSearch ends the search whose map was left, however that happened.
func (m *model) stopSearch() {
	if s := m.mapUnder(); m.searching != nil && (s == nil || s.search != m.searching) {
		m.searching.stop()
		m.searching = nil
	}
}

// begin starts a search, in the place of the one before.
func (s *mapScreen) begin(u *ui, of *lang.Scenario, o scenarios.ExploreOptions) tea.Cmd {
	s.remember()
	if u.searching != nil {
		u.searching.stop()
	}
	s.search = &mapSearch{scenario: of, options: o}
	s.state, s.cells = mapState{}, explore.Map{}
	s.shown, s.failed = map[string]*scenarios.ScheduleShown{}, map[string]string{}
	u.searching = s.search
	return s.search.start(u.pump.news)
}

// remember keeps what came of the search so far, if it is over.
func (s *mapScreen) remember() {
	r := s.state.found
	if r == nil || !r.Complete {
		return
	}
	o := otherSearch{r.Contract, r.Operator, r.Faults, "", 0, r.Schedules}
	o.worst, o.count = worstOf(r.Verdicts)
	s.others = append(slices.DeleteFunc(s.others, func(x otherSearch) bool {
		return x.contract == o.contract && x.operator == o.operator && x.faults == o.faults
	}), o)
}

// worstOf is the gravest verdict, and how often it was met.
func worstOf(verdicts map[string]uint64) (worst string, count uint64) {
	for v, n := range verdicts {
		if worst == "" || gravityOfVerdict(v) > gravityOfVerdict(worst) || gravityOfVerdict(v) == gravityOfVerdict(worst) && v < worst {
			worst, count = v, n
		}
	}
	return worst, count
}

// pull takes in what is new of the search, and has the chosen cell's schedule carried out.
func (s *mapScreen) pull() (cmd tea.Cmd, changed bool) {
	st, cells, changed := s.search.look(s.state.version)
	if changed {
		first := s.state.version == 0 || !s.state.over() && st.over()
		s.state, s.cells = st, mapOf(cells)
		if first && s.column == "" && s.row == explore.Nothing {
			s.toWorst()
		}
	}
	return s.ask(), changed
}

// toWorst chooses the first cell with the gravest verdict, once the search is over.
func (s *mapScreen) toWorst() {
	if !s.state.over() {
		return
	}
	worst := 0
	for r, cells := range s.cells.Cells {
		for c, cell := range cells {
			if g := gravityOfVerdict(cell.Worst); g > worst {
				worst, s.row, s.column = g, s.cells.Rows[r], s.cells.Columns[c]
			}
		}
	}
}

// ask has the chosen cell's schedule carried out, unless it was.
func (s *mapScreen) ask() tea.Cmd {
	cell := s.cell()
	if cell.Worst == "" {
		return nil
	}
	key := cell.Shortest.String()
	if _, asked := s.shown[key]; asked {
		return nil
	}
	s.shown[key] = nil
	return s.show(cell.Shortest)
}

// take keeps a schedule that was carried out.
func (s *mapScreen) take(msg shownMsg) {
	if _, asked := s.shown[msg.key]; !asked {
		return // of the search before
	}
	if msg.err != nil {
		s.failed[msg.key] = msg.err.Error()
		return
	}
	s.shown[msg.key] = msg.shown
}

// place is the chosen cell's row and column.
func (s *mapScreen) place() (row, column int) {
	return max(0, slices.Index(s.cells.Rows, s.row)), max(0, slices.Index(s.cells.Columns, s.column))
}

// cell is the chosen one; empty where no such schedule can be, or none is known yet.
func (s *mapScreen) cell() explore.MapCell {
	if len(s.cells.Rows) == 0 {
		return explore.MapCell{}
	}
	r, c := s.place()
	return s.cells.Cells[r][c]
}

func (s *mapScreen) on() lang.Screen { return lang.OnMap }

func (s *mapScreen) title(u *ui) draw.Spans {
	out := draw.Say(draw.Strong, s.search.scenario.Title)
	if u.width >= mapBeside {
		out = out.And(draw.Quiet, " / explore")
	}
	return out
}

// setting is what is searched, for the right end of the header.
func (s *mapScreen) setting(width int) []draw.Spans {
	o := s.search.options
	if width < mapSettings {
		bound := plain.Count(int(o.Bound[explore.Fault]), "fault") + " " + plain.Count(int(o.Bound[explore.Crash]), "crash")
		return []draw.Spans{draw.Say(draw.Strong, s.contract()), draw.Say(draw.Strong, bound), draw.Say(draw.Strong, o.Operator)}
	}
	fact := func(name, value string) draw.Spans { return draw.Say(draw.Quiet, name+" ", draw.Strong, value) }
	return []draw.Spans{fact("contract", s.contract()), fact("faults", strconv.Itoa(int(o.Bound[explore.Fault]))),
		fact("crashes", strconv.Itoa(int(o.Bound[explore.Crash]))), fact("operator", o.Operator)}
}

// contract is the one that the provider keeps.
func (s *mapScreen) contract() string {
	switch o := s.search.options; {
	case s.state.contract != "":
		return s.state.contract
	case len(o.Contracts) > 0:
		return o.Contracts[0]
	}
	return "of the scenario"
}

func (s *mapScreen) verb(u *ui, c command) (tea.Cmd, bool) {
	o := s.search.options
	switch name := c.verb.Name; {
	case s.move(u, name):
		return s.ask(), true
	case name == "pane":
		s.alone = (s.alone + 1) % 3
	case name == "unpane":
		s.alone = (s.alone + 2) % 3
	case name == "open" && c.args == "":
		return s.open(u), true
	case name == "save":
		return s.save(u, c), true
	case name == "contract":
		next, names := strings.TrimSpace(c.args), contract.Names()
		if next == "" {
			next = names[(slices.Index(names, s.contract())+1)%len(names)]
		}
		o.Contracts = []string{next}
		return s.begin(u, s.search.scenario, o), true
	case name == "operator":
		o.Operator = strings.TrimSpace(c.args)
		if o.Operator == "" {
			o.Operator = scenarios.Operators[(slices.Index(scenarios.Operators, s.search.options.Operator)+1)%len(scenarios.Operators)]
		}
		return s.begin(u, s.search.scenario, o), true
	case name == "deeper":
		if o.Bound[explore.Fault] >= mostFaults {
			u.say(draw.Quiet, "deeper: "+strconv.Itoa(mostFaults)+" faults are the most")
			return nil, true
		}
		o.Bound[explore.Fault]++
		return s.begin(u, s.search.scenario, o), true
	default:
		return nil, false
	}
	return nil, true
}

// move chooses another cell.
func (s *mapScreen) move(u *ui, verb string) bool {
	page := max(1, u.height/3)
	step, ok := map[string][2]int{"up": {-1, 0}, "down": {1, 0}, "left": {0, -1}, "right": {0, 1}, "pageup": {-page, 0}, "pagedown": {page, 0},
		"top": {-len(s.cells.Rows), 0}, "bottom": {len(s.cells.Rows), 0}}[verb]
	if !ok || len(s.cells.Rows) == 0 {
		return ok
	}
	r, c := s.place()
	s.row = s.cells.Rows[clamp(r+step[0], 0, len(s.cells.Rows)-1)]
	s.column = s.cells.Columns[clamp(c+step[1], 0, len(s.cells.Columns)-1)]
	return true
}

// chosen is the chosen cell's schedule, carried out; nil where there is none yet, which is said.
func (s *mapScreen) chosen(u *ui, verb string) *scenarios.ScheduleShown {
	cell := s.cell()
	if cell.Worst == "" {
		u.say(draw.Quiet, verb+": no schedule is in this cell")
		return nil
	}
	key := cell.Shortest.String()
	if why := s.failed[key]; why != "" {
		u.say(draw.Bad, verb+": "+why)
		return nil
	}
	if s.shown[key] == nil {
		u.say(draw.Quiet, verb+": the schedule is being carried out")
	}
	return s.shown[key]
}

// name is what the chosen cell's schedule is called, as a file.
func (s *mapScreen) name(shown *scenarios.ScheduleShown) string {
	return s.search.scenario.Name + "-" + strings.ReplaceAll(shown.Verdict, " ", "-")
}

// open opens the chosen cell's schedule on a bench.
func (s *mapScreen) open(u *ui) tea.Cmd {
	shown := s.chosen(u, "open")
	if shown == nil {
		return nil
	}
	found, err := lang.Parse(s.name(shown)+lang.Ext, shown.Text)
	if err != nil {
		u.say(draw.Bad, "the schedule cannot be read as a scenario: "+err.Error())
		return nil
	}
	s.opened = found
	return u.open(found)
}

// save writes the chosen cell's schedule as a scenario file; a key alone asks for its name.
func (s *mapScreen) save(u *ui, c command) tea.Cmd {
	shown := s.chosen(u, "save")
	if shown == nil {
		return nil
	}
	if c.args == "" {
		u.command(newPalette("save " + s.name(shown) + lang.Ext))
		return nil
	}
	return saveScenario(c, func() ([]byte, error) { return shown.Text, nil })
}
