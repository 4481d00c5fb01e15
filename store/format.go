package store

import (
	"embed"
	"fmt"
	"path"
)

// format is one of the kinds of files that are kept here.
type format struct {
	what string // for sentences: it is ...
	// id marks a SQLite file as of this format, https://www.sqlite.org/fileformat.html#application_id.
	id int64
	// migrations[n-1] brings a file of version n-1 to version n. A new file goes
	// through all of them. One that was ever released is never changed.
	migrations []string
	// rewrite does what SQL cannot do in the step to its version.
	rewrite map[int]func(*conn) error
}

var (
	history = &format{"a faultlab history of runs", 0x464c6162, migrations("history"), nil} // FLab
	ledger  = &format{"a faultlab provider's ledger", 0x464c6c67, migrations("ledger"),     // FLlg
		map[int]func(*conn) error{2: rewriteChanges}}
)

// formatName says what a file is by its mark.
func formatName(id int64) string {
	for _, f := range []*format{history, ledger} {
		if f.id == id {
			return f.what
		}
	}
	return "a SQLite database of another program"
}

func (f *format) version() int { return len(f.migrations) }

//go:embed schema
var schema embed.FS

func migrations(dir string) (all []string) {
	for {
		text, err := schema.ReadFile(path.Join("schema", dir, fmt.Sprintf("%d.sql", len(all)+1)))
		if err != nil {
			return all
		}
		all = append(all, string(text))
	}
}
