package faultprovider

import "faultlab/faultprovider/fault"

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
