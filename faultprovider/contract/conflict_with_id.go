package contract

var conflictWithID = Contract{
	Name:  "conflict-with-id",
	Title: "GoCardless-like: a repeat is 409 with the id of the existing resource, whatever the payload",
	Note:  vendorNote,
	Assumptions: []string{
		"a POST without a key executes",
		"a key is known on one route only, for ever",
		"a second request in flight is answered with 409 without an id",
		"there is no look-up by key, the resource can be read by its id",
	},
	Carrier:     Carrier{In: InHeader, Name: "Idempotency-Key"},
	Missing:     Refusal{Do: Execute},
	Key:         Key{Syntax: Raw, Charset: AnyChar, Overlong: RejectLong},
	Scope:       Scope{Account: true, Route: true},
	Fingerprint: Fingerprint{By: ByNone},
	Mismatch:    Refusal{Do: ReplayFirst},
	Retention:   Retention{From: FirstSeen, Expired: NewOperation},
	AfterError:  Released,
	Replay:      Replay{Do: ConflictWithID, Status: 409},
	InFlight:    InFlight{Refusal: Refusal{Reject, 409, "request_in_progress"}},
	LookUp:      LookUp{By: LookUpNone, InFlight: Refusal{Reject, 404, "not_found"}},
}
