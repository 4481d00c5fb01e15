package contract

import (
	"fmt"
	"slices"
	"strings"

	"faultlab/engine/plain"
)

// KnobError says which knob of a contract does not fit, and why.
type KnobError struct {
	Knob string // by its path in a contract file: "retention.from"
	Msg  string
}

func (e *KnobError) Error() string { return e.Knob + ": " + e.Msg }

// rule is one condition that a contract must meet.
type rule struct {
	knob   string
	broken func(c *Contract) bool
	msg    string
}

// rules is what makes a contract valid, beyond the spelling of its values.
var rules = []rule{
	{"name", func(c *Contract) bool { return c.Name == "" || strings.ContainsAny(c.Name, " \t\r\n") }, "a name of one word is needed"},
	{"carrier.in", func(c *Contract) bool { return !slices.Contains(places, c.Carrier.In) }, oneOf(places)},
	{"carrier.name", func(c *Contract) bool { return c.Carrier.In == InHeader && !plain.Token(c.Carrier.Name) }, "the name of a header is needed"},
	{"carrier.name", func(c *Contract) bool { return c.Carrier.In == InBody && c.Carrier.Name == "" }, "the name of a field is needed"},
	{"carrier.firstSent", func(c *Contract) bool { return c.Carrier.FirstSent != "" && !plain.Token(c.Carrier.FirstSent) }, "the name of a header is needed"},
	{"missing.do", func(c *Contract) bool { return !slices.Contains(missingActions, c.Missing.Do) }, oneOf(missingActions)},
	{"missing.status", func(c *Contract) bool { return badRefusal(c.Missing) }, refusalMsg},
	{"key.syntax", func(c *Contract) bool { return !slices.Contains(syntaxes, c.Key.Syntax) }, oneOf(syntaxes)},
	{"key.charset", func(c *Contract) bool { return !slices.Contains(charsets, c.Key.Charset) }, oneOf(charsets)},
	{"key.overlong", func(c *Contract) bool { return !slices.Contains(overlongs, c.Key.Overlong) }, oneOf(overlongs)},
	{"key.maxLength", func(c *Contract) bool { return c.Key.MaxLength < 0 }, "a length is not negative"},
	{"key.overlong", func(c *Contract) bool { return c.Key.Overlong == Truncate && c.Key.MaxLength == 0 }, "there is nothing to truncate to without maxLength"},
	{"key.status", func(c *Contract) bool { return c.Key.Status != 0 && (c.Key.Status < 400 || c.Key.Status > 599) }, "a bad key is refused with a status from 400 to 599; 0 is 400"},
	{"fingerprint.by", func(c *Contract) bool { return !slices.Contains(bys, c.Fingerprint.By) }, oneOf(bys)},
	{"fingerprint.fields", func(c *Contract) bool { return (c.Fingerprint.By == ByFields) != (len(c.Fingerprint.Fields) > 0) }, `fields belong to by "fields", and to nothing else`},
	{"mismatch.do", func(c *Contract) bool { return !slices.Contains(mismatchActions, c.Mismatch.Do) }, oneOf(mismatchActions)},
	{"mismatch.status", func(c *Contract) bool { return badRefusal(c.Mismatch) }, refusalMsg},
	{"retention.from", func(c *Contract) bool { return !slices.Contains(froms, c.Retention.From) }, oneOf(froms)},
	{"retention.from", func(c *Contract) bool { return c.Retention.From == ClientClock && c.Carrier.FirstSent == "" }, "the client's clock needs carrier.firstSent"},
	{"retention.from", func(c *Contract) bool { return c.Retention.From == ClientClock && c.Retention.For <= 0 }, "the client's clock needs retention.for"},
	{"retention.for", func(c *Contract) bool { return c.Retention.For < 0 }, "a retention is not negative"},
	{"retention.expired", func(c *Contract) bool { return !slices.Contains(expireds, c.Retention.Expired) }, oneOf(expireds)},
	{"store", func(c *Contract) bool {
		return slices.ContainsFunc(c.Store, func(s string) bool { return !slices.Contains(classes, s) })
	}, oneOf(classes)},
	{"store", func(c *Contract) bool { return (c.Replay.Do == StoredReply) != slices.Contains(c.Store, "2xx") }, `a replay that is the "stored-reply" stores "2xx" at least, any other replay stores nothing`},
	{"afterError", func(c *Contract) bool { return !slices.Contains(afterErrors, c.AfterError) }, oneOf(afterErrors)},
	{"afterError", func(c *Contract) bool { return c.AfterError != Released && slices.Contains(c.Store, "5xx") }, "a 5xx that is stored is neither kept nor locked"},
	{"replay.do", func(c *Contract) bool { return !slices.Contains(replays, c.Replay.Do) }, oneOf(replays)},
	{"replay.status", func(c *Contract) bool { return badReplayStatus(c.Replay) }, "a status from 200 to 299 is needed, from 400 to 499 for a conflict; 0 is that of the first result"},
	{"replay.marker", func(c *Contract) bool { return c.Replay.Marker != "" && !headerLine(c.Replay.Marker) }, `a header is written "Name: value"`},
	{"inFlight.do", func(c *Contract) bool { return !slices.Contains(inFlightActions, c.InFlight.Do) }, oneOf(inFlightActions)},
	{"inFlight.status", func(c *Contract) bool { return badRefusal(c.InFlight.Refusal) }, refusalMsg},
	{"lookUp.by", func(c *Contract) bool { return !slices.Contains(lookUps, c.LookUp.By) }, oneOf(lookUps)},
	{"lookUp.filter", func(c *Contract) bool { return c.LookUp.Filter != "" && c.LookUp.By != LookUpByList }, `a filter belongs to by "filter"`},
	{"lookUp.inFlight.do", func(c *Contract) bool { return c.LookUp.InFlight.Do != Reject }, `must be "reject"`},
	{"lookUp.inFlight.status", func(c *Contract) bool { return badRefusal(c.LookUp.InFlight) }, refusalMsg},
	{"hints.shouldRetry", func(c *Contract) bool { return c.Hints.ShouldRetry != "" && !plain.Token(c.Hints.ShouldRetry) }, "the name of a header is needed"},
}

