package scenarios

import (
	"fmt"
	"strings"

	"faultlab/engine/assume"
	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
	"faultlab/scenarios/lang"
)

func (b *Bench) actWorkflow(l lang.Line) error {
	src, err := b.file(l.Arg(0))
	if err != nil {
		return err
	}
	b.note(Note{Verb: l.Verb, Text: l.Text})
	return b.load(l.Arg(0), src)
}

// actAssume gives the caller another assumed contract. A worker is made with its
// assumptions, so there must be no run that has one already.
func (b *Bench) actAssume(l lang.Line) error {
	src, err := b.payload(l.Arg(0))
	if err != nil {
		return err
	}
	set, err := assume.Parse(src)
	if err != nil {
		return fmt.Errorf("%s:%w", l.Arg(0), err)
	}
	open, err := b.history.Open()
	if err != nil {
		return fmt.Errorf("list the open runs: %w", err)
	}
	if len(open) > 0 {
		return fmt.Errorf("a run is at work with what is assumed now: wait until it has ended")
	}
	b.mu.Lock()
	b.assumed = set
	old := b.eng
	b.mu.Unlock()
	eng := b.newEngine()
	b.mu.Lock()
	b.eng = eng
	b.mu.Unlock()
	old.Kill()
	b.note(Note{Verb: l.Verb, Text: l.Text})
	return nil
}

func (b *Bench) actContract(l lang.Line) error {
	c, ok := contract.Preset(l.Arg(0))
	if !ok {
		src, err := b.payload(l.Arg(0))
		if err != nil {
			return err
		}
		if c, err = contract.Parse(src); err != nil {
			return fmt.Errorf("%s:%w", l.Arg(0), err)
		}
	}
	if err := b.prov.SetContract(c); err != nil {
		return err
	}
	b.set(l.Verb, l.Text, func(s *Setting) { s.Contract = c.Name })
	return nil
}

func (b *Bench) actFault(l lang.Line) error {
	faults, err := FaultsOf(l)
	if err != nil {
		return err
	}
	b.prov.AddFaults(faults)
	b.set(l.Verb, faultWords(faults), func(*Setting) {})
	return nil
}

func (b *Bench) actClearFaults(l lang.Line) error {
	b.prov.QueueFaults(nil)
	b.set(l.Verb, l.Text, func(*Setting) {})
	return nil
}

// faultWords are faults as a row names them.
func faultWords(faults []fault.Fault) string {
	words := make([]string, len(faults))
	for i, f := range faults {
		words[i] = f.Words()
	}
	return strings.Join(words, " ")
}
