package store

import (
	"database/sql/driver"
	"slices"
	"time"

	"faultlab/engine"
)

// writer turns groups of appends into transactions. Only the store's writing goroutine uses it.
type writer struct {
	conn         *conn
	lastRun      int64
	lastDocument int64
	runs         map[string]*run      // runs that were looked at lately: a cache
	documents    map[string]*document // by hash: a cache
	lookUp       bool                 // look for each run that is admitted, whether it is there
	batch        batch
}

// maxCached bounds the caches. Above it they begin anew.
const maxCached = 4096

// run is what the writer knows of one run.
type run struct {
	num      int64
	document int64 // its document's number; known until it has a row
	summary  engine.Summary
	last     int64    // its newest row of events
	kept     []string // the steps that have bodies on disk

	// Of the batch at hand.
	touched bool
	lines   lines
	bodies  []body
	drop    []string // steps whose bodies on disk go
	dropAll bool
}

type document struct {
	num   int64
	whole bool // its source is on disk, or on its way there
}

type body struct {
	seq  int64
	step string
	data []byte
}

// batch is what the appends of one group come to: the runs, and the rows of the other tables.
type batch struct {
	touched []*run
	taken   map[any]bool // each deliveryID and childID of its admissions

	documents, deliveries, children, commands, keys, addresses []driver.Value
}

type deliveryID struct{ workflow, trigger, key string }
type childID struct{ run, step, name string }

func newWriter(c *conn) (w *writer, err error) {
	w = &writer{conn: c, runs: map[string]*run{}, documents: map[string]*document{}}
	if w.lastRun, err = c.number("SELECT max(num) FROM runs"); err != nil {
		return nil, err
	}
	w.lastDocument, err = c.number("SELECT max(num) FROM documents")
	return w, err
}

// lastPlace is the last place in the history that was ever given and durable.
func (w *writer) lastPlace() (int64, error) {
	last, err := w.conn.number("SELECT max(seq) FROM events")
	if err != nil {
		return 0, err
	}
	pruned, err := w.conn.number("SELECT max(seq) FROM pruned")
	return max(last, pruned), err
}

// commit makes a group durable, all of it or nothing. Appends that break a rule are left out, with their ticket's error.
func (w *writer) commit(g *group[[]entry]) error {
	err := w.write(g)
	if isDuplicate(err) {
		// A run that was admitted as a new one is there already. That is so rare that
		// it is looked for only now, and not before each admission.
		clear(w.runs)
		clear(w.documents)
		w.lookingUp(func() { err = w.write(g) })
	}
	if err == nil {
		w.committed()
	}
	return err
}

func (w *writer) write(g *group[[]entry]) error {
	w.batch = batch{taken: map[any]bool{}}
	return w.conn.transaction(func() error {
		for _, t := range g.appends {
			if err := w.recordOrRefuse(t); err != nil {
				return err
			}
		}
		return w.flush()
	})
}

func (w *writer) lookingUp(do func()) {
	defer func(before bool) { w.lookUp = before }(w.lookUp)
	w.lookUp = true
	do()
}

func (w *writer) recordOrRefuse(t *ticket[[]entry]) error {
	refusal, err := w.refuses(t.item)
	if refusal != nil { // perhaps by a rule that another event breaks first
		w.lookingUp(func() { refusal, err = w.refuses(t.item) })
	}
	if err != nil || refusal != nil {
		t.err = refusal
		return err
	}
	for i := range t.item {
		e := &t.item[i]
		e.Seq = t.last - int64(len(t.item)-1-i)
		if err := w.record(e); err != nil {
			return err
		}
	}
	return nil
}

// find is the run with this id, nil if there is none.
func (w *writer) find(id string) (*run, error) {
	if r := w.runs[id]; r != nil {
		return r, nil
	}
	var r *run
	err := w.conn.rows(`SELECT num, last, `+summaryColumns+` FROM runs WHERE id = ?`, func(row []driver.Value) error {
		r = &run{num: row[0].(int64), last: row[1].(int64), summary: summaryOf(row[2:])}
		return nil
	}, id)
	if r == nil || err != nil {
		return nil, err
	}
	err = w.conn.rows(`SELECT DISTINCT step FROM bodies WHERE run = ?`, func(row []driver.Value) error {
		r.kept = append(r.kept, row[0].(string))
		return nil
	}, r.num)
	w.runs[id] = r
	return r, err
}

// refuses says which rule an append breaks.
func (w *writer) refuses(entries []entry) (refusal, err error) {
	var fresh []engine.Event // the admissions of this append
	for i := range entries {
		e := &entries[i]
		a, admits := e.Fact.(engine.Admitted)
		known := w.runs[e.Run] != nil || slices.ContainsFunc(fresh, func(f engine.Event) bool { return f.Run == e.Run })
		if !known && (!admits || w.lookUp) {
			r, err := w.find(e.Run)
			if err != nil {
				return nil, err
			}
			known = r != nil
		}
		switch {
		case admits && known:
			return &engine.RefusedError{Run: e.Run, Why: engine.RefusedKnownRun}, nil
		case !admits && !known:
			return &engine.RefusedError{Run: e.Run, Why: engine.RefusedUnknownRun}, nil
		case !admits:
			continue
		}
		if why, err := w.taken(a, fresh); err != nil || why != "" {
			return &engine.RefusedError{Run: e.Run, Why: why}, err
		}
		fresh = append(fresh, e.Event)
	}
	return nil, nil
}

// taken says which identity of an admission belongs to another run: in this append, in this batch or on disk.
func (w *writer) taken(a engine.Admitted, fresh []engine.Event) (why string, err error) {
	d, c := deliveryOf(a), childOf(a)
	for _, f := range fresh {
		b := f.Fact.(engine.Admitted)
		switch {
		case d.key != "" && deliveryOf(b) == d:
			return engine.RefusedDelivery, nil
		case a.Parent != nil && b.Parent != nil && childOf(b) == c:
			return engine.RefusedChild, nil
		}
	}
	if d.key != "" {
		n, err := w.conn.number(`SELECT 1 FROM deliveries WHERE workflow = ? AND "trigger" = ? AND "key" = ?`, d.workflow, d.trigger, d.key)
		if n != 0 || err != nil || w.batch.taken[d] {
			return engine.RefusedDelivery, err
		}
	}
	if a.Parent != nil {
		n, err := w.conn.number(`SELECT 1 FROM children WHERE parent = ? AND step = ? AND name = ?`, c.run, c.step, c.name)
		if n != 0 || err != nil || w.batch.taken[c] {
			return engine.RefusedChild, err
		}
	}
	return "", nil
}

func deliveryOf(a engine.Admitted) deliveryID { return deliveryID{a.Workflow, a.Trigger, a.Delivery} }

func childOf(a engine.Admitted) childID {
	if a.Parent == nil {
		return childID{}
	}
	return childID{a.Parent.Run, a.Parent.Step, a.Parent.Name}
}

func nanos(t time.Time) driver.Value {
	if t.IsZero() {
		return nil
	}
	return t.UnixNano()
}
