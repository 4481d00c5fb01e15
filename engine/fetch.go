package engine

import (
	"encoding/json"
	"net/http"

	"faultlab/engine/script"
)

// fetchInput is what the script package hands over of a fetch.
type fetchInput struct {
	URL      string            `json:"url"`
	Method   string            `json:"method"`
	Headers  map[string]string `json:"headers"`
	Redirect string            `json:"redirect"`
	Text     *string           `json:"text"`
	Bytes    *string           `json:"bytesBase64"`
}

// prepareFetch makes the unmanaged way's request: no key, redirects followed as the
// platform does, every status handed to the script. Its requests are on the
// timeline like all others.
func (h *host) prepareFetch(c script.Call) (call, *script.ServiceError) {
	var in fetchInput
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return nil, refuse(c, "WOML_FETCH_INPUT_INVALID", "fetch: "+err.Error())
	}
	options := map[string]any{"url": in.URL, "responseType": "bytes", "redirect": "follow", "maximumRedirects": maxRedirects}
	if in.Method != "" {
		options["method"] = in.Method
	}
	if in.Redirect != "" {
		options["redirect"] = in.Redirect
	}
	if len(in.Headers) > 0 {
		options["headers"] = in.Headers
	}
	if in.Text != nil {
		options["text"] = *in.Text
	}
	if in.Bytes != nil {
		options["bytesBase64"] = *in.Bytes
	}
	req, err := checkHTTP(mustJSON(options))
	if err != nil {
		return nil, refuse(c, "WOML_FETCH_INPUT_INVALID", "fetch: "+err.Error())
	}
	return h.newHTTPCall(c, req), nil
}

// response is what fetch resolves to: the head of any reply, and its body. Only no reply at all rejects.
func (c *httpCall) response(done script.Completion, r reply, resp *http.Response, redirected bool) script.Completion {
	if r.status == 0 || done.Err != nil && done.Err.Code == "WOML_HTTP_REDIRECT_REJECTED" {
		return done
	}
	out := script.Completion{Body: r.body, Value: mustJSON(struct {
		Status     int               `json:"status"`
		StatusText string            `json:"statusText"`
		URL        string            `json:"url"`
		Redirected bool              `json:"redirected"`
		Headers    map[string]string `json:"headers"`
	}{r.status, http.StatusText(r.status), finalURL(resp, c.req.url), redirected, flatten(r.header)})}
	if done.Err != nil && done.Err.Code != "WOML_HTTP_STATUS_REJECTED" {
		out.BodyErr = done.Err
	}
	return out
}
