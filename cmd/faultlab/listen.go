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

// listenError says in one sentence why an address cannot be listened on.
func listenError(addr string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("another program listens on %s: stop it, or choose another port", addr)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("this user may not listen on %s: choose a port above 1023", addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("not an address of this machine: %s; choose another host", addr)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err // the address is named once
	}
	return fmt.Errorf("cannot listen on %s: %w", addr, err)
}

// example returns a payload with the properties that a schema requires, in their order.
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
