package store

import (
	"errors"
	"os"

	"faultlab/engine"
)

// Reader looks at a state file that another process may own. It sees what is
// committed and changes nothing.
type Reader struct{ *view }

// OpenReader looks at a state file without owning it. It makes none and brings none
// up to date: those are Missing and Older, in a *FileError.
func OpenReader(path string) (*Reader, error) {
	path = real(path)
	if err := checkRegular(path); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path + ".lock"); err != nil { // else its owner took it by this name
		if err := checkOneName(path); err != nil {
			return nil, err
		}
	}
	r, err := openReader(path, "ro")
	var file *FileError
	if errors.As(err, &file) && (file.What == Denied || file.What == ReadOnly) && !hasLog(path) {
		// The file was closed properly in a folder that may not be written, where SQLite cannot coordinate.
		if r, err := openReader(path, immutable); err == nil {
			return r, nil
		}
	}
	return r, err
}

func openReader(path, mode string) (*Reader, error) {
	v, err := newView(path, mode)
	if err != nil {
		return nil, err
	}
	version, err := history.versionOf(v.conn)
	if err == nil && version < history.version() {
		err = &FileError{path, Older, nil}
	}
	if err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return &Reader{v}, nil
}

func hasLog(path string) bool {
	fi, err := os.Stat(path + "-wal")
	return err == nil && fi.Size() > 0
}

// Buffer refuses as Append does.
func (r *Reader) Buffer(events ...engine.Event) engine.Ticket { return r.Append(events...) }

// Append refuses: a Reader owns nothing.
func (r *Reader) Append(events ...engine.Event) engine.Ticket {
	return &ticket[[]entry]{err: errors.New("this state file was opened to be read only")}
}

var _ engine.History = (*Reader)(nil)
