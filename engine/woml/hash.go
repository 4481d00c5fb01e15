package woml

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// The canonical form of a workflow definition is JSON in this shape: fields in
// this order, no white space, durations in milliseconds, a schema with sorted
// keys. It has no positions. It must not change: histories refer to its hash.
type (
	canonicalWorkflow struct {
		ID            string          `json:"id"`
		Name          string          `json:"name"`
		Description   string          `json:"description"`
		Version       string          `json:"version"`
		Concurrency   int             `json:"concurrency"`
		TimeoutMillis int64           `json:"timeoutMs"`
		RateCount     int             `json:"rateCount"`
		RatePerMillis int64           `json:"ratePerMs"`
		Queue         string          `json:"queue"`
		Triggers      []Trigger       `json:"triggers"`
		Steps         []canonicalStep `json:"steps"`
	}
	canonicalStep struct {
		ID          string              `json:"id"`
		Name        string              `json:"name"`
		Description string              `json:"description"`
		Operation   canonicalOperation  `json:"operation"`
		Compensate  *canonicalOperation `json:"compensate"`
	}
	canonicalOperation struct {
		MaxAttempts    int    `json:"maxAttempts"`
		Backoff        string `json:"backoff"`
		DelayMillis    int64  `json:"delayMs"`
		MaxDelayMillis int64  `json:"maxDelayMs"`
		Throttled      int    `json:"throttled,omitempty"` // ours; left out, a document's hash is that of WOML
		Script         string `json:"script"`
	}
)

// hash names a workflow definition; see [Document.Hash].
func hash(w *Workflow) string {
	form := canonicalWorkflow{
		ID: w.ID, Name: w.Name, Description: w.Description, Version: w.Version,
		Concurrency: w.Config.Concurrency, TimeoutMillis: w.Config.Timeout.Milliseconds(),
		RateCount: w.Config.Rate.Count, RatePerMillis: w.Config.Rate.Per.Milliseconds(), Queue: w.Config.Queue,
		Triggers: []Trigger{}, Steps: []canonicalStep{},
	}
	for _, t := range w.Triggers {
		t.Schema = sortedJSON(t.Schema)
		form.Triggers = append(form.Triggers, t)
	}
	for _, s := range w.Steps {
		step := canonicalStep{ID: s.ID, Name: s.Name, Description: s.Description, Operation: canonical(s.Retry, s.Script)}
		if s.Compensate != nil {
			inverse := canonical(s.Compensate.Retry, s.Compensate.Script)
			step.Compensate = &inverse
		}
		form.Steps = append(form.Steps, step)
	}
	sum := sha256.Sum256(encode(struct {
		Contract string            `json:"contract"`
		Version  int               `json:"version"`
		Workflow canonicalWorkflow `json:"workflow"`
	}{"faultlab.workflow-definition", 1, form}))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// encode writes what always encodes as a line of JSON, "<" and "&" as they are.
func encode(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return text.Bytes()
}

func canonical(r Retry, s Script) canonicalOperation {
	return canonicalOperation{
		MaxAttempts: r.Max, Backoff: r.Backoff,
		DelayMillis: r.Delay.Milliseconds(), MaxDelayMillis: r.MaxDelay.Milliseconds(), Throttled: r.Throttled, Script: s.Source,
	}
}

// sortedJSON encodes a schema again: it sorts its keys and drops its white space, and leaves its numbers as they are
// written.
func sortedJSON(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	_ = decoder.Decode(&value) // checked JSON
	return encode(value)
}
