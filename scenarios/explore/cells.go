package explore

import (
	"maps"
	"slices"
)

// Nothing is the row of the schedule in which nothing goes wrong.
const Nothing = "nothing"

// Map is what came of the schedules by their first two deviations: what happened first down, what came next across. Schedules of
// more than two deviations count where their first two do.
type Map struct {
	Rows, Columns []string // kinds of deviations; the first column is the schedule that ends there
	Cells         [][]MapCell
}

// MapCell is one field of a Map. It is empty where no such schedule can be.
type MapCell struct {
	Worst    string   // verdict
	Shortest Schedule // with it
	Count    uint64   // of the schedules with it
	Of       uint64   // schedules
	Verdicts map[string]uint64
}

// MapOf groups cells by what was done, wherever it was done. gravity orders verdicts; a larger one is worse.
func MapOf(cells []Cell, gravity func(verdict string) int) Map {
	m := Map{Columns: []string{""}}
	place := func(list *[]string, name string) int {
		i := slices.Index(*list, name)
		if i < 0 {
			i = len(*list)
			*list = append(*list, name)
		}
		return i
	}
	type at struct{ row, column int }
	var sums Cells
	order := map[at]int{}
	for _, c := range cells {
		row := c.First.Alt
		if row == "" {
			row = Nothing
		}
		k := at{place(&m.Rows, row), place(&m.Columns, c.Second.Alt)}
		order[k] = sums.add(c)
	}
	m.Cells = make([][]MapCell, len(m.Rows))
	for row := range m.Rows {
		m.Cells[row] = make([]MapCell, len(m.Columns))
		for column := range m.Columns {
			if i, ok := order[at{row, column}]; ok {
				m.Cells[row][column] = cellOf(sums.list[i], gravity)
			}
		}
	}
	return m
}

func cellOf(sum Cell, gravity func(string) int) MapCell {
	c := MapCell{Verdicts: sum.Verdicts}
	for v, n := range sum.Verdicts {
		c.Of += n
		if c.Worst == "" || gravity(v) > gravity(c.Worst) || gravity(v) == gravity(c.Worst) && v < c.Worst {
			c.Worst, c.Count = v, n
		}
	}
	c.Shortest = sum.Shortest[c.Worst]
	return c
}

// Cells adds up how schedules ended by what their first two deviations did, wherever they did it. The zero Cells is empty.
type Cells struct {
	list []Cell
	at   map[[2]string]int
}

// Add counts the end of one schedule.
func (s *Cells) Add(e End) {
	var c Cell
	if len(e.Schedule) > 0 {
		c.First = e.Schedule[0]
	}
	if len(e.Schedule) > 1 {
		c.Second = e.Schedule[1]
	}
	c.one(e.Verdict, e.Schedule)
	s.add(c)
}

// List returns the cells in the order in which they came. They stay as they are when more is added.
func (s *Cells) List() []Cell {
	out := make([]Cell, len(s.list))
	for i, c := range s.list {
		out[i] = c.clone()
	}
	return out
}

func (c Cell) clone() Cell {
	c.Verdicts, c.Shortest = maps.Clone(c.Verdicts), maps.Clone(c.Shortest)
	return c
}

// add counts a cell with those of the same deviations, and returns the place of their sum.
func (s *Cells) add(c Cell) int {
	key := [2]string{c.First.Alt, c.Second.Alt}
	i, ok := s.at[key]
	if !ok {
		if s.at == nil {
			s.at = map[[2]string]int{}
		}
		i = len(s.list)
		s.at[key], s.list = i, append(s.list, Cell{First: c.First, Second: c.Second, Verdicts: map[string]uint64{}, Shortest: map[string]Schedule{}})
	}
	sum := s.list[i]
	for v, n := range c.Verdicts {
		if old, ok := sum.Shortest[v]; !ok || len(c.Shortest[v]) < len(old) {
			sum.Shortest[v] = c.Shortest[v]
		}
		sum.Verdicts[v] += n
	}
	return i
}
