package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"faultlab/faultprovider/fault"
)

// TestTheManualNamesAllOfAFault writes a fault with every member, and every value that a member can have.
func TestTheManualNamesAllOfAFault(t *testing.T) {
	t.Parallel()
	whole, err := json.Marshal(fault.Fault{
		Name: "own", Commit: fault.Commit{When: fault.Late, After: 1},
		Reply: fault.Reply{Do: fault.Status, Status: 503, Error: "e", RetryAfter: 1, Bytes: 1, Slow: 1, Drip: 1, Stale: 1},
		On:    fault.On{Requests: fault.Any, Key: "k", Collection: "c", Nth: 1, Probability: 1, Times: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(string(whole), -1) {
		if !strings.Contains(helpTexts()["faults"], m[1]) {
			t.Errorf("the help does not name %s", m[1])
		}
	}
	for member, bad := range map[string]string{"do": `{"reply":{"do":"?"}}`, "when": `{"commit":{"when":"?"}}`, "requests": `{"name":"none","on":{"requests":"?"}}`} {
		_, err := fault.Parse(bad)
		if err == nil {
			t.Fatalf("%s was taken", bad)
		}
		values, _, _ := strings.Cut(strings.SplitN(err.Error(), "one of ", 2)[1], ", not ")
		for _, value := range strings.Split(values, ", ") {
			if !strings.Contains(helpTexts()["faults"], value) {
				t.Errorf("the help does not name %s as %s", value, member)
			}
		}
	}
}
