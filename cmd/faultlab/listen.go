package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
)

// Limits of every server that faultlab opens to clients.
const (
	readHeaderLimit = 10 * time.Second
	readLimit       = 30 * time.Second
	maxHead         = 64 << 10 // bytes of a request's line and header
)

// listenError is one sentence about an address that cannot be listened on.
func listenError(addr string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is taken by another program: stop it, or choose another port", addr)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s may not be listened on by this user: choose a port above 1023", addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s is no address of this machine: choose another host", addr)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err // the address is named once
	}
	return fmt.Errorf("cannot listen on %s: %w", addr, err)
}

// example is a payload that fits a schema as far as its required properties tell.
func example(schema json.RawMessage) string {
	var s struct {
		Required   []string `json:"required"`
		Properties map[string]struct {
			Type any   `json:"type"`
			Enum []any `json:"enum"`
		} `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil || len(s.Required) == 0 {
		return "{}"
	}
	out := "{"
	for i, name := range s.Required {
		p := s.Properties[name]
		var v any = "example"
		switch kind := fmt.Sprint(p.Type); {
		case len(p.Enum) > 0:
			v = p.Enum[0]
		case kind == "number" || kind == "integer":
			v = 1
		case kind == "boolean":
			v = true
		case kind == "object":
			v = struct{}{}
		case kind == "array":
			v = []any{}
		}
		key, _ := json.Marshal(name)
		value, err := json.Marshal(v)
		if err != nil {
			return "{}"
		}
		if i > 0 {
			out += ","
		}
		out += string(key) + ":" + string(value)
	}
	return out + "}"
}
