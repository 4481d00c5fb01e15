package faultprovider

import "faultlab/faultprovider/fault"

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
