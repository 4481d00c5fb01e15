package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"faultlab/engine"
	"faultlab/store"
)

func (s *soak) ledger() *sql.DB {
	s.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(s.dir, "ledger.db")+"?_pragma=busy_timeout(5000)")
	s.must(err)
	return db
}

// order is what the ledgers hold of one order.
type order struct{ charges, refunds, jobs, rows int }

func (o order) String() string {
	return fmt.Sprintf("%d charges, %d refunds, %d jobs, %d rows", o.charges, o.refunds, o.jobs, o.rows)
}

// world reads both ledgers.
func (s *soak) world() map[string]*order {
	s.t.Helper()
	status, text, err := exchange(http.MethodGet, "http://"+s.address+"/_test/state", "")
	if err != nil || status != http.StatusOK {
		s.t.Fatalf("the provider's state: %d, %v", status, err)
	}
	var state struct {
		Effects []struct {
			Collection string
			Body       struct{ OrderID string }
		}
	}
	s.must(json.Unmarshal([]byte(text), &state))
	out := map[string]*order{}
	of := func(id string) *order {
		if out[id] == nil {
			out[id] = &order{}
		}
		return out[id]
	}
	for _, e := range state.Effects {
		o := of(e.Body.OrderID)
		*map[string]*int{"charges": &o.charges, "refunds": &o.refunds, "jobs": &o.jobs}[e.Collection]++
	}
	db := s.ledger()
	defer db.Close()
	rows, err := db.Query(`SELECT order_id FROM events`)
	s.must(err)
	defer rows.Close()
	for rows.Next() {
		var id string
		s.must(rows.Scan(&id))
		of(id).rows++
	}
	s.must(rows.Err())
	return out
}

// judge holds the ledgers against every acknowledged order: its effects are there once,
// or nothing of it stands, or it is listed as an open question.
func (s *soak) judge(left settlement) {
	s.t.Helper()
	world := s.world()
	listed := map[string][]advised{}
	advices := map[engine.Advice]int{}
	for _, v := range left.Left {
		listed[v.Run] = append(listed[v.Run], v)
		if advices[v.Advice]++; v.Advice != engine.AdviseEscalate {
			s.t.Errorf("run %s is left with the advice %q, which nothing keeps from being taken: %s", v.Run, v.Advice, v.Why)
		}
	}
	h, err := store.OpenReader(filepath.Join(s.dir, "state.db"))
	s.must(err)
	defer h.Close()
	counts := map[string]int{}
	for n, id := range s.runs {
		events, err := h.Events(id)
		if err != nil {
			s.t.Errorf("order %d was acknowledged as run %s, which is lost: %v", n, id, err)
			continue
		}
		o := world[fmt.Sprintf("order-%d", n)]
		if o == nil {
			o = &order{}
		}
		run := engine.Fold(events)
		how, wrong := soakVerdict(run, *o, len(listed[id]) > 0)
		counts[how]++
		if wrong != "" {
			s.wrong(fmt.Sprintf("%s %s %s", run.Status, run.Code, wrong), fmt.Sprintf("order %d, run %s (%s, %s): %s: %v", n, id, run.Status, run.Code, wrong, o), id)
		}
	}
	s.t.Logf("orders: %v; left: %v", counts, advices)
	if counts["whole"] == 0 {
		s.t.Error("no order is whole: the test has shown nothing")
	}
}

// wrong reports what is wrong with a run, and shows the first one of each kind.
func (s *soak) wrong(kind, text, run string) {
	s.t.Helper()
	if s.told[kind]++; s.told[kind] > 3 {
		s.t.Error(text)
		return
	}
	cmd := exec.Command(s.program, "get", run, "--state", "state.db")
	cmd.Dir = s.dir
	shown, _ := cmd.CombinedOutput() // says itself what is wrong
	s.t.Errorf("%s\n%s", text, shown)
}

// soakVerdict says how an order stands, and what is wrong with that.
func soakVerdict(run *engine.Run, o order, listed bool) (how, wrong string) {
	standing := o.charges - o.refunds
	switch {
	case o.charges > 1 || o.jobs > 1 || o.refunds > 1 || standing < 0:
		return "duplicate", "an effect was made twice"
	case !run.Status.Ended():
		return "open", "it never ends"
	case run.Reconcile && !listed:
		return "unlisted", "something is unknown, and settle does not list it"
	case run.Reconcile:
		return "open question", ""
	case run.Status == engine.StatusSucceeded && (standing != 1 || o.jobs != 1 || o.rows != 1):
		return "half done", "it succeeded, and is not whole"
	case run.Status == engine.StatusSucceeded:
		return "whole", ""
	case standing != 0 || o.jobs != 0 || o.rows != 0:
		return "half done", "it failed, something stands, and no list shows it"
	case o.refunds > 0:
		return "compensated", ""
	}
	return "nothing", ""
}

// checkFolder finds files that nobody takes away.
func (s *soak) checkFolder() {
	s.t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.dir, "state.db.inbox"))
	if err != nil && !os.IsNotExist(err) {
		s.t.Error(err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".command") || strings.HasSuffix(e.Name(), ".answer") || strings.HasPrefix(e.Name(), "unfinished") {
			names = append(names, e.Name())
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		s.t.Errorf("files are left in the inbox: %v", names)
	}
}
