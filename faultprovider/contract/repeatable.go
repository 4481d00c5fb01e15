package contract

import "time"

var repeatable = Contract{
	Name:  "repeatable",
	Title: "OASIS Repeatable Requests: 5 minutes by the client's clock, else 412; a 5xx executes again",
	Note:  vendorNote,
	Assumptions: []string{
		"a POST without Repeatability-Request-ID executes",
		"the window reaches 5 minutes into the future too",
		"a key is known on one route only and payloads are not compared",
		"there is no look-up by key",
	},
	Carrier:     Carrier{In: InHeader, Name: "Repeatability-Request-ID", FirstSent: "Repeatability-First-Sent"},
	Missing:     Refusal{Do: Execute},
	Key:         Key{Syntax: Raw, Charset: AnyChar, Overlong: RejectLong},
	Scope:       Scope{Account: true, Route: true},
	Fingerprint: Fingerprint{By: ByNone},
	Mismatch:    Refusal{Do: ReplayFirst},
	Retention:   Retention{For: 5 * time.Minute, From: ClientClock, Expired: Refuse},
	Store:       []string{"2xx", "4xx"},
	AfterError:  Released,
	Replay:      Replay{Do: StoredReply},
	InFlight:    InFlight{Refusal: Refusal{Reject, 409, "request_in_progress"}},
	LookUp:      LookUp{By: LookUpNone, InFlight: Refusal{Reject, 404, "not_found"}},
}
