package explore

import "slices"

// tally counts verdicts of schedules, by their index in search.verdicts.
type tally []uint64

func (t *tally) add(o tally) {
	for i, n := range o {
		t.one(i, n)
	}
}

func (t *tally) one(i int, n uint64) {
	for len(*t) <= i {
		*t = append(*t, 0)
	}
	(*t)[i] += n
}

// counting adds up the verdicts of all schedules, those that were cut included: they end as the schedules
// do that went on from the state where they were cut.
type counting struct {
	s    *search
	memo map[counted]tally
}

// counted is a choice of a node, with what is left of the bound and of the depth.
type counted struct {
	at    link
	left  Bound
	depth int
}

// from counts the schedules that go on from a choice of a node, the one without a further deviation included.
func (c *counting) from(at link, left Bound, depth int) tally {
	key := counted{at, left, depth}
	if t, ok := c.memo[key]; ok {
		return t
	}
	var t tally
	n := &c.s.nodes[at.node]
	for _, p := range n.choices[at.place:] {
		for id := p.first; id < p.first+p.count; id++ {
			t.add(c.below(id, left, depth))
		}
	}
	if n.cut.node >= 0 {
		t.add(c.from(n.cut, left, depth))
	} else if n.verdict >= 0 {
		t.one(int(n.verdict), 1)
	}
	c.memo[key] = t
	return t
}

// below counts the schedules that begin as a node does, where the bound and the depth allow it.
func (c *counting) below(id int32, left Bound, depth int) tally {
	n := &c.s.nodes[id]
	if depth == 0 || left[n.kind] == 0 {
		return nil
	}
	left[n.kind]--
	if len(n.choices) > 0 {
		return c.from(link{id, 0}, left, depth-1)
	}
	if n.cut.node >= 0 {
		return c.from(n.cut, left, depth-1)
	}
	var t tally
	if n.verdict >= 0 {
		t.one(int(n.verdict), 1)
	}
	return t
}

// ideal returns the verdict of the schedule of a node alone.
func (s *search) ideal(id int32) (verdict int16) {
	n := &s.nodes[id]
	for n.cut.node >= 0 {
		n = &s.nodes[n.cut.node]
	}
	return n.verdict
}

func (s *search) named(t tally) map[string]uint64 {
	out := map[string]uint64{}
	for i, n := range t {
		if n > 0 {
			out[s.verdicts[i]] = n
		}
	}
	return out
}

// report counts what is decided up to a depth.
func (s *search) report(depth int, complete bool) *Report {
	r := &Report{Bound: s.o.Bound, Depth: depth, Complete: complete, CarriedOut: s.carried, Cut: s.cuts, Hits: s.hits, Problems: s.problems, Sites: len(s.sites), Verdicts: map[string]uint64{}}
	if depth < 0 {
		return r
	}
	c := &counting{s: s, memo: map[counted]tally{}}
	var all tally
	root := &s.nodes[0]
	if root.verdict >= 0 && s.o.Shard == 1 {
		all.one(int(root.verdict), 1)
		var ideal Cell
		ideal.one(s.verdicts[root.verdict], Schedule{})
		r.Cells = append(r.Cells, ideal)
	}
	for _, p := range root.choices {
		for id := p.first; id < p.first+p.count; id++ {
			all.add(c.below(id, s.o.Bound, depth))
			if depth > 0 {
				r.Cells = append(r.Cells, s.cells(c, id, depth)...)
			}
		}
	}
	r.Verdicts = s.named(all)
	for _, n := range all {
		r.Schedules += n
	}
	slices.SortStableFunc(r.Hits, func(a, b Hit) int { return len(a.Schedule) - len(b.Schedule) })
	return r
}

// cells returns what came of the schedules that begin with a node's deviation, by the deviation that follows.
func (s *search) cells(c *counting, id int32, depth int) []Cell {
	n := &s.nodes[id]
	first := s.deviation(n)
	alone := Cell{First: first}
	if v := s.ideal(id); v >= 0 {
		alone.one(s.verdicts[v], Schedule{first})
	}
	out := []Cell{alone}
	if depth < 2 {
		return out
	}
	left := n.left
	for at := (link{id, 0}); at.node >= 0; at = s.nodes[at.node].cut {
		n := &s.nodes[at.node]
		for _, p := range n.choices[at.place:] {
			for child := p.first; child < p.first+p.count; child++ {
				t := c.below(child, left, depth-1)
				if t == nil {
					continue
				}
				cell := Cell{First: first, Second: s.deviation(&s.nodes[child]), Verdicts: s.named(t), Shortest: map[string]Schedule{}}
				for v, n := range t {
					if n > 0 {
						cell.Shortest[s.verdicts[v]] = append(Schedule{first}, c.shortestBelow(child, left, v)...)
					}
				}
				out = append(out, cell)
			}
		}
	}
	return out
}

func (c *Cell) one(verdict string, s Schedule) {
	c.Verdicts, c.Shortest = map[string]uint64{verdict: 1}, map[string]Schedule{verdict: s}
}

func (s *search) deviation(n *node) Deviation {
	return Deviation{n.kind, s.texts[n.site], s.texts[n.alt]}
}

// has reports whether a schedule ends with a verdict.
func (t tally) has(verdict int) bool { return verdict < len(t) && t[verdict] > 0 }

// shortestBelow returns a shortest schedule that begins as a node does and ends with a verdict; there is one. It goes through
// the known states where schedules were cut.
func (c *counting) shortestBelow(id int32, left Bound, verdict int) (out Schedule) {
	depth := 1
	for !c.below(id, left, depth).has(verdict) {
		depth++
	}
	for {
		n := &c.s.nodes[id]
		out = append(out, c.s.deviation(n))
		left[n.kind]--
		if depth--; depth == 0 {
			return out
		}
		id = c.next(id, left, depth, verdict)
	}
}

// next returns the node of the next deviation after a node's, so that a schedule of depth more deviations ends with a verdict.
func (c *counting) next(id int32, left Bound, depth, verdict int) int32 {
	for at := (link{id, 0}); at.node >= 0; at = c.s.nodes[at.node].cut {
		n := &c.s.nodes[at.node]
		for _, p := range n.choices[at.place:] {
			for child := p.first; child < p.first+p.count; child++ {
				if c.below(child, left, depth).has(verdict) {
					return child
				}
			}
		}
	}
	panic("explore: a schedule that was counted is not there")
}
