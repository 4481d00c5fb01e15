package faultprovider

import (
	"net/http"

	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
)

// Fault is what the provider does wrong with one request: see package fault.
type Fault = fault.Fault

// Contract is the idempotency rules that the provider keeps: see package contract.
type Contract = contract.Contract

// RequestIDHeader carries the caller's id of one request. The ledger keeps it: that is how an effect finds its operation.
const RequestIDHeader = "X-Request-Id"

// Request is one HTTP request, its body read whole.
type Request struct {
	ID       string // X-Request-Id, "" where the caller sends none
	Method   string
	Path     string // as sent, percent-encoding kept, without the query
	RawQuery string
	Header   http.Header
	Body     []byte

	oversize bool // the body is larger than MaxBody, and not read whole
}
