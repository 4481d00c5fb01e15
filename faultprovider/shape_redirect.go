package faultprovider

import (
	"net/http"

	"faultlab/faultprovider/fault"
)

// shapeRedirect sends the caller to the same address again.
func shapeRedirect(p *reply, f *fault.Reply) {
	status := f.Status
	if status == 0 {
		status = http.StatusFound
	}
	p.whole(status, errorBody("moved", ""))
	p.headers = append(p.headers, [2]string{"Location", "?moved"})
}
