package contract

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"faultlab/engine/plain"
)

// Rules says in sentences what the contract does, for a screen or a report: one knob a sentence, in the order in which
// a request meets them. Assumptions are kept apart.
func (c Contract) Rules() []string {
	if c.Carrier.In == Nowhere {
		return []string{"No key is looked for: every write executes.", c.lookUpRule()}
	}
	out := []string{
		c.carrierRule(),
		"A POST without a key " + c.Missing.phrase("executes") + ".",
		c.keyRule(),
		c.scopeRule(),
		c.payloadRule(),
		c.retentionRule(),
		c.resultRule(),
		c.replayRule(),
		c.inFlightRule(),
		c.lookUpRule(),
	}
	if hints := c.hintsRule(); hints != "" {
		out = append(out, hints)
	}
	return out
}

// phrase says what a refusal does.
func (r Refusal) phrase(execute string) string {
	switch r.Do {
	case Reject:
		return fmt.Sprintf("is answered with %d %s", r.Status, r.Error)
	case ReplayFirst:
		return "is answered like the first"
	case Wait:
		return "waits and is then answered as a repeat"
	}
	return execute
}

func (c Contract) carrierRule() string {
	where := map[Place]string{
		InHeader: "in the header " + c.Carrier.Name,
		InBody:   "in the body's field " + c.Carrier.Name,
		InPath:   "as the last segment of the path",
	}[c.Carrier.In]
	if c.Carrier.FirstSent != "" {
		where += ", the time of the first attempt in " + c.Carrier.FirstSent
	}
	return "The key travels " + where + "."
}

func (c Contract) keyRule() string {
	syntax := map[Syntax]string{
		Raw:              "any text",
		StructuredString: `a string in double quotes (RFC 8941)`,
		UUID:             "a UUID",
	}[c.Key.Syntax]
	if c.Key.Charset == ASCII {
		syntax += " of ASCII characters"
	}
	status, _ := c.Key.Refused()
	bad := ""
	if c.Key.Status != 0 {
		bad = fmt.Sprintf("; any other one is refused with %d", status)
	}
	if c.Key.MaxLength == 0 {
		return "A key is " + syntax + bad + "."
	}
	over := fmt.Sprintf("a longer one is refused with %d", status)
	if c.Key.Overlong == Truncate {
		over = "a longer one is cut, and may become another's"
	}
	return fmt.Sprintf("A key is %s, up to %d characters; %s.", syntax, c.Key.MaxLength, over)
}

func (c Contract) scopeRule() string {
	var parts []string
	for _, s := range c.Scope.parts() {
		parts = append(parts, strings.TrimPrefix(s, "field:"))
	}
	if len(parts) == 0 {
		return "A key is the same key everywhere."
	}
	return "A key is the same key within one " + strings.Join(parts, ", ") + "."
}

func (c Contract) payloadRule() string {
	how := map[By]string{
		ByBytes:     "byte by byte",
		ByJSON:      "as re-serialized JSON, the order of keys counts",
		ByCanonical: "as canonical JSON, the order of keys does not count",
		ByFields:    "by " + strings.Join(c.Fingerprint.Fields, ", "),
	}[c.Fingerprint.By]
	if c.Fingerprint.By == ByNone {
		return "The payload is not compared."
	}
	return fmt.Sprintf("Payloads are compared %s; a changed one %s.", how, c.Mismatch.phrase("executes as a new operation"))
}

func (c Contract) retentionRule() string {
	if c.Retention.For == 0 && len(c.Retention.Collections) == 0 {
		return "A key is known for ever."
	}
	from := map[From]string{
		FirstSeen:   "from the first request",
		Completed:   "from the result",
		ClientClock: "around the client's own time",
	}[c.Retention.From]
	after := "afterwards it is new again"
	if c.Retention.Expired == Refuse {
		after = "afterwards it is answered with 412"
	}
	return fmt.Sprintf("A key is known for %s %s; %s.", c.spans(), from, after)
}

func (c Contract) spans() string {
	out := spell(c.Retention.For)
	for _, name := range plain.SortedKeys(c.Retention.Collections) {
		out += fmt.Sprintf(", %s for %s", spell(c.Retention.Collections[name]), name)
	}
	return out
}

func (c Contract) resultRule() string {
	var stored string
	switch {
	case c.Replay.Do != StoredReply:
		stored = "What counts under a key is the record that it made"
	default:
		stored = "Stored under a key: results of " + strings.Join(c.Store, ", ")
	}
	if slices.Contains(c.Store, "5xx") {
		return stored + "; a stored error comes back for ever."
	}
	return stored + "; after a 5xx " + map[AfterError]string{
		Released: "the key is free and executes again",
		Kept:     "the key executes again, for the same payload only",
		Locked:   "the key is locked and answers 409",
	}[c.AfterError] + "."
}

func (c Contract) replayRule() string {
	out := "A repeat gets " + map[ReplayAction]string{
		StoredReply:    "the stored result",
		CurrentState:   "the record as it is now",
		ConflictWithID: "an error with the id of the existing record",
		Accepted:       "an acceptance, with no new effect and no record in it",
	}[c.Replay.Do]
	if c.Replay.Status != 0 {
		out += fmt.Sprintf(", with %d", c.Replay.Status)
	}
	if c.Replay.Marker != "" {
		out += ", marked " + c.Replay.Marker
	}
	return out + "."
}

func (c Contract) inFlightRule() string {
	out := "While the first request is in flight, a second " + c.InFlight.phrase("executes too")
	if c.InFlight.Lease > 0 {
		out += ", for at most " + spell(c.InFlight.Lease)
	}
	return out + "."
}

func (c Contract) lookUpRule() string {
	var out string
	switch c.LookUp.By {
	case LookUpNone:
		return "There is no look-up by key; a record can be read by its id."
	case LookUpByKey:
		out = "An operation is looked up at /{collection}/by-idempotency-key/{key}"
	default:
		field := c.LookUp.Filter
		if field == "" {
			field = "field"
		}
		out = fmt.Sprintf("Records are listed by /{collection}?%s=...", field)
	}
	if c.LookUp.Lag > 0 {
		out += ", as it was " + spell(c.LookUp.Lag) + " ago"
	}
	return out + "."
}

func (c Contract) hintsRule() string {
	var parts []string
	if c.Hints.RetryAfter > 0 {
		parts = append(parts, "Retry-After "+spell(c.Hints.RetryAfter))
	}
	if c.Hints.ShouldRetry != "" {
		parts = append(parts, c.Hints.ShouldRetry+" with true or false")
	}
	if parts == nil {
		return ""
	}
	return "Errors carry " + strings.Join(parts, " and ") + "."
}

// spell writes a duration as a person would: "24 h", "45 days".
func spell(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == 0:
		return "ever"
	case d > day && d%day == 0:
		return fmt.Sprintf("%d days", d/day)
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return d.String()
}
