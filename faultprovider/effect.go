package faultprovider

import (
	"encoding/json"
	"time"
)

// Operation is what an effect did to its collection.
type Operation string

// The operations.
const (
	Create Operation = "create" // POST /jobs
	Put    Operation = "put"    // PUT /jobs/order-42: made or replaced under the caller's id
	Delete Operation = "delete" // DELETE /jobs/job_7c1e: Of names what it removed
)

// Effect is a record that the provider has committed. A later Put to the same id replaces the body of the same
// effect; a Delete is an effect of its own and marks the one that it undoes.
type Effect struct {
	ID          string          `json:"id"` // job_7c1e0a2b; the caller's own with Put
	Collection  string          `json:"collection"`
	Operation   Operation       `json:"operation"`
	Key         string          `json:"key,omitempty"` // the idempotency key as the contract read it
	RequestID   string          `json:"requestId,omitempty"`
	Of          string          `json:"of,omitempty"`          // the effect that this one undoes (a refund, a cancellation, a delete)
	UndoneBy    string          `json:"undoneBy,omitempty"`    // the effect that undid this one
	Fingerprint string          `json:"fingerprint,omitempty"` // of the payload, hex; "" where the contract compares none
	Body        json.RawMessage `json:"body"`                  // what the provider answers: jobs keep id, orderId and a key that the body carries, others the whole body
	CommittedAt time.Time       `json:"committedAt"`
	Gone        bool            `json:"gone,omitempty"` // the record is no longer there: deleted, or a deletion itself
}
