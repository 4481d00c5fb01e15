package faultprovider

import "time"

// Change is one atomic step of the ledger. Effects and keys replace what is there under the same id, so folding all
// changes in their order, or only the latest of each id, gives the same ledger.
type Change struct {
	Effects []Effect    `json:"effects,omitempty"`
	Keys    []KeyRecord `json:"keys,omitempty"`
	Entries []Entry     `json:"entries,omitempty"` // new lines of the log, Seq ascending
}

// KeyRecord is what the provider knows under one idempotency key.
type KeyRecord struct {
	Scope       string    `json:"scope"`                 // identity: the key with all that the contract's scope adds; opaque
	Key         string    `json:"key"`                   // as the contract read it
	Fingerprint string    `json:"fingerprint,omitempty"` // of the payload, hex
	EffectID    string    `json:"effectId,omitempty"`    // "" when the result committed nothing
	Collection  string    `json:"collection,omitempty"`  // of the effect
	Status      int       `json:"status,omitempty"`      // stored result; 0: only the effect counts
	Body        []byte    `json:"body"`                  // stored result; nil: the effect's body
	Locked      bool      `json:"locked,omitempty"`      // answers 409 whatever comes
	FirstSeen   time.Time `json:"firstSeen"`
	Completed   time.Time `json:"completed"`
}

// Ledger keeps what the provider commits beyond the life of the process. The provider holds its working copy in
// memory, reads the ledger once at the start and appends to it afterwards. Package ledgertest has the suite that every
// implementation must pass.
type Ledger interface {
	// Load yields what was appended, in order: one Change per Append, or an equivalent fold of them.
	Load(yield func(Change) error) error
	// Append takes one Change, whole or not at all, in the order of the calls; it does not wait for the disk. A nil
	// Ticket says that it is durable already. The slices belong to the ledger from then on. It is called under the
	// provider's lock and must not call the provider.
	Append(Change) Ticket
	// Reset forgets everything, durably.
	Reset() error
}

// Ticket is the promise that an appended Change becomes durable.
type Ticket interface {
	// Wait returns nil once the Change is on disk. An error means that it never will be, nor anything appended after it.
	Wait() error
}
