package ecma

import (
	"regexp"
	"strings"
)

// Unsupported names the feature of JavaScript that a parser's error at an offset of the source stands for, where the
// runtime does not have it; "" for an error of any other kind. The hint says what to write instead.
func Unsupported(source string, offset int) (feature, hint string) {
	offset = max(0, min(offset, len(source)))
	before := strings.TrimRight(source[:offset], " \t\r\n")
	rest := strings.TrimLeft(source[offset:], " \t\r\n")
	switch {
	case HTMLComment(source, offset), strings.HasPrefix(rest, "-->") || strings.HasPrefix(rest, ">") && strings.HasSuffix(before, "--"):
		return "HTML comments (<!-- and -->) are not supported", "write // instead"
	case strings.HasPrefix(rest, "await") && strings.HasSuffix(before, "for"):
		return "for await is not supported", "write for, and await each promise in its body"
	case asyncBefore.MatchString(before) && strings.HasPrefix(rest, "*"), asyncGenerator.MatchString(before), asyncGenerator.MatchString(rest):
		return "async generators are not supported", "collect the values in an array, in an async function"
	case strings.HasPrefix(rest, "import") || strings.HasPrefix(rest, "export"):
		return "import and export are not supported", "put the code into the script, and return its result"
	case strings.HasPrefix(rest, "@"):
		return "decorators are not supported", "call the function yourself"
	}
	return "", ""
}

var (
	asyncBefore    = regexp.MustCompile(`\basync(\s+function)?$`)
	asyncGenerator = regexp.MustCompile(`^async(\s+function)?\s*\*|\basync(\s+function)?\s*\*$`)
)

// HTMLComment tells whether "<!--" stands at an offset, or its "!--" there. Browsers read it as a comment, the runtime
// as a comparison.
func HTMLComment(source string, offset int) bool {
	if offset < 0 || offset >= len(source) {
		return false
	}
	return strings.HasPrefix(source[offset:], "<!--") || offset > 0 && strings.HasPrefix(source[offset-1:], "<!--")
}
