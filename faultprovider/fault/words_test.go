package fault

import "testing"

func TestFaultsInWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"commit-then-error": "commit-then-error",
		`{"name":"bad-request","on":{"collection":"jobs"}}`:                                               "bad-request on jobs",
		`{"commit":{"when":"never"},"reply":{"do":"status","status":503},"on":{"times":-1}}`:              "commit never, status 503, takes new requests, always",
		`{"commit":{"when":"never"},"reply":{"slow":"5s"},"on":{"requests":"any","key":"sha256:90303c"}}`: "commit never, normal, 5s late, takes any requests under key …303c",
		`{"commit":{"when":"never"},"on":{"requests":"any","probability":0.5,"times":-1}}`:                "commit never, normal, takes any requests, each with chance 0.5, always",
		`{"name":"outage","reply":{"do":"status","status":503,"retryAfter":"2s"}}`:                        "outage: commit before the reply, status 503, retry after 2s, takes new requests",
		`{"reply":{"drip":"1s"}}`: "commit before the reply, normal, a byte each 1s, takes new requests",
	} {
		f, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Words(); got != want {
			t.Errorf("%s in words: %s, want %s", text, got, want)
		}
	}
}
