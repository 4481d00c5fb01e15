package contract

var seed = Contract{
	Name:  "seed",
	Title: "The reference fixture: 201, replay 200, 422 changed payload, 400 no key",
	Note:  "the fixture of the guide to retries without duplicate side effects",
	Assumptions: []string{
		"a key is known on one route only: the fixture has one route",
		"a second request waits while the first is in flight: the fixture's commit takes no time",
	},
	Carrier:     Carrier{In: InHeader, Name: "Idempotency-Key"},
	Missing:     Refusal{Reject, 400, "idempotency_key_required"},
	Key:         Key{Syntax: Raw, Charset: AnyChar, Overlong: RejectLong},
	Scope:       Scope{Route: true},
	Fingerprint: Fingerprint{By: ByJSON},
	Mismatch:    Refusal{Reject, 422, "idempotency_key_reused_with_different_payload"},
	Retention:   Retention{From: FirstSeen, Expired: NewOperation},
	AfterError:  Released,
	Replay:      Replay{Do: CurrentState, Status: 200},
	InFlight:    InFlight{Refusal: Refusal{Do: Wait}},
	LookUp:      LookUp{By: LookUpByKey, InFlight: Refusal{Reject, 404, "not_found"}},
}
