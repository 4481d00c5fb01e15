package trigger_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"faultlab/engine/trigger"
	"faultlab/engine/woml"
)

// inbox admits what it is given as an engine does: one run for each key.
type inbox struct {
	runs map[string]string // by key
	got  []trigger.Delivery
	err  error
}

func (b *inbox) admit(d trigger.Delivery) (trigger.Receipt, error) {
	if b.err != nil {
		return trigger.Receipt{}, b.err
	}
	b.got = append(b.got, d)
	if run, known := b.runs[d.Key]; d.Key != "" && known {
		return trigger.Receipt{Run: run, Duplicate: true}, nil
	}
	run := fmt.Sprintf("run_%d", len(b.got))
	b.runs[d.Key] = run
	return trigger.Receipt{Run: run}, nil
}

// coded is a refusal of the engine.
type coded string

func (c coded) Error() string     { return "refused with " + string(c) }
func (c coded) ErrorCode() string { return string(c) }

const orderSchema = `{"type":"object","required":["orderId","amount"],"additionalProperties":false,
  "properties":{"orderId":{"type":"string"},"amount":{"type":"number","minimum":0},"at":{"type":"string","format":"date-time"},"a/b":{"type":"object","properties":{"c~d":{"type":"null"}}}}}`

// serve makes a handler of one webhook without and one with a token.
func serve(t *testing.T, b *inbox) (*trigger.Handler, *[]trigger.Answer) {
	t.Helper()
	schema, err := woml.CompileSchema(json.RawMessage(orderSchema))
	if err != nil {
		t.Fatal(err)
	}
	b.runs = map[string]string{}
	told := &[]trigger.Answer{}
	h, err := trigger.New(b.admit, func(a trigger.Answer) { *told = append(*told, a) },
		trigger.Route{Workflow: "orders", Trigger: "open", Path: "/open", Schema: schema},
		trigger.Route{Workflow: "orders", Trigger: "free", Path: "/free"},
		trigger.Route{Workflow: "orders", Trigger: "shut", Path: "/shut", Bearer: true, Token: "s3cret"},
		trigger.Route{Workflow: "orders", Trigger: "lost", Path: "/lost", Bearer: true})
	if err != nil {
		t.Fatal(err)
	}
	return h, told
}

type reply struct {
	RunID     string
	Status    string
	Duplicate *bool
	Error     struct {
		Code, Message string
		Issues        []trigger.Issue
	}
}

