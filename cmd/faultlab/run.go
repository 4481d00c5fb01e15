package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"faultlab/engine"
	"faultlab/engine/plain"
	"faultlab/engine/trigger"
	"faultlab/engine/woml"
)

type runFlags struct {
	host     string
	port     int
	insecure bool
	quiet    bool
	drain    time.Duration
	worker   workerOptions
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:               "run FILE...",
		Short:             "Serve the webhooks of workflows and execute their runs",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeDocuments,
		RunE:              func(cmd *cobra.Command, files []string) error { return a.run(cmd.Context(), f, files) },
	}
	c.Flags().StringVar(&f.host, "host", "127.0.0.1", "`ADDRESS` to listen on")
	c.Flags().IntVar(&f.port, "port", 3000, "`PORT` to listen on; 0 picks one")
	c.Flags().BoolVar(&f.insecure, "insecure", false, `allow auth="none" with a --host that others can reach`)
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "do not print the progress of runs")
	c.Flags().DurationVar(&f.drain, "drain", 8*time.Second, "`DURATION` to wait for open requests after a signal")
	f.worker.flags(c.Flags())
	c.Flags().Lookup("assume").Usage = "`FILE` of assumed contracts, by origin"
	return c
}

func (a *app) run(ctx context.Context, f runFlags, files []string) error {
	docs, err := a.loadDocuments(files)
	if err != nil {
		return err
	}
	secrets, err := fileSecrets(f.worker.secrets)
	if err != nil {
		return err
	}
	routes, err := routesOf(docs, secrets)
	if err != nil {
		return err
	}
	if err := exposed(f, routes); err != nil {
		return err
	}
	addr := net.JoinHostPort(f.host, strconv.Itoa(f.port))
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return failed(listenError(addr, err))
	}
	defer l.Close()
	a.live()
	out := newLines(a.clk, a.Out, nil)
	defer out.close()
	var w *worker
	report := newLines(a.clk, a.Out, func() bool { return a.onDisk(w) })
	defer report.close()
	o := f.worker
	o.docs, o.serves = docs, true
	o.log = consoleTo(report)
	if !f.quiet {
		o.observe = func(events []engine.Event) { a.report(report, events) }
	}
	if w, err = a.openWorker(o); err != nil {
		return failed(err)
	}
	err = a.serve(ctx, w, l, routes, out, f.drain)
	report.close() // while the state can still be read
	if closing := w.close(); err == nil {
		err = closing
	}
	return err
}

// consoleTo returns a function that prints what scripts write to their console.
func consoleTo(out *lines) func(run string, at engine.Pos, level, text string) {
	return func(run string, at engine.Pos, level, text string) {
		out.put(fmt.Sprintf("%s %s %s: %s", run, engine.StepName(at.Step, at.Undo), level, plain.Escape(text)))
	}
}

// reportPace limits the disk writes that the report of runs waits for.
const reportPace = 10 * time.Millisecond

// onDisk waits until every observed event is on disk: only then is it reported.
func (a *app) onDisk(w *worker) bool {
	_ = a.clk.Sleep(context.Background(), reportPace) // ends by itself
	_, err := w.store.Prefix("", 1)                   // a read sees, and so waits for, what came before it
	return err == nil && w.eng.Err() == nil
}

// grace is how long deliveries that are being answered may take when the program ends.
const grace = 2 * time.Second

// serve takes deliveries and commands until the context ends or the history fails.
func (a *app) serve(ctx context.Context, w *worker, l net.Listener, routes []trigger.Route, out *lines, limit time.Duration) error {
	h, err := trigger.New(w.admit, nil, routes...)
	if err != nil {
		return failed(err)
	}
	ctx, stop := a.clk.WithCancel(ctx)
	defer stop(nil)
	srv := &http.Server{Handler: h, ReadHeaderTimeout: readHeaderLimit, ReadTimeout: readLimit, MaxHeaderBytes: maxHead}
	var broke error
	served := a.clk.NewEvent("the end of the webhooks")
	a.clk.Go("webhooks", func() {
		defer served.Set()
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			broke = fmt.Errorf("serve webhooks: %w", err)
			stop(broke)
		}
	})
	if err = a.resume(w, out); err == nil {
		h.Ready()
		a.announce(out, l.Addr().String(), w, routes)
		a.serveInbox(ctx, ctx, w)
		if err = w.eng.Err(); err == nil && broke == nil {
			h.Stop()
			err = a.drain(w, out, limit)
		}
	}
	end, done := a.clk.WithTimeout(context.Background(), grace, errors.New("deliveries took too long"))
	if srv.Shutdown(end) != nil {
		srv.Close() // their senders get no answer, and send again
	}
	done(nil)
	served.Wait()
	if err == nil {
		err = broke
	}
	if err != nil {
		return failed(err)
	}
	out.put("Stopped. Unfinished runs resume at the next `faultlab run`.")
	return nil
}

