package historytest

import (
	"testing"

	"faultlab/engine"
)

func sharedKeys(t *testing.T, h engine.History) {
	sent := func(run, key string, shared bool) {
		t.Helper()
		must(t, h, run, engine.RequestSent{Pos: engine.Pos{Step: "s", Attempt: 1, Call: 1, Request: 1}, Key: key, Shared: shared})
	}
	runs := func(key string, want ...string) {
		t.Helper()
		got := get[[]string](t)(h.KeyRuns(key))
		if len(got)+len(want) > 0 {
			equal(t, "the runs that sent "+key, got, want)
		}
	}
	for _, run := range []string{"run_c", "run_a", "run_b"} {
		must(t, h, run, admitted("w"))
	}
	runs("order-1")
	sent("run_b", "order-1", true)
	sent("run_c", "order-1", true)
	sent("run_b", "order-1", true)
	sent("run_a", "order-2", true)
	sent("run_a", "sha256:own", false)
	sent("run_a", "", true)
	runs("order-1", "run_c", "run_b") // in the order of their admission
	runs("order-2", "run_a")
	runs("order-")
	runs("sha256:own")
	runs("")
}

func provenAddresses(t *testing.T, h engine.History) {
	must(t, h, "run_a", admitted("w"))
	const at = "http://p.test/jobs/by-idempotency-key/{key}"
	proven := func(address string, want bool) {
		t.Helper()
		if got := get[bool](t)(h.FoundAt(address)); got != want {
			t.Errorf("a record was found at %q: %v, want %v", address, got, want)
		}
	}
	must(t, h, "run_a", engine.Evidence{Address: at, Found: engine.FoundNoRecord}, engine.Evidence{Address: at, Found: engine.FoundNoAnswer},
		engine.Evidence{Found: engine.FoundRecord})
	proven(at, false)
	proven("", false)
	must(t, h, "run_a", engine.Evidence{Address: at, Found: engine.FoundRecord}, engine.Evidence{Address: at, Found: engine.FoundRecord})
	must(t, h, "run_a", engine.Evidence{Address: at + "2", Found: engine.FoundSeveral})
	proven(at, true)
	proven(at+"2", true)
	proven(at+"3", false)
}

func place(t *testing.T, h engine.History) {
	equal(t, "the place in an empty history", get[int64](t)(h.Place()), int64(0))
	ticket := h.Append(event("run_a", admitted("w")), event("run_a", engine.Started{}))
	equal(t, "the place after an append", get[int64](t)(h.Place()), ticket.Last())
	ticket = h.Buffer(event("run_a", engine.CancelAsked{}))
	equal(t, "the place after what was buffered", get[int64](t)(h.Place()), ticket.Last())
}
