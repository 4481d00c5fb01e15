package store

import (
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

// Prune takes away the runs that ended before a time, except open and unreconciled ones, what a run that stays has
// called, and what has called a run that stays. Their delivery keys are free again. The file is rewritten smaller;
// appends wait meanwhile.
func (s *Store) Prune(before time.Time, dryRun bool) (report PruneReport, err error) {
	err = s.between(func() (err error) {
		if report, err = s.writer.choose(before); err != nil || dryRun || report.Runs == 0 {
			return err
		}
		size, err := s.writer.size()
		if err != nil {
			return err
		}
		if err := s.file.conn.transaction(s.writer.prune); err != nil {
			return err
		}
		left, err := s.writer.compact()
		if err != nil {
			return fmt.Errorf("the runs are pruned, but the file could not be made smaller: %w", err)
		}
		report.Freed = size - left
		return nil
	})
	return report, err
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

// prune takes the chosen runs away, and what nothing refers to any more.
func (w *writer) prune() error {
	clear(w.runs)
	clear(w.documents)
	for _, query := range []string{
		`INSERT INTO pruned SELECT max(seq) FROM events`,
		`DELETE FROM pruned WHERE seq < (SELECT max(seq) FROM pruned)`,
		`DELETE FROM deliveries WHERE run IN (SELECT num FROM going)`,
		`DELETE FROM children WHERE run IN (SELECT num FROM going)`,
		`DELETE FROM keys WHERE run IN (SELECT num FROM going)`,
		`DELETE FROM events WHERE run IN (SELECT num FROM going)`,
		`DELETE FROM bodies WHERE run IN (SELECT num FROM going)`,
		`DELETE FROM commands WHERE run IN (SELECT num FROM going)`,
		`DELETE FROM runs WHERE num IN (SELECT num FROM going)`,
		`DELETE FROM documents WHERE num NOT IN (SELECT document FROM runs)`,
	} {
		if err := w.conn.exec(query); err != nil {
			return err
		}
	}
	return nil
}

// compact rewrites the file without holes and gives its size.
func (w *writer) compact() (int64, error) {
	for _, query := range []string{`VACUUM`, `PRAGMA wal_checkpoint(TRUNCATE)`} {
		if err := w.conn.exec(query); err != nil {
			return 0, err
		}
	}
	return w.size()
}
