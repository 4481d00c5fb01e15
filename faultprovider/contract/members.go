package contract

import "strings"

// Members are the members of a contract file: the name, what it can be, and what it does.
func Members() [][3]string {
	return [][3]string{
		{"extends", strings.Join(Names(), ", "), "the contract to start from; seed unless said"},
		{"name", "a text", "short and unique"},
		{"title", "a text", "one line for a list"},
		{"note", "a text", "where it comes from"},
		{"assumptions", "a list of texts", "what the source does not say"},
		{"carrier.in", listed(places), "where a key travels; path: the last segment, as PUT /jobs/KEY"},
		{"carrier.name", "a text", "the name of the header or of the body's field"},
		{"carrier.firstSent", "a header's name", "the header with the time of the client's first attempt"},
		{"missing.do", listed(missingActions), "a POST without a key; execute: as a new operation"},
		{"missing.status", statuses, "of the refusal"},
		{"missing.error", "a text", `the "error" of its body`},
		{"key.syntax", listed(syntaxes), "how a key is written; structured-string: in quotes (RFC 8941)"},
		{"key.maxLength", "a number; 0: no limit", "how long a key may be, in characters"},
		{"key.charset", listed(charsets), "which characters a key may have"},
		{"key.overlong", listed(overlongs), "a longer key; truncate: two keys with one beginning become one"},
		{"key.status", statuses, "what a bad key is answered with; 400 unless said"},
		{"key.error", "a text", `the "error" of its body`},
		{"scope", "a list of account, method, route, field:NAME", "what, besides its text, makes two keys the same: the Authorization header, the method, the collection, a field of the body"},
		{"fingerprint.by", listed(bys), "how payloads are compared; canonical: the order of members does not count (RFC 8785)"},
		{"fingerprint.fields", "a list of names", "the fields that are compared, with fields"},
		{"mismatch.do", listed(mismatchActions), "a known key with another payload; replay-first: answered as if it were the first one"},
		{"mismatch.status", statuses, "of the refusal"},
		{"mismatch.error", "a text", `the "error" of its body`},
		{"retention.for", "a duration; 0: for ever", "how long a key is known"},
		{"retention.from", listed(froms), "the moment that it counts from"},
		{"retention.expired", listed(expireds), "what a key means afterwards; refuse: 412"},
		{"retention.collections", "an object of durations", "another retention for some collections"},
		{"store", "a list of " + strings.Join(classes, ", "), "the classes of results that are kept under the key"},
		{"afterError", listed(afterErrors), "a key whose result was a 5xx that is not stored; kept: the same payload executes again; locked: 409"},
		{"replay.do", listed(replays), "how a repeat is answered"},
		{"replay.status", "a status; 0: that of the first result", "of a replay"},
		{"replay.marker", "a header's name", "the header that marks a replay"},
		{"inFlight.do", listed(inFlightActions), "a second request while the first is not over"},
		{"inFlight.status", statuses, "of the refusal"},
		{"inFlight.error", "a text", `the "error" of its body`},
		{"inFlight.retryAfter", "a duration", "its Retry-After header"},
		{"inFlight.lease", "a duration; 0: never", "after it the key may be taken again"},
		{"lookUp.by", listed(lookUps), "how a caller can ask: GET /jobs/by-idempotency-key/KEY, or GET /jobs?FIELD=VALUE"},
		{"lookUp.filter", "a parameter's name", "the parameter that filters a list by key"},
		{"lookUp.lag", "a duration", "a look-up shows the ledger as it was so long ago"},
		{"lookUp.inFlight.do", listed([]Action{Reject}), "a look-up of a key in flight"},
		{"lookUp.inFlight.status", statuses, "of its answer; 404 unless said"},
		{"lookUp.inFlight.error", "a text", `the "error" of its body`},
		{"hints.retryAfter", "a duration; 0: none", "Retry-After on every 409 and 503 of the contract"},
		{"hints.shouldRetry", "a header's name", "a header that says true or false on errors"},
	}
}

const statuses = "400 to 599"

func listed[T ~string](values []T) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return strings.Join(names, ", ")
}
