package store

import (
	"cmp"
	"database/sql/driver"
	"slices"

	"faultlab/engine"
)

// record adds one event to the batch.
func (w *writer) record(e *entry) error {
	a, admits := e.Fact.(engine.Admitted)
	if admits {
		w.lastRun++
		w.runs[e.Run] = &run{num: w.lastRun}
	}
	r, err := w.find(e.Run)
	if err != nil {
		return err
	}
	if !r.touched {
		r.touched = true
		w.batch.touched = append(w.batch.touched, r)
	}
	if admits {
		if err := w.admit(r, a); err != nil {
			return err
		}
	}
	r.lines.add(e)
	if id := engine.CommandOf(e.Fact); id != "" {
		w.batch.commands = append(w.batch.commands, id, r.num)
	}
	if key := engine.SharedKey(e.Fact); key != "" {
		w.batch.keys = append(w.batch.keys, key, r.num)
	}
	if address := engine.ProvenAddress(e.Fact); address != "" {
		w.batch.addresses = append(w.batch.addresses, address)
	}
	if b := engine.Body(e.Fact); b != nil {
		r.bodies = append(r.bodies, body{e.Seq, engine.StepOf(e.Fact), b})
	}
	r.summary, _ = engine.Summarize(r.summary, e.Event)
	if step, ok := engine.Settles(e.Event); ok {
		r.dropBodies(step)
	}
	return nil
}

func (w *writer) admit(r *run, a engine.Admitted) (err error) {
	r.document, err = w.document(a)
	if a.Delivery != "" {
		w.batch.taken[deliveryOf(a)] = true
		w.batch.deliveries = append(w.batch.deliveries, a.Workflow, a.Trigger, a.Delivery, r.num, a.Digest)
	}
	if p := a.Parent; p != nil {
		w.batch.taken[childOf(a)] = true
		w.batch.children = append(w.batch.children, p.Run, p.Step, p.Name, r.num)
	}
	return err
}

// document is the number of the document that a run was admitted with. Its source may come with a later run.
func (w *writer) document(a engine.Admitted) (num int64, err error) {
	hash, source := besides(a)
	d := w.documents[hash]
	if d == nil {
		num, err := w.conn.number(`SELECT num FROM documents WHERE hash = ?`, hash)
		if err != nil {
			return 0, err
		}
		if num == 0 {
			w.lastDocument++
			num = w.lastDocument
		}
		d = &document{num: num}
		w.documents[hash] = d
	}
	if !d.whole {
		w.batch.documents = append(w.batch.documents, d.num, hash, source)
		d.whole = source != ""
	}
	return d.num, nil
}

// besides is the row of documents for an admission: the document and, before it, what
// was declared to be assumed, so that each pair of them is kept once.
func besides(a engine.Admitted) (hash, source string) {
	if a.Assume == "" {
		return a.Definition, a.Source
	}
	if a.Source == "" { // it may come with a later run
		return a.Definition + " " + a.Assume, ""
	}
	return a.Definition + " " + a.Assume, a.Assumed + "\x00" + a.Source
}

// dropBodies drops the bodies of a step, or of all steps: those of this batch before they are written.
func (r *run) dropBodies(step string) {
	if step == "" {
		r.bodies = nil
		r.dropAll = len(r.kept) > 0
		return
	}
	r.bodies = slices.DeleteFunc(r.bodies, func(b body) bool { return b.step == step })
	if slices.Contains(r.kept, step) {
		r.drop = append(r.drop, step)
	}
}

var (
	writeRuns = newBulk("INSERT INTO runs VALUES ", "(?,?,?,?,?,?,?,?,?,?,?)", " ON CONFLICT(num) DO UPDATE SET"+
		" status = excluded.status, open = excluded.open, reconcile = excluded.reconcile, ended = excluded.ended, last = excluded.last")
	writeDocuments   = newBulk("INSERT INTO documents VALUES ", "(?,?,?)", " ON CONFLICT DO UPDATE SET source = excluded.source WHERE source = ''")
	deleteBodies     = newBulk("DELETE FROM bodies WHERE run IN (", "?", ")")
	insertEvents     = inserts("events", 4)
	insertBodies     = inserts("bodies", 4)
	insertDeliveries = inserts("deliveries", 5)
	insertChildren   = inserts("children", 4)
	insertCommands   = newBulk("INSERT OR IGNORE INTO commands VALUES ", "(?,?)", "")
	insertKeys       = newBulk("INSERT OR IGNORE INTO keys VALUES ", "(?,?)", "")
	insertAddresses  = newBulk("INSERT OR IGNORE INTO addresses VALUES ", "(?)", "")
)

// flush writes the batch. Bodies that go are dropped before new ones of the same step are kept.
func (w *writer) flush() error {
	b := &w.batch
	var runs, settled, events, bodies []driver.Value
	slices.SortFunc(b.touched, func(a, b *run) int { return cmp.Compare(a.lines.seq, b.lines.seq) })
	for _, r := range b.touched {
		s := r.summary
		runs = append(runs, r.num, s.Run, s.Workflow, string(s.Status), !s.Status.Ended(), s.Reconcile,
			s.Admitted.UnixNano(), nanos(s.Ended), optional(s.RerunOf), r.lines.seq, r.document)
		if r.dropAll {
			settled = append(settled, r.num)
		} else if err := w.dropSteps(r); err != nil {
			return err
		}
		events = append(events, r.lines.seq, r.num, r.last, string(r.lines.text))
		for _, b := range r.bodies {
			bodies = append(bodies, r.num, b.seq, b.step, b.data)
		}
	}
	for _, table := range []struct {
		bulk bulk
		rows []driver.Value
	}{
		{writeRuns, runs}, {insertEvents, events}, {deleteBodies, settled}, {insertBodies, bodies}, {insertDeliveries, b.deliveries},
		{insertChildren, b.children}, {writeDocuments, b.documents}, {insertCommands, b.commands}, {insertKeys, b.keys}, {insertAddresses, b.addresses},
	} {
		if err := w.conn.bulk(table.bulk, table.rows); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) dropSteps(r *run) error {
	for _, step := range r.drop {
		if err := w.conn.exec(`DELETE FROM bodies WHERE run = ? AND step = ?`, r.num, step); err != nil {
			return err
		}
	}
	return nil
}

// committed brings what the writer knows of the runs up to date, and forgets those that need no more.
func (w *writer) committed() {
	for _, r := range w.batch.touched {
		r.kept = slices.DeleteFunc(r.kept, func(step string) bool { return r.dropAll || slices.Contains(r.drop, step) })
		for _, b := range r.bodies {
			if !slices.Contains(r.kept, b.step) {
				r.kept = append(r.kept, b.step)
			}
		}
		r.last, r.touched, r.dropAll, r.bodies, r.drop = r.lines.seq, false, false, nil, nil
		r.lines.reset()
		if r.summary.Status.Ended() {
			delete(w.runs, r.summary.Run)
		}
	}
	if len(w.runs) > maxCached {
		clear(w.runs)
	}
	if len(w.documents) > maxCached {
		clear(w.documents)
	}
	w.batch = batch{}
}

func optional(text string) driver.Value {
	if text == "" {
		return nil
	}
	return text
}