// drain waits for what is out when the process is to stop, and says for what.
func (a *app) drain(w *worker, out *lines, limit time.Duration) error {
	for _, o := range w.eng.Out() {
		out.put(fmt.Sprintf("waiting up to %v for the answer to %s of %s, %s", limit, plain.Escape(o.Target), engine.StepName(o.Pos.Step, o.Pos.Undo), o.Run))
	}
	ctx, done := a.clk.WithTimeout(context.Background(), limit, errors.New("the drain took too long"))
	defer done(nil)
	if w.eng.Drain(ctx) {
		return nil
	}
	var left []string
	for _, o := range w.eng.Out() {
		left = append(left, fmt.Sprintf("%s of %s, %s", o.Target, engine.StepName(o.Pos.Step, o.Pos.Undo), o.Run))
	}
	return fmt.Errorf("stopped without an answer to %s: the outcome is unknown now; look it up", strings.Join(left, "; "))
}

// admit makes a delivery's run durable.
func (w *worker) admit(d trigger.Delivery) (trigger.Receipt, error) {
	r, err := w.eng.Admit(engine.Delivery{Workflow: d.Workflow, Trigger: d.Trigger, Key: d.Key, Payload: d.Payload})
	return trigger.Receipt{Run: r.Run, Duplicate: r.Duplicate}, err
}

// resume names the state file and resumes its open runs.
func (a *app) resume(w *worker, out *lines) error {
	path, err := a.statePath()
	if err != nil {
		return err
	}
	open, err := w.store.Open()
	if err != nil {
		return err
	}
	out.put("state " + plain.Escape(path))
	if len(open) > 0 {
		out.put("resuming " + plural(len(open), "open run"))
	}
	err = w.eng.Recover()
	var left engine.LeftError
	if !errors.As(err, &left) {
		return err
	}
	for _, why := range left {
		fmt.Fprintf(a.Err, "faultlab: %s; this run is left as it is, the others resume\n", plain.Escape(why.Error()))
	}
	return nil
}

// announce prints where deliveries go, with a curl line to try each.
func (a *app) announce(out *lines, addr string, w *worker, routes []trigger.Route) {
	for _, r := range routes {
		url := "http://" + addr + r.Path
		out.put(fmt.Sprintf("webhook %s of %s: %s", r.Trigger, r.Workflow, url))
		bearer := ""
		if r.Bearer {
			bearer = ` -H "authorization: Bearer $TOKEN"`
		}
		out.put(fmt.Sprintf("  curl -s -X POST %s -H 'content-type: application/json'%s -d %s", url, bearer, shellQuote(example(w.schema(r.Workflow, r.Trigger)))))
	}
	if len(routes) == 0 {
		out.put("no webhooks: start a workflow with " + a.command("trigger", "WORKFLOW"))
	}
	out.put("running; stop with ctrl-c")
}

// report prints the progress of runs. It is called under the engine's lock.
func (a *app) report(out *lines, events []engine.Event) {
	for _, e := range events {
		switch f := e.Fact.(type) {
		case engine.Admitted:
			out.put(fmt.Sprintf("%s %s admitted %s", clock24(e.At), e.Run, plain.Escape(f.Workflow)))
		case engine.AttemptEnded:
			text := string(f.Outcome)
			if f.By == string(engine.Record) {
				text = "recorded, " + text
			}
			if f.Code != "" {
				text += ": " + plain.Escape(plain.Shorten(f.Message, 200))
			}
			switch {
			case f.Next == engine.NextRetry:
				text += ", retry in " + f.Due.Sub(e.At).Round(time.Millisecond).String()
			case f.Reason != "" && f.Outcome != engine.Succeeded:
				text += ", " + plain.Escape(f.Reason)
			}
			out.put(fmt.Sprintf("%s %s %s attempt %d %s", clock24(e.At), e.Run, engine.StepName(f.Step, f.Undo), f.Attempt, text))
		case engine.Ended:
			text := string(f.Status)
			switch {
			case f.Waits != nil:
				text += ", waits for " + f.Waits.Run
			case f.Reconcile:
				text += ", reconcile: needed: " + a.command("lookup", e.Run)
			}
			out.put(fmt.Sprintf("%s %s %s", clock24(e.At), e.Run, text))
		}
	}
}

// routesOf returns the webhooks of the documents, with the tokens that they need.
func routesOf(docs []*woml.Document, secrets func(string) (string, bool)) ([]trigger.Route, error) {
	var routes []trigger.Route
	for _, d := range docs {
		for _, t := range d.Workflow.Triggers {
			if t.Kind != "webhook" {
				continue
			}
			r := trigger.Route{Workflow: d.Workflow.ID, Trigger: t.ID, Path: t.Path, Bearer: t.Auth == "bearer"}
			var err error
			if r.Schema, err = schemaOf(t); err != nil {
				return nil, failed(err)
			}
			if r.Bearer {
				token, ok := secrets(t.Secret)
				if !ok || token == "" {
					return nil, usage("webhook %s of %s needs the secret %s: set it in the environment or with --secrets", t.ID, d.Workflow.ID, t.Secret)
				}
				r.Token = token
			}
			routes = append(routes, r)
		}
	}
	return routes, nil
}

// exposed refuses to serve a webhook without authentication to other machines.
func exposed(f runFlags, routes []trigger.Route) error {
	if ip := net.ParseIP(f.host); f.host == "localhost" || ip != nil && ip.IsLoopback() || f.insecure {
		return nil
	}
	for _, r := range routes {
		if !r.Bearer {
			return usage(`webhook %s has auth="none" and others can reach --host %s: use auth="bearer", or add --insecure`, r.Trigger, f.host)
		}
	}
	return nil
}
