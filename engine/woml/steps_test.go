package woml

import "testing"

var stepRefusals = []refusal{
	{"no step", inWorkflow(mark + `<steps></steps>`), codeEmptySteps},
	{"text among the steps", inSteps(mark + "a"), codeUnexpectedContent},
	{"config among the steps", inSteps(mark + `<config queue="a"/>`), codeInvalidStructure},
	{"an unknown element alone", inSteps(mark + `<stage/>`), codeUnknownElement},
	{"no id", inSteps(mark + `<step><script>1</script></step>`), codeMissingAttribute},
	{"empty id", inSteps(`<step id="` + mark + `"><script>1</script></step>`), codeInvalidID},
	{"id of hyphens", inSteps(`<step id="` + mark + `create-job"><script>1</script></step>`), codeInvalidID},
	{"id with a letter of another alphabet", inSteps(`<step id="` + mark + `é1"><script>1</script></step>`), codeInvalidID},
	{"two of one id", inSteps(`<step id="a"><script>1</script></step>` + "\n" + `<step id="` + mark + `a"><script>1</script></step>`), codeDuplicateID},
	{"no script", inSteps(mark + `<step id="one"/>`), codeStepOperationCount},
	{"two scripts", inSteps(`<step id="one"><script>1</script>` + mark + `<script>2</script></step>`), codeStepOperationCount},
	{"another operation", inSteps(`<step id="one">` + mark + `<manual id="x"/></step>`), codeStepOperationCount},
	{"an operation that is not run", inSteps(`<step id="one">` + mark + `<approval/></step>`), codeFeatureNotExecutable},
	{"only an inverse", inSteps(mark + `<step id="one"><compensate><script>1</script></compensate></step>`), codeStepOperationCount},
	{"text in a step", inSteps(`<step id="one">` + mark + `a<script>1</script></step>`), codeUnexpectedContent},
	{"empty name", inSteps(`<step id="one" name="` + mark + `  "><script>1</script></step>`), codeEmptyMetadata},

	{"two inverses", inSteps(`<step id="one"><script>1</script><compensate><script>1</script></compensate>` + mark + `<compensate><script>1</script></compensate></step>`), codeCompensateInvalid},
	{"empty inverse", inSteps(`<step id="one"><script>1</script>` + mark + `<compensate/></step>`), codeCompensateInvalid},
	{"inverse with two scripts", inSteps(`<step id="one"><script>1</script><compensate><script>1</script>` + mark + `<script>1</script></compensate></step>`), codeCompensateInvalid},
	{"inverse outside of a step", inSteps(`<step id="one"><script>1</script></step>` + mark + `<compensate><script>1</script></compensate>`), codeInvalidStructure},
	{"broken script in an inverse", inSteps(`<step id="one"><script>1</script><compensate><script>1 ` + mark + `2</script></compensate></step>`), codeScriptSyntaxInvalid},
	{"bad retry of an inverse", inSteps(`<step id="one"><script>1</script><compensate retry="` + mark + `0"><script>1</script></compensate></step>`), codeRetryInvalid},
	{"name of an inverse", inSteps(`<step id="one"><script>1</script><compensate ` + mark + `name="x"><script>1</script></compensate></step>`), codeUnknownAttribute},

	{"no attempt", inSteps(retried(`retry="` + mark + `0"`)), codeRetryInvalid},
	{"eleven attempts", inSteps(retried(`retry="` + mark + `11"`)), codeRetryInvalid},
	{"attempts with a leading zero", inSteps(retried(`retry="` + mark + `02"`)), codeRetryInvalid},
	{"more attempts than a number holds", inSteps(retried(`retry="` + mark + `99999999999999999999"`)), codeRetryInvalid},
	{"delay without retry", inSteps(retried(mark + `retry-delay="1s"`)), codeRetryBackoffRequires},
	{"backoff with one attempt", inSteps(retried(`retry="1" ` + mark + `retry-backoff="fixed"`)), codeRetryBackoffRequires},
	{"maximum without retry", inSteps(retried(mark + `retry-max-delay="1s"`)), codeRetryBackoffRequires},
	{"unknown backoff", inSteps(retried(`retry="2" retry-backoff="` + mark + `linear"`)), codeRetryBackoffInvalid},
	{"no delay", inSteps(retried(`retry="2" retry-delay="` + mark + `0s"`)), codeRetryDelayInvalid},
	{"delay above a day", inSteps(retried(`retry="2" retry-delay="` + mark + `86400001ms"`)), codeRetryDelayInvalid},
	{"delay of half a millisecond", inSteps(retried(`retry="2" retry-delay="` + mark + `0.0005s"`)), codeRetryDelayInvalid},
	{"maximum that is no duration", inSteps(retried(`retry="2" retry-max-delay="` + mark + `soon"`)), codeRetryMaxDelayInvalid},
	{"maximum below the delay", inSteps(retried(`retry="2" retry-delay="2s" retry-max-delay="` + mark + `1s"`)), codeRetryMaxDelayInvalid},
	{"maximum below the default delay", inSteps(retried(`retry="2" retry-max-delay="` + mark + `500ms"`)), codeRetryMaxDelayInvalid},
	{"maximum of a fixed delay", inSteps(retried(`retry="2" retry-backoff="fixed" ` + mark + `retry-max-delay="1s"`)), codeRetryMaxDelayNotAllowed},

	{"bad script before bad retry", inSteps(`<step id="one" retry="0"><script>return (` + mark + `;</script></step>`), codeScriptSyntaxInvalid},
	{"bad id before bad retry", inSteps(`<step id="` + mark + `A" retry="0"><script>1</script></step>`), codeInvalidID},
	{"bad retry before an empty name", inSteps(`<step id="one" name="" retry="` + mark + `0"><script>1</script></step>`), codeRetryInvalid},
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
