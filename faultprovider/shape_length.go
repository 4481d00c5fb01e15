package faultprovider

import (
	"math"

	"faultlab/faultprovider/fault"
)

// shapeWrongLength gives the whole body and announces another length: too short, and the caller takes a part for the
// whole; too long, and it waits for more until the connection ends.
func shapeWrongLength(p *reply, f *fault.Reply) {
	p.length = within(f.Bytes, len(p.body)/2, math.MaxInt)
}
