package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"faultlab/engine"
)

// A member of a request that there is none of is a TypeError that names it and what may have been meant; nothing is sent.
func TestAnUnknownOptionIsATypeError(t *testing.T) {
	t.Parallel()
	db := `services.db({driver: "sqlite", connection: "x"})`
	for call, says := range map[string]string{
		`services.http.request({url: "http://p.test/", idempotncy: {}})`:                            `the request has no option "idempotncy"; did you mean "idempotency"?`,
		`services.http.request({url: "http://p.test/", body: "x"})`:                                 `the request has no option "body"; it takes acceptedStatus,`,
		`services.http.request({url: "http://p.test/", acceptedStatus: {min: 200}})`:                `acceptedStatus has no option "min"; did you mean "minimum"?`,
		`services.http.request({url: "http://p.test/", idempotency: {heder: "K", value: "v"}})`:     `idempotency has no option "heder"; did you mean "header"?`,
		`services.http.request({url: "http://p.test/"}, {nam: "a"})`:                                `the last argument of services.http.request has no option "nam"; did you mean "name"?`,
		`services.db({driver: "sqlite", connection: "x", marker: false}).query({text: "SELECT 1"})`: `services.db has no option "marker"; did you mean "markers"?`,
		db + `.query({text: "SELECT 1", value: []})`:                                                `services.db.query has no option "value"; did you mean "values"?`,
		db + `.update({table: "t", set: {a: 1}, were: {b: 2}})`:                                     `services.db.update has no option "were"; did you mean "where"?`,
		db + `.transaction([{operation: "delete", table: "t", wher: {}}])`:                          `operation 1 of the transaction has no option "wher"; did you mean "where"?`,
		`fetch("http://p.test/", {header: {}})`:                                                     `fetch has no option "header"; did you mean "headers"?`,
	} {
		l := newLab(t, nil, document("", `|try { await `+call+` } catch (e) { return [e.name, e instanceof TypeError, e.message, e.code ?? ""].join(" | ") } return "sent"`))
		l.options = func(o *engine.Options) { o.Database = &working{} }
		run := l.once(`{}`)
		var got string
		if err := json.Unmarshal(run.Steps[0].Result, &got); err != nil || !strings.HasPrefix(got, "TypeError | true | "+says) {
			t.Errorf("%s\n gives %s, want %s", call, got, says)
		}
		if _, calls, _ := run.Counts(); calls != 0 {
			t.Errorf("%s was sent", call)
		}
	}
}
