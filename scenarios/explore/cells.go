package explore

import "slices"

// Map is what came of the schedules by their first two deviations: what happened first down, what came next across. Schedules of
// more than two deviations count where their first two do.
type Map struct {
	Rows, Columns []string // kinds of deviations; the first column is the schedule that ends there
	Cells         [][]MapCell
}

// MapCell is one field of a Map. It is empty where no such schedule can be.
type MapCell struct {
	Worst    string // verdict
	Count    uint64 // of the schedules with it
	Of       uint64 // schedules
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
	sums := map[at]map[string]uint64{}
	for _, c := range cells {
		k := at{place(&m.Rows, c.First.Alt), place(&m.Columns, c.Second.Alt)}
		if sums[k] == nil {
			sums[k] = map[string]uint64{}
		}
		for v, n := range c.Verdicts {
			sums[k][v] += n
		}
	}
	m.Cells = make([][]MapCell, len(m.Rows))
	for row := range m.Rows {
		m.Cells[row] = make([]MapCell, len(m.Columns))
		for column := range m.Columns {
			m.Cells[row][column] = cellOf(sums[at{row, column}], gravity)
		}
	}
	return m
}

func cellOf(verdicts map[string]uint64, gravity func(string) int) MapCell {
	c := MapCell{Verdicts: verdicts}
	for v, n := range verdicts {
		c.Of += n
		if c.Worst == "" || gravity(v) > gravity(c.Worst) || gravity(v) == gravity(c.Worst) && v < c.Worst {
			c.Worst, c.Count = v, n
		}
	}
	return c
}
