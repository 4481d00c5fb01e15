package contract

import "time"

var acceptOnce = Contract{
	Name:  "accept-once",
	Title: "SQS FIFO-like: a repeat within 5 min is accepted with no new effect; payload not compared",
	Note:  vendorNote,
	Assumptions: []string{
		"the key is the body's field deduplicationId; without it the request executes",
		"a key is known on one route only; its 5 minutes count from the first request",
		"a repeat has status 200 and no record in its body, also while the first is in flight: that one waits",
		"there is no look-up by key",
	},
	Carrier:     Carrier{In: InBody, Name: "deduplicationId"},
	Missing:     Refusal{Do: Execute},
	Key:         Key{Syntax: Raw, Charset: AnyChar, Overlong: RejectLong},
	Scope:       Scope{Account: true, Route: true},
	Fingerprint: Fingerprint{By: ByNone},
	Mismatch:    Refusal{Do: ReplayFirst},
	Retention:   Retention{For: 5 * time.Minute, From: FirstSeen, Expired: NewOperation},
	AfterError:  Released,
	Replay:      Replay{Do: Accepted, Status: 200},
	InFlight:    InFlight{Refusal: Refusal{Do: Wait}},
	LookUp:      LookUp{By: LookUpNone, InFlight: Refusal{Reject, 404, "not_found"}},
}
