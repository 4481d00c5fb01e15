package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
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

// httpInput is the request as a script writes it. Unknown keys are refused.
type httpInput struct {
	URL          string                     `json:"url"`
	Method       string                     `json:"method"`
	Headers      map[string]json.RawMessage `json:"headers"`
	Query        map[string]json.RawMessage `json:"query"`
	JSON         json.RawMessage            `json:"json"`
	Text         *string                    `json:"text"`
	Bytes        *string                    `json:"bytesBase64"`
	ResponseType string                     `json:"responseType"`
	Timeout      string                     `json:"timeout"`
	TimeoutMs    *float64                   `json:"timeoutMs"`
	Accepted     *struct {
		Minimum *int `json:"minimum"`
		Maximum *int `json:"maximum"`
	} `json:"acceptedStatus"`
	Redirect         string `json:"redirect"`
	MaximumRedirects *int   `json:"maximumRedirects"`
	Idempotency      *struct {
		Header string          `json:"header"`
		Field  string          `json:"field"`
		Value  json.RawMessage `json:"value"`
	} `json:"idempotency"`
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
}

var methodForm = regexp.MustCompile(`^[A-Z]{1,32}$`)

// checkHTTP reads a request's options by the reference's limits and defaults. The error is a sentence for the script's author.
func checkHTTP(raw json.RawMessage) (*httpRequest, error) {
	if len(raw) > maxInput {
		return nil, fmt.Errorf("the request has %d bytes; at most %d are taken", len(raw), maxInput)
	}
	var in httpInput
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return nil, fmt.Errorf("the request is not understood: %s", strings.TrimPrefix(err.Error(), "json: "))
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
	if in.Method != "" {
		r.method = in.Method
	}
	if !methodForm.MatchString(r.method) {
		return fmt.Errorf("method %q is none: write it in capital letters, as POST", r.method)
	}
	return nil
}

func checkURL(in *httpInput, r *httpRequest) error {
	u, err := url.Parse(in.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("url %q is not an http or https address", in.URL)
	}
	if len(in.Query) > maxQuery {
		return fmt.Errorf("query has %d keys; at most %d are taken", len(in.Query), maxQuery)
	}
	q := u.Query()
	for _, k := range sortedKeys(in.Query) {
		values, err := scalars(in.Query[k])
		if err != nil {
			return fmt.Errorf("query %q: %w", k, err)
		}
		for _, v := range values {
			q.Add(k, v)
		}
	}
	if len(in.Query) > 0 {
		u.RawQuery = q.Encode()
	}
	r.url = u.String()
	if len(r.url) > maxURL {
		return fmt.Errorf("url has %d characters; at most %d are taken", len(r.url), maxURL)
	}
	return nil
}

func checkHeaders(in *httpInput, r *httpRequest) error {
	if len(in.Headers) > maxHeaders {
		return fmt.Errorf("there are %d headers; at most %d are taken", len(in.Headers), maxHeaders)
	}
	for _, name := range sortedKeys(in.Headers) {
		values, err := scalars(in.Headers[name])
		if err != nil {
			return fmt.Errorf("header %q: %w", name, err)
		}
		if !token(name) || len(name) > maxHeaderName {
			return fmt.Errorf("header %q is no header name", name)
		}
		for _, v := range values {
			if len(v) > maxHeaderValue || strings.ContainsAny(v, "\r\n\x00") {
				return fmt.Errorf("header %q has a value that cannot be sent", name)
			}
			r.header.Add(name, v)
		}
	}
	return nil
}

