package contract

import "time"

var ietf = Contract{
	Name:  "ietf",
	Title: "The Idempotency-Key draft: quoted key required, 422 changed payload, 409 in flight",
	Note:  vendorNote,
	Assumptions: []string{
		"errors are stored: the draft allows it and leaves it open",
		"the published expiry is 24 h from the first request",
		"a key is known on one route only; payloads are compared as canonical JSON",
		"an operation can be looked up by its key, without the quotes",
	},
	Carrier:     Carrier{In: InHeader, Name: "Idempotency-Key"},
	Missing:     Refusal{Reject, 400, "idempotency_key_required"},
	Key:         Key{Syntax: StructuredString, Charset: ASCII, Overlong: RejectLong},
	Scope:       Scope{Route: true},
	Fingerprint: Fingerprint{By: ByCanonical},
	Mismatch:    Refusal{Reject, 422, "idempotency_key_reused_with_different_payload"},
	Retention:   Retention{For: 24 * time.Hour, From: FirstSeen, Expired: NewOperation},
	Store:       []string{"2xx", "4xx", "5xx"},
	AfterError:  Released,
	Replay:      Replay{Do: StoredReply},
	InFlight:    InFlight{Refusal: Refusal{Reject, 409, "request_in_progress"}},
	LookUp:      LookUp{By: LookUpByKey, InFlight: Refusal{Reject, 404, "not_found"}},
}
