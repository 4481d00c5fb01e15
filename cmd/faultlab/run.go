package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"faultlab/engine"
	"faultlab/engine/assume"
	"faultlab/engine/trigger"
	"faultlab/engine/woml"
)

type runFlags struct {
	host     string
	port     int
	assume   string
	secrets  string
	insecure bool
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run FILE...",
		Short: "Serve the webhooks of workflows and carry their runs out",
		Long: "run owns the state file, goes on with what was open in it, and serves the\n" +
			"webhooks of the documents until it is stopped. Other processes can list, look up\n" +
			"and resolve meanwhile.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error { return a.run(cmd.Context(), f, files) },
	}
	c.Flags().StringVar(&f.host, "host", "127.0.0.1", "address to listen on")
	c.Flags().IntVar(&f.port, "port", 3000, "port to listen on; 0 picks one")
	c.Flags().StringVar(&f.assume, "assume", "", "file of assumed contracts, by origin")
	c.Flags().StringVar(&f.secrets, "secrets", "", "file of NAME=value secrets, mode 0600 (default: the environment)")
	c.Flags().BoolVar(&f.insecure, "insecure", false, `serve auth="none" to others than this machine`)
	return c
}

func (a *app) run(ctx context.Context, f runFlags, files []string) error {
	docs, err := a.loadDocuments(files)
	if err != nil {
		return err
	}
	o := workerOptions{docs: docs, log: a.logScript}
	if o.assume, err = loadAssume(f.assume); err != nil {
		return err
	}
	if o.secrets, err = fileSecrets(f.secrets); err != nil {
		return err
	}
	routes, err := routesOf(docs, o.secrets)
	if err != nil {
		return err
	}
	if err := exposed(f, routes); err != nil {
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort(f.host, strconv.Itoa(f.port)))
	if err != nil {
		return failed(listenError(f.host, f.port, err))
	}
	defer l.Close()
	w, err := a.openWorker(o)
	if err != nil {
		return failed(err)
	}
	return errors.Join(a.serve(ctx, w, l, routes), w.close())
}

// serve takes deliveries and commands until the context ends or the history fails.
func (a *app) serve(ctx context.Context, w *worker, l net.Listener, routes []trigger.Route) error {
	h, err := trigger.New(w.admit, nil, routes...)
	if err != nil {
		return failed(err)
	}
	if err := w.eng.Recover(); err != nil {
		return failed(err)
	}
	h.Ready()
	a.announce(l.Addr().String(), routes)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	srv := &http.Server{Handler: h, ReadHeaderTimeout: readHeaderLimit, ReadTimeout: readLimit, MaxHeaderBytes: 1 << 16}
	a.clk.Go("webhooks", func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			stop(fmt.Errorf("serve webhooks: %w", err))
		}
	})
	err = a.serveInbox(ctx, w)
	srv.Close()
	if err == nil && !errors.Is(context.Cause(ctx), context.Canceled) {
		err = context.Cause(ctx)
	}
	if err != nil {
		return failed(err)
	}
	fmt.Fprintln(a.Out, "stopped; what is open goes on at the next run")
	return nil
}

// admit makes a delivery's run durable.
func (w *worker) admit(d trigger.Delivery) (trigger.Receipt, error) {
	r, err := w.eng.Admit(engine.Delivery{Workflow: d.Workflow, Trigger: d.Trigger, Key: d.Key, Payload: d.Payload})
	return trigger.Receipt{Run: r.Run, Duplicate: r.Duplicate}, err
}

func (a *app) logScript(run, step, level, text string) {
	fmt.Fprintf(a.Out, "%s %s %s: %s\n", run, step, level, clean(text))
}

// announce says where deliveries go, with a line to try it.
func (a *app) announce(addr string, routes []trigger.Route) {
	for _, r := range routes {
		url := "http://" + addr + r.Path
		fmt.Fprintf(a.Out, "webhook %s of %s: %s\n", r.Trigger, r.Workflow, url)
		bearer := ""
		if r.Bearer {
			bearer = ` -H "authorization: Bearer $TOKEN"`
		}
		fmt.Fprintf(a.Out, "  curl -s -X POST %s -H 'content-type: application/json'%s -d '%s'\n", url, bearer, example(r.Schema))
	}
	fmt.Fprintln(a.Out, "running; stop with ctrl-c")
}

// routesOf are the webhooks of the documents, with the tokens that they ask for.
func routesOf(docs []*woml.Document, secrets func(string) (string, bool)) ([]trigger.Route, error) {
	var routes []trigger.Route
	for _, d := range docs {
		for _, t := range d.Workflow.Triggers {
			if t.Kind != "webhook" {
				continue
			}
			r := trigger.Route{Workflow: d.Workflow.ID, Trigger: t.ID, Path: t.Path, Bearer: t.Auth == "bearer", Schema: t.Schema}
			if r.Bearer {
				token, ok := secrets(t.Secret)
				if !ok || token == "" {
					return nil, usage("the webhook %s of %s needs the secret %s: set it in the environment or with --secrets", t.ID, d.Workflow.ID, t.Secret)
				}
				r.Token = token
			}
			routes = append(routes, r)
		}
	}
	return routes, nil
}

// exposed refuses to serve an open webhook to others than this machine.
func exposed(f runFlags, routes []trigger.Route) error {
	if ip := net.ParseIP(f.host); f.host == "localhost" || ip != nil && ip.IsLoopback() || f.insecure {
		return nil
	}
	for _, r := range routes {
		if !r.Bearer {
			return usage(`the webhook %s has auth="none" and --host %s is not this machine alone: give it auth="bearer", or --insecure`, r.Trigger, f.host)
		}
	}
	return nil
}

func loadAssume(path string) (*assume.Set, error) {
	if path == "" {
		return nil, nil
	}
	raw, err := readFile(path)
	if err != nil {
		return nil, err
	}
	s, err := assume.Parse(raw)
	if err != nil {
		return nil, &exit{exitUsage, fmt.Errorf("%s:%w", path, err)}
	}
	return s, nil
}
