package scenarios

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"faultlab/engine"
	"faultlab/engine/clock"
	"faultlab/store"
)

// databases are the databases of a bench's scripts. Statements take turns, first come first served by the bench's
// clock, so that the same scenario gives the same result whichever disk it runs on.
type databases struct {
	*store.Databases
	clk clock.Clock

	mu    sync.Mutex
	taken bool
	queue []clock.Event
}

var _ engine.Turns = (*databases)(nil)

// Do is the store's. A statement that has begun is carried out to its end, whatever becomes of its worker meanwhile:
// whether a kill reaches it in time would be chance, and not the bench's clock's to say.
func (d *databases) Do(ctx context.Context, connection json.RawMessage, operation string, input json.RawMessage) (json.RawMessage, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return d.Databases.Do(context.WithoutCancel(ctx), connection, operation, input)
}

// Write is Do for a write that leaves its mark.
func (d *databases) Write(ctx context.Context, m engine.Mark, connection json.RawMessage, operation string, input json.RawMessage) (json.RawMessage, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return d.Databases.Write(context.WithoutCancel(ctx), m, connection, operation, input)
}

// Turn implements engine.Turns.
func (d *databases) Turn() (done func()) {
	d.mu.Lock()
	if !d.taken {
		d.taken = true
		d.mu.Unlock()
		return d.next
	}
	mine := d.clk.NewEvent("the database")
	d.queue = append(d.queue, mine)
	d.mu.Unlock()
	mine.Wait()
	return d.next
}

// next gives the turn on.
func (d *databases) next() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.taken = len(d.queue) > 0; d.taken {
		d.queue[0].Set()
		d.queue = d.queue[1:]
	}
}

// place puts a script's database file into the bench's own folder, whatever path the document says.
func (b *Bench) place(path string) (string, error) {
	dir, err := b.folderOf()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, filepath.Clean(string(filepath.Separator)+path))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", fmt.Errorf("make a folder for the scenario's databases: %w", err)
	}
	return file, nil
}

// folderOf makes the folder for database files when it is first needed.
func (b *Bench) folderOf() (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.folder == "" {
		dir, err := os.MkdirTemp("", "faultlab-bench-")
		if err != nil {
			return "", fmt.Errorf("make a folder for the scenario's databases: %w", err)
		}
		b.folder = dir
	}
	return b.folder, nil
}

// countRows is how many rows a table of a script's database has.
func (b *Bench) countRows(database, table string) (n int, err error) {
	connection, err := json.Marshal(map[string]string{"driver": "sqlite", "connection": database})
	if err != nil {
		return 0, err
	}
	query, err := json.Marshal(map[string]string{"text": `SELECT count(*) AS n FROM "` + strings.ReplaceAll(table, `"`, `""`) + `"`})
	if err != nil {
		return 0, err
	}
	var raw json.RawMessage
	b.clk.Hold(func() { raw, err = b.databases.Do(context.Background(), connection, "query", query) })
	if err != nil {
		return 0, fmt.Errorf("count the rows of %s in %s: %w", table, database, err)
	}
	var out struct {
		Rows []struct{ N int } `json:"rows"`
	}
	if err := json.Unmarshal(raw, &out); err != nil || len(out.Rows) != 1 {
		return 0, fmt.Errorf("count the rows of %s in %s: the answer is %s", table, database, raw)
	}
	return out.Rows[0].N, nil
}
