package woml

import (
	"strings"
	"testing"
)

const hashed = `<woml><workflow id="demo" name="Demo"><config queue="a" timeout="90s"/><triggers>` +
	`<webhook id="in" path="/in" auth="none"><schema>{"type":"object","maximum":12345678901234567890}</schema></webhook></triggers>` +
	`<steps><step id="one" retry="2"><script>return 1;</script></step><step id="two"><script>return a < b;</script></step></steps></workflow></woml>`

func hashOf(t *testing.T, document string) string {
	t.Helper()
	doc, diags := Parse([]byte(document))
	if doc == nil {
		t.Fatalf("refused: %+v\n%s", diags, document)
	}
	return doc.Hash
}

// Histories keep this hash: it must not change with a version of the product.
func TestHashIsFixed(t *testing.T) {
	t.Parallel()
	const want = "sha256:811475b757e996bea61e0ff11d5e17137cc33d9d7dc7dbcb17c2456188356d6f"
	if got := hashOf(t, hashed); got != want {
		t.Errorf("the hash of the same workflow is now %s", got)
	}
}

func TestHashIgnoresHowItIsWritten(t *testing.T) {
	t.Parallel()
	want := hashOf(t, hashed)
	for name, change := range map[string][2]string{
		"white space":            {"<steps>", "\n\t<steps\n>  "},
		"comments":               {"<steps>", "<!-- a --><steps><!-- b -->"},
		"order of attributes":    {`id="demo" name="Demo"`, `name="Demo" id="demo"`},
		"order of containers":    {hashed, moveConfigLast()},
		"quotes":                 {`id="one"`, `id='one'`},
		"entities":               {`timeout="90s"`, `timeout="1.5m"`},
		"a default written out":  {`auth="none"`, `auth="none" method="POST"`},
		"delays written out":     {`retry="2"`, `retry="2" retry-backoff="exponential" retry-delay="1000ms" retry-max-delay="0.5m"`},
		"no 429 that is borne":   {`retry="2"`, `retry="2" retry-throttled="0"`},
		"one attempt":            {`<step id="two">`, `<step id="two" retry="1">`},
		"layout of the schema":   {`{"type":"object","maximum":12345678901234567890}`, "{ \"maximum\": 12345678901234567890,<!-- b -->\n \"type\": \"object\" }"},
		"a byte order mark":      {"<woml>", "\ufeff<woml>"},
		"an element that closes": {`timeout="90s"/>`, `timeout="90s"></config>`},
	} {
		if changed := strings.Replace(hashed, change[0], change[1], 1); changed == hashed || hashOf(t, changed) != want {
			t.Errorf("%s: another hash, or no change", name)
		}
	}
}

func moveConfigLast() string {
	const config = `<config queue="a" timeout="90s"/>`
	return strings.Replace(strings.Replace(hashed, config, "", 1), "</workflow>", config+"</workflow>", 1)
}

func TestHashSeesEveryChange(t *testing.T) {
	t.Parallel()
	seen := map[string]string{hashOf(t, hashed): "nothing"}
	for name, change := range map[string][2]string{
		"workflow id":         {`"demo"`, `"demo2"`},
		"workflow name":       {`"Demo"`, `"Demos"`},
		"description":         {`name="Demo"`, `name="Demo" description="a"`},
		"version":             {`name="Demo"`, `name="Demo" version="a"`},
		"concurrency":         {`queue="a"`, `queue="a" concurrency="1"`},
		"rate":                {`queue="a"`, `queue="a" rate-limit="1/1s"`},
		"rate's window":       {`queue="a"`, `queue="a" rate-limit="1/2s"`},
		"queue":               {`queue="a"`, `queue="b"`},
		"timeout":             {`"90s"`, `"91s"`},
		"trigger's id":        {`id="in"`, `id="out"`},
		"path":                {`"/in"`, `"/out"`},
		"auth":                {`auth="none"`, `auth="bearer" secret="{{secrets.A}}"`},
		"secret":              {`auth="none"`, `auth="bearer" secret="{{secrets.B}}"`},
		"schema":              {`567890}`, `567891}`},
		"no schema":           {`<schema>{"type":"object","maximum":12345678901234567890}</schema>`, ``},
		"another trigger":     {`</triggers>`, `<manual id="go"/></triggers>`},
		"step's id":           {`"one"`, `"three"`},
		"step's name":         {`id="one"`, `id="one" name="a"`},
		"step's description":  {`id="one"`, `id="one" description="a"`},
		"retry":               {`retry="2"`, `retry="3"`},
		"backoff":             {`retry="2"`, `retry="2" retry-backoff="fixed"`},
		"delay":               {`retry="2"`, `retry="2" retry-delay="2s"`},
		"429s that are borne": {`retry="2"`, `retry="2" retry-throttled="1"`},
		"maximum delay":       {`retry="2"`, `retry="2" retry-max-delay="2s"`},
		"script":              {"return 1;", "return 3;"},
		"space in a script":   {"return 1;", "return 1; "},
		"inverse":             {"return 1;</script>", "return 1;</script><compensate><script>return 1;</script></compensate>"},
		"inverse's retry":     {"return 1;</script>", `return 1;</script><compensate retry="2"><script>return 1;</script></compensate>`},
		"order of steps":      {hashed, strings.NewReplacer(`"one" retry="2"`, `"two"`, `"two"`, `"one" retry="2"`, "return 1;", "return a < b;", "return a < b;", "return 1;").Replace(hashed)},
	} {
		changed := strings.Replace(hashed, change[0], change[1], 1)
		sum := hashOf(t, changed)
		if other, again := seen[sum]; again {
			t.Errorf("a change of the %s gives the same hash as a change of the %s", name, other)
		}
		seen[sum] = name
	}
}
