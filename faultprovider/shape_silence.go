package faultprovider

import "faultlab/faultprovider/fault"

// shapeReset ends the connection with a TCP reset: the caller sees ECONNRESET.
func shapeReset(p *reply, _ *fault.Reply) { p.how = resets }

// shapeNothing lets the caller wait until it gives up.
func shapeNothing(p *reply, _ *fault.Reply) { p.how = nothing }
