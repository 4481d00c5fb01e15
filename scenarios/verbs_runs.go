package scenarios

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"faultlab/engine"
	"faultlab/scenarios/lang"
)

func (b *Bench) actCrash(l lang.Line) error {
	if point := l.Arg(0); point == "" || point == lang.CrashNow {
		b.kill("now: the worker is gone")
		return nil
	}
	b.note(Note{Verb: l.Verb, Text: "armed: " + l.Text})
	b.mu.Lock()
	b.crashes.armed = append(b.crashes.armed, armedBy(l))
	b.mu.Unlock()
	return nil
}

func (b *Bench) actRestart(lang.Line) error {
	if _, err := b.worker(); err == nil {
		b.kill("now, to start it again")
	}
	return b.restart()
}

func (b *Bench) actTrigger(l lang.Line) error {
	workflow, id, err := b.trigger(l.Arg(0))
	if err != nil {
		return err
	}
	payload := []byte("{}")
	if l.Arg(1) != "" {
		if payload, err = b.payload(l.Arg(1)); err != nil {
			return err
		}
	}
	e, err := b.worker()
	if err != nil {
		b.note(Note{Verb: l.Verb, Text: l.Text + ": the worker is down, nobody took it"})
		return nil
	}
	b.note(Note{Verb: l.Verb, Text: l.Text})
	times := max(1, l.Number("times"))
	for n := range times {
		_, err := e.Admit(engine.Delivery{Workflow: workflow, Trigger: id, Payload: payload})
		if errors.Is(err, engine.ErrKilled) { // it crashed meanwhile
			b.note(Note{Verb: l.Verb, Text: fmt.Sprintf("the worker went down: nobody took %d of %d", times-n, times)})
			return nil
		}
		if err != nil {
			return refusedBy(err)
		}
	}
	return nil
}

// trigger finds a trigger by its id, or by workflow/id where two workflows have one of that name.
func (b *Bench) trigger(name string) (workflow, id string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	want, id, qualified := strings.Cut(name, "/")
	if !qualified {
		want, id = "", name
	}
	var found []string
	for _, d := range b.docs {
		for _, t := range d.Workflow.Triggers {
			if t.ID == id && (want == "" || want == d.Workflow.ID) {
				found = append(found, d.Workflow.ID)
			}
		}
	}
	switch len(found) {
	case 0:
		return "", "", fmt.Errorf("no workflow that is loaded has a trigger %q", name)
	case 1:
		return found[0], id, nil
	}
	return "", "", fmt.Errorf("several workflows have a trigger %q: write %s/%s", name, found[0], id)
}

// refusedBy turns an engine's coded error into a refusal: the caller did what was asked, and said no.
func refusedBy(err error) error {
	if e, ok := err.(*engine.Error); ok {
		return &engine.Refused{Why: e.Code + ": " + e.Message}
	}
	return err
}

func (b *Bench) actCancel(l lang.Line) error {
	r, e, err := b.run(l.Arg(0))
	if err != nil {
		return err
	}
	b.note(Note{Verb: l.Verb, Text: r.ID})
	return e.Cancel(engine.Cancellation{Run: r.ID, Keep: l.Has("--keep")})
}

func (b *Bench) actRerun(l lang.Line) error {
	r, e, err := b.run(l.Arg(0))
	if err != nil {
		return err
	}
	b.note(Note{Verb: l.Verb, Text: r.ID})
	_, err = e.Rerun(r.ID, "")
	return refusedBy(err)
}

// run is the run of this number or id, the newest if it is empty, and the worker.
func (b *Bench) run(name string) (*engine.Run, *engine.Engine, error) {
	e, err := b.worker()
	if err != nil {
		return nil, nil, err
	}
	runs := b.line.Latest().Runs
	if len(runs) == 0 {
		return nil, nil, &engine.Refused{Why: "there is no run yet"}
	}
	if name == "" {
		return runs[len(runs)-1], e, nil
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(runs) {
		return runs[n-1], e, nil
	}
	for _, r := range runs {
		if r.ID == name {
			return r, e, nil
		}
	}
	return nil, nil, &engine.Refused{Why: fmt.Sprintf("there is no run %q: there are %d, numbered from 1", name, len(runs))}
}
