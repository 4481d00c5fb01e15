package plain

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"url", "method", "headers", "idempotency", "timeoutMs"}
	for name, want := range map[string]string{
		"idempotncy": "idempotency", "URL": "url", "header": "headers", "timeoutms": "timeoutMs", "mehtod": "method", "body": "", "m": "", "": "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("near %q is %q, want %q", name, got, want)
		}
	}
}

func TestNear(t *testing.T) {
	t.Parallel()
	known := []string{"none", "fail-before-commit", "commit-then-error", "commit-then-drop", "drop-before-commit", "slow", "slow-commit"}
	for word, want := range map[string][]string{
		"comit-then-error": {"commit-then-error"},
		"commit-then-drp":  {"commit-then-drop"},
		"slo":              {"slow"},
		"slow-commits":     {"slow-commit"},
		"error":            {"commit-then-error"},
		"commit":           {"fail-before-commit", "commit-then-error", "commit-then-drop"},
		"Commit-Then-Drop": {"commit-then-drop"},
		"xyz":              nil,
		"":                 nil,
	} {
		if got := Near(word, known); !slices.Equal(got, want) {
			t.Errorf("Near(%q) = %q, want %q", word, got, want)
		}
	}
}
