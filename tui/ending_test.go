package tui

import (
	"testing"

	"faultlab/engine"
)

// How a request ended is told from what was written down where it ended, whatever the transport's words are.
func TestHowARequestEndedIsToldByItsFields(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		request engine.Request
		want    string
	}{
		{engine.Request{Ended: true, Began: true, Error: "read: broken", Broke: engine.BrokeReset}, "dropped"},
		{engine.Request{Ended: true, Began: true, Error: "over", GaveUp: engine.GaveUpTimeout}, "timed out"},
		{engine.Request{Ended: true, Began: true, Error: "over", GaveUp: engine.GaveUpCancel}, "cancelled"},
		{engine.Request{Ended: true, Began: true, Error: "This operation was aborted", GaveUp: engine.GaveUpScript}, "aborted"},
		{engine.Request{Ended: true, Began: true, Error: "no time to reset the cancel"}, "no reply"},
	} {
		if got := ending(&engine.Call{Requests: []*engine.Request{&c.request}}); got != c.want {
			t.Errorf("%+v: %q, want %q", c.request, got, c.want)
		}
	}
}
