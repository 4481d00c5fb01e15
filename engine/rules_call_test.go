package engine

import (
	"testing"

	"pgregory.net/rapid"
)

var (
	hows    = []How{HowNeverSent, HowExpired, HowAccepted, HowThrottled, HowServer, HowInFlight, HowConflict, HowKeyTaken, HowClient, HowUnexpected, HowRedirected, HowNoReply, HowUnreadable}
	effects = []Effect{Read, KeyedWrite, IdempotentWrite, LocalWrite, UnkeyedWrite}
)

// The table of the design, in its own words: how the call ended, then what that
// means for a read, a keyed write and an unkeyed write.
func TestCallTable(t *testing.T) {
	t.Parallel()
	rows := []struct {
		ended   string
		end     callEnd
		how     How
		read    string
		keyed   string
		unkeyed string
	}{
		{"connection refused, DNS, TLS, time over before the first byte", callEnd{}, HowNeverSent, "again", "not done, again", "not done, again"},
		{"never sent, because the provider may have forgotten the key", callEnd{expired: true}, HowExpired, "stop", "not done, stop", "not done, stop"},
		{"accepted status, body whole", callEnd{began: true, status: 201, accepted: true}, HowAccepted, "", "done", "done"},
		{"429", callEnd{began: true, status: 429}, HowThrottled, "again", "not done, again", "not done, again"},
		{"408", callEnd{began: true, status: 408}, HowServer, "again", "unproven, again", "ambiguous, stop"},
		{"425", callEnd{began: true, status: 425}, HowServer, "again", "unproven, again", "ambiguous, stop"},
		{"500", callEnd{began: true, status: 500}, HowServer, "again", "unproven, again", "ambiguous, stop"},
		{"503 with Retry-After", callEnd{began: true, status: 503, retryAfter: true}, HowServer, "again", "unproven, again", "ambiguous, stop"},
		{"409 with Retry-After", callEnd{began: true, status: 409, retryAfter: true}, HowInFlight, "stop", "unproven, again", "not done, stop"},
		{"409 where it means in flight", callEnd{began: true, status: 409, inFlight: true}, HowInFlight, "stop", "unproven, again", "not done, stop"},
		{"any other 409", callEnd{began: true, status: 409}, HowConflict, "stop", "unproven, stop", "not done, stop"},
		{"422 to a key known with another payload", callEnd{began: true, status: 422, keyTaken: true}, HowKeyTaken, "stop", "not done, stop", "not done, stop"},
		{"another 4xx", callEnd{began: true, status: 404}, HowClient, "stop", "not done, stop", "not done, stop"},
		{"2xx outside the accepted range", callEnd{began: true, status: 204}, HowUnexpected, "stop", "ambiguous, stop", "ambiguous, stop"},
		{"refused redirect", callEnd{began: true, status: 303}, HowUnexpected, "stop", "ambiguous, stop", "ambiguous, stop"},
		{"redirected into a read, whose answer is not accepted", callEnd{began: true, status: 404, elsewhere: true}, HowRedirected, "stop", "ambiguous, stop", "ambiguous, stop"},
		{"dropped, reset, timed out after the first byte", callEnd{began: true}, HowNoReply, "again", "ambiguous, stop", "ambiguous, stop"},
		{"body cut, not JSON, too large", callEnd{began: true, status: 200, accepted: true, unreadable: true}, HowUnreadable, "stop", "ambiguous, stop", "ambiguous, stop"},
	}
	// What acceptedStatus lets through, and what a refusal's body is like, changes no row of a write.
	for _, r := range []struct {
		ended string
		end   callEnd
		how   How
	}{
		{"accepted 429", callEnd{status: 429, accepted: true}, HowThrottled},
		{"accepted 500", callEnd{status: 500, accepted: true}, HowServer},
		{"accepted 409", callEnd{status: 409, accepted: true}, HowConflict},
		{"accepted 404", callEnd{status: 404, accepted: true}, HowClient},
		{"accepted 303", callEnd{status: 303, accepted: true}, HowUnexpected},
		{"accepted 422 to a known key, with a body that cannot be read", callEnd{status: 422, accepted: true, keyTaken: true, unreadable: true}, HowKeyTaken},
		{"accepted 503 with a body that cannot be read", callEnd{status: 503, accepted: true, unreadable: true}, HowServer},
		{"redirected into a read that answers an accepted 404", callEnd{status: 404, accepted: true, elsewhere: true}, HowRedirected},
		{"redirected into a read that answers 200", callEnd{status: 200, accepted: true, elsewhere: true}, HowAccepted},
		{"a read's accepted 404", callEnd{read: true, status: 404, accepted: true}, HowAccepted},
		{"a read's accepted 404 with a body that cannot be read", callEnd{read: true, status: 404, accepted: true, unreadable: true}, HowUnreadable},
	} {
		r.end.began = true
		if how := rowOf(r.end); how != r.how {
			t.Errorf("%s: row %q, want %q", r.ended, how, r.how)
		}
	}
	seen := map[How]bool{}
	for _, r := range rows {
		how := rowOf(r.end)
		seen[how] = true
		if how != r.how {
			t.Errorf("%s: row %q, want %q", r.ended, how, r.how)
		}
		for effect, want := range map[Effect]string{Read: r.read, KeyedWrite: r.keyed, UnkeyedWrite: r.unkeyed} {
			if got := callRules[how][effect].String(); got != want {
				t.Errorf("%s, %s: %q, want %q", r.ended, effect, got, want)
			}
		}
	}
	for _, h := range hows {
		if !seen[h] {
			t.Errorf("no row of this test ends as %q", h)
		}
	}
}

