package engine

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"faultlab/engine/script"
	"faultlab/engine/woml"
)

// A relative path of a database file belongs to the folder in which the run was admitted,
// whichever process carries the run out.

// folderOf is the folder that the admission keeps: that of the run which calls or is run
// again, else the engine's. A run that can use no database keeps none.
func (e *Engine) folderOf(doc *woml.Document, d Delivery) string {
	uses := func(s woml.Script) bool {
		return slices.Contains(s.Services, script.ServiceDB) || slices.Contains(s.Services, script.ServiceWorkflows)
	}
	for _, s := range doc.Workflow.Steps {
		if uses(s.Script) || s.Compensate != nil && uses(s.Compensate.Script) {
			if d.folder != "" {
				return d.folder
			}
			return e.o.Folder
		}
	}
	return ""
}

// folder is what relative database paths of the run belong to; empty where that is not known.
func (rt *running) folder() string { return rt.snapshot().Admitted.Folder }

// placePath is a path of a database file within the folder that it belongs to.
func placePath(folder, path string) string {
	if folder == "" || path == "" || filepath.IsAbs(path) || path == ":memory:" || strings.HasPrefix(path, "file:") {
		return path // the last two are refused by the database as they stand
	}
	return filepath.Join(folder, path)
}

// place puts the path of a connection within the folder that it belongs to.
func place(folder string, connection json.RawMessage) json.RawMessage {
	if folder == "" {
		return connection
	}
	var target map[string]json.RawMessage
	var path string
	if json.Unmarshal(connection, &target) != nil || json.Unmarshal(target["connection"], &path) != nil {
		return connection // the database refuses it
	}
	placed := placePath(folder, path)
	if placed == path {
		return connection
	}
	target["connection"] = mustJSON(placed)
	return mustJSON(target)
}
