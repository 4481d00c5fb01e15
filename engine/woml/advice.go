package woml

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/dop251/goja/ast"
)

// readMethods change nothing at the other end; every other method is a write.
var readMethods = []string{"GET", "HEAD", "OPTIONS"}

// unstable tells what is another one in each attempt or run of the same step.
// A member "" means the name itself and all its members.
var unstable = []struct{ name, member string }{
	{"crypto", "randomUUID"},
	{"Math", "random"},
	{"Date", ""},
	{"attempt", "number"},
}

// advise warns of what runs and should not be left so.
func (c *checker) advise(a *analysis, retry Retry) {
	if a == nil {
		return
	}
	for _, e := range a.calls {
		switch a.path(e.Callee) {
		case "services.http.request":
			a.adviseRequest(e, retry)
		case "fetch", "globalThis.fetch":
			a.adviseFetch(e, retry)
		case "services.db":
			a.adviseDatabase(e)
		}
	}
	sort.SliceStable(a.advice, func(i, j int) bool { return a.advice[i].offset < a.advice[j].offset })
	for _, f := range a.advice {
		c.warn(a.start+f.offset, f.code, f.message, f.hint)
	}
}

// adviseRequest looks at services.http.request(request, options).
func (a *analysis) adviseRequest(e *ast.CallExpression, retry Retry) {
	request := argument(e, 0)
	keyed, idempotency := a.option(request, "idempotency")
	if method := a.writeMethod(request); method != "" && !keyed && retry.Max > 1 {
		a.warn(e.Idx0(), "WOML_WRITE_WITHOUT_IDEMPOTENCY",
			fmt.Sprintf("This %s carries no idempotency key, and its step is attempted up to %d times: a retry may do it twice.", method, retry.Max),
			`Add idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey }.`)
	}
	_, value := a.option(idempotency, "value")
	if value == nil {
		return
	}
	if what := a.madeFrom(value, true); what != "" {
		a.warn(value.Idx0(), "WOML_IDEMPOTENCY_VALUE_UNSTABLE",
			fmt.Sprintf("This idempotency key is made from %s, so it differs each time: one operation gets two keys.", what),
			`Use attempt.idempotencyKey, or the identity of the operation, such as "fulfillment:" + context.payload.orderId.`)
	}
}

// adviseFetch looks at fetch(url, options), which never carries a key that
// WOML knows.
func (a *analysis) adviseFetch(e *ast.CallExpression, retry Retry) {
	if method := a.writeMethod(argument(e, 1)); method != "" && retry.Max > 1 {
		a.warn(e.Idx0(), "WOML_WRITE_WITHOUT_IDEMPOTENCY",
			fmt.Sprintf("This %s by fetch carries no idempotency key, and its step is attempted up to %d times: a retry may do it twice.", method, retry.Max),
			`Use services.http.request with idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey }.`)
	}
}

// adviseDatabase looks at services.db({ driver, connection }).
func (a *analysis) adviseDatabase(e *ast.CallExpression) {
	_, driver := a.option(argument(e, 0), "driver")
	if text, ok := literalText(driver); ok && text != "sqlite" {
		a.warn(driver.Idx0(), "WOML_DATABASE_DRIVER_NOT_RUN",
			fmt.Sprintf("The driver %s is valid WOML, and it is not run here: the step will fail.", excerpt(text)), `Use driver: "sqlite".`)
	}
}

func argument(e *ast.CallExpression, n int) ast.Expression {
	if n < len(e.ArgumentList) {
		return e.ArgumentList[n]
	}
	return nil
}

// path writes "a.b.c" as a text; a const at its root is followed once.
func (a *analysis) path(e ast.Expression) string {
	root, links := chain(e)
	id, ok := root.(*ast.Identifier)
	if !ok || anyComputed(links) {
		return ""
	}
	if value := a.valueOf(id.Name.String()); value != nil {
		var more []link
		if root, more = chain(value); anyComputed(more) {
			return ""
		}
		if id, ok = root.(*ast.Identifier); !ok {
			return ""
		}
		links = slices.Concat(more, links)
	}
	text := id.Name.String()
	for _, l := range links {
		text += "." + l.name
	}
	return text
}

// follow replaces the name of a const by its value.
func (a *analysis) follow(e ast.Expression) ast.Expression {
	if id, ok := e.(*ast.Identifier); ok {
		if value := a.valueOf(id.Name.String()); value != nil {
			return value
		}
	}
	return e
}

// option finds an option of a call. Given without a value means that it may be
// there and cannot be seen.
func (a *analysis) option(object ast.Expression, name string) (given bool, value ast.Expression) {
	if object == nil {
		return false, nil
	}
	literal, ok := a.follow(object).(*ast.ObjectLiteral)
	if !ok {
		return true, nil
	}
	for _, p := range literal.Value {
		switch found, v := propertyOf(p); found {
		case name:
			return true, v
		case "":
			given = true
		}
	}
	return given, nil
}

// writeMethod returns the method of a request if it is written out and a write.
func (a *analysis) writeMethod(request ast.Expression) string {
	_, value := a.option(request, "method")
	text, _ := literalText(a.follow(value))
	if text = strings.ToUpper(text); slices.Contains(readMethods, text) {
		return ""
	}
	return text
}

// madeFrom names the unstable thing that an expression contains, itself or
// through one const.
func (a *analysis) madeFrom(e ast.Expression, follow bool) string {
	if name, member, found := strings.Cut(a.path(e), "."); found && a.isUnstable(name, member) {
		return name + "." + member
	}
	from, to := e.Idx0(), e.Idx1()
	for _, u := range a.uses {
		if u.at < from || u.at >= to {
			continue
		}
		if a.isUnstable(u.name, u.member) {
			return strings.TrimSuffix(u.name+"."+u.member, ".")
		}
		if value := a.valueOf(u.name); value != nil && follow {
			if what := a.madeFrom(value, false); what != "" {
				return fmt.Sprintf("%s through %s", what, u.name)
			}
		}
	}
	return ""
}

// isUnstable looks a global name up; one that the script declares itself is none.
func (a *analysis) isUnstable(name, member string) bool {
	if a.constants[name] != nil {
		return false
	}
	for _, u := range unstable {
		if u.name == name && (u.member == "" || u.member == member) {
			return true
		}
	}
	return false
}
