// Package trigger is the inbound side: it takes deliveries over HTTP, checks them,
// and asks for a run. A delivery is answered 202 only when its run is on disk; one
// that is refused makes no run. It knows nobody: who admits runs is told to it.
package trigger

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits of a delivery.
const (
	MaxPayload = 1 << 20 // bytes
	maxKey     = 512     // characters of an Idempotency-Key
	maxIssues  = 100
)

// Route is one webhook of one workflow.
type Route struct {
	Workflow string
	Trigger  string
	Path     string
	Token    string // what a bearer must send; empty with auth="none"
	Bearer   bool
	Schema   Schema // nil takes every object
}

// Schema says whether a decoded payload fits. Its error is a
// *jsonschema.ValidationError where it does not, and another where it cannot be checked.
type Schema interface{ Validate(payload any) error }

// Delivery is one payload that passed the checks.
type Delivery struct {
	Workflow, Trigger string
	Key               string // the sender's Idempotency-Key; empty for none
	Payload           json.RawMessage
}

// Receipt says which run a delivery made or met.
type Receipt struct {
	Run       string
	Duplicate bool
}

// Coded is an error with a code of the language's reference.
type Coded interface {
	error
	ErrorCode() string
}

// Admit makes a run durable, or finds the one that an earlier delivery made.
type Admit func(Delivery) (Receipt, error)

// Answer is what the sender was told, for whoever watches.
type Answer struct {
	Trigger, Key, Run, Code string
	Status                  int
	Duplicate               bool
}

// Handler serves webhooks. Until Ready and after Stop it answers 503, so that a sender tries again.
type Handler struct {
	admit  Admit
	routes map[string]Route
	told   func(Answer)
	mu     sync.Mutex
	why    string // it lets nothing in; empty where it does
}

// New makes a handler of these routes. told, which may be nil, sees every answer.
func New(admit Admit, told func(Answer), routes ...Route) (*Handler, error) {
	h := &Handler{admit: admit, routes: map[string]Route{}, told: told, why: "the runtime is starting; send it again"}
	for _, r := range routes {
		if other, taken := h.routes[r.Path]; taken {
			return nil, fmt.Errorf("the webhooks %s of %s and %s of %s share the path %s: give one of them another", other.Trigger, other.Workflow, r.Trigger, r.Workflow, r.Path)
		}
		h.routes[r.Path] = r
	}
	return h, nil
}

// Ready lets deliveries in.
func (h *Handler) Ready() { h.refuse("") }

// Stop lets nothing in any more: each delivery is answered 503.
func (h *Handler) Stop() { h.refuse("the runtime is stopping; send it again") }

func (h *Handler) refuse(why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.why = why
}

func (h *Handler) refusesAll() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.why
}

// refusal is an answer that makes no run.
type refusal struct {
	status  int
	code    string
	message string
	issues  []Issue
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	receipt, no := h.serve(w, req)
	answer := Answer{Trigger: h.routes[req.URL.Path].Trigger, Key: req.Header.Get("Idempotency-Key"),
		Run: receipt.Run, Duplicate: receipt.Duplicate, Status: http.StatusAccepted}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if no != nil {
		answer.Status, answer.Code = no.status, no.code
		if no.status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "1")
		}
		w.WriteHeader(no.status)
		body := map[string]any{"code": no.code, "message": no.message}
		if len(no.issues) > 0 {
			body["issues"] = no.issues
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"error": body}) // a sender that is gone needs no answer
	} else {
		w.WriteHeader(http.StatusAccepted)
		_ = json.NewEncoder(w).Encode(struct {
			RunID     string `json:"runId"`
			Status    string `json:"status"`
			Duplicate bool   `json:"duplicate"`
		}{receipt.Run, "accepted", receipt.Duplicate})
	}
	if h.told != nil {
		h.told(answer)
	}
}

