package explore

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
)

// batch is how many schedules are carried out against one and the same cache. It does not depend on the number of jobs, so that the report does not either.
const batch = 32

// node is one schedule: its parent's, and one deviation more.
type node struct {
	parent  int32
	site    int32 // of its last deviation, in search.sites
	alt     int32 // likewise
	kind    Kind
	verdict int16 // in search.verdicts; -1 where it was cut
	left    Bound // of the search's bound
	choices []place
	cut     link
}

// place is a choice that a node passed after its last deviation.
type place struct {
	state State
	first int32 // the node of its first alternative; the others follow
	count int32 // of the nodes
}

// link is a choice of a node: where the same state was met before. node is -1 for none.
type link struct{ node, place int32 }

// known is a state from which the search goes on elsewhere, with so much of the bound left.
type known struct {
	left Bound
	at   link
}

type search struct {
	w     World
	o     Options
	nodes []node
	cache map[State]known
	more  map[State][]known // of the few states that several are known of, none of which covers another

	names    map[string]int32 // interned sites and alternatives
	texts    []string
	verdicts []string
	hits     []Hit
	found    map[[2]string]bool
	problems []Problem
	carried  int
	cuts     int
	sites    map[int32]bool
}

// Search carries out the schedules of a world. It ends early when ctx is over, with what is
// known by then. An error is the world's own: it could not be carried out at all.
func Search(ctx context.Context, w World, o Options) (*Report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &search{w: w, o: o, cache: map[State]known{}, more: map[State][]known{}, names: map[string]int32{}, found: map[[2]string]bool{}, sites: map[int32]bool{}}
	s.nodes = append(s.nodes, node{parent: -1, left: o.Bound, cut: link{node: -1}})
	depth, from := -1, 0
	for from < len(s.nodes) {
		to := len(s.nodes)
		whole, err := s.level(ctx, depth+1, from, to)
		if err != nil {
			return nil, err
		}
		if !whole {
			return s.report(depth, false), nil
		}
		depth, from = depth+1, to
	}
	return s.report(o.Bound.Total(), true), nil
}

// level carries out the schedules of one depth and queues those of the next.
func (s *search) level(ctx context.Context, depth, from, to int) (whole bool, err error) {
	for at := from; at < to; at += batch {
		if ctx.Err() != nil {
			return false, nil
		}
		end := min(at+batch, to)
		runs, err := s.execute(ctx, at, end)
		if err != nil {
			if ctx.Err() != nil {
				return false, nil
			}
			return false, err
		}
		for i, r := range runs {
			if !s.take(int32(at+i), r) {
				return false, nil
			}
		}
		for i, r := range runs {
			s.remember(int32(at+i), r)
		}
		if s.o.Progress != nil {
			s.o.Progress(Progress{Depth: depth, Done: end - from, Queued: to - from, Decided: end, Hits: slices.Clip(s.hits), Ends: s.ends(at, runs)})
		}
	}
	return true, nil
}

// ends returns how the schedules of the nodes from one on end.
func (s *search) ends(from int, runs []*execution) []End {
	out := make([]End, 0, len(runs))
	for i, r := range runs {
		if v := s.ideal(int32(from + i)); v >= 0 {
			out = append(out, End{r.schedule, s.verdicts[v]})
		}
	}
	return out
}

// execute carries out a range of schedules, several at once.
func (s *search) execute(ctx context.Context, from, to int) ([]*execution, error) {
	out := make([]*execution, to-from)
	errs := make([]error, to-from)
	var wg sync.WaitGroup
	next := make(chan int, to-from)
	for i := range out {
		next <- i
	}
	close(next)
	for range min(s.o.Jobs, to-from) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				out[i], errs[i] = s.one(ctx, int32(from+i))
			}
		}()
	}
	wg.Wait()
	return out, errors.Join(errs...)
}

// one carries out one schedule, and some of them once more.
func (s *search) one(ctx context.Context, id int32) (*execution, error) {
	e, err := s.run(ctx, id, false)
	if err != nil || s.o.Twice < 0 || int(id)%s.o.Twice != 0 {
		return e, err
	}
	again, err := s.run(ctx, id, true)
	if err != nil {
		return nil, err
	}
	e.compare(again)
	if at := e.cut.node; at >= 0 {
		if v := s.ideal(at); v >= 0 && s.verdicts[v] != again.result.Verdict {
			e.result.Problems = append(e.result.Problems, fmt.Sprintf("unsound: cut at a known state it counts as %s like (%s), carried out it is %s",
				s.verdicts[v], s.schedule(at), again.result.Verdict))
		}
	}
	return e, nil
}

func (s *search) run(ctx context.Context, id int32, whole bool) (e *execution, err error) {
	n := &s.nodes[id]
	e = &execution{s: s, schedule: s.schedule(id), left: n.left, whole: whole, cut: link{node: -1}}
	defer func() {
		if v := recover(); v != nil {
			e.result.Problems = append(e.result.Problems, fmt.Sprintf("panic: %v", v))
		}
	}()
	e.result, err = s.w.Run(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.schedule, err)
	}
	if e.next < len(e.schedule) && e.cut.node < 0 {
		e.result.Problems = append(e.result.Problems, "not repeatable: "+e.schedule[e.next].Site+" was not reached again")
	}
	return e, nil
}

// schedule returns the deviations of a node.
func (s *search) schedule(id int32) Schedule {
	var out Schedule
	for n := &s.nodes[id]; n.parent >= 0; n = &s.nodes[n.parent] {
		out = append(out, Deviation{n.kind, s.texts[n.site], s.texts[n.alt]})
	}
	slices.Reverse(out)
	return out
}

