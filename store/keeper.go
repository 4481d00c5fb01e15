package store

import "database/sql/driver"

// keeper moves the log into the file, beside the writer: a commit never waits for it.
//
// While the writer goes on, a checkpoint cannot reach the log's end, and only a log
// that was copied to its end begins anew. So the keeper copies most of it on a connection
// of its own and then has the writer copy the rest, a few pages, between two commits.
type keeper struct {
	file    *file
	between func(do func() error) error // has the writer do something between two commits
	asked   chan struct{}
	quit    chan struct{}
	since   int // pages written when the log was last seen to begin anew; the writer's
}

// Pages (4 KiB) in the log from which on it is copied, and how many the writer may be left with.
const (
	pagesToCopy = 2000
	pagesAtOnce = 200
)

func newKeeper(f *file, between func(func() error) error) *keeper {
	return &keeper{file: f, between: between, asked: make(chan struct{}, 1), quit: make(chan struct{})}
}

// wrote is called by the writer after each commit.
func (k *keeper) wrote() {
	if k.file.conn.pagesWritten()-k.since < pagesToCopy {
		return
	}
	select {
	case k.asked <- struct{}{}:
	default:
	}
}

func (k *keeper) stop() { close(k.quit) }

func (k *keeper) run() {
	for {
		select {
		case <-k.quit:
			return
		case <-k.asked:
			// An error is nobody's: a log that was not copied is whole, and is copied another time.
			// Should the disk be full, the writer's next commit says so.
			_ = guarded(k.checkpoint)
		}
	}
}

func (k *keeper) checkpoint() error {
	for range 4 { // each round leaves what was written during the one before
		left, err := k.file.log.copyLog()
		if err != nil {
			return err
		}
		if left <= pagesAtOnce {
			break
		}
	}
	return k.between(func() error {
		left, err := k.file.conn.copyLog()
		if err == nil && left == 0 {
			k.since = k.file.conn.pagesWritten()
		}
		return err
	})
}

// copyLog copies what it can of the log into the file without waiting for anybody, and tells how many pages are left.
func (c *conn) copyLog() (left int64, err error) {
	err = c.rows("PRAGMA wal_checkpoint(PASSIVE)", func(row []driver.Value) error {
		all, _ := row[1].(int64)
		copied, _ := row[2].(int64)
		left = all - copied
		return nil
	})
	return left, err
}
