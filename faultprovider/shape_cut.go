package faultprovider

import "faultlab/faultprovider/fault"

// shapeCut breaks the body off under the whole Content-Length: the caller can see that it is not whole. At least one
// byte is missing.
func shapeCut(p *reply, f *fault.Reply) {
	p.sends = within(f.Bytes, len(p.body)/2, len(p.body)-1)
}

// shapeCutUnframed breaks the body off without a Content-Length: the end of the connection looks like its proper end,
// and Go's client, for one, reports no error.
func shapeCutUnframed(p *reply, f *fault.Reply) {
	shapeCut(p, f)
	p.length = -1
}
