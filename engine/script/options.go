package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"faultlab/engine/plain"
)

// fetchOptions are the members of fetch's second argument by the Fetch standard. What means nothing outside of a
// browser is ignored, as it is elsewhere; any other name is a mistake, and what it was to do would be lost.
var fetchOptions = []string{"method", "headers", "body", "redirect", "signal", "cache", "credentials", "duplex", "integrity", "keepalive", "mode",
	"priority", "referrer", "referrerPolicy", "window"}

// UnknownOption says that something has no option of a name, and which one may have been meant.
func UnknownOption(what, name string, known []string) string {
	if near := plain.Nearest(name, known); near != "" {
		return fmt.Sprintf("%s has no option %q; did you mean %q?", what, name, near)
	}
	return fmt.Sprintf("%s has no option %q; it takes %s", what, name, strings.Join(known, ", "))
}

// checkFetch throws a TypeError for a member of fetch's second argument that there is none of.
func (rl *realm) checkFetch(c goja.FunctionCall) goja.Value {
	if o, ok := c.Argument(0).(*goja.Object); ok {
		for _, name := range o.Keys() {
			if !slices.Contains(fetchOptions, name) {
				rl.typeError(UnknownOption("fetch", name, fetchOptions))
			}
		}
	}
	return goja.Undefined()
}

// optionError is the TypeError by which a call with an unknown option is refused. It has the fields of the refusal.
func (rl *realm) optionError(e *ServiceError) *goja.Object {
	o := rl.newError("TypeError", e.Message)
	rl.putFields(o, e)
	if rl.failures == nil {
		rl.failures = map[*goja.Object]*failure{}
	}
	line, column := place(rl.program.source, rl.site())
	rl.failures[o] = &failure{err: e, line: line, column: column}
	return o
}
