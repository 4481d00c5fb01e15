package timeline

import "testing"

func TestNoun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ method, url, key, want string }{
		{"POST", "http://p.test/jobs", "k", "job"},
		{"POST", "http://p.test/v1/charges?expand=a", "k", "charge"},
		{"POST", "http://p.test/v1/charges/", "k", "charge"},
		{"POST", "http://p.test/v1/charges/order%2042", "order 42", "charge"},
		{"PUT", "http://p.test/v1/charges/order-42", "", "charge"},
		{"PUT", "http://p.test/charges", "", ""},
		{"POST", "http://p.test/", "", ""},
	} {
		if got := Noun(c.method, c.url, c.key); got != c.want {
			t.Errorf("%s %s makes a %q, want %q", c.method, c.url, got, c.want)
		}
	}
}
