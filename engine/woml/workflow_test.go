package woml

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var workflowRefusals = []refusal{
	{"no id", `<woml>` + mark + `<workflow>` + oneStep + `</workflow></woml>`, "WOML_MISSING_ATTRIBUTE"},
	{"id with a capital", `<woml><workflow id="` + mark + `Demo">` + oneStep + `</workflow></woml>`, "WOML_INVALID_ID"},
	{"id with two hyphens", `<woml><workflow id="` + mark + `a--b">` + oneStep + `</workflow></woml>`, "WOML_INVALID_ID"},
	{"id that is too long", `<woml><workflow id="` + mark + strings.Repeat("a", 257) + `">` + oneStep + `</workflow></woml>`, "WOML_INVALID_ID"},
	{"empty id", `<woml><workflow id="` + mark + `">` + oneStep + `</workflow></woml>`, "WOML_INVALID_ID"},
	{"empty name", `<woml><workflow id="a" name="` + mark + `">` + oneStep + `</workflow></woml>`, "WOML_EMPTY_METADATA"},
	{"blank version", `<woml><workflow id="a" version="` + mark + "  \u00a0" + `">` + oneStep + `</workflow></woml>`, "WOML_EMPTY_METADATA"},

	{"text in the workflow", inWorkflow(mark + "\n&amp; " + oneStep), "WOML_UNEXPECTED_CONTENT"},
	{"two configs", inWorkflow(`<config queue="a"/>` + mark + `<config queue="b"/>` + oneStep), "WOML_CONFIG_DUPLICATE"},
	{"two lists of triggers", inWorkflow(`<triggers><manual id="a"/></triggers>` + mark + `<triggers><manual id="b"/></triggers>` + oneStep), "WOML_TRIGGER_CONTAINER_COUNT"},
	{"two lists of steps", inWorkflow(oneStep + mark + `<steps/>`), "WOML_STEPS_CONTAINER_COUNT"},
	{"no steps", `<woml>` + mark + `<workflow id="demo"><config queue="a"/></workflow></woml>`, "WOML_STEPS_CONTAINER_COUNT"},
	{"a step outside of steps", inWorkflow(oneStep + mark + `<step id="two"><script>1</script></step>`), "WOML_INVALID_STRUCTURE"},

	{"config with a child", inWorkflow(`<config queue="a">` + mark + `<manual id="x"/></config>` + oneStep), "WOML_CONFIG_CHILD_NOT_ALLOWED"},
	{"config with text", inWorkflow(`<config queue="a">` + mark + `x</config>` + oneStep), "WOML_CONFIG_CHILD_NOT_ALLOWED"},
	{"config with a script", inWorkflow(`<config queue="a">` + mark + `<script>1</script></config>` + oneStep), "WOML_CONFIG_CHILD_NOT_ALLOWED"},
	{"empty config", inWorkflow(mark + `<config />` + oneStep), "WOML_CONFIG_EMPTY"},
	{"concurrency of none", inWorkflow(`<config concurrency="` + mark + `0"/>` + oneStep), "WOML_CONFIG_CONCURRENCY_INVALID"},
	{"concurrency of one and a half", inWorkflow(`<config concurrency="` + mark + `1.5"/>` + oneStep), "WOML_CONFIG_CONCURRENCY_INVALID"},
	{"concurrency above a million", inWorkflow(`<config concurrency="` + mark + `1000001"/>` + oneStep), "WOML_CONFIG_CONCURRENCY_INVALID"},
	{"concurrency before queue", inWorkflow(`<config queue="BAD" concurrency="` + mark + `0"/>` + oneStep), "WOML_CONFIG_CONCURRENCY_INVALID"},
	{"timeout without a unit", inWorkflow(`<config timeout="` + mark + `10"/>` + oneStep), "WOML_CONFIG_TIMEOUT_INVALID"},
	{"timeout above a year", inWorkflow(`<config timeout="` + mark + `366d"/>` + oneStep), "WOML_CONFIG_TIMEOUT_INVALID"},
	{"rate without a window", inWorkflow(`<config rate-limit="` + mark + `100"/>` + oneStep), "WOML_CONFIG_RATE_LIMIT_INVALID"},
	{"rate of none", inWorkflow(`<config rate-limit="` + mark + `0/1m"/>` + oneStep), "WOML_CONFIG_RATE_LIMIT_INVALID"},
	{"rate with spaces", inWorkflow(`<config rate-limit="` + mark + `10 / 1m"/>` + oneStep), "WOML_CONFIG_RATE_LIMIT_INVALID"},
	{"rate with two windows", inWorkflow(`<config rate-limit="` + mark + `10/1m/2"/>` + oneStep), "WOML_CONFIG_RATE_LIMIT_INVALID"},
	{"rate with an empty window", inWorkflow(`<config rate-limit="` + mark + `10/"/>` + oneStep), "WOML_CONFIG_RATE_LIMIT_INVALID"},
	{"queue with a capital", inWorkflow(`<config queue="` + mark + `Orders"/>` + oneStep), "WOML_CONFIG_QUEUE_INVALID"},
	{"queue that is too long", inWorkflow(`<config queue="` + mark + strings.Repeat("q", 129) + `"/>` + oneStep), "WOML_CONFIG_QUEUE_INVALID"},
}

func TestDuration(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, row := range []struct {
		text string
		want time.Duration // 0: refused
	}{
		{"1ms", time.Millisecond}, {"250ms", 250 * time.Millisecond}, {"1s", time.Second}, {"24h", day}, {"1d", day},
		{"0.5s", 500 * time.Millisecond}, {"0.001s", time.Millisecond}, {"0.07s", 70 * time.Millisecond}, {"1.50m", 90 * time.Second},
		{"0.0009765625d", 84375 * time.Millisecond}, {"1.000000000000000000000s", time.Second},
		{"0s", 0}, {"0.0s", 0}, {"0.0005s", 0}, {"1.0005s", 0}, {".5s", 0}, {"1.s", 0}, {"01s", 0}, {"1S", 0}, {"1 s", 0}, {" 1s", 0}, {"-1s", 0}, {"+1s", 0},
		{"1m30s", 0}, {"1", 0}, {"s", 0}, {"", 0}, {"1e3s", 0}, {"86400001ms", 0}, {"2d", 0}, {"99999999999999999999ms", 0}, {"9223372036854775807d", 0},
		{"0.00048828125d", 0}, {"0.12345678901234567890d", 0},
	} {
		got, err := duration(row.text, day)
		if got != row.want || (err == nil) != (row.want > 0) {
			t.Errorf("%q is %v (%v), want %v", row.text, got, err, row.want)
		}
	}
}

// Whatever is written in whole milliseconds is read back, with or without
// decimals.
func TestDurationIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(1, maxPolicyDuration.Milliseconds()).Draw(t, "milliseconds")
		decimals := strconv.FormatInt(ms%1000+1000, 10)[1:]
		for _, text := range []string{strconv.FormatInt(ms, 10) + "ms", strconv.FormatInt(ms/1000, 10) + "." + decimals + "s"} {
			got, err := duration(text, maxPolicyDuration)
			if err != nil || got.Milliseconds() != ms {
				t.Fatalf("%s is %v (%v)", text, got, err)
			}
		}
	})
}
