package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"faultlab/engine"
)

// files notes which file each statement goes to.
type files struct{ used []string }

func (f *files) Do(_ context.Context, connection json.RawMessage, _ string, _ json.RawMessage) (json.RawMessage, error) {
	var target struct{ Connection string }
	if err := json.Unmarshal(connection, &target); err != nil {
		return nil, err
	}
	f.used = append(f.used, target.Connection)
	return json.RawMessage(`{"rows":[]}`), nil
}

// A relative path belongs to the folder in which the run was admitted, whoever carries it out, and its children's do too.
func TestARelativePathBelongsToTheFolderOfTheAdmission(t *testing.T) {
	t.Parallel()
	read := func(path string) string {
		return `await services.db({driver: "sqlite", connection: "` + path + `"}).query({text: "SELECT 1"}); `
	}
	for _, r := range []struct {
		name  string
		steps []string
		want  string // files, in order
		keeps string // the folder that the admission has
	}{
		{"relative", []string{"|" + read("./led.db") + post, "|" + read("sub/led.db") + "return 1;"}, "/a/led.db /a/sub/led.db", "/a"},
		{"absolute", []string{"|" + read("/x/led.db") + post, "|" + read("/x/led.db") + "return 1;"}, "/x/led.db /x/led.db", "/a"},
		{"of a child", []string{"|" + post, `|return await services.workflows.call("child", {});`}, "/a/child.db", "/a"},
		{"no database", []string{"|" + post}, "", ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", r.steps...), workflowOf("child", "", read("child.db")+`return 1;`))
			l.replies(dropped)
			used := &files{}
			folder := "/a"
			l.options = func(o *engine.Options) { o.Database, o.Folder = used, folder }
			run := l.once(`{"orderId":"o1"}`)
			l.eng.Close()
			folder = "/b"
			l.start()
			if _, err := l.settle(run.ID, engine.Record, false); err != nil {
				t.Fatal(err)
			}
			if run = l.get(run.ID); run.Status != engine.StatusSucceeded || run.Admitted.Folder != r.keeps {
				t.Errorf("run %s (%s), admitted in %q, want %q", run.Status, run.Message, run.Admitted.Folder, r.keeps)
			}
			if got := strings.Join(slices.Compact(used.used), " "); got != strings.Join(slices.Compact(strings.Fields(r.want)), " ") {
				t.Errorf("used %s, want %s", got, r.want)
			}
		})
	}
}
