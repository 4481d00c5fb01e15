package plain

import "testing"

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"url", "method", "headers", "idempotency", "timeoutMs"}
	for name, want := range map[string]string{"idempotncy": "idempotency", "URL": "url", "header": "headers", "timeoutms": "timeoutMs", "body": "", "m": "", "": ""} {
		if got := Nearest(name, known); got != want {
			t.Errorf("near %q is %q, want %q", name, got, want)
		}
	}
}
