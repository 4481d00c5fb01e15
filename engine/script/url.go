package script

import (
	"encoding/hex"
	stdurl "net/url"
	"regexp"
	"strings"

	"github.com/dop251/goja"
	urlerrors "github.com/nlnwa/whatwg-url/errors"
	"github.com/nlnwa/whatwg-url/url"
)

// parseURL gives the module the parts of a URL by the URL Standard, or the sentence that says what is wrong with it.
func (rl *realm) parseURL(c goja.FunctionCall) goja.Value {
	text, base := validText(c.Argument(0)), c.Argument(1)
	var u *url.Url
	var err error
	if goja.IsUndefined(base) {
		u, err = url.Parse(text)
	} else if _, err = url.Parse(base.String()); err != nil {
		return rl.vm.ToValue("the base is not a URL: " + whyNoURL(err, false))
	} else {
		u, err = url.ParseRef(base.String(), text)
	}
	if err != nil {
		return rl.vm.ToValue("not a URL: " + whyNoURL(err, !goja.IsUndefined(base)))
	}
	href, search, hash := u.Href(false), u.Search(), u.Hash()
	if search == "" && strings.HasSuffix(u.Href(true), "?") {
		search = "?"
	}
	if hash == "" && strings.HasSuffix(href, "#") {
		hash = "#"
	}
	return rl.object("href", href, "protocol", u.Protocol(), "username", u.Username(), "password", u.Password(), "hostname", u.Hostname(),
		"port", u.Port(), "pathname", u.Pathname(), "search", search, "hash", hash, "special", u.IsSpecialScheme() && u.Scheme() != "file")
}

func whyNoURL(err error, based bool) string {
	switch urlerrors.Type(err) {
	case urlerrors.MissingSchemeNonRelativeURL:
		if based {
			return "its base cannot be a base"
		}
		return "it has no scheme, and there is no base"
	case urlerrors.PortInvalid, urlerrors.PortOutOfRange:
		return "its port is not a number up to 65535"
	}
	return "its host is not valid" // nothing else fails
}

// validText is a string as UTF-8; half of a surrogate pair becomes U+FFFD.
func validText(v goja.Value) string { return strings.ToValidUTF8(v.String(), "\uFFFD") }

// formEncode is the application/x-www-form-urlencoded form of one name or value.
func (rl *realm) formEncode(c goja.FunctionCall) goja.Value {
	return rl.vm.ToValue(strings.NewReplacer("~", "%7E", "%2A", "*").Replace(stdurl.QueryEscape(validText(c.Argument(0)))))
}

var percentEncoded = regexp.MustCompile(`%[[:xdigit:]]{2}`)

// formDecode is its inverse. What is not well-formed stays.
func (rl *realm) formDecode(c goja.FunctionCall) goja.Value {
	text := strings.ReplaceAll(c.Argument(0).String(), "+", " ")
	text = percentEncoded.ReplaceAllStringFunc(text, func(code string) string {
		b, _ := hex.DecodeString(code[1:])
		return string(b)
	})
	return rl.vm.ToValue(strings.ToValidUTF8(text, "\uFFFD"))
}
