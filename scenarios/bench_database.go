package scenarios

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

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
