package woml

import (
	"fmt"
	"strings"
	"testing"
)

var scriptRefusals = []refusal{
	{"too large", inScript(mark + strings.Repeat(" ", maxScript+1)), "WOML_SCRIPT_TOO_LARGE"},
	{"brackets too deep", inScript(mark + strings.Repeat("[", maxBrackets+1)), "WOML_SCRIPT_TOO_LARGE"},
	{"parameters too deep", inScript(mark + strings.Repeat("(a = ", maxParameters+1) + "1" + strings.Repeat(") => 1", maxParameters+1)), "WOML_SCRIPT_TOO_LARGE"},

	{"unexpected token", inScript("return { broken: " + mark + "; }"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"brace too many", inScript("return 1; }" + mark), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"brace too few", inScript("if (a) { return 1;" + mark), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"open string", inScript("return " + mark + `"a`), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"open comment", inScript("return 1; /* a" + mark), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"CDATA", inScript(mark + "<![CDATA[ return 1; ]]>"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"import statement", inScript(mark + `import fs from "node:fs";`), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"export statement", inScript(mark + "export const a = 1;"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"break outside of a loop", inScript("if (a) { " + mark + "break; }"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"const twice", inScript("const a = 1; const " + mark + "a = 2;"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"let over var", inScript("var a; let " + mark + "a;"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"var over let", inScript("let a; { var " + mark + "a; }"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"let over a function", inScript("function a() {} let " + mark + "a;"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"let over a class", inScript("class a {} let " + mark + "a;"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"let over a parameter", inScript("(a) => { let " + mark + "a; }"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"let over a caught error", inScript("try {} catch (e) { let " + mark + "e; }"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"function over a name of a block", inScript("{ let a; function " + mark + "a() {} }"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"var over a function of a block", inScript("{ function a() {} var " + mark + "a; }"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"let twice in a switch", inScript("switch (1) { case 1: let a; case 2: let " + mark + "a; }"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"var over a loop's let", inScript("for (let a of []) { var " + mark + "a; }"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"name twice in a pattern", inScript("const { a, b: [" + mark + "a] } = c;"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"const over a binding of WOML", inScript("const " + mark + "services = 1;"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"let over the context", inScript("let " + mark + "context;"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"const without a value", inScript("const a" + mark + ";"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"async generator", inScript(mark + "async function* f() {}"), "WOML_SCRIPT_FEATURE_UNSUPPORTED"},
	{"broken regular expression", inScript("return " + mark + "/(/.test(a);"), "WOML_SCRIPT_SYNTAX_INVALID"},
	{"unknown flag of a regular expression", inScript("return " + mark + "/a/v.test(b);"), "WOML_SCRIPT_FEATURE_UNSUPPORTED"},
	{"syntax before everything else", inScript("secrets; const a = 1; let " + mark + "a;"), "WOML_SCRIPT_SYNTAX_INVALID"},

	{"parameter called services", inScript("function f(" + mark + "services) { return services; }"), "WOML_SCRIPT_BINDING_SHADOWED"},
	{"arrow parameter called secrets", inScript("const f = (" + mark + "secrets) => 1;"), "WOML_SCRIPT_BINDING_SHADOWED"},
	{"const called fetch", inScript("const " + mark + "fetch = () => null; return fetch();"), "WOML_SCRIPT_BINDING_SHADOWED"},
	{"var called services", inScript("var " + mark + "services;"), "WOML_SCRIPT_BINDING_SHADOWED"},
	{"function called fetch", inScript("function " + mark + "fetch() {}"), "WOML_SCRIPT_BINDING_SHADOWED"},
	{"function expression called fetch", inScript("(function " + mark + "fetch() {})"), "WOML_SCRIPT_BINDING_SHADOWED"},
	{"class called secrets", inScript("(class " + mark + "secrets {})"), "WOML_SCRIPT_BINDING_SHADOWED"},
	{"caught error called services", inScript("try {} catch (" + mark + "services) {}"), "WOML_SCRIPT_BINDING_SHADOWED"},
	{"pattern with secrets", inScript("var { a: [ b, ..." + mark + "secrets ] } = c;"), "WOML_SCRIPT_BINDING_SHADOWED"},
	{"pattern with a default", inScript("for (const { " + mark + "fetch = 1 } of a) {}"), "WOML_SCRIPT_BINDING_SHADOWED"},

	{"dynamic import", inScript(`return ` + mark + `import("./a.js");`), "WOML_SCRIPT_DYNAMIC_IMPORT_UNSUPPORTED"},
	{"dynamic import behind another error", inScript(mark + `secrets; return import ("./a.js");`), "WOML_SCRIPT_SECRET_ACCESS_UNSUPPORTED"},
	{"for await", inScript("for " + mark + "await (const x of y) {}"), "WOML_SCRIPT_FEATURE_UNSUPPORTED"},
	{"HTML comment", inScript("let x = 1; " + mark + "<!-- note"), "WOML_SCRIPT_FEATURE_UNSUPPORTED"},
	{"HTML comment that is a comparison", inScript("let x = 1, y = 2; return x " + mark + "<!--y"), "WOML_SCRIPT_FEATURE_UNSUPPORTED"},
	{"unknown property of characters", inScript("return " + mark + `/\p{Emoji}/u.test("a")`), "WOML_SCRIPT_FEATURE_UNSUPPORTED"},
	{"capture in a loop that can skip it", inScript("return " + mark + "/(?:(a)|b)+/"), "WOML_SCRIPT_FEATURE_UNSUPPORTED"},
	{"eval", inScript("return " + mark + `eval("1")`), "WOML_SCRIPT_FEATURE_UNSUPPORTED"},
	{"new Function", inScript("return new " + mark + `Function("return 1")()`), "WOML_SCRIPT_FEATURE_UNSUPPORTED"},
	{"require", inScript(`const fs = ` + mark + `require("fs");`), "WOML_SCRIPT_MODULE_REQUIRE_UNSUPPORTED"},
	{"socket of Bun", inScript(`return ` + mark + `Bun.connect({});`), "WOML_SCRIPT_RAW_NETWORK_UNSUPPORTED"},
	{"server of Bun", inScript(`return ` + mark + `Bun["serve"]({});`), "WOML_SCRIPT_RAW_NETWORK_UNSUPPORTED"},
	{"WebSocket", inScript(mark + `new WebSocket("ws://x");`), "WOML_SCRIPT_RAW_NETWORK_UNSUPPORTED"},
	{"WebSocket as a function", inScript(mark + `WebSocket("ws://x");`), "WOML_SCRIPT_RAW_NETWORK_UNSUPPORTED"},
	{"fetch replaced", inScript(mark + `fetch = 1;`), "WOML_SCRIPT_FETCH_WRITE_UNSUPPORTED"},
	{"fetch of the global object replaced", inScript(mark + `globalThis.fetch = 1;`), "WOML_SCRIPT_FETCH_WRITE_UNSUPPORTED"},
	{"fetch of self deleted", inScript(`delete ` + mark + `self["fetch"];`), "WOML_SCRIPT_FETCH_WRITE_UNSUPPORTED"},
	{"fetch in a pattern", inScript(`[` + mark + `fetch] = a;`), "WOML_SCRIPT_FETCH_WRITE_UNSUPPORTED"},

	{"secret by a computed name", inScript("return " + mark + "secrets[name];"), "WOML_SCRIPT_SECRET_ACCESS_DYNAMIC"},
	{"secret by a literal in brackets", inScript(`return ` + mark + `secrets["KEY"];`), "WOML_SCRIPT_SECRET_ACCESS_DYNAMIC"},
	{"secrets passed on", inScript("return Object.keys(" + mark + "secrets);"), "WOML_SCRIPT_SECRET_ACCESS_UNSUPPORTED"},
	{"secrets taken apart", inScript("const { KEY } = " + mark + "secrets;"), "WOML_SCRIPT_SECRET_ACCESS_UNSUPPORTED"},
	{"secrets in an object", inScript("return { " + mark + "secrets };"), "WOML_SCRIPT_SECRET_ACCESS_UNSUPPORTED"},
	{"secrets spread", inScript("return { ..." + mark + "secrets };"), "WOML_SCRIPT_SECRET_ACCESS_UNSUPPORTED"},
	{"secrets in a template", inScript("return `${" + mark + "secrets}`;"), "WOML_SCRIPT_SECRET_ACCESS_UNSUPPORTED"},
	{"secret that may be missing", inScript("return " + mark + "secrets?.KEY;"), "WOML_SCRIPT_SECRET_ACCESS_UNSUPPORTED"},
	{"secret in lower case", inScript("return secrets." + mark + "apiToken;"), "WOML_SCRIPT_SECRET_NAME_INVALID"},
	{"secret written", inScript(mark + `secrets.KEY = "a";`), "WOML_SCRIPT_SECRET_WRITE_UNSUPPORTED"},
	{"secret deleted", inScript("delete " + mark + "secrets.KEY;"), "WOML_SCRIPT_SECRET_WRITE_UNSUPPORTED"},
	{"65 secrets", inScript(mark + manySecrets(65)), "WOML_SCRIPT_SECRET_LIMIT_EXCEEDED"},

	{"service by a computed name", inScript("return " + mark + "services[name].get();"), "WOML_SCRIPT_SERVICE_ACCESS_DYNAMIC"},
	{"operation by a computed name", inScript(`return ` + mark + `services.http["request"]({});`), "WOML_SCRIPT_SERVICE_ACCESS_DYNAMIC"},
	{"both computed and optional", inScript(`return ` + mark + `services?.http["request"]({});`), "WOML_SCRIPT_SERVICE_ACCESS_DYNAMIC"},
	{"services copied", inScript("const s = " + mark + "services;"), "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED"},
	{"services taken apart", inScript("const { http } = " + mark + "services;"), "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED"},
	{"service that may be missing", inScript("return " + mark + "services?.http.request({});"), "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED"},
	{"operation that may be missing", inScript("return " + mark + "services.http?.request({});"), "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED"},
	{"services assigned", inScript(mark + "services = 1;"), "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED"},
	{"service replaced", inScript(mark + "services.http = {};"), "WOML_SCRIPT_SERVICE_WRITE_UNSUPPORTED"},
	{"service counted up", inScript(mark + "services.http++;"), "WOML_SCRIPT_SERVICE_WRITE_UNSUPPORTED"},
	{"service in a loop's head", inScript("for (" + mark + "services.http of a) {}"), "WOML_SCRIPT_SERVICE_WRITE_UNSUPPORTED"},
	{"service in an object pattern", inScript("({ a, b: [" + mark + "services.http] = c } = d);"), "WOML_SCRIPT_SERVICE_WRITE_UNSUPPORTED"},
	{"fetch in an object pattern", inScript("({ " + mark + "fetch } = a);"), "WOML_SCRIPT_FETCH_WRITE_UNSUPPORTED"},
	{"fetch in a rest pattern", inScript("({ a: b, ..." + mark + "fetch } = c);"), "WOML_SCRIPT_FETCH_WRITE_UNSUPPORTED"},
	{"secrets in a default of a pattern", inScript("({ a = " + mark + "secrets } = c);"), "WOML_SCRIPT_SECRET_ACCESS_UNSUPPORTED"},
	{"secrets in a default of a list", inScript("const [a = " + mark + "secrets] = c;"), "WOML_SCRIPT_SECRET_ACCESS_UNSUPPORTED"},
	{"services in a loop's start", inScript("for (a = " + mark + "services; ;) {}"), "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED"},
	{"services in a loop's declaration", inScript("for (let a = " + mark + "services; ;) {}"), "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED"},
	{"services in for-in", inScript("for (var a in " + mark + "services) {}"), "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED"},
	{"lifecycle", inScript("return " + mark + "lifecycle.event;"), "WOML_LIFECYCLE_BINDING_UNAVAILABLE"},
	{"services in a default", inScript("const f = ({ a = " + mark + "services }) => a;"), "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED"},
	{"services in a class", inScript("class A { [a] = 1; static { " + mark + "services; } }"), "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED"},
	{"services in a method", inScript("class A { get a() { return " + mark + "services; } }"), "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED"},
	{"services in a computed key", inScript("return { [" + mark + "services]: 1 };"), "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED"},
	{"services in an index", inScript("return a[" + mark + "services];"), "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED"},
	{"services in every statement", inScript("label: for (var i = 0; i; i++) { do { while (a) { if (b) {} else switch (c) { default: try {} finally { throw " + mark + "services; } } } } while (0) }"), "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED"},
	{"services in every expression", inScript("return (a, b ? [...c, function* () { yield async () => -(await (d + new E(" + mark + "services))); }] : 0);"), "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED"},

	{"unknown service", inScript("return " + mark + "services.htp.request({});"), "WOML_MODULE_SERVICE_UNKNOWN"},
	{"service that is not run", inScript(`return ` + mark + `services.storage.get("a");`), "WOML_FEATURE_NOT_EXECUTABLE"},
	{"another operation of workflows", inScript("return " + mark + `services.workflows.stop("a", {});`), "WOML_WORKFLOW_OPERATION_UNSUPPORTED"},
	{"deeper in workflows", inScript("return " + mark + `services.workflows.call.now("a", {});`), "WOML_WORKFLOW_OPERATION_UNSUPPORTED"},
	{"call of nothing", inScript("return " + mark + "services.workflows.call();"), "WOML_WORKFLOW_CALL_ARGUMENTS_INVALID"},
	{"call without a payload", inScript("return " + mark + `services.workflows.start("a");`), "WOML_WORKFLOW_CALL_ARGUMENTS_INVALID"},
	{"call with four arguments", inScript("return " + mark + `services.workflows.start("a", {}, {}, 1);`), "WOML_WORKFLOW_CALL_ARGUMENTS_INVALID"},
	{"call of a bad id", inScript("services.workflows.call(" + mark + `"Bad Target", {});`), "WOML_WORKFLOW_TARGET_INVALID"},
	{"call of a number", inScript("services.workflows.call(" + mark + `1, {});`), "WOML_WORKFLOW_TARGET_INVALID"},
	{"payload that is a list", inScript(`services.workflows.call("a", ` + mark + `[]);`), "WOML_WORKFLOW_PAYLOAD_INVALID"},
	{"payload that is null", inScript(`services.workflows.call("a", ` + mark + `null);`), "WOML_WORKFLOW_PAYLOAD_INVALID"},
	{"options that are a text", inScript(`services.workflows.call("a", {}, ` + mark + `"b");`), "WOML_WORKFLOW_CALL_OPTIONS_INVALID"},
	{"options with a spread", inScript(`services.workflows.call("a", {}, { ...` + mark + `b });`), "WOML_WORKFLOW_CALL_OPTIONS_INVALID"},
	{"unknown option", inScript(`services.workflows.call("a", {}, { ` + mark + `cancel: true });`), "WOML_WORKFLOW_CALL_OPTION_UNKNOWN"},
	{"timeout of a start", inScript(`services.workflows.start("a", {}, { ` + mark + `timeout: "1s" });`), "WOML_WORKFLOW_CALL_OPTION_UNKNOWN"},
	{"name in upper case", inScript(`services.workflows.call("a", {}, { name: ` + mark + `"Primary" });`), "WOML_WORKFLOW_CALL_NAME_INVALID"},
	{"timeout above a day", inScript(`services.workflows.call("a", {}, { timeout: ` + mark + `"25h" });`), "WOML_WORKFLOW_CALL_OPTIONS_INVALID"},
	{"timeout with decimals", inScript(`services.workflows.call("a", {}, { timeout: ` + mark + `"1.5s" });`), "WOML_WORKFLOW_CALL_OPTIONS_INVALID"},
	{"timeout of no milliseconds", inScript(`services.workflows.call("a", {}, { timeout: ` + mark + `0 });`), "WOML_WORKFLOW_CALL_OPTIONS_INVALID"},
	{"timeout of half a millisecond", inScript(`services.workflows.call("a", {}, { timeout: ` + mark + `0.5 });`), "WOML_WORKFLOW_CALL_OPTIONS_INVALID"},
}

// Several findings in one script come in the order of the script, and services
// of all scripts after everything else.
func TestFindingsOfScriptsAreInOrder(t *testing.T) {
	t.Parallel()
	_, diags := Parse([]byte(inSteps(
		`<step id="a"><script>services.ftp.get(); secrets.low; import("a"); import("b"); lifecycle; fetch = services;</script></step>` +
			`<step id="b" retry="0"><script>services.cache.get(secrets);</script></step>`)))
	equalCodes(t, diags, []string{
		"WOML_SCRIPT_SECRET_NAME_INVALID", "WOML_SCRIPT_DYNAMIC_IMPORT_UNSUPPORTED", "WOML_SCRIPT_DYNAMIC_IMPORT_UNSUPPORTED", "WOML_LIFECYCLE_BINDING_UNAVAILABLE", "WOML_SCRIPT_FETCH_WRITE_UNSUPPORTED", "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED",
		"WOML_SCRIPT_SECRET_ACCESS_UNSUPPORTED", "WOML_RETRY_INVALID",
		"WOML_MODULE_SERVICE_UNKNOWN", "WOML_FEATURE_NOT_EXECUTABLE",
	})
}

// Long chains of one thing are read: no stack overflow, and no time that grows
// with the square of the length, which would be felt here.
func TestLongScriptsAreRead(t *testing.T) {
	t.Parallel()
	const size = 20_000
	for name, script := range map[string]string{
		"not":               strings.Repeat("!", size) + "1",
		"members":           "a" + strings.Repeat(".b", size),
		"calls":             "a" + strings.Repeat(".b()", size),
		"optional":          "a" + strings.Repeat("?.[0]", size),
		"sums":              "a" + strings.Repeat("+a", size),
		"assigns":           strings.Repeat("a=", size) + "1",
		"choices":           strings.Repeat("a?b:", size) + "1",
		"ifs":               strings.Repeat("if(a)", size) + "1",
		"awaits":            strings.Repeat("await ", size) + "1",
		"calls of services": strings.Repeat("services.http.request({});", size/10),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if doc, diags := Parse([]byte(inScript(script))); doc == nil {
				t.Errorf("refused: %+v", diags)
			}
		})
	}
}

// What a script uses of the world outside is known before it runs.
func TestWhatAScriptUses(t *testing.T) {
	t.Parallel()
	doc, diags := Parse([]byte(inScript(`const db = services.db({ driver: "sqlite", connection: "./led.db" });
await services.workflows.start("send-note", { token: secrets.TOKEN });
await services.workflows.call("fulfill-order", {}); await services.workflows.call("fulfill-order", {}, { name: "again" });
return secrets.KEY;`)))
	if doc == nil {
		t.Fatal(diags)
	}
	s := doc.Workflow.Steps[0].Script
	if got := fmt.Sprint(s.Secrets, s.Services, s.Workflows); got != "[KEY TOKEN] [db workflows] [fulfill-order send-note]" {
		t.Errorf("it uses %s", got)
	}
}
