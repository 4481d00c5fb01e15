package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Table d, row by row.
func TestWhatALookUpProves(t *testing.T) {
	t.Parallel()
	const sent = `{"orderId":"o1","amount":10}`
	ok := func(body string) lookupReply { return lookupReply{status: 200, body: []byte(body)} }
	status := func(n int) lookupReply { return lookupReply{status: n, body: []byte(`{}`)} }
	known := func(r lookupReply) lookupReply { r.known = true; return r }
	broken := func(r lookupReply) lookupReply { r.broken = true; return r }
	items := func(at string, r lookupReply) lookupReply { r.items = at; return r }
	after := func(r lookupReply, bodies ...string) lookupReply {
		for _, b := range bodies {
			r.sent = append(r.sent, []byte(b))
		}
		return r
	}
	for _, r := range []struct {
		name  string
		reply lookupReply
		want  string
	}{
		{"an object that matches", ok(`{"id":"job_1","orderId":"o1"}`), "found matches"},
		{"an object that contradicts", ok(`{"id":"job_1","orderId":"o2"}`), "found contradicts /orderId"},
		{"an object that cannot be compared", ok(`{"id":"job_1"}`), "found cannot be compared"},
		{"the provider's own id", ok(`{"id":"job_1","orderId":"o1","amount":1e1}`), "found matches"},
		{"the sender's id, under which the provider has another", after(ok(`{"id":"msg_1","text":"hi"}`), `{"id":"m1","text":"hi"}`), "found matches"},
		{"nothing but another id", after(ok(`{"id":"msg_1"}`), `{"id":"m1"}`), "found cannot be compared"},
		{"the body of an earlier attempt", after(ok(`{"orderId":"o1","try":1}`), `{"orderId":"o1","try":1}`, `{"orderId":"o1","try":2}`), "found matches"},
		{"a body of no attempt", after(ok(`{"orderId":"o1","try":3}`), `{"orderId":"o1","try":1}`, `{"orderId":"o1","try":2}`), "found contradicts /try"},
		{"what was sent was no JSON", after(ok(`{"orderId":"o1"}`), `orderId=o1`), "found cannot be compared"},

		{"an empty list", ok(`[]`), "no record"},
		{"a list of one", ok(`[{"orderId":"o1"}]`), "found matches"},
		{"a list of one that contradicts", ok(`[{"orderId":"o2"}]`), "found contradicts /orderId"},
		{"a list of one that is no object", ok(`["job_1"]`), "found cannot be compared"},
		{"a list with one that fits", ok(`[{"orderId":"o2"},{"orderId":"o1"},{"orderId":"o3"}]`), "found matches"},
		{"a list with one that does not contradict", ok(`[{"orderId":"o2"},{"id":"job_1"}]`), "found cannot be compared"},
		{"a list with two that fit", ok(`[{"orderId":"o1"},{"orderId":"o1"}]`), "several"},
		{"a list with none that fits", ok(`[{"orderId":"o2"},{"orderId":"o3"}]`), "several"},
		{"an empty list under data", ok(`{"data":[],"has_more":false}`), "no record"},
		{"a list under items", ok(`{"items":[{"orderId":"o1"}]}`), "found matches"},
		{"a list under results", ok(`{"results":[{"orderId":"o1"}]}`), "found matches"},
		{"a list under records", ok(`{"records":[]}`), "no record"},
		{"a list under value", ok(`{"value":[]}`), "no record"},
		{"a list under another name is a field", ok(`{"entries":[]}`), "found cannot be compared"},
		{"a list beside what was sent is a field", ok(`{"orderId":"o1","items":[]}`), "found matches"},
		{"a field of the name that was sent", after(ok(`{"items":["a"],"id":"job_1"}`), `{"items":["a"]}`), "found matches"},
		{"two lists", ok(`{"data":[],"items":[]}`), "no answer"},
		{"a declared list", items("/page/jobs", ok(`{"page":{"jobs":[{"orderId":"o1"}]}}`)), "found matches"},
		{"a declared list that is empty", items("/page/jobs", ok(`{"page":{"jobs":[]},"data":[{"orderId":"o1"}]}`)), "no record"},
		{"a declared list that is not there", items("/page/jobs", ok(`{"data":[]}`)), "no answer"},
		{"a declared list that is an object", items("/page", ok(`{"page":{}}`)), "no answer"},
		{"a declared list with an odd name", items("/a~1b/0", ok(`{"a/b":[[{"orderId":"o1"}]]}`)), "found matches"},

		{"404 at an address that is known", known(status(404)), "no record"},
		{"410 at an address that is known", known(status(410)), "no record"},
		{"404 at an address that was only assumed", status(404), "no record, unproven"},
		{"410 at an address that was only assumed", status(410), "no record, unproven"},

		{"nothing", ok(``), "no answer"},
		{"null", ok(`null`), "no answer"},
		{"a number", ok(`7`), "no answer"},
		{"a text", ok(`"job_1"`), "no answer"},
		{"a web page", ok(`<html>`), "no answer"},
		{"two objects", ok(`{"orderId":"o1"}{}`), "no answer"},
		{"bytes that are no text", ok("{\"orderId\":\"\xff\"}"), "no answer"},
		{"too deep", ok(`{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`), "no answer"},
		{"accepted, not done", lookupReply{status: 202, body: []byte(`{"orderId":"o1"}`)}, "no answer"},
		{"no content", lookupReply{status: 204}, "no answer"},
		{"a redirect", status(302), "no answer"},
		{"a refusal", status(401), "no answer"},
		{"a conflict", known(status(409)), "no answer"},
		{"an error", status(500), "no answer"},
		{"a body that broke off, or is too large", broken(ok(`{"orderId":"o1"}`)), "no answer"},
		{"a 404 whose body broke off", broken(known(status(404))), "no answer"},
		{"no reply", broken(lookupReply{}), "no answer"},
	} {
		if r.reply.sent == nil {
			r.reply = after(r.reply, sent)
		}
		if got := proofWords(r.reply.prove()); got != r.want {
			t.Errorf("%s: %s, want %s", r.name, got, r.want)
		}
	}
}

