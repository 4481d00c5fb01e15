package woml

import (
	"fmt"
	"strings"
	"testing"
)

var scriptRefusals = []refusal{
	{"too large", inScript(mark + strings.Repeat(" ", maxScript+1)), codeScriptTooLarge},
	{"brackets too deep", inScript(mark + strings.Repeat("[", maxBrackets+1)), codeScriptTooLarge},
	{"parameters too deep", inScript(mark + strings.Repeat("(a = ", maxParameters+1) + "1" + strings.Repeat(") => 1", maxParameters+1)), codeScriptTooLarge},

	{"unexpected token", inScript("return { broken: " + mark + "; }"), codeScriptSyntaxInvalid},
	{"brace too many", inScript("return 1; }" + mark), codeScriptSyntaxInvalid},
	{"brace too few", inScript("if (a) { return 1;" + mark), codeScriptSyntaxInvalid},
	{"open string", inScript("return " + mark + `"a`), codeScriptSyntaxInvalid},
	{"open comment", inScript("return 1; /* a" + mark), codeScriptSyntaxInvalid},
	{"CDATA", inScript(mark + "<![CDATA[ return 1; ]]>"), codeScriptSyntaxInvalid},
	{"import statement", inScript(mark + `import fs from "node:fs";`), codeScriptSyntaxInvalid},
	{"export statement", inScript(mark + "export const a = 1;"), codeScriptSyntaxInvalid},
	{"break outside of a loop", inScript("if (a) { " + mark + "break; }"), codeScriptSyntaxInvalid},
	{"const twice", inScript("const a = 1; const " + mark + "a = 2;"), codeScriptSyntaxInvalid},
	{"let over var", inScript("var a; let " + mark + "a;"), codeScriptSyntaxInvalid},
	{"var over let", inScript("let a; { var " + mark + "a; }"), codeScriptSyntaxInvalid},
	{"let over a function", inScript("function a() {} let " + mark + "a;"), codeScriptSyntaxInvalid},
	{"let over a class", inScript("class a {} let " + mark + "a;"), codeScriptSyntaxInvalid},
	{"let over a parameter", inScript("(a) => { let " + mark + "a; }"), codeScriptSyntaxInvalid},
	{"let over a caught error", inScript("try {} catch (e) { let " + mark + "e; }"), codeScriptSyntaxInvalid},
	{"function over a name of a block", inScript("{ let a; function " + mark + "a() {} }"), codeScriptSyntaxInvalid},
	{"var over a function of a block", inScript("{ function a() {} var " + mark + "a; }"), codeScriptSyntaxInvalid},
	{"let twice in a switch", inScript("switch (1) { case 1: let a; case 2: let " + mark + "a; }"), codeScriptSyntaxInvalid},
	{"var over a loop's let", inScript("for (let a of []) { var " + mark + "a; }"), codeScriptSyntaxInvalid},
	{"name twice in a pattern", inScript("const { a, b: [" + mark + "a] } = c;"), codeScriptSyntaxInvalid},
	{"const over a binding of WOML", inScript("const " + mark + "services = 1;"), codeScriptSyntaxInvalid},
	{"let over the context", inScript("let " + mark + "context;"), codeScriptSyntaxInvalid},
	{"const without a value", inScript("const a" + mark + ";"), codeScriptSyntaxInvalid},
	{"async generator", inScript(mark + "async function* f() {}"), codeScriptUnsupported},
	{"broken regular expression", inScript("return " + mark + "/(/.test(a);"), codeScriptSyntaxInvalid},
	{"unknown flag of a regular expression", inScript("return " + mark + "/a/v.test(b);"), codeScriptUnsupported},
	{"syntax before everything else", inScript("secrets; const a = 1; let " + mark + "a;"), codeScriptSyntaxInvalid},

	{"parameter called services", inScript("function f(" + mark + "services) { return services; }"), codeScriptBindingShadowed},
	{"arrow parameter called secrets", inScript("const f = (" + mark + "secrets) => 1;"), codeScriptBindingShadowed},
	{"const called fetch", inScript("const " + mark + "fetch = () => null; return fetch();"), codeScriptBindingShadowed},
	{"var called services", inScript("var " + mark + "services;"), codeScriptBindingShadowed},
	{"function called fetch", inScript("function " + mark + "fetch() {}"), codeScriptBindingShadowed},
	{"function expression called fetch", inScript("(function " + mark + "fetch() {})"), codeScriptBindingShadowed},
	{"class called secrets", inScript("(class " + mark + "secrets {})"), codeScriptBindingShadowed},
	{"caught error called services", inScript("try {} catch (" + mark + "services) {}"), codeScriptBindingShadowed},
	{"pattern with secrets", inScript("var { a: [ b, ..." + mark + "secrets ] } = c;"), codeScriptBindingShadowed},
	{"pattern with a default", inScript("for (const { " + mark + "fetch = 1 } of a) {}"), codeScriptBindingShadowed},

	{"dynamic import", inScript(`return ` + mark + `import("./a.js");`), codeScriptDynamicImport},
	{"dynamic import behind another error", inScript(mark + `secrets; return import ("./a.js");`), codeScriptSecretUnsupported},
	{"for await", inScript("for " + mark + "await (const x of y) {}"), codeScriptUnsupported},
	{"HTML comment", inScript("let x = 1; " + mark + "<!-- note"), codeScriptUnsupported},
	{"HTML comment that is a comparison", inScript("let x = 1, y = 2; return x " + mark + "<!--y"), codeScriptUnsupported},
	{"unknown property of characters", inScript("return " + mark + `/\p{Emoji}/u.test("a")`), codeScriptUnsupported},
	{"capture in a loop that can skip it", inScript("return " + mark + "/(?:(a)|b)+/"), codeScriptUnsupported},
	{"eval", inScript("return " + mark + `eval("1")`), codeScriptUnsupported},
	{"new Function", inScript("return new " + mark + `Function("return 1")()`), codeScriptUnsupported},
	{"require", inScript(`const fs = ` + mark + `require("fs");`), codeScriptModuleRequire},
	{"socket of Bun", inScript(`return ` + mark + `Bun.connect({});`), codeScriptRawNetwork},
	{"server of Bun", inScript(`return ` + mark + `Bun["serve"]({});`), codeScriptRawNetwork},
	{"WebSocket", inScript(mark + `new WebSocket("ws://x");`), codeScriptRawNetwork},
	{"WebSocket as a function", inScript(mark + `WebSocket("ws://x");`), codeScriptRawNetwork},
	{"fetch replaced", inScript(mark + `fetch = 1;`), codeScriptFetchWrite},
	{"fetch of the global object replaced", inScript(mark + `globalThis.fetch = 1;`), codeScriptFetchWrite},
	{"fetch of self deleted", inScript(`delete ` + mark + `self["fetch"];`), codeScriptFetchWrite},
	{"fetch in a pattern", inScript(`[` + mark + `fetch] = a;`), codeScriptFetchWrite},

	{"secret by a computed name", inScript("return " + mark + "secrets[name];"), codeScriptSecretDynamic},
	{"secret by a literal in brackets", inScript(`return ` + mark + `secrets["KEY"];`), codeScriptSecretDynamic},
	{"secrets passed on", inScript("return Object.keys(" + mark + "secrets);"), codeScriptSecretUnsupported},
	{"secrets taken apart", inScript("const { KEY } = " + mark + "secrets;"), codeScriptSecretUnsupported},
	{"secrets in an object", inScript("return { " + mark + "secrets };"), codeScriptSecretUnsupported},
	{"secrets spread", inScript("return { ..." + mark + "secrets };"), codeScriptSecretUnsupported},
	{"secrets in a template", inScript("return `${" + mark + "secrets}`;"), codeScriptSecretUnsupported},
	{"secret that may be missing", inScript("return " + mark + "secrets?.KEY;"), codeScriptSecretUnsupported},
	{"secret in lower case", inScript("return secrets." + mark + "apiToken;"), codeScriptSecretName},
	{"secret written", inScript(mark + `secrets.KEY = "a";`), codeScriptSecretWrite},
	{"secret deleted", inScript("delete " + mark + "secrets.KEY;"), codeScriptSecretWrite},
	{"65 secrets", inScript(mark + manySecrets(65)), codeScriptSecretLimit},

	{"service by a computed name", inScript("return " + mark + "services[name].get();"), codeScriptServiceDynamic},
	{"operation by a computed name", inScript(`return ` + mark + `services.http["request"]({});`), codeScriptServiceDynamic},
	{"both computed and optional", inScript(`return ` + mark + `services?.http["request"]({});`), codeScriptServiceDynamic},
	{"services copied", inScript("const s = " + mark + "services;"), codeScriptServiceUnsupported},
	{"services taken apart", inScript("const { http } = " + mark + "services;"), codeScriptServiceUnsupported},
	{"service that may be missing", inScript("return " + mark + "services?.http.request({});"), codeScriptServiceUnsupported},
	{"operation that may be missing", inScript("return " + mark + "services.http?.request({});"), codeScriptServiceUnsupported},
	{"services assigned", inScript(mark + "services = 1;"), codeScriptServiceUnsupported},
	{"service replaced", inScript(mark + "services.http = {};"), codeScriptServiceWrite},
	{"service counted up", inScript(mark + "services.http++;"), codeScriptServiceWrite},
	{"service in a loop's head", inScript("for (" + mark + "services.http of a) {}"), codeScriptServiceWrite},
	{"service in an object pattern", inScript("({ a, b: [" + mark + "services.http] = c } = d);"), codeScriptServiceWrite},
	{"fetch in an object pattern", inScript("({ " + mark + "fetch } = a);"), codeScriptFetchWrite},
	{"fetch in a rest pattern", inScript("({ a: b, ..." + mark + "fetch } = c);"), codeScriptFetchWrite},
	{"secrets in a default of a pattern", inScript("({ a = " + mark + "secrets } = c);"), codeScriptSecretUnsupported},
	{"secrets in a default of a list", inScript("const [a = " + mark + "secrets] = c;"), codeScriptSecretUnsupported},
	{"services in a loop's start", inScript("for (a = " + mark + "services; ;) {}"), codeScriptServiceUnsupported},
	{"services in a loop's declaration", inScript("for (let a = " + mark + "services; ;) {}"), codeScriptServiceUnsupported},
	{"services in for-in", inScript("for (var a in " + mark + "services) {}"), codeScriptServiceUnsupported},
	{"lifecycle", inScript("return " + mark + "lifecycle.event;"), codeLifecycleUnavailable},
	{"services in a default", inScript("const f = ({ a = " + mark + "services }) => a;"), codeScriptServiceUnsupported},
	{"services in a class", inScript("class A { [a] = 1; static { " + mark + "services; } }"), codeScriptServiceUnsupported},
	{"services in a method", inScript("class A { get a() { return " + mark + "services; } }"), codeScriptServiceUnsupported},
	{"services in a computed key", inScript("return { [" + mark + "services]: 1 };"), codeScriptServiceUnsupported},
	{"services in an index", inScript("return a[" + mark + "services];"), codeScriptServiceUnsupported},
	{"services in every statement", inScript("label: for (var i = 0; i; i++) { do { while (a) { if (b) {} else switch (c) { default: try {} finally { throw " + mark + "services; } } } } while (0) }"), codeScriptServiceUnsupported},
	{"services in every expression", inScript("return (a, b ? [...c, function* () { yield async () => -(await (d + new E(" + mark + "services))); }] : 0);"), codeScriptServiceUnsupported},

	{"unknown service", inScript("return " + mark + "services.htp.request({});"), codeServiceUnknown},
	{"service that is not run", inScript(`return ` + mark + `services.storage.get("a");`), codeFeatureNotExecutable},
	{"another operation of workflows", inScript("return " + mark + `services.workflows.stop("a", {});`), codeCallOperation},
	{"deeper in workflows", inScript("return " + mark + `services.workflows.call.now("a", {});`), codeCallOperation},
	{"call of nothing", inScript("return " + mark + "services.workflows.call();"), codeCallArguments},
	{"call without a payload", inScript("return " + mark + `services.workflows.start("a");`), codeCallArguments},
	{"call with four arguments", inScript("return " + mark + `services.workflows.start("a", {}, {}, 1);`), codeCallArguments},
	{"call of a bad id", inScript("services.workflows.call(" + mark + `"Bad Target", {});`), codeCallTarget},
	{"call of a number", inScript("services.workflows.call(" + mark + `1, {});`), codeCallTarget},
	{"payload that is a list", inScript(`services.workflows.call("a", ` + mark + `[]);`), codeCallPayload},
	{"payload that is null", inScript(`services.workflows.call("a", ` + mark + `null);`), codeCallPayload},
	{"options that are a text", inScript(`services.workflows.call("a", {}, ` + mark + `"b");`), codeCallOptions},
	{"options with a spread", inScript(`services.workflows.call("a", {}, { ...` + mark + `b });`), codeCallOptions},
	{"unknown option", inScript(`services.workflows.call("a", {}, { ` + mark + `cancel: true });`), codeCallOptionUnknown},
	{"timeout of a start", inScript(`services.workflows.start("a", {}, { ` + mark + `timeout: "1s" });`), codeCallOptionUnknown},
	{"name in upper case", inScript(`services.workflows.call("a", {}, { name: ` + mark + `"Primary" });`), codeCallName},
	{"timeout above a day", inScript(`services.workflows.call("a", {}, { timeout: ` + mark + `"25h" });`), codeCallOptions},
	{"timeout with decimals", inScript(`services.workflows.call("a", {}, { timeout: ` + mark + `"1.5s" });`), codeCallOptions},
	{"timeout of no milliseconds", inScript(`services.workflows.call("a", {}, { timeout: ` + mark + `0 });`), codeCallOptions},
	{"timeout of half a millisecond", inScript(`services.workflows.call("a", {}, { timeout: ` + mark + `0.5 });`), codeCallOptions},
}

// Several findings in one script come in the order of the script, and services
// of all scripts after everything else.
func TestFindingsOfScriptsAreInOrder(t *testing.T) {
	t.Parallel()
	_, diags := Parse([]byte(inSteps(
		`<step id="a"><script>services.ftp.get(); secrets.low; import("a"); import("b"); lifecycle; fetch = services;</script></step>` +
			`<step id="b" retry="0"><script>services.cache.get(secrets);</script></step>`)))
	equalCodes(t, diags, []string{
		codeScriptSecretName, codeScriptDynamicImport, codeScriptDynamicImport, codeLifecycleUnavailable, codeScriptFetchWrite, codeScriptServiceUnsupported,
		codeScriptSecretUnsupported, codeRetryInvalid,
		codeServiceUnknown, codeFeatureNotExecutable,
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
