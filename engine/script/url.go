package script

import (
	"errors"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// urlRecord is a URL as the URL Standard splits it. It covers what services are called with: http, https and the
// other special schemes, and opaque ones such as mailto. Host names are ASCII; an international one is refused.
type urlRecord struct {
	scheme, username, password, host, port string
	path, query, fragment                  string // as they are written, with their "?" and "#"
	opaque                                 bool   // the path is not a list of segments
}

var specialPorts = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21"}

// Percent-encode sets of the URL Standard, beside control characters and what is not ASCII.
const (
	encodeFragment = " \"<>`"
	encodeQuery    = " \"#<>'"
	encodePath     = " \"#<>?^`{}"
	encodeUserinfo = encodePath + "/:;=@[\\]|"
)

var (
	schemePattern = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):`)
	hostForbidden = " #%/:<>?@[\\]^|\"{}`\t"
)

var errHost = errors.New("its host is not valid")

func parseURL(text string, base *urlRecord) (*urlRecord, error) {
	text = strings.Trim(text, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f ")
	text = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(text)
	u := &urlRecord{}
	text, u.fragment = splitMark(text, "#", encodeFragment)
	m := schemePattern.FindStringSubmatch(text)
	if m == nil {
		return relative(u, text, base)
	}
	u.scheme = strings.ToLower(m[1])
	rest := text[len(m[0]):]
	if _, special := specialPorts[u.scheme]; !special {
		return u.general(rest)
	}
	// Of a special scheme every slash counts, also a backward one, and their number does not.
	rest, u.query = splitMark(rest, "?", encodeQuery)
	rest = strings.TrimLeft(strings.ReplaceAll(rest, `\`, "/"), "/")
	authority, path := splitAt(rest, "/")
	if err := u.authority(authority); err != nil {
		return nil, err
	}
	u.path = cleanPath(path)
	return u, nil
}

// general reads what follows a scheme that is not special.
func (u *urlRecord) general(rest string) (*urlRecord, error) {
	rest, u.query = splitMark(rest, "?", encodeQuery)
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		authority, path := splitAt(after, "/")
		if err := u.authority(authority); err != nil {
			return nil, err
		}
		if path != "" {
			u.path = cleanPath(path)
		}
		return u, nil
	}
	if strings.HasPrefix(rest, "/") {
		u.path = cleanPath(rest)
		return u, nil
	}
	u.opaque, u.path = true, encodeSet(rest, "")
	return u, nil
}

func relative(u *urlRecord, text string, base *urlRecord) (*urlRecord, error) {
	if base == nil {
		return nil, errors.New("it has no scheme, and there is no base")
	}
	fragment := u.fragment
	if base.opaque && text != "" {
		return nil, errors.New("its base cannot be a base")
	}
	_, special := specialPorts[base.scheme]
	if special {
		text = strings.ReplaceAll(text, `\`, "/")
	}
	if strings.HasPrefix(text, "//") {
		v, err := parseURL(base.scheme+":"+text, nil)
		if err == nil {
			v.fragment = fragment
		}
		return v, err
	}
	*u = *base
	u.fragment = fragment
	path, query := splitMark(text, "?", encodeQuery)
	switch {
	case path == "" && query == "":
		return u, nil // the query of the base stays
	case path == "":
	case strings.HasPrefix(path, "/"):
		u.path = cleanPath(path)
	default:
		u.path = cleanPath(base.path[:strings.LastIndexByte(base.path, '/')+1] + path)
	}
	u.query = query
	return u, nil
}

func (u *urlRecord) authority(s string) error {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		name, password, _ := strings.Cut(s[:i], ":")
		u.username, u.password = encodeSet(name, encodeUserinfo), encodeSet(password, encodeUserinfo)
		s = s[i+1:]
	}
	host, port := s, ""
	if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, ']') {
		host, port = s[:i], s[i+1:]
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return errors.New("its port is not a number up to 65535")
		}
		if port = strconv.FormatUint(n, 10); port != specialPorts[u.scheme] {
			u.port = port
		}
	}
	var err error
	u.host, err = parseHost(host, specialPorts[u.scheme] != "")
	return err
}

func parseHost(s string, special bool) (string, error) {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return "", errHost
		}
		return "[" + addr.String() + "]", nil
	}
	if !special {
		return encodeSet(s, ""), nil
	}
	s = strings.ToLower(unescape(s))
	if s == "" || strings.ContainsAny(s, hostForbidden) {
		return "", errHost
	}
	for _, r := range s {
		if r > 0x7e || r <= ' ' {
			return "", errors.New("its host is not ASCII; write it in punycode")
		}
	}
	// A host that ends in a number is an IPv4 address or nothing.
	if last := s[strings.LastIndexByte(strings.TrimSuffix(s, "."), '.')+1:]; strings.Trim(last, "0123456789.") == "" {
		if _, err := netip.ParseAddr(strings.TrimSuffix(s, ".")); err != nil {
			return "", errHost
		}
	}
	return s, nil
}

// cleanPath encodes a path and resolves its dot segments.
func cleanPath(s string) string {
	var out []string
	segments := strings.Split(strings.TrimPrefix(s, "/"), "/")
	for i, segment := range segments {
		segment = encodeSet(segment, encodePath)
		last := i == len(segments)-1
		switch strings.ReplaceAll(strings.ToLower(segment), "%2e", ".") {
		case ".":
			if last {
				out = append(out, "")
			}
		case "..":
			out = out[:max(0, len(out)-1)]
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, segment)
		}
	}
	return "/" + strings.Join(out, "/")
}

// splitMark cuts text at mark; what follows is encoded and keeps its mark.
func splitMark(text, mark, set string) (before, after string) {
	before, after, found := strings.Cut(text, mark)
	if !found {
		return before, ""
	}
	return before, mark + encodeSet(after, set)
}

func splitAt(s, sep string) (before, after string) {
	if i := strings.Index(s, sep); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// encodeSet percent-encodes the characters of set, control characters and what is not ASCII, as UTF-8.
func encodeSet(s, set string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= 0x1f || c >= 0x7f || strings.IndexByte(set, c) >= 0 {
			b.WriteString("%" + upperHex(c))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func upperHex(c byte) string {
	return strings.ToUpper(string([]byte{hexDigits[c>>4], hexDigits[c&15]}))
}

// unescape decodes percent-encoded bytes; what is not well-formed stays.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// parseURL gives the module the parts of a URL, or the sentence that says why it is none.
func (rl *realm) parseURL(c goja.FunctionCall) goja.Value {
	var base *urlRecord
	var err error
	if !goja.IsUndefined(c.Argument(1)) {
		if base, err = parseURL(c.Argument(1).String(), nil); err != nil {
			return rl.vm.ToValue("the base is not a URL: " + err.Error())
		}
	}
	u, err := parseURL(strings.ToValidUTF8(c.Argument(0).String(), "\uFFFD"), base)
	if err != nil {
		return rl.vm.ToValue("not a URL: " + err.Error())
	}
	o := rl.vm.NewObject()
	for _, part := range [][2]string{
		{"protocol", u.scheme + ":"}, {"username", u.username}, {"password", u.password}, {"hostname", u.host},
		{"port", u.port}, {"pathname", u.path}, {"search", u.query}, {"hash", u.fragment},
	} {
		rl.put(o, part[0], rl.vm.ToValue(part[1]))
	}
	_, special := specialPorts[u.scheme]
	rl.put(o, "special", rl.vm.ToValue(special))
	return o
}

// formEncode is the application/x-www-form-urlencoded form of one name or value.
func (rl *realm) formEncode(c goja.FunctionCall) goja.Value {
	var b strings.Builder
	text := strings.ToValidUTF8(c.Argument(0).String(), "\uFFFD")
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("*-._", c) >= 0:
			b.WriteByte(c)
		case c == ' ':
			b.WriteByte('+')
		default:
			b.WriteString("%" + upperHex(c))
		}
	}
	return rl.vm.ToValue(b.String())
}

// formDecode is its inverse.
func (rl *realm) formDecode(c goja.FunctionCall) goja.Value {
	text := unescape(strings.ReplaceAll(c.Argument(0).String(), "+", " "))
	return rl.vm.ToValue(strings.ToValidUTF8(text, "\uFFFD"))
}