func proofWords(p proof) string {
	text := string(p.found)
	if p.match != "" {
		text += " " + string(p.match)
	}
	for _, at := range p.conflicts {
		text += " " + at
	}
	if p.unproven {
		text += ", unproven"
	}
	return text
}

// What was sent is kept only as a hash once its step is settled: a record of it can still be told.
func TestARecordIsComparedWithWhatIsNoLongerKept(t *testing.T) {
	t.Parallel()
	hash := contentHash([]byte(`{"orderId":"o1","amount":10}`))
	for record, want := range map[string]Match{
		`{"orderId":"o1","amount":10}`:                            Matches,
		`{"id":"job_1","amount":10.0,"orderId":"o1"}`:             Matches,
		`{"id":"job_1","token":"k1","orderId":"o1","amount":10}`:  Matches, // the key's own field is no content
		`{"id":"job_1","orderId":"o1"}`:                           Incomparable,
		`{"id":"job_1","orderId":"o2","amount":10}`:               Incomparable,
		`{"id":"job_1","orderId":"o1","amount":10,"state":"new"}`: Incomparable,
		`{}`: Incomparable,
	} {
		p := lookupReply{status: 200, body: []byte(record), hashes: []string{hash}, key: "k1"}.prove()
		if p.found != FoundRecord || p.match != want {
			t.Errorf("%s: %s %s, want %s", record, p.found, p.match, want)
		}
	}
}

// Every reply meets exactly one row, and a record is there just where one was found.
func TestEveryReplyProvesOneThing(t *testing.T) {
	t.Parallel()
	bodies := []string{``, `null`, `7`, `[]`, `{}`, `[{"a":1}]`, `[{"a":1},{"a":1}]`, `{"data":[]}`, `{"data":[{"a":2}]}`, `{"data":[],"items":[]}`, `{"a":1}`, `{"a":2}`, `{"b":[1]}`, `<`}
	rapid.Check(t, func(t *rapid.T) {
		r := lookupReply{
			status: rapid.SampledFrom([]int{0, 200, 201, 202, 204, 206, 301, 304, 400, 401, 404, 409, 410, 429, 500, 503}).Draw(t, "status"),
			body:   []byte(rapid.SampledFrom(bodies).Draw(t, "body")),
			broken: rapid.Bool().Draw(t, "broken"),
			items:  rapid.SampledFrom([]string{"", "/data", "/b", "/none"}).Draw(t, "items"),
			known:  rapid.Bool().Draw(t, "known"),
			sent:   [][]byte{[]byte(rapid.SampledFrom([]string{`{"a":1}`, `{"b":1}`, `[]`, ``}).Draw(t, "sent"))},
		}
		p := r.prove()
		one := p.found == FoundRecord
		switch {
		case !slices.Contains([]Found{FoundRecord, FoundSeveral, FoundNoRecord, FoundNoAnswer}, p.found):
			t.Fatalf("%s proves %q", fmt.Sprint(r), p.found)
		case one != (p.record != nil) || one != (p.match != "") || (one || p.found == FoundSeveral) != (p.records > 0):
			t.Fatalf("%+v proves %+v", r, p)
		case p.unproven && (p.found != FoundNoRecord || r.known):
			t.Fatalf("%+v is called unproven: %+v", r, p)
		case (r.broken || r.status/100 != 2 && r.status != 404 && r.status != 410) && p.found != FoundNoAnswer:
			t.Fatalf("%+v is an answer: %+v", r, p)
		}
	})
}
