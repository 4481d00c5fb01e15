package faultprovider

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"faultlab/faultprovider/contract"
)

// action is what a request asks for.
type action byte

const (
	unknownRoute action = iota
	create              // POST /jobs
	put                 // PUT /jobs/order-42
	remove              // DELETE /jobs/job_7c1e
	lookUp              // GET /jobs/by-idempotency-key/K
	readOne             // GET /jobs/job_7c1e
	list                // GET /jobs?orderId=order-42
)

func (a action) writes() bool { return a == create || a == put || a == remove }

// route is a request's address, taken apart.
type route struct {
	action     action
	collection string // "jobs", "v1/charges"; as sent, percent-encoding kept
	item       string // decoded: the id, or the key of a look-up
}

// name is what the contract's scope calls the route.
func (r route) name() string {
	if r.action == put || r.action == remove {
		return r.collection + "/" + r.item
	}
	return r.collection
}

const byKey = "/by-idempotency-key/"

// routeOf takes an address apart. A collection is any path; what is one record's id is told by the method.
func routeOf(c *Contract, method, path string, query bool) route {
	path, ok := strings.CutPrefix(path, "/")
	if !ok || path == "" || strings.HasSuffix(path, "/") {
		return route{}
	}
	parent, last, hasParent := cutLast(path)
	item, err := unescape(last)
	switch method {
	case http.MethodPost:
		if c.Carrier.In == contract.InPath && hasParent && err == nil {
			return route{create, parent, item}
		}
		return route{create, path, ""}
	case http.MethodPut, http.MethodDelete:
		if !hasParent || err != nil {
			return route{}
		}
		if method == http.MethodPut {
			return route{put, parent, item}
		}
		return route{remove, parent, item}
	case http.MethodGet, http.MethodHead:
		return routeOfRead(c, path, query, parent, item, hasParent && err == nil)
	}
	return route{}
}

func routeOfRead(c *Contract, path string, query bool, parent, item string, hasItem bool) route {
	if c.LookUp.By == contract.LookUpByKey {
		if collection, key, ok := strings.Cut(path, byKey); ok && collection != "" {
			key, err := unescape(key)
			if err != nil {
				return route{}
			}
			return route{lookUp, collection, key}
		}
	}
	switch {
	case c.LookUp.By == contract.LookUpByList && (!hasItem || query):
		return route{list, path, ""}
	case hasItem:
		return route{readOne, parent, item}
	}
	return route{}
}

// unescape decodes a segment. As in JavaScript, what is not UTF-8 cannot be decoded.
func unescape(segment string) (string, error) {
	text, err := url.PathUnescape(segment)
	if err == nil && !utf8.ValidString(text) {
		err = url.EscapeError(segment)
	}
	return text, err
}

// CollectionOf is the collection that a write names, or "". With its key in the path, the key is no part of it.
func CollectionOf(method, path, key string) string {
	c := &Contract{}
	if _, last, ok := cutLast(path); ok && last == url.PathEscape(key) {
		c.Carrier.In = contract.InPath
	}
	return routeOf(c, method, strings.TrimSuffix(path, "/"), false).collection
}

// cutLast cuts a path before its last segment.
func cutLast(path string) (parent, last string, ok bool) {
	i := strings.LastIndexByte(path, '/')
	if i <= 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

// inverses are the last segments of collections whose records undo another: POST /refunds {"charge":"charge_1"}, POST
// /jobs/job_1/cancel.
var inverses = map[string]bool{
	"refunds": true, "cancellations": true, "reversals": true, "voids": true,
	"refund": true, "cancel": true, "reverse": true, "void": true,
}

func undoes(collection string) bool {
	return inverses[collection[strings.LastIndexByte(collection, '/')+1:]]
}
