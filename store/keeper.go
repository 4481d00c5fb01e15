package store

import "database/sql/driver"

// keeper moves the log into the file, beside the writer: a commit never waits for it.
//
// While the writer goes on, a checkpoint cannot reach the log's end, and only a log
// that was copied to its end begins anew. So the keeper copies most of it on a connection
// of its own and then has the writer copy the rest, a few pages, between two commits.
type keeper struct {
	store *Store
	conn  *conn
	asked chan struct{}
	quit  chan struct{}

	// Of the writing goroutine.
	written int // pages written to the log in all
	since   int // the same, when the log was last seen to begin anew
}

// Pages (4 KiB) in the log from which on it is copied, and how many the writer may be left with.
const (
	pagesToCopy = 2000
	pagesAtOnce = 200
)

func newKeeper(s *Store) (*keeper, error) {
	c, err := dial(s.path, "rw", "busy_timeout(5000)", "synchronous(FULL)", "wal_autocheckpoint(0)", "cache_size(-256)")
	if err != nil {
		return nil, err
	}
	return &keeper{store: s, conn: c, asked: make(chan struct{}, 1), quit: make(chan struct{})}, nil
}

// wrote is called by the writer after each commit.
func (k *keeper) wrote(pages int) {
	k.written = pages
	if k.written-k.since < pagesToCopy {
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
		left, err := k.conn.copyLog()
		if err != nil {
			return err
		}
		if left <= pagesAtOnce {
			break
		}
	}
	return k.store.between(func(w *writer) error {
		left, err := w.conn.copyLog()
		if err == nil && left == 0 {
			k.since = w.pagesWritten()
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
