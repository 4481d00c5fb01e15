package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"faultlab/engine/plain"
)

// Limits and defaults of services.http.request.
const (
	maxURL           = 8192
	maxHeaders       = 128
	maxHeaderName    = 128
	maxHeaderValue   = 16384
	maxQuery         = 128
	maxInput         = 1 << 20
	maxReply         = 4 << 20
	defaultTimeout   = 30 * time.Second
	maxTimeout       = 24 * time.Hour
	defaultRedirects = 10
	maxRedirects     = 20
	maxKey           = 256
)

// httpInput is the request as a script writes it.
type httpInput struct {
	url, method  string
	headers      map[string]json.RawMessage
	query        map[string]json.RawMessage
	json         json.RawMessage
	text, bytes  *string
	responseType string
	timeout      json.RawMessage
	timeoutMs    *float64
	accepted     json.RawMessage
	redirect     string
	redirects    *int
	idempotency  json.RawMessage
}

// read takes the options apart; what is left out stays zero.
func (in *httpInput) read(raw json.RawMessage) error {
	return options("the request", raw, in.options()...)
}

func (in *httpInput) options() []option {
	return []option{{"url", &in.url}, {"method", &in.method}, {"headers", &in.headers},
		{"query", &in.query}, {"json", &in.json}, {"text", &in.text}, {"bytesBase64", &in.bytes},
		{"responseType", &in.responseType}, {"timeout", &in.timeout}, {"timeoutMs", &in.timeoutMs},
		{"acceptedStatus", &in.accepted}, {"redirect", &in.redirect}, {"maximumRedirects", &in.redirects},
		{"idempotency", &in.idempotency}}
}

// httpRequest is a checked request, ready to be sent.
type httpRequest struct {
	method, url  string
	header       http.Header
	body         []byte
	hasBody      bool
	responseType string // json, text or bytes
	timeout      time.Duration
	minimum      int // of the accepted range
	maximum      int
	redirect     string // follow, manual or error
	redirects    int
	key          string // the idempotency option's; empty for none
	keyHeader    string // what carries it
	keyField     string // or the body's field
	content      []byte // the body without that field
}

var methodForm = regexp.MustCompile(`^[A-Z]{1,32}$`)

