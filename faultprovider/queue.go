package faultprovider

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"faultlab/faultprovider/fault"
)

// queue is the faults to come. A request takes the first one that is meant for it.
type queue struct {
	faults []Fault
	seen   []int // how many requests each one could have taken
	random *rand.Rand
	choose func(Arrival) (Fault, bool) // see Options.Choose; nil where nobody chooses
}

func newQueue(seed int64, choose func(Arrival) (Fault, bool)) queue {
	return queue{random: rand.New(rand.NewPCG(uint64(seed), 0)), choose: choose}
}

func (q *queue) set(faults []Fault) {
	q.faults = append([]Fault{}, faults...)
	q.seen = make([]int, len(faults))
}

func (q *queue) add(faults []Fault) {
	q.faults = append(q.faults, faults...)
	q.seen = append(q.seen, make([]int, len(faults))...)
}

// take takes the fault for a request; nil if no fault is meant for it.
func (q *queue) take(m *match) *Taken {
	for i := range q.faults {
		if f := &q.faults[i]; meant(&f.On, m) && q.draw(i) {
			return &Taken{q.use(i), q.left()}
		}
	}
	if q.choose == nil {
		return nil
	}
	if f, ok := q.choose(Arrival{RequestID: m.id, Class: m.class, Collection: m.to.collection, Key: m.key}); ok {
		return &Taken{f, q.left()}
	}
	return nil
}

// meant reports whether a request is of the kind that a fault takes.
func meant(on *fault.On, m *match) bool {
	which := on.Requests
	if which == "" {
		which = fault.New
	}
	return (which == fault.Any || which == m.class) &&
		(on.Key == "" || on.Key == m.key) &&
		(on.Collection == "" || on.Collection == m.to.collection) && sentBy(on, m.id)
}

// sentBy reports whether a request's X-Request-Id, which a managed caller writes as run/step/attempt/number, is that of
// the step, the attempt and the request in it that a fault takes. A look-up's number has an l before it.
func sentBy(on *fault.On, id string) bool {
	if on.Step == "" && on.Attempt == 0 && on.Request == 0 {
		return true
	}
	part := strings.Split(id, "/")
	is := func(wanted int, text string) bool { return wanted == 0 || strconv.Itoa(wanted) == text }
	return len(part) == 4 && (on.Step == "" || on.Step == part[1]) && is(on.Attempt, part[2]) && is(on.Request, part[3])
}

// draw counts a request that the i-th fault could take and says whether it does.
func (q *queue) draw(i int) bool {
	on := &q.faults[i].On
	q.seen[i]++
	if q.seen[i] < on.Nth {
		return false
	}
	return on.Probability == 0 || q.random.Float64() < on.Probability
}

// use takes the i-th fault once.
func (q *queue) use(i int) Fault {
	f := q.faults[i]
	switch times := &q.faults[i].On.Times; {
	case *times == fault.Always:
	case *times > 1:
		*times--
	default:
		q.faults = append(q.faults[:i], q.faults[i+1:]...)
		q.seen = append(q.seen[:i], q.seen[i+1:]...)
	}
	return f
}

// left returns the faults that are still to come.
func (q *queue) left() []Fault { return append([]Fault{}, q.faults...) }
