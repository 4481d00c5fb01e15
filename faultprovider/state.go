package faultprovider

import (
	"errors"
	"net/http"
	"slices"
	"time"
)

var errWallClock = errors.New("this provider runs on the machine's clock, which cannot be moved; a scenario's clock can")

// State is the provider at one moment.
type State struct {
	Now      time.Time      `json:"now"`
	Contract string         `json:"contract"`
	Faults   []Fault        `json:"faults"`
	Requests int64          `json:"requests"` // how many came, control requests not counted
	Seq      int64          `json:"seq"`      // of the latest entry of the log
	InFlight []time.Time    `json:"inFlight"` // since when keys are in flight, the oldest first
	Counts   map[string]int `json:"counts"`   // records that are there, by collection
	Effects  []Effect       `json:"effects"`  // everything that was committed, in order
	Failed   string         `json:"failed,omitempty"`
}

// State returns the provider as it is now.
func (p *Provider) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := State{
		Now: p.now(), Contract: p.contract.Name, Faults: p.queue.left(), Requests: p.requests, Seq: p.log.seq,
		InFlight: []time.Time{}, Counts: map[string]int{}, Effects: p.records.all(),
	}
	for i := range s.Effects {
		if e := &s.Effects[i]; !e.Gone {
			s.Counts[e.Collection]++
		}
	}
	for _, f := range p.flights {
		s.InFlight = append(s.InFlight, f.since)
	}
	slices.SortFunc(s.InFlight, time.Time.Compare)
	if p.err != nil {
		s.Failed = p.err.Error()
	}
	return s
}

func (p *Provider) getState(*Request) (int, any, error) { return http.StatusOK, p.State(), nil }
