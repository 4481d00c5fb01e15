package store

import (
	"bytes"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// The header of a SQLite file: its first bytes, its length, and where two numbers stand in it.
const (
	magic           = "SQLite format 3\x00"
	headerSize      = 100
	atPageSize      = 16
	atUserVersion   = 60
	atApplicationID = 68
)

// checkWhole bounds the size up to which every opening checks all of a file, which
// takes a second for 400 MB. In larger ones only what is read is checked.
const checkWhole = 512 << 20

// inspect looks at a file before SQLite does, so that one which is not ours is left
// untouched to the byte. fresh means that there is nothing yet. It must hold the lock:
// closing a file frees the POSIX locks that this process has on it.
func (m *format) inspect(path string) (fresh bool, err error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err := checkRegular(path); err != nil {
		return false, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, explain(path, err)
	}
	defer f.Close()
	header := make([]byte, headerSize)
	n, err := io.ReadFull(f, header)
	switch {
	case err == io.EOF:
		return true, orphans(path)
	case !bytes.HasPrefix(header, []byte(magic[:min(n, len(magic))])):
		return false, &FileError{path, Foreign, errors.New("it is not a SQLite database")}
	case err == io.ErrUnexpectedEOF:
		return false, &FileError{path, Damaged, errors.New("it is cut off")}
	case err != nil:
		return false, explain(path, err)
	}
	err = m.checkMarks(path, int64(binary.BigEndian.Uint32(header[atApplicationID:])), int(binary.BigEndian.Uint32(header[atUserVersion:])))
	if err == nil && !hasLog(path) && cutOff(f, header) { // with a log, a crash while it was copied can look so
		err = &FileError{path, Damaged, errors.New("it is cut off")}
	}
	return false, err
}

// cutOff reports whether a file ends within a page.
func cutOff(f *os.File, header []byte) bool {
	size := int64(binary.BigEndian.Uint16(header[atPageSize:]))
	if size == 1 { // stands for 65536, which does not fit
		size = 1 << 16
	}
	fi, err := f.Stat()
	return err == nil && size > 0 && fi.Size()%size != 0
}

func checkRegular(path string) error {
	fi, err := os.Stat(path)
	if err == nil && !fi.Mode().IsRegular() {
		return &FileError{path, NotRegular, nil}
	}
	return explain(path, err)
}

// checkOneName refuses a file with several names: under each of them it could have an owner, and SQLite keeps the log
// beside one of them alone.
func checkOneName(path string) error {
	fi, err := os.Stat(path)
	if err == nil && fi.Mode().IsRegular() && namesOf(fi) > 1 {
		return &FileError{path, Linked, nil}
	}
	return explain(path, gone(err))
}

// orphans refuses to begin anew in an empty file whose log says that there was something in it.
func orphans(path string) error {
	if hasLog(path) {
		return &FileError{path, Damaged, errors.New("it is empty and its -wal file is not")}
	}
	return nil
}

func (m *format) checkMarks(path string, id int64, version int) error {
	switch {
	case id != m.id:
		return &FileError{path, Foreign, errors.New("it is " + formatName(id))}
	case version > m.version():
		return &FileError{path, Newer, fmt.Errorf("version %d, this faultlab knows %d", version, m.version())}
	case version < 1:
		return &FileError{path, Damaged, errors.New("it has no version")}
	}
	return nil
}

// probe reads a file that is said to be ours without changing it, and gives its version.
func (m *format) probe(path string) (version int, err error) {
	c, err := dial(path, "ro", "busy_timeout(5000)")
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if version, err = m.versionOf(c); err != nil {
		return 0, err
	}
	return version, c.checkPages()
}

// versionOf asks SQLite for the marks of a file and checks them.
func (m *format) versionOf(c *conn) (int, error) {
	id, err := c.number("PRAGMA application_id")
	if err != nil {
		return 0, err
	}
	version, err := c.number("PRAGMA user_version")
	if err != nil {
		return 0, err
	}
	return int(version), m.checkMarks(c.path, id, int(version))
}

func (c *conn) checkPages() error {
	pages, err := c.number("PRAGMA page_count")
	if err != nil {
		return err
	}
	size, err := c.number("PRAGMA page_size")
	if err != nil || pages*size > checkWhole {
		return err
	}
	return c.rows("PRAGMA quick_check(1)", func(row []driver.Value) error {
		if said := text(row[0]); said != "ok" {
			said = strings.Join(strings.Fields(strings.ReplaceAll(said, "*** in database main ***", "")), " ")
			return &FileError{c.path, Damaged, errors.New(said)}
		}
		return nil
	})
}
