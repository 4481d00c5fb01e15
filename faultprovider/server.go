package faultprovider

import (
	"net"
	"net/http"
	"net/url"
	"time"
)

// DefaultReadLimit is how long a provider that others can reach waits for a request to come whole.
const DefaultReadLimit = 10 * time.Second

// maxHead is the largest request line and header of a Server, in bytes.
const maxHead = 64 << 10

// Server returns an http.Server with the provider's Handler, a limit of 64 KiB for a request's head, and a limit of time in
// which a request must come whole (0: none; only a wall clock can have one, as it is the machine's time). Serving has no
// limit: a hang lasts until its caller gives up, and an idle connection until its client closes it.
func (p *Provider) Server(readLimit time.Duration) *http.Server {
	return &http.Server{
		Handler: p.Handler(), MaxHeaderBytes: maxHead,
		ReadHeaderTimeout: readLimit, ReadTimeout: readLimit, IdleTimeout: -1,
	}
}

// Loopback reports whether an address to listen on, "127.0.0.1:4040" or "localhost:0", can be reached from this machine
// alone. The provider's controls have no password, so anything else needs the person's explicit consent.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// serveControl serves a control request on a socket.
func (h *handler) serveControl(w http.ResponseWriter, req *http.Request, r *Request) {
	query, err := url.ParseQuery(r.RawQuery)
	if r.Method == http.MethodGet && r.Path == controlPrefix+"log" && err == nil && query.Get("follow") == "1" {
		h.follow(w, req, r)
		return
	}
	leave := h.p.clk.Enter("provider's controls")
	defer leave()
	wire := h.p.clk.Wire(r.ID)
	wire.Still() // a control may let time pass
	status, content, body := h.p.control(r)
	wire.Move()
	h.answer(w, &reply{status: status, content: content, body: body})
}

// follow streams the log until the reader goes away. It is no actor: it holds no time, and waits for no clock.
func (h *handler) follow(w http.ResponseWriter, req *http.Request, r *Request) {
	after, err := logStart(r.RawQuery)
	if err != nil {
		h.answer(w, &reply{status: http.StatusBadRequest, content: jsonContent, body: errorBody("bad_request", err.Error())})
		return
	}
	w.Header().Set("Content-Type", ndjsonContent)
	w.Header()["Date"] = h.dateHeader()
	control := http.NewResponseController(w)
	for {
		entries, seq, news := h.p.follow(after)
		if _, err := w.Write(ndjson(entries)); err != nil || control.Flush() != nil {
			return
		}
		after = seq
		select {
		case <-news:
		case <-req.Context().Done():
			return
		}
	}
}

// follow returns the entries above after, the latest Seq, and what closes when there is more. After a Reset it begins anew.
func (p *Provider) follow(after int64) ([]Entry, int64, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if after > p.log.seq {
		after = 0
	}
	return p.log.after(after), p.log.seq, p.log.news()
}
