package woml

import "testing"

var stepRefusals = []refusal{
	{"no step", inWorkflow(mark + `<steps></steps>`), "WOML_EMPTY_STEPS"},
	{"text among the steps", inSteps(mark + "a"), "WOML_UNEXPECTED_CONTENT"},
	{"config among the steps", inSteps(mark + `<config queue="a"/>`), "WOML_INVALID_STRUCTURE"},
	{"an unknown element alone", inSteps(mark + `<stage/>`), "WOML_UNKNOWN_ELEMENT"},
	{"no id", inSteps(mark + `<step><script>1</script></step>`), "WOML_MISSING_ATTRIBUTE"},
	{"empty id", inSteps(`<step id="` + mark + `"><script>1</script></step>`), "WOML_INVALID_ID"},
	{"id of hyphens", inSteps(`<step id="` + mark + `create-job"><script>1</script></step>`), "WOML_INVALID_ID"},
	{"id with a letter of another alphabet", inSteps(`<step id="` + mark + `é1"><script>1</script></step>`), "WOML_INVALID_ID"},
	{"two of one id", inSteps(`<step id="a"><script>1</script></step>` + "\n" + `<step id="` + mark + `a"><script>1</script></step>`), "WOML_DUPLICATE_ID"},
	{"no script", inSteps(mark + `<step id="one"/>`), "WOML_STEP_OPERATION_COUNT"},
	{"two scripts", inSteps(`<step id="one"><script>1</script>` + mark + `<script>2</script></step>`), "WOML_STEP_OPERATION_COUNT"},
	{"another operation", inSteps(`<step id="one">` + mark + `<manual id="x"/></step>`), "WOML_STEP_OPERATION_COUNT"},
	{"an operation that is not run", inSteps(`<step id="one">` + mark + `<approval/></step>`), "WOML_FEATURE_NOT_EXECUTABLE"},
	{"only an inverse", inSteps(mark + `<step id="one"><compensate><script>1</script></compensate></step>`), "WOML_STEP_OPERATION_COUNT"},
	{"text in a step", inSteps(`<step id="one">` + mark + `a<script>1</script></step>`), "WOML_UNEXPECTED_CONTENT"},
	{"empty name", inSteps(`<step id="one" name="` + mark + `  "><script>1</script></step>`), "WOML_EMPTY_METADATA"},

	{"two inverses", inSteps(`<step id="one"><script>1</script><compensate><script>1</script></compensate>` + mark + `<compensate><script>1</script></compensate></step>`), "WOML_COMPENSATE_INVALID"},
	{"empty inverse", inSteps(`<step id="one"><script>1</script>` + mark + `<compensate/></step>`), "WOML_COMPENSATE_INVALID"},
	{"inverse with two scripts", inSteps(`<step id="one"><script>1</script><compensate><script>1</script>` + mark + `<script>1</script></compensate></step>`), "WOML_COMPENSATE_INVALID"},
	{"inverse outside of a step", inSteps(`<step id="one"><script>1</script></step>` + mark + `<compensate><script>1</script></compensate>`), "WOML_INVALID_STRUCTURE"},
	{"broken script in an inverse", inSteps(`<step id="one"><script>1</script><compensate><script>1 ` + mark + `2</script></compensate></step>`), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"bad retry of an inverse", inSteps(`<step id="one"><script>1</script><compensate retry="` + mark + `0"><script>1</script></compensate></step>`), "WOML_RETRY_INVALID"},
	{"name of an inverse", inSteps(`<step id="one"><script>1</script><compensate ` + mark + `name="x"><script>1</script></compensate></step>`), "WOML_UNKNOWN_ATTRIBUTE"},

	{"no attempt", inSteps(retried(`retry="` + mark + `0"`)), "WOML_RETRY_INVALID"},
	{"eleven attempts", inSteps(retried(`retry="` + mark + `11"`)), "WOML_RETRY_INVALID"},
	{"attempts with a leading zero", inSteps(retried(`retry="` + mark + `02"`)), "WOML_RETRY_INVALID"},
	{"more attempts than a number holds", inSteps(retried(`retry="` + mark + `99999999999999999999"`)), "WOML_RETRY_INVALID"},
	{"delay without retry", inSteps(retried(mark + `retry-delay="1s"`)), "WOML_RETRY_BACKOFF_REQUIRES_RETRY"},
	{"backoff with one attempt", inSteps(retried(`retry="1" ` + mark + `retry-backoff="fixed"`)), "WOML_RETRY_BACKOFF_REQUIRES_RETRY"},
	{"maximum without retry", inSteps(retried(mark + `retry-max-delay="1s"`)), "WOML_RETRY_BACKOFF_REQUIRES_RETRY"},
	{"unknown backoff", inSteps(retried(`retry="2" retry-backoff="` + mark + `linear"`)), "WOML_RETRY_BACKOFF_INVALID"},
	{"no delay", inSteps(retried(`retry="2" retry-delay="` + mark + `0s"`)), "WOML_RETRY_DELAY_INVALID"},
	{"delay above a day", inSteps(retried(`retry="2" retry-delay="` + mark + `86400001ms"`)), "WOML_RETRY_DELAY_INVALID"},
	{"delay of half a millisecond", inSteps(retried(`retry="2" retry-delay="` + mark + `0.0005s"`)), "WOML_RETRY_DELAY_INVALID"},
	{"maximum that is no duration", inSteps(retried(`retry="2" retry-max-delay="` + mark + `soon"`)), "WOML_RETRY_MAX_DELAY_INVALID"},
	{"maximum below the delay", inSteps(retried(`retry="2" retry-delay="2s" retry-max-delay="` + mark + `1s"`)), "WOML_RETRY_MAX_DELAY_INVALID"},
	{"maximum below the default delay", inSteps(retried(`retry="2" retry-max-delay="` + mark + `500ms"`)), "WOML_RETRY_MAX_DELAY_INVALID"},
	{"maximum of a fixed delay", inSteps(retried(`retry="2" retry-backoff="fixed" ` + mark + `retry-max-delay="1s"`)), "WOML_RETRY_MAX_DELAY_NOT_ALLOWED"},

	{"more 429s than may be borne", inSteps(retried(`retry="2" retry-throttled="` + mark + `101"`)), "WOML_RETRY_INVALID"},
	{"429s that are no number", inSteps(retried(`retry="2" retry-throttled="` + mark + `some"`)), "WOML_RETRY_INVALID"},
	{"delay without a retry, and no 429 is borne", inSteps(retried(`retry-throttled="0" ` + mark + `retry-delay="1s"`)), "WOML_RETRY_BACKOFF_REQUIRES_RETRY"},

	{"bad script before bad retry", inSteps(`<step id="one" retry="0"><script>return (` + mark + `;</script></step>`), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"bad id before bad retry", inSteps(`<step id="` + mark + `A" retry="0"><script>1</script></step>`), "WOML_INVALID_ID"},
	{"bad retry before an empty name", inSteps(`<step id="one" name="" retry="` + mark + `0"><script>1</script></step>`), "WOML_RETRY_INVALID"},
}

func retried(attributes string) string {
	return `<step id="one" ` + attributes + `><script>1</script></step>`
}

// One mistake is one diagnostic.
func TestOneMistakeIsReportedOnce(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{
		"a wrong delay with a maximum": inSteps(retried(`retry="2" retry-delay="x" retry-max-delay="1ms"`)),
		"an unknown operation":         inSteps(`<step id="one"><http/></step>`),
		"an unknown trigger":           inTriggers(`<cron id="a"/>`),
		"a shadowed binding":           inScript(`function f(services) { return services; } return f({}), services["x"];`),
		"a binding declared again":     inScript(`const secrets = 1; return secrets;`),
		"text instead of steps":        inSteps("a"),
		"a missing id twice":           inSteps(`<step id="one"><script>1</script></step><step id=""><script>1</script></step>`),
		"an unclosed script":           inSteps(`<step id="one"><script>`),
		"a computed workflow call":     inScript(`services.workflows["call"]();`),
		"a service used twice":         inScript(`services.ftp.get(); services.ftp.put();`),
	} {
		if _, diags := Parse([]byte(document)); len(diags) != 1 {
			t.Errorf("%s: %+v", name, diags)
		}
	}
}
