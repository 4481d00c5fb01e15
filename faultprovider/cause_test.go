package faultprovider

import (
	"testing"
	"time"

	"faultlab/faultprovider/contract"
)

// The log says why a known key is a new operation, and what the key counts within.
func TestTheLogSaysWhyAKeyIsNotRecognised(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, contract   string
		path, body, auth string // of the second request; the first is a POST /jobs {"o":1} as Bearer 1
		fault            string
		after            time.Duration
		cause            Cause
		differs          func(a, b *KeyScope) bool
	}{
		{name: "another payload", contract: `{"mismatch":{"do":"execute"}}`, body: `{"o":2}`, cause: PayloadChanged},
		{name: "a key too old", contract: `{"retention":{"for":"1h"}}`, after: 2 * time.Hour, cause: KeyForgotten},
		{name: "an error that is not kept", contract: "success-only", fault: "fail-before-commit"},
		{name: "another token", contract: `{"scope":["account"]}`, auth: "Bearer 2", differs: func(a, b *KeyScope) bool { return a.Account != b.Account }},
		{name: "another endpoint", contract: `{"scope":["route"]}`, path: "/charges", differs: func(a, b *KeyScope) bool { return a.Route == "jobs" && b.Route == "charges" }},
		{name: "another zone", contract: `{"scope":["field:region"]}`, body: `{"region":"eu"}`, differs: func(a, b *KeyScope) bool { return a.Fields != b.Fields }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			kept, named := contract.Preset(c.contract)
			if !named {
				var err error
				if kept, err = contract.Parse([]byte(c.contract)); err != nil {
					t.Fatal(err)
				}
			}
			inBoth(t, Options{Contract: kept}, func(l *lab) {
				if c.fault != "" {
					l.faults(c.fault)
				}
				l.send("POST", "/jobs", `{"o":1}`, with{"Idempotency-Key", "k"}, with{"Authorization", "Bearer 1"})
				l.pass(c.after)
				l.send("POST", or(c.path, "/jobs"), or(c.body, `{"o":1}`), with{"Idempotency-Key", "k"}, with{"Authorization", or(c.auth, "Bearer 1")})
				var made []Entry
				for _, e := range l.p.Log(0) {
					if e.Kind == NewOperation {
						made = append(made, e)
					}
				}
				if len(made) != 2 || made[0].Cause != "" || made[1].Cause != c.cause {
					l.t.Fatalf("the decisions are %+v, want two new operations, the second because of %q", made, c.cause)
				}
				a, b := made[0].Scope, made[1].Scope
				if c.differs == nil && a != nil && *a != *b || c.differs != nil && (a == nil || !c.differs(a, b)) {
					l.t.Errorf("the key counts within %+v, then within %+v", a, b)
				}
			})
		})
	}
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
