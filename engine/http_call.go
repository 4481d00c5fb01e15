package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"faultlab/engine/assume"
	"faultlab/engine/plain"
	"faultlab/engine/script"
)

// Causes that end a request, and win over what the transport then says.
var (
	errTimedOut = errors.New("no reply within the request's timeout")
	errGaveUp   = errors.New("the script no longer wants it")
)

// redirectRefused says why a redirect was not followed.
type redirectRefused string

func (r redirectRefused) Error() string { return string(r) }

// httpCall is one services.http.request, or with fetch set one fetch.
type httpCall struct {
	req     *httpRequest
	fact    CallStarted
	assumed assume.Contract
	fetch   bool
}

func (c *httpCall) started() CallStarted { return c.fact }

func (h *host) prepareHTTP(c script.Call) (call, *script.ServiceError) {
	if c.Operation != "request" {
		return nil, refuse(c, "WOML_MODULE_SERVICE_UNKNOWN", fmt.Sprintf("services.http has no %q", c.Operation))
	}
	req, err := checkHTTP(c.Input)
	if err != nil {
		return nil, refuseInput(c, "WOML_HTTP_INPUT_INVALID", err)
	}
	return h.newHTTPCall(c, req), nil
}

func (h *host) newHTTPCall(c script.Call, req *httpRequest) *httpCall {
	assumed := h.rt.assume.Of(req.url)
	w := &httpCall{req: req, assumed: assumed, fetch: c.Service == script.ServiceFetch}
	w.fact = CallStarted{Service: c.Service, Operation: c.Operation, Name: c.Name, Key: req.key, Effect: effectOf(req, assumed),
		Target: req.method + " " + h.cleanURL(req.url), Digest: digestOfRequest(req)}
	if w.fact.Effect != Read {
		w.fact.Content = contentHash(req.content)
	}
	return w
}

// digestOfRequest is that of everything which is sent.
func digestOfRequest(r *httpRequest) string {
	parts := append(make([]string, 0, 8), r.method, r.url, r.key, string(r.body))
	for _, name := range plain.SortedKeys(r.header) {
		for _, value := range r.header[name] {
			parts = append(parts, name, value)
		}
	}
	return digestParts(parts...)
}

// effectOf says what a request can do, by its method, its key and the assumed contract.
func effectOf(r *httpRequest, assumed assume.Contract) Effect {
	switch {
	case readMethod(r.method):
		return Read
	case r.key != "" && assumed.Protects(r.keyHeader, r.keyField):
		return KeyedWrite
	case assumed.Repeats(r.method):
		return IdempotentWrite
	}
	return UnkeyedWrite
}

// perform sends the request, and its redirects where they are followed.
func (c *httpCall) perform(ctx context.Context, h *host, pos Pos, _ Ticket) (CallEnded, script.Completion) {
	ctx, done := h.e.clk.WithTimeout(ctx, c.req.timeout, errTimedOut)
	defer done(nil)
	hops := &hops{h: h, pos: pos, req: c.req, effect: c.fact.Effect, retention: c.assumed.Retention}
	h.rt.read(func(r *Run) { hops.before = len(r.callAt(pos).Requests) })
	var body io.Reader
	if c.req.hasBody {
		body = bytes.NewReader(c.req.body)
	}
	req, err := http.NewRequestWithContext(ctx, c.req.method, c.req.url, body)
	if err != nil {
		return CallEnded{How: HowNeverSent}, script.Completion{Err: &script.ServiceError{Code: "WOML_HTTP_INPUT_INVALID", Message: err.Error()}}
	}
	req.Header = c.req.header
	client := http.Client{Transport: hops, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		switch {
		case c.req.redirect == "manual":
			return http.ErrUseLastResponse
		case c.req.redirect == "error":
			return redirectRefused("and that was not asked for")
		case len(via) > c.req.redirects:
			return redirectRefused(fmt.Sprintf("after %d redirects, and no more are followed", c.req.redirects))
		case !sendable(next.URL):
			return redirectRefused("to an address that is not http or https")
		}
		return nil
	}}
	resp, err := client.Do(req)
	return c.conclude(h, hops, resp, err)
}

// conclude reads the end of a request by table a, and makes what the script gets.
func (c *httpCall) conclude(h *host, hops *hops, resp *http.Response, err error) (CallEnded, script.Completion) {
	last := hops.last
	var why redirectRefused
	refused := errors.As(err, &why)
	var held *unsent
	expired := errors.As(last.err, &held)
	end := callEnd{read: c.fact.Effect == Read, began: hops.began, expired: expired, status: last.status,
		elsewhere: hops.method != c.req.method && readMethod(hops.method)}
	var out CallEnded
	if last.status != 0 {
		out.Status = last.status
		out.RetryAfter, end.retryAfter = retryAfter(last.header, h.e.clk.Now())
		end.accepted = c.accepts(last.status) && !refused
		end.inFlight, end.keyTaken = c.assumed.InFlight, c.assumed.TakesKey(last.status)
		out.Replay = replayMarked(last.header)
	}
	var value json.RawMessage
	var failure *script.ServiceError
	switch {
	case refused:
		failure = c.failure("WOML_HTTP_REDIRECT_REJECTED", fmt.Sprintf("%s %s: %d asks to go elsewhere, %s", c.req.method, c.where(), last.status, why))
	case expired:
		failure = c.failure(held.code, fmt.Sprintf("%s %s: not sent: %s", c.req.method, c.where(), held.why))
	case last.status == 0:
		failure = c.noReply(last.err, hops.began)
	case !c.accepts(last.status):
		failure = c.failure("WOML_HTTP_STATUS_REJECTED", fmt.Sprintf("%s %s answered %d", c.req.method, c.where(), last.status))
	default:
		if value, failure = c.value(last, resp, hops.count > 1); failure != nil {
			end.unreadable = true
		}
	}
	out.How = rowOf(end)
	out.Readings = c.readings(h, hops, out.How)
	done := script.Completion{Value: value, Err: failure}
	if failure != nil {
		failure.Details = details(c.req.method, c.req.url, last.status)
	}
	if c.fetch {
		done = c.response(done, last, resp, hops.count > 1)
	}
	return out, done
}

