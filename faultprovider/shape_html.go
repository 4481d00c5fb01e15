package faultprovider

import "faultlab/faultprovider/fault"

// shapeNotJSON answers as a proxy or a login page in between does: with the right status, and HTML.
func shapeNotJSON(p *reply, _ *fault.Reply) {
	p.content = "text/html; charset=utf-8"
	p.whole(p.status, []byte("<!doctype html><title>Welcome</title><p>Everything is fine.</p>\n"))
}
