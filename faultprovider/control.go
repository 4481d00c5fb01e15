package faultprovider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"faultlab/engine/plain"
	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
	"faultlab/faultprovider/jsondoc"
)

// controlPrefix is where the provider is steered and looked at. It has no password: see Loopback.
const controlPrefix = "/_test/"

func isControl(path string) bool { return strings.HasPrefix(path, controlPrefix) }

// controls is the control surface. Both shells serve it; GET /_test/log?follow=1 goes on for ever on a socket only.
var controls = map[string]func(p *Provider, r *Request) (status int, body any, err error){
	"POST faults":   (*Provider).postFaults,
	"GET faults":    (*Provider).getFaults,
	"GET jobs":      (*Provider).getJobs,
	"GET contract":  (*Provider).getContract,
	"POST contract": (*Provider).postContract,
	"GET clock":     (*Provider).getClock,
	"POST clock":    (*Provider).postClock,
	"POST reset":    (*Provider).postReset,
	"GET state":     (*Provider).getState,
}

// ndjson is the body of a list of entries, one JSON object a line.
const ndjsonContent = "application/x-ndjson"

// control serves one control request.
func (p *Provider) control(r *Request) (status int, content string, body []byte) {
	name := strings.TrimPrefix(r.Path, controlPrefix)
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if r.oversize {
		return http.StatusRequestEntityTooLarge, jsonContent, errorBody("body_too_large", "a body has at most 1 MiB")
	}
	if method == http.MethodGet && name == "log" {
		after, err := logStart(r.RawQuery)
		if err != nil {
			return http.StatusBadRequest, jsonContent, errorBody("bad_request", err.Error())
		}
		return http.StatusOK, ndjsonContent, ndjson(p.Log(after))
	}
	serve, ok := controls[method+" "+name]
	if !ok {
		return http.StatusNotFound, jsonContent, notFoundBody
	}
	status, answer, err := serve(p, r)
	if err != nil {
		return status, jsonContent, errorBody("refused", err.Error())
	}
	text, err := encode(answer)
	if err != nil {
		return http.StatusInternalServerError, jsonContent, errorBody("internal_error", err.Error())
	}
	return status, jsonContent, plain.EscapeJSON(text)
}

// encode writes JSON as JSON.stringify does, without escaping < and >.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func ndjson(entries []Entry) []byte {
	var b bytes.Buffer
	for _, e := range entries {
		if line, err := encode(e); err == nil {
			b.Write(append(line, '\n'))
		}
	}
	return b.Bytes()
}

func logStart(rawQuery string) (int64, error) {
	query, err := url.ParseQuery(rawQuery)
	if err != nil || query.Get("after") == "" {
		return 0, err
	}
	after, err := strconv.ParseInt(query.Get("after"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("after is the seq of an entry, not %q", query.Get("after"))
	}
	return after, nil
}

type faultsBody struct {
	Faults []Fault `json:"faults"`
}

func (p *Provider) postFaults(r *Request) (int, any, error) {
	faults, err := fault.ParseList(r.Body)
	if err != nil {
		return http.StatusBadRequest, nil, err
	}
	p.QueueFaults(faults)
	return http.StatusOK, faultsBody{append([]Fault{}, faults...)}, nil
}

func (p *Provider) getFaults(*Request) (int, any, error) {
	return http.StatusOK, faultsBody{p.Faults()}, nil
}

// getJobs lists jobs as the fixture does: the key, then what the job has.
func (p *Provider) getJobs(*Request) (int, any, error) {
	jobs := []json.RawMessage{}
	for _, e := range p.Records("jobs") {
		job := append([]byte(`{"key":`), "null"...)
		if e.Key != "" {
			job = jsondoc.AppendString(job[:len(job)-len("null")], e.Key)
		}
		jobs = append(jobs, append(append(job, ','), e.Body[1:]...))
	}
	return http.StatusOK, struct {
		Count int               `json:"count"`
		Jobs  []json.RawMessage `json:"jobs"`
	}{len(jobs), jobs}, nil
}

type contractBody struct {
	Contract Contract `json:"contract"`
	Rules    []string `json:"rules"`
}

func (p *Provider) getContract(*Request) (int, any, error) {
	c := p.Contract()
	return http.StatusOK, contractBody{c, c.Rules()}, nil
}

// postContract takes the name of a preset as a JSON string, or a contract file.
func (p *Provider) postContract(r *Request) (int, any, error) {
	c, err := contract.Read(r.Body)
	if err == nil {
		err = p.SetContract(c)
	}
	if err != nil {
		return http.StatusBadRequest, nil, err
	}
	return http.StatusOK, contractBody{c, c.Rules()}, nil
}

// advancer is a clock whose time can be moved.
type advancer interface{ Advance(d time.Duration) }

type clockBody struct {
	Now     time.Time `json:"now"`
	Virtual bool      `json:"virtual"`
}

func (p *Provider) getClock(*Request) (int, any, error) {
	_, virtual := p.clk.(advancer)
	return http.StatusOK, clockBody{p.now(), virtual}, nil
}

func (p *Provider) postClock(r *Request) (int, any, error) {
	var d time.Duration
	body, err := jsondoc.Open(r.Body, "member")
	if err == nil {
		body.Read([]jsondoc.Field{{Name: "advance", At: &d}})
		err = body.Done()
	}
	if err != nil {
		return http.StatusBadRequest, nil, err
	}
	v, virtual := p.clk.(advancer)
	if !virtual {
		return http.StatusConflict, nil, errWallClock
	}
	v.Advance(d)
	return p.getClock(r)
}

func (p *Provider) postReset(*Request) (int, any, error) {
	if err := p.Reset(); err != nil {
		return http.StatusInternalServerError, nil, err
	}
	return http.StatusOK, map[string]bool{"reset": true}, nil
}
