package store

import "faultlab/engine"

// The numbers of the kinds in a state file. They are never changed or given again.
var kindNumbers = map[engine.Kind]int64{
	engine.KindAdmitted:       1,
	engine.KindStarted:        2,
	engine.KindAttemptStarted: 3,
	engine.KindCallStarted:    4,
	engine.KindRequestSent:    5,
	engine.KindRequestEnded:   6,
	engine.KindNotSent:        7,
	engine.KindCallEnded:      8,
	engine.KindAttemptEnded:   9,
	engine.KindWaiting:        10,
	engine.KindCancelAsked:    11,
	engine.KindEnded:          12,
	engine.KindEvidence:       13,
	engine.KindDecided:        14,
	engine.KindResumed:        15,
}

var kindsByNumber = func() map[int64]engine.Kind {
	kinds := map[int64]engine.Kind{}
	for k, n := range kindNumbers {
		kinds[n] = k
	}
	return kinds
}()
