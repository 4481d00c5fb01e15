package faultprovider

import (
	"math"
	"net/http"

	"faultlab/faultprovider/fault"
)

// shapes says, for each kind of reply that is not simply an answer, what becomes of the answer: how it is given, its
// status, its body, how many bytes of it come and which length is announced. Both shells deliver it from that.
// TestShapes has a row for each.
var shapes = map[fault.Kind]func(p *reply, f *fault.Reply){
	fault.Reset:       shapeReset,
	fault.Nothing:     shapeNothing,
	fault.Cut:         shapeCut,
	fault.CutReset:    shapeCutReset,
	fault.CutChunked:  shapeCutChunked,
	fault.CutUnframed: shapeCutUnframed,
	fault.NotJSON:     shapeNotJSON,
	fault.TooLarge:    shapeTooLarge,
	fault.WrongLength: shapeWrongLength,
	fault.Redirect:    shapeRedirect,
}

// whole announces and gives the whole body.
func (p *reply) whole(status int, body []byte) {
	p.status, p.body = status, body
	p.length, p.sends = len(body), len(body)
}

// within is the wanted number of bytes, or the usual one, but not more than the limit, nor negative.
func within(wanted, usual, limit int) int {
	if wanted == 0 {
		wanted = usual
	}
	return max(0, min(wanted, limit))
}

// shapeReset ends the connection with a TCP reset: the caller sees ECONNRESET.
func shapeReset(p *reply, _ *fault.Reply) { p.how = resets }

// shapeNothing lets the caller wait until it gives up.
func shapeNothing(p *reply, _ *fault.Reply) { p.how = nothing }

// shapeCut breaks the body off under the whole Content-Length: the caller can see that it is not whole. At least one
// byte is missing.
func shapeCut(p *reply, f *fault.Reply) {
	p.sends = within(f.Bytes, len(p.body)/2, len(p.body)-1)
}

// shapeCutReset breaks the body off with a TCP reset: the caller has read the head, and perhaps a part of the body.
func shapeCutReset(p *reply, f *fault.Reply) {
	shapeCut(p, f)
	p.breaks = true
}

// shapeCutChunked sends one chunk and ends the connection before the last one: the caller can see that it is not whole.
func shapeCutChunked(p *reply, f *fault.Reply) {
	shapeCut(p, f)
	p.length, p.chunked = -1, true
}

// shapeCutUnframed breaks the body off without a Content-Length: the end of the connection looks like its proper end,
// and Go's client, for one, reports no error.
func shapeCutUnframed(p *reply, f *fault.Reply) {
	shapeCut(p, f)
	p.length = -1
}

// shapeNotJSON answers as a proxy or a login page in between does: with the right status, and HTML.
func shapeNotJSON(p *reply, _ *fault.Reply) {
	p.content = "text/html; charset=utf-8"
	p.whole(p.status, []byte("<!doctype html><title>Welcome</title><p>Everything is fine.</p>\n"))
}

// DefaultTooLarge is the size of a too-large body that says none, in bytes: more than any client of ours reads.
const DefaultTooLarge = 5 << 20

// shapeTooLarge pads the record with one long member. The padding is made while it is sent.
func shapeTooLarge(p *reply, f *fault.Reply) {
	size := within(f.Bytes, DefaultTooLarge, fault.MaxBytes)
	const member, end = `"padding":"`, `"}`
	if n := len(p.body); n > 2 && p.body[n-1] == '}' {
		p.body = append(append([]byte{}, p.body[:n-1]...), ","+member...)
	} else {
		p.body = []byte("{" + member)
	}
	p.tail, p.pad = end, max(0, size-len(p.body)-len(end))
	p.length, p.sends = p.total(), p.total()
}

// shapeWrongLength gives the whole body and announces another length: too short, and the caller takes a part for the
// whole; too long, and it waits for more until the connection ends.
func shapeWrongLength(p *reply, f *fault.Reply) {
	p.length = within(f.Bytes, len(p.body)/2, math.MaxInt)
}

// shapeRedirect sends the caller to the same address again.
func shapeRedirect(p *reply, f *fault.Reply) {
	status := f.Status
	if status == 0 {
		status = http.StatusFound
	}
	p.whole(status, errorBody("moved", ""))
	p.headers = append(p.headers, [2]string{"Location", "?moved"})
}
