package contract

import "time"

var paypal = Contract{
	Name:  "paypal",
	Title: "PayPal-Request-Id: without it the request simply executes; a replay answers the latest status",
	Note:  vendorNote,
	Assumptions: []string{
		"retention is 3 h, and 45 days for payments and refunds: the documentation gives the range, by endpoint",
		"a key is known on one route only and payloads are not compared",
		"a replay has status 200; a second request in flight is answered with 409",
		"there is no look-up by key: sending again is how to ask",
	},
	Carrier:     Carrier{In: InHeader, Name: "PayPal-Request-Id"},
	Missing:     Refusal{Do: Execute},
	Key:         Key{Syntax: Raw, Charset: AnyChar, Overlong: RejectLong},
	Scope:       Scope{Account: true, Route: true},
	Fingerprint: Fingerprint{By: ByNone},
	Mismatch:    Refusal{Do: ReplayFirst},
	Retention: Retention{For: 3 * time.Hour, From: FirstSeen, Expired: NewOperation, Collections: map[string]time.Duration{
		"payments": 45 * 24 * time.Hour,
		"refunds":  45 * 24 * time.Hour,
	}},
	AfterError: Released,
	Replay:     Replay{Do: CurrentState, Status: 200},
	InFlight:   InFlight{Refusal: Refusal{Reject, 409, "request_in_progress"}},
	LookUp:     LookUp{By: LookUpNone, InFlight: Refusal{Reject, 404, "not_found"}},
}
