// Package faultprovider is an HTTP provider that misbehaves on purpose: a pure core that decides what happens to one
// request, and two shells, a socket server and a simulated http.RoundTripper, that play the decision.
package faultprovider
