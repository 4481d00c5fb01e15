package timeline

import (
	"strings"
	"testing"
	"time"

	"faultlab/engine"
	"faultlab/faultprovider"
)

var verdicts = []engine.Verdict{engine.OneEffect, engine.CleanFailure, engine.PhantomSuccess, engine.FalseFailure,
	engine.Unresolved, engine.Duplicate, engine.Compensated, engine.Uncompensated}

func TestEveryVerdictIsToldWhateverHappened(t *testing.T) {
	t.Parallel()
	for _, v := range verdicts {
		f := facts{Operation: Operation{Verdict: v}, noun: "job"}
		i := explanationOf(f)
		if i < 0 {
			t.Errorf("nothing explains %s", v)
			continue
		}
		if text := f.fill(explanations[i].text); text == "" || strings.Contains(text, "%!") {
			t.Errorf("%s is told as %q", v, text)
		}
	}
}

func TestTheWordsOfExplanations(t *testing.T) {
	t.Parallel()
	late := []faultprovider.Effect{{Key: "k", CommittedAt: time.Unix(30, 0)}, {Key: "k", CommittedAt: time.Unix(29, 0)}}
	for _, c := range []struct {
		f    facts
		want string
	}{
		{facts{Operation: Operation{Verdict: engine.OneEffect}, noun: "job", replayed: true, attempts: 3, made: 2}, "An earlier attempt made the job. Only the shared key kept a later one from making another."},
		{facts{Operation: Operation{Verdict: engine.OneEffect}, noun: "job", replayed: true, attempts: 1, made: 1}, "An earlier request made the job. Only the shared key kept the next from making another."},
		{facts{Operation: Operation{Verdict: engine.OneEffect, Runs: make([]string, 7)}, noun: "job", replayed: true}, "7 runs asked for it under one key. One of them made the job, the others were told of it."},
		{facts{Operation: Operation{Verdict: engine.OneEffect, Keys: make([]string, 2)}, noun: "job", requests: 2}, "It is done, and the ledger holds one job."},
		{facts{Operation: Operation{Verdict: engine.OneEffect}, noun: "job", broke: true}, "The job is made, and the run failed afterwards. The job remains: trying again would make another."},
		{facts{Operation: Operation{Verdict: engine.OneEffect, Keys: make([]string, 1)}, noun: "job", broke: true}, "The job is made, and the run failed afterwards. The job remains: whoever tries again must keep the key."},
		{facts{Operation: Operation{Verdict: engine.CleanFailure}, noun: "job", requests: 1, status: 429}, "The provider turned it away and made no job: both sides agree. It may be asked again later."},
		{facts{Operation: Operation{Verdict: engine.Duplicate, Keys: make([]string, 1), Effects: late}, noun: "job", forced: true, resentAt: late[0].CommittedAt.Add(-time.Second)},
			"The key was the same, and the provider kept nothing under it: the second request was a new operation to it: 2 jobs."},
		{facts{Operation: Operation{Verdict: engine.Duplicate, Keys: make([]string, 3), Effects: make([]faultprovider.Effect, 3)}, noun: "job"}, "Three keys for one operation: the provider could not know that they mean the same job, and made 3 jobs."},
	} {
		if got := c.f.fill(explanations[explanationOf(c.f)].text); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