func post(h http.Handler, method, path, body string, headers ...string) (*httptest.ResponseRecorder, reply) {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		switch {
		case headers[i+1] == "-":
			req.Header.Del(headers[i])
		case req.Header.Get(headers[i]) != "" && headers[i] != "Content-Type":
			req.Header.Add(headers[i], headers[i+1])
		default:
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	var r reply
	_ = json.Unmarshal(w.Body.Bytes(), &r)
	return w, r
}

const order = `{"orderId":"order-42","amount":120}`

// The reference's checks, in their order: each delivery passes those above its row.
func TestChecks(t *testing.T) {
	t.Parallel()
	large := `{"orderId":"` + strings.Repeat("x", trigger.MaxPayload) + `","amount":1}`
	most := `{"a":"` + strings.Repeat("x", trigger.MaxPayload-8) + `"}`
	for _, r := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		code, header, value      string
	}{
		{"no route", "POST", "/nowhere", order, nil, 404, "WOML_TRIGGER_NOT_FOUND", "", ""},
		{"no route, though the method is wrong too", "GET", "/open/", order, nil, 404, "WOML_TRIGGER_NOT_FOUND", "", ""},
		{"method", "GET", "/open", "", nil, 405, "WOML_TRIGGER_METHOD_NOT_ALLOWED", "Allow", "POST"},
		{"method, though the token is missing too", "PUT", "/shut", order, nil, 405, "WOML_TRIGGER_METHOD_NOT_ALLOWED", "Allow", "POST"},
		{"no token", "POST", "/shut", order, nil, 401, "WOML_TRIGGER_UNAUTHORIZED", "WWW-Authenticate", "Bearer"},
		{"another token", "POST", "/shut", order, []string{"Authorization", "Bearer s3cres"}, 401, "WOML_TRIGGER_UNAUTHORIZED", "", ""},
		{"another scheme", "POST", "/shut", order, []string{"Authorization", "Basic s3cret"}, 401, "WOML_TRIGGER_UNAUTHORIZED", "", ""},
		{"no token, where none is set", "POST", "/lost", order, []string{"Authorization", "Bearer "}, 401, "WOML_TRIGGER_UNAUTHORIZED", "", ""},
		{"no token, though the type is wrong too", "POST", "/shut", order, []string{"Content-Type", "text/plain"}, 401, "WOML_TRIGGER_UNAUTHORIZED", "", ""},
		{"token", "POST", "/shut", order, []string{"Authorization", "bearer s3cret"}, 202, "", "", ""},
		{"type", "POST", "/open", order, []string{"Content-Type", "text/plain"}, 400, "WOML_TRIGGER_PAYLOAD_INVALID", "", ""},
		{"no type", "POST", "/open", order, []string{"Content-Type", "-"}, 400, "WOML_TRIGGER_PAYLOAD_INVALID", "", ""},
		{"type with a parameter", "POST", "/open", order, []string{"Content-Type", "Application/JSON; charset=utf-8"}, 202, "", "", ""},
		{"type, though it is too large too", "POST", "/open", large, []string{"Content-Type", "text/plain"}, 400, "WOML_TRIGGER_PAYLOAD_INVALID", "", ""},
		{"too large", "POST", "/open", large, nil, 413, "WOML_TRIGGER_PAYLOAD_TOO_LARGE", "", ""},
		{"one byte too large", "POST", "/free", most + " ", nil, 413, "WOML_TRIGGER_PAYLOAD_TOO_LARGE", "", ""},
		{"as large as may be", "POST", "/free", most, nil, 202, "", "", ""},
		{"too large, though it is not JSON either", "POST", "/open", strings.Repeat("x", trigger.MaxPayload+1), nil, 413, "WOML_TRIGGER_PAYLOAD_TOO_LARGE", "", ""},
		{"no payload", "POST", "/free", ``, nil, 400, "WOML_TRIGGER_PAYLOAD_INVALID", "", ""},
		{"not JSON", "POST", "/free", `{"orderId":`, nil, 400, "WOML_TRIGGER_PAYLOAD_INVALID", "", ""},
		{"more than JSON", "POST", "/free", `{} {}`, nil, 400, "WOML_TRIGGER_PAYLOAD_INVALID", "", ""},
		{"no object", "POST", "/free", `[]`, nil, 400, "WOML_TRIGGER_PAYLOAD_INVALID", "", ""},
		{"null", "POST", "/free", `null`, nil, 400, "WOML_TRIGGER_PAYLOAD_INVALID", "", ""},
		{"not UTF-8", "POST", "/free", "{\"a\":\"\xff\"}", nil, 400, "WOML_TRIGGER_PAYLOAD_INVALID", "", ""},
		{"not by the schema", "POST", "/open", `{"orderId":42}`, nil, 400, "WOML_TRIGGER_SCHEMA_INVALID", "", ""},
		{"not by the schema's format", "POST", "/open", `{"orderId":"a","amount":1,"at":"tomorrow"}`, nil, 400, "WOML_TRIGGER_SCHEMA_INVALID", "", ""},
		{"not by the schema, though the key is wrong too", "POST", "/open", `{}`, []string{"Idempotency-Key", "a b"}, 400, "WOML_TRIGGER_SCHEMA_INVALID", "", ""},
		{"an empty key", "POST", "/open", order, []string{"Idempotency-Key", ""}, 400, "WOML_TRIGGER_PAYLOAD_INVALID", "", ""},
		{"a key with a space", "POST", "/open", order, []string{"Idempotency-Key", "a b"}, 400, "WOML_TRIGGER_PAYLOAD_INVALID", "", ""},
		{"a key that is not ASCII", "POST", "/open", order, []string{"Idempotency-Key", "é"}, 400, "WOML_TRIGGER_PAYLOAD_INVALID", "", ""},
		{"two keys", "POST", "/open", order, []string{"Idempotency-Key", "a", "Idempotency-Key", "b"}, 400, "WOML_TRIGGER_PAYLOAD_INVALID", "", ""},
		{"a key that is too long", "POST", "/open", order, []string{"Idempotency-Key", strings.Repeat("k", 513)}, 400, "WOML_TRIGGER_PAYLOAD_INVALID", "", ""},
		{"the longest key", "POST", "/open", order, []string{"Idempotency-Key", strings.Repeat("k", 512)}, 202, "", "", ""},
		{"no key", "POST", "/open", order, nil, 202, "", "", ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			b := &inbox{}
			h, told := serve(t, b)
			h.Ready()
			w, got := post(h, r.method, r.path, r.body, r.headers...)
			if w.Code != r.status || got.Error.Code != r.code {
				t.Fatalf("answered %d %s (%s), want %d %s", w.Code, got.Error.Code, got.Error.Message, r.status, r.code)
			}
			if r.header != "" && w.Header().Get(r.header) != r.value {
				t.Errorf("%s is %q, want %q", r.header, w.Header().Get(r.header), r.value)
			}
			if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("headers %v", w.Header())
			}
			accepted := r.status == 202
			if accepted != (len(b.got) == 1) {
				t.Errorf("answered %d, and %d deliveries were let through", w.Code, len(b.got))
			}
			if accepted && (got.RunID == "" || got.Status != "accepted" || got.Duplicate == nil || *got.Duplicate) {
				t.Errorf("accepted with %s", w.Body)
			}
			if !accepted && got.Error.Message == "" {
				t.Error("the refusal says nothing")
			}
			if len(*told) != 1 || (*told)[0].Status != r.status || (*told)[0].Code != r.code {
				t.Errorf("told %+v", *told)
			}
		})
	}
}

