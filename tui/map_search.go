package tui

import (
	"context"
	"runtime"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/explore"
	"faultlab/scenarios/lang"
)

// mapSearch is a search of a scenario's schedules that goes on in a command. It tells the pump that there is something new.
type mapSearch struct {
	scenario *lang.Scenario
	options  scenarios.ExploreOptions
	stop     context.CancelFunc

	mu    sync.Mutex
	live  explore.Cells
	state mapState
}

// mapState is how far a search is.
type mapState struct {
	version  int    // counts the changes
	contract string // that the provider keeps; empty before the first schedule
	progress explore.Progress
	elapsed  time.Duration
	found    *scenarios.Explored // at the end
	err      error               // why there is none
}

// over reports whether the search has ended.
func (s *mapState) over() bool { return s.found != nil || s.err != nil }

// rate is how many schedules were decided a second.
func (s *mapState) rate() int {
	if s.elapsed <= 0 {
		return 0
	}
	decided := s.progress.Decided
	if s.found != nil {
		decided = s.found.Decided
	}
	return int(float64(decided) / s.elapsed.Seconds())
}

// searchJobs leaves a processor to the screen.
func searchJobs() int { return max(1, runtime.NumCPU()-1) }

// start searches until the bound is done or the search is stopped.
func (s *mapSearch) start(news func()) tea.Cmd {
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	return work(func() tea.Msg {
		defer stop()
		began := time.Now()
		o := s.options
		o.MapOnly, o.Jobs = true, searchJobs()
		o.Progress = func(contract string, p explore.Progress) {
			s.change(func(st *mapState) {
				for _, e := range p.Ends {
					s.live.Add(e)
				}
				p.Ends = nil
				st.contract, st.progress, st.elapsed = contract, p, time.Since(began)
			})
			news()
		}
		found, err := scenarios.Explore(ctx, s.scenario, o)
		if ctx.Err() != nil {
			return nil // nobody looks any more
		}
		s.change(func(st *mapState) {
			st.elapsed, st.err = time.Since(began), err
			if err == nil {
				st.found, st.contract = found[0], found[0].Contract
			}
		})
		return newsMsg{}
	})
}

func (s *mapSearch) change(f func(*mapState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.state)
	s.state.version++
}

// look returns the state and the cells, where they have changed since a version.
func (s *mapSearch) look(version int) (st mapState, cells []explore.Cell, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch st = s.state; {
	case st.version == version:
		return st, nil, false
	case st.found != nil:
		return st, st.found.Cells, true
	}
	return st, s.live.List(), true
}

// shownMsg is the schedule of a cell, carried out.
type shownMsg struct {
	screen *mapScreen
	key    string // the schedule
	shown  *scenarios.ScheduleShown
	err    error
}

// show carries a schedule out in a command.
func (s *mapScreen) show(schedule explore.Schedule) tea.Cmd {
	scenario, o, key := s.search.scenario, s.search.options, schedule.String()
	contract := ""
	if len(o.Contracts) > 0 {
		contract = o.Contracts[0]
	}
	return work(func() tea.Msg {
		shown, err := scenarios.ShowSchedule(context.Background(), scenario, o.Operator, contract, schedule) // it ends by itself, in milliseconds
		return shownMsg{s, key, shown, err}
	})
}

// gravityOfVerdict orders verdicts of runs and operations; 0 is as it should be.
func gravityOfVerdict(v string) int { return engine.Verdict(v).Gravity() }