// checkHTTP reads a request's options by the reference's limits and defaults. The error is a sentence for the script's author.
func checkHTTP(raw json.RawMessage) (*httpRequest, error) {
	if len(raw) > maxInput {
		return nil, fmt.Errorf("the request has %d bytes; at most %d are taken", len(raw), maxInput)
	}
	var in httpInput
	if err := in.read(raw); err != nil {
		return nil, err
	}
	r := &httpRequest{header: http.Header{}, method: "GET", responseType: "json", timeout: defaultTimeout, minimum: 200, maximum: 299}
	for _, check := range []func(*httpInput, *httpRequest) error{checkMethod, checkURL, checkHeaders, checkBody, checkResponse, checkTimeout, checkRedirect, checkKey} {
		if err := check(&in, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func checkMethod(in *httpInput, r *httpRequest) error {
	if in.method != "" {
		r.method = strings.ToUpper(in.method)
	}
	if !methodForm.MatchString(r.method) {
		return fmt.Errorf("not a valid method: %q; it has 1 to 32 letters, as POST", in.method)
	}
	return nil
}

func checkURL(in *httpInput, r *httpRequest) error {
	u, err := url.Parse(in.url)
	if err != nil || !sendable(u) {
		return fmt.Errorf("url %q is not an http or https address", in.url)
	}
	if u.User != nil {
		return fmt.Errorf("the url of %s holds a user: send it as the header authorization, which is shown nowhere", u.Host)
	}
	if len(in.query) > maxQuery {
		return fmt.Errorf("query has %d keys; at most %d are taken", len(in.query), maxQuery)
	}
	if len(in.query) > 0 {
		if err := addQuery(u, in.query); err != nil {
			return err
		}
	}
	r.url = u.String()
	if len(r.url) > maxURL {
		return fmt.Errorf("url has %d characters; at most %d are taken", len(r.url), maxURL)
	}
	return nil
}

// sendable reports whether a request can go there.
func sendable(u *url.URL) bool {
	return u.Hostname() != "" && (u.Scheme == "http" || u.Scheme == "https")
}

func addQuery(u *url.URL, query map[string]json.RawMessage) error {
	q := u.Query()
	for _, k := range plain.SortedKeys(query) {
		values, err := scalars(query[k])
		if err != nil {
			return fmt.Errorf("query %q: %w", k, err)
		}
		for _, v := range values {
			q.Add(k, v)
		}
	}
	u.RawQuery = q.Encode()
	return nil
}

func checkHeaders(in *httpInput, r *httpRequest) error {
	if len(in.headers) > maxHeaders {
		return fmt.Errorf("there are %d headers; at most %d are taken", len(in.headers), maxHeaders)
	}
	for _, name := range plain.SortedKeys(in.headers) {
		values, err := scalars(in.headers[name])
		if err != nil {
			return fmt.Errorf("header %q: %w", name, err)
		}
		if !plain.Token(name) || len(name) > maxHeaderName {
			return fmt.Errorf("not a valid header name: %q", name)
		}
		if ownHeaders[strings.ToLower(name)] {
			return fmt.Errorf("the header %q is set automatically: leave it out", name)
		}
		for _, v := range values {
			if len(v) > maxHeaderValue || strings.ContainsFunc(v, unsendable) {
				return fmt.Errorf("header %q has a value that cannot be sent", name)
			}
			r.header.Add(name, v)
		}
	}
	return nil
}

// ownHeaders belong to the connection, or say to the provider whose request it is.
var ownHeaders = map[string]bool{"connection": true, "content-length": true, "expect": true, "host": true, "keep-alive": true, "proxy-connection": true,
	"te": true, "trailer": true, "transfer-encoding": true, "upgrade": true, "x-request-id": true}

// unsendable reports whether a character may not stand in a header's value (RFC 9110, 5.5).
func unsendable(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }

func checkBody(in *httpInput, r *httpRequest) error {
	kinds, content := 0, ""
	if in.json != nil {
		kinds, content, r.body = kinds+1, "application/json", in.json
	}
	if in.text != nil {
		kinds, content, r.body = kinds+1, "text/plain; charset=utf-8", []byte(*in.text)
	}
	if in.bytes != nil {
		body, err := base64.StdEncoding.DecodeString(*in.bytes)
		if err != nil {
			return fmt.Errorf("bytesBase64 is not base64: %w", err)
		}
		kinds, content, r.body = kinds+1, "application/octet-stream", body
	}
	if kinds > 1 {
		return fmt.Errorf("there are %d bodies: give one of json, text and bytesBase64", kinds)
	}
	if kinds == 1 && (r.method == "GET" || r.method == "HEAD") {
		return fmt.Errorf("%s takes no body", r.method)
	}
	r.hasBody, r.content = kinds == 1, r.body
	if r.hasBody && r.header.Get("Content-Type") == "" {
		r.header.Set("Content-Type", content)
	}
	return nil
}

func checkResponse(in *httpInput, r *httpRequest) error {
	if in.responseType != "" {
		r.responseType = in.responseType
	}
	if !slices.Contains([]string{"json", "text", "bytes"}, r.responseType) {
		return fmt.Errorf("unknown responseType %q: use json, text or bytes", r.responseType)
	}
	if in.accepted != nil {
		if err := options("acceptedStatus", in.accepted, option{"minimum", &r.minimum}, option{"maximum", &r.maximum}); err != nil {
			return err
		}
		if r.minimum < 100 || r.maximum > 599 || r.minimum > r.maximum {
			return fmt.Errorf("not a valid acceptedStatus: %d to %d; give a range within 100 to 599", r.minimum, r.maximum)
		}
	}
	return nil
}

var durationForm = regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9]+)?(ms|s|m|h)$`)

func checkTimeout(in *httpInput, r *httpRequest) error {
	switch {
	case in.timeout != nil && in.timeoutMs != nil:
		return fmt.Errorf("give timeout or timeoutMs, not both")
	case in.timeout != nil:
		d, err := scriptDuration(in.timeout)
		if err != nil {
			return fmt.Errorf("timeout: %w", err)
		}
		r.timeout = d
	case in.timeoutMs != nil:
		d, err := milliseconds(*in.timeoutMs)
		if err != nil {
			return fmt.Errorf("timeoutMs: %w", err)
		}
		r.timeout = d
	}
	if r.timeout < time.Millisecond || r.timeout > maxTimeout {
		return fmt.Errorf("timeout %v is not within 1ms and 24h", r.timeout)
	}
	return nil
}

// scriptDuration reads a duration as scripts write it: a text, or a number of milliseconds.
func scriptDuration(raw json.RawMessage) (time.Duration, error) {
	var ms float64
	if json.Unmarshal(raw, &ms) == nil {
		return milliseconds(ms)
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return 0, fmt.Errorf("not a valid duration: %s; write it as 10s or 500ms", shown(raw))
	}
	d, err := time.ParseDuration(s)
	if !durationForm.MatchString(s) || err != nil {
		return 0, fmt.Errorf("not a valid duration: %q; write it as 10s or 500ms", s)
	}
	return d, nil
}

func milliseconds(ms float64) (time.Duration, error) {
	if ms != math.Trunc(ms) || math.Abs(ms) > float64(math.MaxInt64/int64(time.Millisecond)) {
		return 0, fmt.Errorf("not a whole number of milliseconds: %v", ms)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

func checkRedirect(in *httpInput, r *httpRequest) error {
	r.redirect, r.redirects = in.redirect, defaultRedirects
	if in.redirects != nil {
		r.redirects = *in.redirects
	}
	if r.redirects < 0 || r.redirects > maxRedirects {
		return fmt.Errorf("maximumRedirects %d is not within 0 and %d", r.redirects, maxRedirects)
	}
	switch r.redirect {
	case "follow", "manual", "error":
	case "":
		// Unlike the reference, a write follows no redirect unless it is asked to:
		// 301, 302 and 303 would turn a POST into a GET.
		r.redirect = "follow"
		if !readMethod(r.method) {
			r.redirect = "error"
		}
	default:
		return fmt.Errorf("unknown redirect %q: use follow, manual or error", r.redirect)
	}
	return nil
}

func checkKey(in *httpInput, r *httpRequest) error {
	if in.idempotency == nil {
		return nil
	}
	if err := options("idempotency", in.idempotency, option{"header", &r.keyHeader}, option{"field", &r.keyField}, option{"value", &r.key}); err != nil {
		return err
	}
	header, field := r.keyHeader, r.keyField
	switch {
	case r.key == "" || len(r.key) > maxKey:
		return fmt.Errorf("idempotency.value must be a text of 1 to %d characters", maxKey)
	case header != "" && field != "":
		return fmt.Errorf("idempotency takes header or field, not both")
	case field != "":
		return r.putKey(field, in.json)
	case !plain.Token(header) || len(header) > maxHeaderName || ownHeaders[strings.ToLower(header)]:
		return fmt.Errorf("the header %q cannot carry a key", header)
	case r.header.Get(header) != "":
		return fmt.Errorf("the header %s stands in headers already: leave it to idempotency", header)
	case strings.ContainsFunc(r.key, unsendable) || strings.TrimSpace(r.key) != r.key:
		return fmt.Errorf("idempotency.value cannot be sent in a header: it has a control character, or a space at its end")
	}
	r.header.Set(header, r.key)
	return nil
}

// putKey puts the key into the JSON body, for providers that want it there.
func (r *httpRequest) putKey(name string, given json.RawMessage) error {
	var body map[string]json.RawMessage
	if json.Unmarshal(given, &body) != nil || body == nil {
		return fmt.Errorf("idempotency.field needs a json body that is an object")
	}
	if _, there := body[name]; there {
		return fmt.Errorf("the field %s stands in the body already: leave it to idempotency", name)
	}
	key, err := json.Marshal(r.key)
	if err != nil {
		return fmt.Errorf("idempotency.value: %w", err)
	}
	field, err := json.Marshal(name)
	if err != nil {
		return fmt.Errorf("idempotency.field: %w", err)
	}
	comma := ","
	if len(body) == 0 {
		comma = ""
	}
	end := bytes.LastIndexByte(r.body, '}')
	r.body = slices.Concat(r.body[:end], []byte(comma), field, []byte(":"), key, []byte("}"))
	return nil
}

// scalars reads a header or query value: a text, number or boolean, or a list of them.
func scalars(raw json.RawMessage) ([]string, error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	var out []string
	for _, v := range list {
		var x any
		if err := json.Unmarshal(v, &x); err != nil {
			return nil, err
		}
		switch x := x.(type) {
		case string:
			out = append(out, x)
		case bool:
			out = append(out, strconv.FormatBool(x))
		case float64:
			out = append(out, string(v))
		default:
			return nil, fmt.Errorf("a value is neither text, number nor boolean")
		}
	}
	return out, nil
}

func readMethod(m string) bool { return m == "GET" || m == "HEAD" || m == "OPTIONS" }
