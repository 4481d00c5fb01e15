package contract

import "time"

var stripeV1 = Contract{
	Name:  "stripe-v1",
	Title: "The first result is stored, errors and 500s too, for 24 h; in flight 409; no look-up by key",
	Note:  vendorNote,
	Assumptions: []string{
		"a POST without a key executes",
		"a key is known on one route only",
		"changed parameters, compared as canonical JSON, are answered with 400",
		"a replay is marked with Idempotent-Replayed: true",
		"the 24 h are exact and count from the first request",
		"429 comes before the execution and is not stored",
	},
	Carrier:     Carrier{In: InHeader, Name: "Idempotency-Key"},
	Missing:     Refusal{Do: Execute},
	Key:         Key{Syntax: Raw, MaxLength: 255, Charset: AnyChar, Overlong: RejectLong},
	Scope:       Scope{Account: true, Route: true},
	Fingerprint: Fingerprint{By: ByCanonical},
	Mismatch:    Refusal{Reject, 400, "idempotency_error"},
	Retention:   Retention{For: 24 * time.Hour, From: FirstSeen, Expired: NewOperation},
	Store:       []string{"2xx", "4xx", "5xx"},
	AfterError:  Released,
	Replay:      Replay{Do: StoredReply, Marker: "Idempotent-Replayed: true"},
	InFlight:    InFlight{Refusal: Refusal{Reject, 409, "idempotency_key_in_use"}},
	LookUp:      LookUp{By: LookUpNone, InFlight: Refusal{Reject, 404, "not_found"}},
}
