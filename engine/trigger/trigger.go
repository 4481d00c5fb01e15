// Package trigger is the inbound side: it takes deliveries over HTTP, checks them,
// and asks for a run. A delivery is answered 202 only when its run is on disk; one
// that is refused makes no run. It knows nobody: who admits runs is told to it.
package trigger

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"
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
	why    atomic.Pointer[string] // it lets nothing in; empty where it does
}

// New makes a handler of these routes. told, which may be nil, sees every answer.
func New(admit Admit, told func(Answer), routes ...Route) (*Handler, error) {
	h := &Handler{admit: admit, routes: map[string]Route{}, told: told}
	h.why.Store(new("the runtime is starting; send it again"))
	for _, r := range routes {
		if other, taken := h.routes[r.Path]; taken {
			return nil, fmt.Errorf("the webhooks %s of %s and %s of %s share the path %s: give one of them another", other.Trigger, other.Workflow, r.Trigger, r.Workflow, r.Path)
		}
		h.routes[r.Path] = r
	}
	return h, nil
}

// Ready lets deliveries in.
func (h *Handler) Ready() { h.why.Store(new("")) }

// Stop lets nothing in any more: each delivery is answered 503.
func (h *Handler) Stop() { h.why.Store(new("the runtime is stopping; send it again")) }

// Refusal is an answer that makes no run.
type Refusal struct {
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Issues  []Issue `json:"issues,omitempty"` // where a payload does not fit its schema, sorted by path, at most 100
}

func refuse(code, message string) *Refusal { return &Refusal{Code: code, Message: message} }

// Error is the sentence, with the issues.
func (r *Refusal) Error() string {
	text := r.Message
	for i, is := range r.Issues {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		if is.Path != "" {
			sep += is.Path + " "
		}
		text += sep + is.Message
	}
	return text
}

// ErrorCode is the code of the language's reference.
func (r *Refusal) ErrorCode() string { return r.Code }

// statuses are the HTTP statuses of refusals, by code; 500 for any other.
var statuses = map[string]int{
	"WOML_TRIGGER_PAYLOAD_INVALID":      400,
	"WOML_TRIGGER_SCHEMA_INVALID":       400,
	"WOML_TRIGGER_UNAUTHORIZED":         401,
	"WOML_TRIGGER_NOT_FOUND":            404,
	"WOML_TRIGGER_METHOD_NOT_ALLOWED":   405,
	"WOML_TRIGGER_IDEMPOTENCY_CONFLICT": 409,
	"WOML_TRIGGER_PAYLOAD_TOO_LARGE":    413,
	"WOML_RUNTIME_NOT_READY":            503,
	"WOML_POLICY_QUEUE_FULL":            503,
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	receipt, no := h.serve(w, req)
	answer := Answer{Trigger: h.routes[req.URL.Path].Trigger, Key: req.Header.Get("Idempotency-Key"),
		Run: receipt.Run, Duplicate: receipt.Duplicate, Status: http.StatusAccepted}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	var body any = struct {
		RunID     string `json:"runId"`
		Status    string `json:"status"`
		Duplicate bool   `json:"duplicate"`
	}{receipt.Run, "accepted", receipt.Duplicate}
	if no != nil {
		answer.Status, answer.Code = cmp.Or(statuses[no.Code], http.StatusInternalServerError), no.Code
		if answer.Status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "1")
		}
		body = map[string]any{"error": no}
	}
	w.WriteHeader(answer.Status)
	_ = json.NewEncoder(w).Encode(body) // a sender that is gone needs no answer
	if h.told != nil {
		h.told(answer)
	}
}

// serve makes the checks, in the reference's order.
func (h *Handler) serve(w http.ResponseWriter, req *http.Request) (Receipt, *Refusal) {
	if why := *h.why.Load(); why != "" {
		return Receipt{}, refuse("WOML_RUNTIME_NOT_READY", why)
	}
	r, ok := h.routes[req.URL.Path]
	if !ok {
		return Receipt{}, refuse("WOML_TRIGGER_NOT_FOUND", "no webhook is served at this path")
	}
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return Receipt{}, refuse("WOML_TRIGGER_METHOD_NOT_ALLOWED", "this webhook takes POST")
	}
	if r.Bearer && !authorized(req, r.Token) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return Receipt{}, refuse("WOML_TRIGGER_UNAUTHORIZED", "the bearer token is missing or wrong")
	}
	payload, no := readPayload(w, req)
	if no != nil {
		return Receipt{}, no
	}
	if no := fits(r.Schema, payload); no != nil {
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

func readPayload(w http.ResponseWriter, req *http.Request) (json.RawMessage, *Refusal) {
	if kind, _, err := mime.ParseMediaType(req.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, refuse("WOML_TRIGGER_PAYLOAD_INVALID", "the Content-Type is not application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, MaxPayload))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, refuse("WOML_TRIGGER_PAYLOAD_TOO_LARGE", fmt.Sprintf("the payload has more than %d bytes", MaxPayload))
	}
	if err != nil {
		return nil, refuse("WOML_TRIGGER_PAYLOAD_INVALID", "the payload broke off: "+err.Error())
	}
	var object map[string]json.RawMessage
	// Two payloads that differ in a malformed byte would look alike once they are read.
	if !utf8.Valid(body) || json.Unmarshal(body, &object) != nil || object == nil {
		return nil, refuse("WOML_TRIGGER_PAYLOAD_INVALID", "the payload is not a JSON object in UTF-8")
	}
	return body, nil
}

func deliveryKey(req *http.Request) (string, *Refusal) {
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
		return "", refuse("WOML_TRIGGER_PAYLOAD_INVALID", fmt.Sprintf("the Idempotency-Key is not 1 to %d visible ASCII characters", maxKey))
	}
	return key, nil
}

// refusalOf is the answer to an admission that failed.
func refusalOf(err error) *Refusal {
	var coded Coded
	if !errors.As(err, &coded) {
		return refuse("WOML_RUNTIME_FAILED", "the delivery could not be made durable; send it again")
	}
	return refuse(coded.ErrorCode(), coded.Error())
}