func TestNothingIsLetInBeforeItIsReady(t *testing.T) {
	t.Parallel()
	b := &inbox{}
	h, _ := serve(t, b)
	w, got := post(h, "POST", "/nowhere", order)
	if w.Code != 503 || got.Error.Code != "WOML_RUNTIME_NOT_READY" || w.Header().Get("Retry-After") != "1" {
		t.Errorf("answered %d %s, Retry-After %q", w.Code, got.Error.Code, w.Header().Get("Retry-After"))
	}
	h.Ready()
	if w, _ = post(h, "POST", "/open", order); w.Code != 202 {
		t.Errorf("answered %d when it was ready", w.Code)
	}
	h.Stop()
	if w, got = post(h, "POST", "/open", order); w.Code != 503 || got.Error.Code != "WOML_RUNTIME_NOT_READY" || w.Header().Get("Retry-After") != "1" {
		t.Errorf("answered %d %s when it was stopped", w.Code, got.Error.Code)
	}
}

// What the engine refuses has a status of its own.
func TestRefusedAdmissions(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		err               error
		status            int
		code, retryAfter  string
		message, unspoken string
	}{
		{coded("WOML_TRIGGER_PAYLOAD_INVALID"), 400, "WOML_TRIGGER_PAYLOAD_INVALID", "", "refused", ""},
		{coded("WOML_TRIGGER_IDEMPOTENCY_CONFLICT"), 409, "WOML_TRIGGER_IDEMPOTENCY_CONFLICT", "", "refused", ""},
		{coded("WOML_POLICY_QUEUE_FULL"), 503, "WOML_POLICY_QUEUE_FULL", "1", "refused", ""},
		{coded("WOML_TRIGGER_PAYLOAD_TOO_LARGE"), 413, "WOML_TRIGGER_PAYLOAD_TOO_LARGE", "", "refused", ""},
		{fmt.Errorf("admit: %w", coded("WOML_OTHER")), 500, "WOML_OTHER", "", "refused", ""},
		{errors.New("disk /var/state.db is full"), 500, "WOML_RUNTIME_FAILED", "", "send it again", "/var"},
	} {
		b := &inbox{err: r.err}
		h, _ := serve(t, b)
		h.Ready()
		w, got := post(h, "POST", "/open", order)
		if w.Code != r.status || got.Error.Code != r.code || w.Header().Get("Retry-After") != r.retryAfter {
			t.Errorf("%v: answered %d %s, Retry-After %q", r.err, w.Code, got.Error.Code, w.Header().Get("Retry-After"))
		}
		if m := got.Error.Message; !strings.Contains(m, r.message) || r.unspoken != "" && strings.Contains(m, r.unspoken) {
			t.Errorf("%v: says %q", r.err, m)
		}
	}
}