var (
	places          = []Place{InHeader, InBody, InPath, Nowhere}
	missingActions  = []Action{Execute, Reject}
	mismatchActions = []Action{Reject, ReplayFirst, Execute}
	inFlightActions = []Action{Reject, Wait, Execute}
	syntaxes        = []Syntax{Raw, StructuredString, UUID}
	charsets        = []Charset{AnyChar, ASCII}
	overlongs       = []Overlong{RejectLong, Truncate}
	bys             = []By{ByNone, ByBytes, ByJSON, ByCanonical, ByFields}
	froms           = []From{FirstSeen, Completed, ClientClock}
	expireds        = []Expired{NewOperation, Refuse}
	classes         = []string{"2xx", "4xx", "5xx"}
	afterErrors     = []AfterError{Released, Kept, Locked}
	replays         = []ReplayAction{StoredReply, CurrentState, ConflictWithID, Accepted}
	lookUps         = []LookUpBy{LookUpNone, LookUpByKey, LookUpByList}
)

// Check returns the first rule that the contract breaks, as a *KnobError, or nil.
func (c Contract) Check() error {
	for _, r := range rules {
		if r.broken(&c) {
			return &KnobError{r.knob, r.msg}
		}
	}
	return nil
}

const refusalMsg = `"reject" needs a status from 400 to 599 and an error`

func badRefusal(r Refusal) bool {
	return r.Do == Reject && (r.Status < 400 || r.Status > 599 || r.Error == "")
}

func badReplayStatus(r Replay) bool {
	if r.Do == ConflictWithID {
		return r.Status < 400 || r.Status > 499
	}
	return r.Status != 0 && (r.Status < 200 || r.Status > 299)
}

func headerLine(s string) bool {
	name, value, ok := strings.Cut(s, ": ")
	return ok && plain.Token(name) && value != "" && !strings.ContainsFunc(value, func(r rune) bool { return r < 0x20 || r > 0x7e })
}

func oneOf[T ~string](values []T) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return fmt.Sprintf("must be one of %s", strings.Join(out, ", "))
}