func checkBody(in *httpInput, r *httpRequest) error {
	kinds, content := 0, ""
	if in.JSON != nil {
		kinds, content, r.body = kinds+1, "application/json", in.JSON
	}
	if in.Text != nil {
		kinds, content, r.body = kinds+1, "text/plain; charset=utf-8", []byte(*in.Text)
	}
	if in.Bytes != nil {
		body, err := base64.StdEncoding.DecodeString(*in.Bytes)
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
	r.hasBody = kinds == 1
	if r.hasBody && r.header.Get("Content-Type") == "" {
		r.header.Set("Content-Type", content)
	}
	return nil
}

func checkResponse(in *httpInput, r *httpRequest) error {
	if in.ResponseType != "" {
		r.responseType = in.ResponseType
	}
	if !slices.Contains([]string{"json", "text", "bytes"}, r.responseType) {
		return fmt.Errorf("responseType %q is none of json, text and bytes", r.responseType)
	}
	if a := in.Accepted; a != nil {
		if a.Minimum != nil {
			r.minimum = *a.Minimum
		}
		if a.Maximum != nil {
			r.maximum = *a.Maximum
		}
		if r.minimum < 100 || r.maximum > 599 || r.minimum > r.maximum {
			return fmt.Errorf("acceptedStatus %d to %d is no range within 100 to 599", r.minimum, r.maximum)
		}
	}
	return nil
}

var durationForm = regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9]+)?(ms|s|m|h)$`)

func checkTimeout(in *httpInput, r *httpRequest) error {
	switch {
	case in.Timeout != "" && in.TimeoutMs != nil:
		return fmt.Errorf("give timeout or timeoutMs, not both")
	case in.Timeout != "":
		d, err := parseDuration(in.Timeout)
		if err != nil {
			return fmt.Errorf("timeout %w", err)
		}
		r.timeout = d
	case in.TimeoutMs != nil:
		if *in.TimeoutMs != float64(int64(*in.TimeoutMs)) {
			return fmt.Errorf("timeoutMs %v is no whole number", *in.TimeoutMs)
		}
		r.timeout = time.Duration(*in.TimeoutMs) * time.Millisecond
	}
	if r.timeout < time.Millisecond || r.timeout > maxTimeout {
		return fmt.Errorf("timeout %v is not within 1ms and 24h", r.timeout)
	}
	return nil
}

// parseDuration reads the durations of scripts: a number and one of ms, s, m and h.
func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if !durationForm.MatchString(s) || err != nil {
		return 0, fmt.Errorf("%q is no duration: write it as 10s or 500ms", s)
	}
	return d, nil
}

func checkRedirect(in *httpInput, r *httpRequest) error {
	r.redirect, r.redirects = in.Redirect, defaultRedirects
	if in.MaximumRedirects != nil {
		r.redirects = *in.MaximumRedirects
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
		return fmt.Errorf("redirect %q is none of follow, manual and error", r.redirect)
	}
	return nil
}

func checkKey(in *httpInput, r *httpRequest) error {
	i := in.Idempotency
	if i == nil {
		return nil
	}
	if err := json.Unmarshal(i.Value, &r.key); err != nil || r.key == "" || len(r.key) > maxKey {
		return fmt.Errorf("idempotency.value is no text of 1 to %d characters", maxKey)
	}
	switch {
	case i.Header != "" && i.Field != "":
		return fmt.Errorf("idempotency takes header or field, not both")
	case i.Field != "":
		return r.keyField(i.Field)
	case !token(i.Header) || len(i.Header) > maxHeaderName:
		return fmt.Errorf("idempotency.header %q is no header name", i.Header)
	case r.header.Get(i.Header) != "":
		return fmt.Errorf("the header %s stands in headers already: leave it to idempotency", i.Header)
	case strings.ContainsAny(r.key, "\r\n\x00"):
		return fmt.Errorf("idempotency.value cannot be sent in a header")
	}
	r.header.Set(i.Header, r.key)
	return nil
}

// keyField puts the key into the JSON body, for providers that want it there.
func (r *httpRequest) keyField(name string) error {
	var body map[string]json.RawMessage
	if r.header.Get("Content-Type") != "application/json" || json.Unmarshal(r.body, &body) != nil || body == nil {
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

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// token reports whether s is a token of RFC 9110, 5.6.2: a header's name.
func token(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

func readMethod(m string) bool { return m == "GET" || m == "HEAD" || m == "OPTIONS" }