// accepts reports whether the status is in the accepted range. A fetch gives the
// script every status; what it proves is judged by 200 to 299 all the same.
func (c *httpCall) accepts(status int) bool {
	return c.req.minimum <= status && status <= c.req.maximum
}

func (c *httpCall) failure(code, message string) *script.ServiceError {
	return &script.ServiceError{Code: code, Message: message}
}

// where is the request's address without its query, which may hold what should not be shown.
func (c *httpCall) where() string {
	bare, _, _ := strings.Cut(c.req.url, "?")
	return bare
}

func (c *httpCall) noReply(err error, began bool) *script.ServiceError {
	about := c.req.method + " " + c.where()
	switch {
	case errors.Is(err, errTimedOut):
		return c.failure("WOML_HTTP_TIMED_OUT", fmt.Sprintf("%s: no reply within %v", about, c.req.timeout))
	case cancelled(err):
		return c.failure("WOML_HTTP_CANCELLED", about+": "+err.Error())
	case !began:
		return c.failure("WOML_HTTP_TRANSPORT_FAILED", about+": never sent: "+innermost(err))
	}
	return c.failure("WOML_HTTP_TRANSPORT_FAILED", about+": dropped before a reply: "+innermost(err))
}

// cancelled reports whether a request ended because its run or its script did.
func cancelled(err error) bool {
	return errors.Is(err, errCancelled) || errors.Is(err, errRunTimeout) || errors.Is(err, errGaveUp) || errors.Is(err, ErrKilled)
}

// innermost is the last sentence of a transport's error: the rest names addresses that are said already.
func innermost(err error) string {
	if err == nil {
		return "no reply"
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// value makes the script's result {status, ok, headers, data, url, redirected} of an accepted reply.
func (c *httpCall) value(r reply, resp *http.Response, redirected bool) (json.RawMessage, *script.ServiceError) {
	about := func() string { return fmt.Sprintf("%s %s answered %d", c.req.method, c.where(), r.status) }
	switch {
	case r.tooLarge:
		return nil, c.failure("WOML_HTTP_RESPONSE_TOO_LARGE", fmt.Sprintf("%s with more than %d bytes", about(), maxReply))
	case cancelled(r.err):
		return nil, c.failure("WOML_HTTP_CANCELLED", about()+", but its body was given up: "+r.err.Error())
	case r.err != nil:
		return nil, c.failure("WOML_HTTP_RESPONSE_FAILED", about()+", but its body broke off: "+innermost(r.err))
	}
	var data json.RawMessage
	switch c.req.responseType {
	case "json":
		if c.req.method == "HEAD" {
			data = json.RawMessage("null")
		} else if data = r.body; !json.Valid(data) || !utf8.Valid(data) {
			return nil, c.failure("WOML_HTTP_RESPONSE_JSON_INVALID", about()+", but its body is not JSON")
		} else if nesting(data) > maxNesting {
			return nil, c.failure("WOML_HTTP_RESPONSE_JSON_INVALID", fmt.Sprintf("%s, but its body is nested more than %d deep", about(), maxNesting))
		}
	case "text":
		if !utf8.Valid(r.body) {
			return nil, c.failure("WOML_HTTP_RESPONSE_TEXT_INVALID", about()+", but its body is not UTF-8")
		}
		data = mustJSON(string(r.body))
	default:
		data = mustJSON(map[string]string{"bytesBase64": base64.StdEncoding.EncodeToString(r.body)})
	}
	o := object{text: append(make([]byte, 0, len(data)+512), '{')}
	o.number("status", int64(r.status))
	o.bool("ok", r.status/100 == 2)
	o.texts("headers", flatten(r.header))
	o.json("data", data)
	o.string("url", finalURL(resp, c.req.url))
	o.bool("redirected", redirected)
	return append(o.text, '}'), nil
}

func finalURL(resp *http.Response, sent string) string {
	if resp != nil && resp.Request != nil {
		return resp.Request.URL.String()
	}
	return sent
}

func flatten(h http.Header) map[string]string {
	out := make(map[string]string, len(h))
	for k, v := range h {
		out[strings.ToLower(k)] = strings.Join(v, ", ")
	}
	return out
}

// replayMarked reports whether the provider says that it gave this answer before.
func replayMarked(h http.Header) bool {
	for _, name := range []string{"Idempotent-Replayed", "Idempotency-Replayed", "X-Idempotent-Replay"} {
		if strings.EqualFold(h.Get(name), "true") {
			return true
		}
	}
	return false
}

// details are what a script may show of a failed request: never bodies.
func details(method, rawURL string, status int) json.RawMessage {
	out := map[string]any{"method": method}
	if u, err := url.Parse(rawURL); err == nil {
		out["origin"] = u.Scheme + "://" + u.Host
	}
	if status != 0 {
		out["status"] = status
	}
	return mustJSON(out)
}

// mustJSON encodes what always can be encoded: texts, numbers, maps of them.
func mustJSON(v any) json.RawMessage {
	raw, err := encodeJSON(v)
	if err != nil {
		panic("engine: encode " + err.Error())
	}
	return raw
}
