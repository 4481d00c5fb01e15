package store

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"time"
)

// PruneReport says what pruning took away, or would.
type PruneReport struct {
	Runs         int   // that go, with everything known of them
	Events       int   // of these runs
	Open         int   // that stay because they have not ended
	Unreconciled int   // that stay because an operation of theirs is unknown
	Freed        int64 // bytes that the file lost; 0 in a dry run
}

// pruneAtOnce bounds the runs of one transaction, so that appends can go in between.
const pruneAtOnce = 200

// Prune takes away the runs that ended before a time, except open and unreconciled
// ones, what a run that stays has called, and what has called a run that stays. Their delivery keys are free again. At
// the end the file is rewritten smaller; appends wait for that.
func (s *Store) Prune(before time.Time, dryRun bool) (report PruneReport, err error) {
	if err = s.between(func() error { report, err = s.writer.choose(before); return err }); err != nil || dryRun || report.Runs == 0 {
		return report, err
	}
	if err := s.between(func() error {
		if report.Freed, err = s.writer.size(); err != nil {
			return err
		}
		return s.file.conn.transaction(s.writer.freeIdentities)
	}); err != nil {
		return report, err
	}
	for left := true; left; {
		if err := s.between(func() error {
			return s.file.conn.transaction(func() error { left, err = s.writer.pruneSome(); return err })
		}); err != nil {
			return report, err
		}
	}
	if err := s.between(s.writer.compact); err != nil {
		return report, fmt.Errorf("the runs are pruned, but the file could not be made smaller: %w", err)
	}
	return report, s.between(func() error {
		size, err := s.writer.size()
		report.Freed -= size
		return err
	})
}

// size is the length of the file once its log is empty.
func (w *writer) size() (int64, error) {
	pages, err1 := w.conn.number(`PRAGMA page_count`)
	bytes, err2 := w.conn.number(`PRAGMA page_size`)
	return pages * bytes, errors.Join(err1, err2)
}

// choose puts the runs that go into the table going.
func (w *writer) choose(before time.Time) (report PruneReport, err error) {
	if err := w.conn.script(`DROP TABLE IF EXISTS going; CREATE TEMP TABLE going(num INTEGER PRIMARY KEY)`); err != nil {
		return report, err
	}
	if err := w.conn.exec(`INSERT INTO going SELECT num FROM runs WHERE NOT open AND NOT reconcile AND ended < ?`, before.UnixNano()); err != nil {
		return report, err
	}
	for kept := int64(1); kept > 0; { // families go together, or stay
		if err := w.conn.exec(`DELETE FROM going WHERE num IN (SELECT c.run FROM children c JOIN runs p ON p.id = c.parent
				WHERE p.num NOT IN (SELECT num FROM going)
			UNION ALL SELECT p.num FROM children c JOIN runs p ON p.id = c.parent
				WHERE c.run NOT IN (SELECT num FROM going))`); err != nil {
			return report, err
		}
		if kept, err = w.conn.number(`SELECT changes()`); err != nil {
			return report, err
		}
	}
	for query, n := range map[string]*int{
		`SELECT count(*) FROM going`: &report.Runs,
		`SELECT coalesce(sum(1 + length(data) - length(replace(data, char(10), ''))), 0) FROM events WHERE run IN (SELECT num FROM going)`: &report.Events,
		`SELECT count(*) FROM runs WHERE open`:                   &report.Open,
		`SELECT count(*) FROM runs WHERE reconcile AND NOT open`: &report.Unreconciled,
	} {
		count, err := w.conn.number(query)
		if err != nil {
			return report, err
		}
		*n = int(count)
	}
	return report, nil
}

// freeIdentities comes first: a crash after it leaves runs that can be pruned again,
// never a delivery key that belongs to a run which is not there.
func (w *writer) freeIdentities() error {
	for _, query := range []string{
		`INSERT INTO pruned SELECT max(seq) FROM events`,
		`DELETE FROM pruned WHERE seq < (SELECT max(seq) FROM pruned)`,
		`DELETE FROM deliveries WHERE run IN (SELECT num FROM going)`,
		`DELETE FROM children WHERE run IN (SELECT num FROM going)`,
		`DELETE FROM keys WHERE run IN (SELECT num FROM going)`,
	} {
		if err := w.conn.exec(query); err != nil {
			return err
		}
	}
	return nil
}

// pruneSome takes the next few runs away and reports whether there may be more.
func (w *writer) pruneSome() (left bool, err error) {
	var nums []driver.Value
	err = w.conn.rows(`SELECT num FROM going JOIN runs USING (num) WHERE NOT open AND NOT reconcile LIMIT ?`, func(row []driver.Value) error {
		nums = append(nums, row[0])
		return nil
	}, int64(pruneAtOnce))
	if err != nil {
		return false, err
	}
	for _, num := range nums {
		for _, query := range []string{
			`WITH RECURSIVE row(seq) AS (SELECT last FROM runs WHERE num = ?
				UNION ALL SELECT before FROM row JOIN events USING (seq) WHERE before > 0)
				DELETE FROM events WHERE seq IN (SELECT seq FROM row)`,
			`DELETE FROM bodies WHERE run = ?`,
			`DELETE FROM runs WHERE num = ?`,
			`DELETE FROM going WHERE num = ?`,
		} {
			if err := w.conn.exec(query, num); err != nil {
				return false, err
			}
		}
	}
	clear(w.runs)
	return len(nums) == pruneAtOnce, nil
}

// compact drops what nothing refers to any more and rewrites the file without holes.
func (w *writer) compact() error {
	clear(w.documents)
	for _, query := range []string{
		`DELETE FROM documents WHERE num NOT IN (SELECT document FROM runs)`,
		`DELETE FROM commands WHERE run NOT IN (SELECT num FROM runs)`,
		`VACUUM`,
		`PRAGMA wal_checkpoint(TRUNCATE)`,
	} {
		if err := w.conn.exec(query); err != nil {
			return err
		}
	}
	return nil
}
