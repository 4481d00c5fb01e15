package scenarios

import (
	"context"
	"fmt"
	"strings"

	"faultlab/scenarios/explore"
	"faultlab/scenarios/lang"
)

// ScheduleShown is one schedule of an exploration as it was carried out.
type ScheduleShown struct {
	Verdict string
	Text    []byte // a scenario file that replays it
	View    *View  // at its end
}

// ShowSchedule carries one schedule of a scenario out, with this operator and contract, as Explore does.
func ShowSchedule(ctx context.Context, s *lang.Scenario, operator, contract string, schedule explore.Schedule) (*ScheduleShown, error) {
	x, err := NewExploration(s, operator, contract)
	if err != nil {
		return nil, err
	}
	x.bare = false // its wire is looked at
	r, e, err := x.carryOut(ctx, &followed{schedule: schedule})
	if err != nil {
		return nil, err
	}
	text, err := e.write(r.Verdict, schedule)
	if err != nil {
		return nil, fmt.Errorf("write the schedule as a scenario: %w", err)
	}
	return &ScheduleShown{Verdict: r.Verdict, Text: text, View: e.b.line.Latest()}, nil
}

// Claim says what no schedule did, in a sentence; empty where nothing is known.
func (r *Explored) Claim() string {
	text := r.claim()
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