// serve makes the checks, in the reference's order.
func (h *Handler) serve(w http.ResponseWriter, req *http.Request) (Receipt, *refusal) {
	if why := h.refusesAll(); why != "" {
		return Receipt{}, &refusal{status: 503, code: "WOML_RUNTIME_NOT_READY", message: why}
	}
	r, ok := h.routes[req.URL.Path]
	if !ok {
		return Receipt{}, &refusal{status: 404, code: "WOML_TRIGGER_NOT_FOUND", message: "no webhook is served at this path"}
	}
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return Receipt{}, &refusal{status: 405, code: "WOML_TRIGGER_METHOD_NOT_ALLOWED", message: "this webhook takes POST"}
	}
	if r.Bearer && !authorized(req, r.Token) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return Receipt{}, &refusal{status: 401, code: "WOML_TRIGGER_UNAUTHORIZED", message: "the bearer token is missing or wrong"}
	}
	payload, no := readPayload(w, req)
	if no != nil {
		return Receipt{}, no
	}
	if no := r.check(payload); no != nil {
		return Receipt{}, no
	}
	key, no := deliveryKey(req)
	if no != nil {
		return Receipt{}, no
	}
	receipt, err := h.admit(Delivery{Workflow: r.Workflow, Trigger: r.Trigger, Key: key, Payload: payload})
	if err != nil {
		return Receipt{}, refusalOf(err)
	}
	return receipt, nil
}

// authorized compares digests, so that neither content nor length of the token shows in the time it takes.
func authorized(req *http.Request, token string) bool {
	scheme, sent, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	want, got := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(strings.TrimSpace(sent)))
	return strings.EqualFold(scheme, "Bearer") && token != "" && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

func readPayload(w http.ResponseWriter, req *http.Request) (json.RawMessage, *refusal) {
	if kind, _, err := mime.ParseMediaType(req.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, &refusal{status: 400, code: "WOML_TRIGGER_PAYLOAD_INVALID", message: "the Content-Type is not application/json"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, MaxPayload))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, &refusal{status: 413, code: "WOML_TRIGGER_PAYLOAD_TOO_LARGE", message: fmt.Sprintf("the payload has more than %d bytes", MaxPayload)}
	}
	if err != nil {
		return nil, &refusal{status: 400, code: "WOML_TRIGGER_PAYLOAD_INVALID", message: "the payload broke off: " + err.Error()}
	}
	var object map[string]json.RawMessage
	// Two payloads that differ in a malformed byte would look alike once they are read.
	if !utf8.Valid(body) || json.Unmarshal(body, &object) != nil || object == nil {
		return nil, &refusal{status: 400, code: "WOML_TRIGGER_PAYLOAD_INVALID", message: "the payload is not a JSON object in UTF-8"}
	}
	return body, nil
}

func deliveryKey(req *http.Request) (string, *refusal) {
	values := req.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	ok := len(values) == 1 && len(key) >= 1 && len(key) <= maxKey
	for i := range len(key) {
		ok = ok && key[i] > ' ' && key[i] < 0x7f
	}
	if !ok {
		return "", &refusal{status: 400, code: "WOML_TRIGGER_PAYLOAD_INVALID", message: fmt.Sprintf("the Idempotency-Key is not 1 to %d visible ASCII characters", maxKey)}
	}
	return key, nil
}

// refusalOf is the answer to an admission that failed.
func refusalOf(err error) *refusal {
	var coded Coded
	if !errors.As(err, &coded) {
		return &refusal{status: 500, code: "WOML_RUNTIME_FAILED", message: "the delivery could not be made durable; send it again"}
	}
	no := &refusal{status: 500, code: coded.ErrorCode(), message: coded.Error()}
	switch no.code {
	case "WOML_TRIGGER_PAYLOAD_INVALID":
		no.status = 400
	case "WOML_TRIGGER_IDEMPOTENCY_CONFLICT":
		no.status = 409
	case "WOML_POLICY_QUEUE_FULL":
		no.status = 503
	case "WOML_TRIGGER_PAYLOAD_TOO_LARGE":
		no.status = 413
	}
	return no
}
