package contract

import "time"

var lockedAfter500 = Contract{
	Name:  "locked-after-500",
	Title: "Dwolla-like: after a 500 the key answers 409 for 24 h; look up, then use a new key",
	Note:  vendorNote,
	Assumptions: []string{
		"a POST without a key executes",
		"every 5xx locks, not 500 alone",
		"a repeat of a success is answered with 200 and the record; payloads are not compared",
		"a key is known on one route only; its 24 h count from the result",
		"a second request in flight is answered with 409; an operation can be looked up by its key",
	},
	Carrier:     Carrier{In: InHeader, Name: "Idempotency-Key"},
	Missing:     Refusal{Do: Execute},
	Key:         Key{Syntax: Raw, Charset: AnyChar, Overlong: RejectLong},
	Scope:       Scope{Account: true, Route: true},
	Fingerprint: Fingerprint{By: ByNone},
	Mismatch:    Refusal{Do: ReplayFirst},
	Retention:   Retention{For: 24 * time.Hour, From: Completed, Expired: NewOperation},
	AfterError:  Locked,
	Replay:      Replay{Do: CurrentState, Status: 200},
	InFlight:    InFlight{Refusal: Refusal{Reject, 409, "request_in_progress"}},
	LookUp:      LookUp{By: LookUpByKey, InFlight: Refusal{Reject, 404, "not_found"}},
}
