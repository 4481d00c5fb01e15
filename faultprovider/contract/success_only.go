package contract

import "time"

var successOnly = Contract{
	Name:  "success-only",
	Title: "Only 2xx is stored, 24 h; all routes of one account share the key",
	Note:  vendorNote,
	Assumptions: []string{
		"a POST without a key executes",
		"payloads are not compared",
		"the 24 h count from the first request",
		"a second request in flight is answered with 409; there is no look-up by key",
	},
	Carrier:     Carrier{In: InHeader, Name: "Idempotency-Key"},
	Missing:     Refusal{Do: Execute},
	Key:         Key{Syntax: Raw, Charset: AnyChar, Overlong: RejectLong},
	Scope:       Scope{Account: true},
	Fingerprint: Fingerprint{By: ByNone},
	Mismatch:    Refusal{Do: ReplayFirst},
	Retention:   Retention{For: 24 * time.Hour, From: FirstSeen, Expired: NewOperation},
	Store:       []string{"2xx"},
	AfterError:  Released,
	Replay:      Replay{Do: StoredReply},
	InFlight:    InFlight{Refusal: Refusal{Reject, 409, "request_in_progress"}},
	LookUp:      LookUp{By: LookUpNone, InFlight: Refusal{Reject, 404, "not_found"}},
}
