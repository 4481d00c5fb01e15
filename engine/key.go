package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"faultlab/engine/plain"
)

// stepKey is attempt.idempotencyKey: "sha256:" and the hex SHA-256 of the RFC 8785
// JSON of the step's identity. It is the same for all attempts of one step in one
// run, and another one in another run.
func stepKey(definition, node, run string) string {
	raw, _ := plain.JSON(struct { // texts and a number: always JSON
		Contract   string `json:"contract"`
		Definition string `json:"definitionHash"`
		Node       string `json:"nodeId"`
		Run        string `json:"runId"`
		Version    int    `json:"version"`
	}{"woml.step-effect", definition, node, run, 1})
	if !bytes.ContainsRune(raw, '\\') { // without escapes it is in that form already
		return digest(raw)
	}
	return digestJSON(raw)
}

// digest is "sha256:" and the hex SHA-256 of b.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return string(hex.AppendEncode(append(make([]byte, 0, 71), "sha256:"...), sum[:]))
}

// digestJSON is the digest of a JSON text: two texts have the same one if they are equal
// as JSON values, numbers compared exactly.
func digestJSON(raw []byte) string { return digest(plain.Canonical(raw)) }

// contentHash is the first half of the hex SHA-256 of a body, of its canonical form
// (RFC 8785) where it has one: enough to tell apart what one step sends.
func contentHash(b []byte) string {
	sum := sha256.Sum256(plain.Canonical(b))
	return hex.EncodeToString(sum[:16])
}

// digestParts is the digest of several texts: no other texts have the same one.
func digestParts(parts ...string) string {
	size := 0
	for _, p := range parts {
		size += binary.MaxVarintLen32 + len(p)
	}
	b := make([]byte, 0, size)
	for _, p := range parts {
		b = append(binary.AppendUvarint(b, uint64(len(p))), p...)
	}
	return digest(b)
}

// node is the name of a step, or of its compensation, in its key.
func node(step string, undo bool) string {
	if undo {
		return step + "/compensate"
	}
	return step
}

// attemptSeed derives the randomness of one attempt, so that its journal can be run again.
func attemptSeed(run int64, step string, undo bool, attempt int) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%s/%d", run, node(step, undo), attempt))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 1)
}

// RequestID is the X-Request-Id of a managed request: run, step, attempt and the
// request's number within the attempt. It is how an effect finds its operation.
type RequestID struct {
	Run, Step string
	Undo      bool
	Attempt   int
	Number    int
	Lookup    bool
}

// String is run/step/attempt/number, with a "~" before a compensation's step and an "l" before a look-up's number.
func (r RequestID) String() string {
	step, n := r.Step, strconv.Itoa(r.Number)
	if r.Undo {
		step = "~" + step
	}
	if r.Lookup {
		n = "l" + n
	}
	return r.Run + "/" + step + "/" + strconv.Itoa(r.Attempt) + "/" + n
}

// ParseRequestID reads what String wrote; ok is false for any other text.
func ParseRequestID(id string) (r RequestID, ok bool) {
	p := strings.Split(id, "/")
	if len(p) != 4 || p[0] == "" || p[1] == "" {
		return r, false
	}
	r.Run = p[0]
	r.Step, r.Undo = strings.CutPrefix(p[1], "~")
	n, lookup := strings.CutPrefix(p[3], "l")
	r.Lookup = lookup
	var err1, err2 error
	r.Attempt, err1 = strconv.Atoi(p[2])
	r.Number, err2 = strconv.Atoi(n)
	return r, err1 == nil && err2 == nil && r.Attempt > 0 && r.Number > 0
}