// A write of services.db with a mark: its ends, by what its database says.
func TestLocalWriteTable(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		ended, code string // empty: no error
		want        string
	}{
		{"committed", "", "done"},
		{"the file is locked by another process", "WOML_DATABASE_BUSY", "not done, again"},
		{"the file cannot be opened, or a crash rolled it back", "WOML_DATABASE_UNAVAILABLE", "not done, again"},
		{"a constraint", "WOML_DATABASE_CONSTRAINT", "not done, stop"},
		{"a bad statement", "WOML_DATABASE_STATEMENT_FAILED", "not done, stop"},
		{"bad input", "WOML_DATABASE_INPUT_INVALID", "not done, stop"},
		{"the table of marks", "WOML_DATABASE_TABLE_RESERVED", "not done, stop"},
		{"carried out by an earlier attempt, its result was too large to keep", LocalResultLost, "done, stop"},
		{"a failed commit, and the file cannot be read any more", "?", "ambiguous, stop"},
	} {
		how, known := databaseRows[r.code]
		switch {
		case r.code == "":
			how = HowAccepted
		case !known:
			how = HowNoReply
		}
		if got := callRules[how][LocalWrite].String(); got != r.want {
			t.Errorf("%s: %q, want %q", r.ended, got, r.want)
		}
	}
}

func (r callRule) String() string {
	switch {
	case r.finding == "":
		return string(r.next)
	case r.next == "":
		return string(r.finding)
	}
	return string(r.finding) + ", " + string(r.next)
}

// An idempotent write may be repeated exactly where a read may, and never claims to be ambiguous.
func TestIdempotentWriteRepeatsAsARead(t *testing.T) {
	t.Parallel()
	for _, h := range hows {
		read, write := callRules[h][Read], callRules[h][IdempotentWrite]
		if h != HowInFlight && read.next != write.next {
			t.Errorf("%s: a read says %q, an idempotent write %q", h, read.next, write.next)
		}
		if write.finding == FoundAmbiguous || write.finding == FoundNothing {
			t.Errorf("%s: an idempotent write is found %q", h, write.finding)
		}
	}
}

func TestCallTableIsTotal(t *testing.T) {
	t.Parallel()
	if len(callRules) != len(hows) {
		t.Fatalf("%d rows, want %d", len(callRules), len(hows))
	}
	for _, h := range hows {
		if len(callRules[h]) != len(effects) {
			t.Errorf("%s: %d effects, want %d", h, len(callRules[h]), len(effects))
		}
		if h.Why() == "" {
			t.Errorf("%s has no words", h)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		e := callEnd{began: rapid.Bool().Draw(t, "began"), status: rapid.OneOf(rapid.Just(0), rapid.IntRange(100, 599)).Draw(t, "status"),
			unreadable: rapid.Bool().Draw(t, "unreadable"), elsewhere: rapid.Bool().Draw(t, "elsewhere"), retryAfter: rapid.Bool().Draw(t, "retryAfter"),
			inFlight: rapid.Bool().Draw(t, "inFlight"), keyTaken: rapid.Bool().Draw(t, "keyTaken")}
		e.accepted = e.status != 0 && rapid.Bool().Draw(t, "accepted")
		how := rowOf(e)
		for _, effect := range effects {
			rule, ok := callRules[how][effect]
			if !ok {
				t.Fatalf("%+v as %s meets no row", e, effect)
			}
			if rule.finding == FoundDone && (!e.accepted || e.status/100 != 2) {
				t.Fatalf("%+v proves an effect that no accepted 2xx did", e)
			}
			if e.status == 0 && e.began && effect != Read && rule.finding == FoundNotDone {
				t.Fatalf("%+v takes no answer for a failure", e)
			}
		}
	})
}
