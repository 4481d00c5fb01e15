package contract

var clientToken = Contract{
	Name:  "client-token",
	Title: "EC2-like: a token in the body, per region; a replay answers the current state",
	Note:  vendorNote,
	Assumptions: []string{
		"the field is named clientToken and the region is the field region",
		"a POST without a token executes",
		"payloads are compared as canonical JSON; a mismatch is answered with 400",
		"a token is known for ever",
		"a second request in flight is answered with 409",
		"GET /jobs?clientToken=T lists what a token made; the region goes into the query too",
	},
	Carrier:     Carrier{In: InBody, Name: "clientToken"},
	Missing:     Refusal{Do: Execute},
	Key:         Key{Syntax: Raw, MaxLength: 64, Charset: ASCII, Overlong: RejectLong},
	Scope:       Scope{Account: true, Route: true, Fields: []string{"region"}},
	Fingerprint: Fingerprint{By: ByCanonical},
	Mismatch:    Refusal{Reject, 400, "IdempotentParameterMismatch"},
	Retention:   Retention{From: FirstSeen, Expired: NewOperation},
	AfterError:  Released,
	Replay:      Replay{Do: CurrentState, Status: 200},
	InFlight:    InFlight{Refusal: Refusal{Reject, 409, "request_in_progress"}},
	LookUp:      LookUp{By: LookUpByList, Filter: "clientToken", InFlight: Refusal{Reject, 404, "not_found"}},
}