// take keeps what an execution showed and queues its alternatives. It reports false where there are more than may be kept.
func (s *search) take(id int32, e *execution) bool {
	n := &s.nodes[id]
	n.cut, n.verdict = e.cut, -1
	for _, p := range e.result.Problems {
		s.problem(p, e.schedule)
	}
	if e.cut.node < 0 {
		s.carried++
		n.verdict = s.verdict(e.result.Verdict)
		if key := [2]string{e.result.Verdict, e.result.Cause}; !s.found[key] {
			s.found[key] = true
			s.hits = append(s.hits, Hit{e.result.Verdict, e.result.Cause, e.schedule})
		}
	} else {
		s.cuts++
	}
	choices := make([]place, len(e.passed))
	left := n.left
	for i, p := range e.passed {
		choices[i] = place{state: p.state, first: int32(len(s.nodes))}
		s.sites[s.intern(p.site)] = true
		if left[p.kind] == 0 {
			continue
		}
		rest := left
		rest[p.kind]--
		for _, alt := range p.alts {
			if id == 0 && !s.mine(p.site, alt) {
				continue
			}
			if len(s.nodes) >= s.o.Most {
				return false
			}
			s.nodes = append(s.nodes, node{parent: id, site: s.intern(p.site), alt: s.intern(alt), kind: p.kind, left: rest, cut: link{node: -1}, verdict: -1})
			choices[i].count++
		}
	}
	if left != (Bound{}) {
		s.nodes[id].choices = choices
	}
	return true
}

// mine reports whether the schedules that begin with a deviation are this shard's.
func (s *search) mine(site, alt string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(site + "\x00" + alt))
	return int(h.Sum32()%uint32(s.o.Shards))+1 == s.o.Shard
}

// remember makes the states that a node went on from known.
func (s *search) remember(id int32, e *execution) {
	if s.o.NoCache || id == 0 && s.o.Shards > 1 { // another shard goes on from there too
		return
	}
	left := s.nodes[id].left
	for i, p := range e.passed {
		if _, ok := s.look(p.state, left); ok {
			continue
		}
		k := known{left, link{id, int32(i)}}
		if left == (Bound{}) {
			k.at.place = 0 // it has no alternatives, and keeps no places
		}
		if old, ok := s.cache[p.state]; ok && !left.covers(old.left) {
			s.more[p.state] = append(s.more[p.state], k)
		} else {
			s.cache[p.state] = k
		}
		if left == (Bound{}) {
			break // most schedules have nothing left: one state of each is kept
		}
	}
}

// look returns where the search went on from a state with no less of the bound left.
func (s *search) look(state State, left Bound) (link, bool) {
	if k, ok := s.cache[state]; !ok {
		return link{}, false
	} else if k.left.covers(left) {
		return k.at, true
	}
	for _, k := range s.more[state] {
		if k.left.covers(left) {
			return k.at, true
		}
	}
	return link{}, false
}

func (s *search) intern(text string) int32 {
	i, ok := s.names[text]
	if !ok {
		i = int32(len(s.texts))
		s.names[text] = i
		s.texts = append(s.texts, text)
	}
	return i
}

func (s *search) verdict(v string) int16 {
	i := slices.Index(s.verdicts, v)
	if i < 0 {
		i = len(s.verdicts)
		s.verdicts = append(s.verdicts, v)
	}
	return int16(i)
}

func (s *search) problem(text string, schedule Schedule) {
	i := slices.IndexFunc(s.problems, func(p Problem) bool { return p.Text == text })
	if i < 0 {
		s.problems = append(s.problems, Problem{Text: text, Schedule: schedule, Count: 1})
		return
	}
	s.problems[i].Count++
}

// passed is a choice of an execution after its last deviation.
type passed struct {
	site  string
	kind  Kind
	alts  []string
	state State
}

// execution answers the choices of one schedule and keeps those that come after its last deviation.
type execution struct {
	s        *search
	schedule Schedule
	left     Bound
	whole    bool // never cut
	next     int  // the deviation to come
	passed   []passed
	cut      link
	result   Result
}

// Choose answers a choice.
func (e *execution) Choose(c Choice) int {
	if e.cut.node >= 0 {
		return Stop
	}
	if e.next < len(e.schedule) {
		d := e.schedule[e.next]
		if d.Site != c.Site {
			return Ideal
		}
		e.next++
		if i := slices.Index(c.Alts, d.Alt); i >= 0 {
			return i + 1
		}
		e.result.Problems = append(e.result.Problems, fmt.Sprintf("not repeatable: %s cannot %s any more", c.Site, d.Alt))
		return Ideal
	}
	if e.left == (Bound{}) && e.s.o.NoCache {
		return Ideal
	}
	state := c.State()
	if !e.whole && !e.s.o.NoCache {
		if at, ok := e.s.look(state, e.left); ok {
			e.cut = at
			return Stop
		}
	}
	e.passed = append(e.passed, passed{c.Site, c.Kind, c.Alts, state})
	return Ideal
}

// compare notes where a second execution of the same schedule went another way.
func (e *execution) compare(o *execution) {
	differs := len(o.passed) < len(e.passed) || e.cut.node < 0 && o.result.Trace != e.result.Trace
	for i := range min(len(e.passed), len(o.passed)) {
		differs = differs || e.passed[i].site != o.passed[i].site || e.passed[i].state != o.passed[i].state
	}
	if differs {
		e.result.Problems = append(e.result.Problems, "not repeatable: carried out twice, this schedule went two ways")
	}
}