func TestARedeliveryNamesTheRunThatItMet(t *testing.T) {
	t.Parallel()
	b := &inbox{}
	h, _ := serve(t, b)
	h.Ready()
	_, first := post(h, "POST", "/open", order, "Idempotency-Key", "evt-1")
	w, second := post(h, "POST", "/open", order, "Idempotency-Key", "evt-1")
	if w.Code != 202 || second.RunID != first.RunID || second.Duplicate == nil || !*second.Duplicate {
		t.Errorf("the redelivery was answered %d %s", w.Code, w.Body)
	}
	d := b.got[0]
	if d.Workflow != "orders" || d.Trigger != "open" || d.Key != "evt-1" || string(d.Payload) != order {
		t.Errorf("delivered %+v", d)
	}
}

func TestIssuesPointIntoThePayload(t *testing.T) {
	t.Parallel()
	h, _ := serve(t, &inbox{})
	h.Ready()
	_, got := post(h, "POST", "/open", `{"orderId":42,"amount":-1,"a/b":{"c~d":1},"more":true}`)
	var paths []string
	for _, i := range got.Error.Issues {
		paths = append(paths, i.Path)
		if i.Message == "" {
			t.Errorf("the issue at %q says nothing", i.Path)
		}
	}
	if s := strings.Join(paths, " "); s != " /amount /a~1b/c~0d /orderId" {
		t.Errorf("issues at %q", s)
	}
}

func TestAtMostAHundredIssues(t *testing.T) {
	t.Parallel()
	schema, err := woml.CompileSchema(json.RawMessage(`{"properties":{"list":{"items":{"type":"string"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var unfit *trigger.Refusal
	payload := `{"list":[` + strings.Repeat("1,", 150) + `1]}`
	if err := trigger.Fits(schema, json.RawMessage(payload)); !errors.As(err, &unfit) || len(unfit.Issues) != 100 || unfit.ErrorCode() != "WOML_TRIGGER_SCHEMA_INVALID" {
		t.Errorf("%v", err)
	}
	if err := trigger.Fits(schema, json.RawMessage(`{"list":["a"]}`)); err != nil {
		t.Errorf("a payload that fits: %v", err)
	}
	if err := trigger.Fits(nil, json.RawMessage(`{"any":1}`)); err != nil {
		t.Errorf("without a schema: %v", err)
	}
}

func TestOnePathOneWebhook(t *testing.T) {
	t.Parallel()
	_, err := trigger.New(nil, nil, trigger.Route{Workflow: "a", Trigger: "x", Path: "/p"}, trigger.Route{Workflow: "b", Trigger: "y", Path: "/p"})
	if err == nil || !strings.Contains(err.Error(), "/p") || !strings.Contains(err.Error(), "x of a and y of b") {
		t.Errorf("two webhooks at one path: %v", err)
	}
}
