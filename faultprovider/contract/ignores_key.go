package contract

var ignoresKey = Contract{
	Name:  "ignores-key",
	Title: "No idempotency at all: every POST executes, whatever key it carries",
	Note:  "many an API; the key that a client sends protects nothing",
	Assumptions: []string{
		"records can be listed by their fields: GET /jobs?orderId=order-42",
	},
	Carrier:     Carrier{In: Nowhere},
	Missing:     Refusal{Do: Execute},
	Key:         Key{Syntax: Raw, Charset: AnyChar, Overlong: RejectLong},
	Fingerprint: Fingerprint{By: ByNone},
	Mismatch:    Refusal{Do: Execute},
	Retention:   Retention{From: FirstSeen, Expired: NewOperation},
	AfterError:  Released,
	Replay:      Replay{Do: CurrentState, Status: 200},
	InFlight:    InFlight{Refusal: Refusal{Do: Execute}},
	LookUp:      LookUp{By: LookUpByList, InFlight: Refusal{Reject, 404, "not_found"}},
}
