package faultprovider

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"faultlab/faultprovider/fault"
)

// how a caller is answered.
type how byte

const (
	answers how = iota
	resets      // a TCP reset
	nothing     // no answer until the caller gives up
)

// reply is what a caller gets, from the moment at on.
type reply struct {
	at      time.Time
	how     how
	status  int
	content string // Content-Type
	headers [][2]string
	body    []byte
	pad     int           // so many x follow the body, then tail
	tail    string        //
	length  int           // the Content-Length that is announced; -1: none, the end of the connection ends the body
	sends   int           // bytes of the body that come, then FIN
	breaks  bool          // a reset comes in place of the FIN
	chunked bool          // what comes is one chunk, and the last one never does
	drip    time.Duration // between two bytes
}

const jsonContent = "application/json"

// total is how long the body would be.
func (p *reply) total() int { return len(p.body) + p.pad + len(p.tail) }

// plain reports whether an ordinary server would answer so.
func (p *reply) plain() bool {
	return p.length == p.total() && p.sends == p.length && p.drip == 0
}

// cut reports whether the caller gets less than the whole body.
func (p *reply) cut() bool { return p.sends < p.total() }

// reader reads the bytes that come.
func (p *reply) reader() io.Reader {
	if p.tail == "" {
		return bytes.NewReader(p.body[:min(p.sends, len(p.body))])
	}
	whole := io.MultiReader(bytes.NewReader(p.body), io.LimitReader(xs{}, int64(p.pad)), bytes.NewReader([]byte(p.tail)))
	return io.LimitReader(whole, int64(p.sends))
}

// xs is an endless text of x.
type xs struct{}

func (xs) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// set gives the contract's answer the shape that the fault prescribes.
func (p *reply) set(a *answer, f *fault.Reply, c *Contract) {
	*p = reply{at: p.at, status: a.status, content: jsonContent, body: a.body, drip: f.Drip}
	retryAfter := a.retryAfter
	if f.Do == fault.Status {
		p.status, p.body, retryAfter = f.Status, faultBody(f), f.RetryAfter
	} else if a.marker != "" {
		name, value := cutHeader(a.marker)
		p.headers = append(p.headers, [2]string{name, value})
	}
	p.hint(c, f.Do == fault.Status, retryAfter)
	p.length, p.sends = len(p.body), len(p.body)
	if f.Do == "" || f.Do == fault.Normal {
		return
	}
	if shape := shapes[f.Do]; shape != nil {
		shape(p, f)
	}
}

// hint adds the headers that tell a caller what to do next.
func (p *reply) hint(c *Contract, byFault bool, retryAfter time.Duration) {
	if p.status < 400 {
		return
	}
	if retryAfter == 0 && !byFault && (p.status == http.StatusConflict || p.status == http.StatusServiceUnavailable) {
		retryAfter = c.Hints.RetryAfter
	}
	if retryAfter > 0 {
		seconds := int(math.Ceil(retryAfter.Seconds()))
		p.headers = append(p.headers, [2]string{"Retry-After", strconv.Itoa(seconds)})
	}
	if c.Hints.ShouldRetry != "" {
		again := p.status == http.StatusTooManyRequests || p.status >= 500 || retryAfter > 0
		p.headers = append(p.headers, [2]string{http.CanonicalHeaderKey(c.Hints.ShouldRetry), strconv.FormatBool(again)})
	}
}

// usualErrors are the errors of a fault's status that has none of its own.
var usualErrors = map[int]string{
	400: "bad_request", 401: "unauthorized", 403: "forbidden", 404: "not_found", 408: "request_timeout", 409: "conflict",
	410: "gone", 422: "unprocessable", 425: "too_early", 429: "rate_limited", 500: "internal_error", 501: "not_implemented",
	502: "bad_gateway", 503: "temporarily_unavailable", 504: "gateway_timeout",
}

func faultBody(f *fault.Reply) []byte {
	code := f.Error
	if code == "" {
		code = usualErrors[f.Status]
	}
	if code == "" {
		code = "status_" + strconv.Itoa(f.Status)
	}
	return errorBody(code, "")
}

// fail makes it the answer of a provider whose ledger has failed.
func (p *reply) fail() {
	body := errorBody("ledger_failed", "the provider cannot keep what it does")
	p.set(&answer{status: http.StatusInternalServerError, body: body}, &fault.Reply{}, &Contract{})
}
