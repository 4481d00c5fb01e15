package faultprovider

import "faultlab/faultprovider/fault"

// shapes says, for each kind of reply that is not simply an answer, what becomes of the answer: how it is given, its
// status, its body, how many bytes of it come and which length is announced. Both shells deliver it from that. Each
// shape is a file of its own, shape_*.go; TestShapes has a row for each.
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
