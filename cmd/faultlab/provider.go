package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"faultlab/engine/plain"
	"faultlab/faultprovider"
	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
	"faultlab/store"
)

type providerFlags struct {
	listen   string
	contract string
	faults   []string
	seed     int64
	log      string
	insecure bool
}

func (a *app) providerCommand() *cobra.Command {
	var f providerFlags
	c := &cobra.Command{
		Use:   "provider",
		Short: "Serve an HTTP API that misbehaves on purpose",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.provider(cmd.Context(), f) },
	}
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:4040", "`HOST:PORT` to listen on; port 0 picks one")
	c.Flags().StringVar(&f.contract, "contract", "seed", "idempotency contract: the `NAME` of one of the above, or a file")
	c.Flags().StringArrayVar(&f.faults, "fault", nil, "`FAULT` to queue: a name or a JSON object; may be repeated")
	c.Flags().Int64Var(&f.seed, "seed", 0, "seed `N` of ids and of fault probabilities (default: a new one each time)")
	c.Flags().StringVar(&f.log, "log", "text", "`FORMAT` of the log on standard output: text or json")
	c.Flags().StringVar(&a.state, "state", "", "`FILE` for records (default: in memory)")
	c.Flags().BoolVar(&f.insecure, "insecure", false, "allow a --listen address that others can reach: the controls have no password")
	offer(c, "contract", contract.Names())
	offer(c, "fault", fault.Names())
	offer(c, "log", []string{"text", "json"})
	return c
}

func (a *app) provider(ctx context.Context, f providerFlags) error {
	o := faultprovider.Options{Clock: a.clk, Seed: f.seed}
	if o.Seed == 0 {
		o.Seed = a.clk.Now().UnixNano()
	}
	var err error
	if o.Contract, err = contractOf(f.contract); err != nil {
		return err
	}
	faults, err := faultsOf(f.faults)
	if err != nil {
		return err
	}
	switch {
	case f.log != "text" && f.log != "json":
		return usage("not a valid --log: %s; write text or json", f.log)
	case !faultprovider.Loopback(f.listen) && !f.insecure:
		if _, _, err := net.SplitHostPort(f.listen); err != nil {
			return usage("not a valid --listen: %s; write HOST:PORT, as 127.0.0.1:4040", f.listen)
		}
		return usage("others can reach %s, and the provider's controls have no password: listen on 127.0.0.1, or add --insecure", f.listen)
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return failed(listenError(f.listen, err))
	}
	defer l.Close()
	if a.state != "" {
		ledger, err := store.OpenLedger(a.state, store.Options{})
		if err != nil {
			return failed(err)
		}
		o.Ledger = ledger
		return errors.Join(a.provide(ctx, f, o, faults, l), failed(ledger.Close()))
	}
	return a.provide(ctx, f, o, faults, l)
}

// provide serves until the context ends.
func (a *app) provide(ctx context.Context, f providerFlags, o faultprovider.Options, faults []faultprovider.Fault, l net.Listener) error {
	// The provider's records are bytes without pointers: frequent collection costs little and keeps memory low.
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	a.live()
	out := newLines(a.clk, a.Out, nil)
	defer out.close()
	o.Observe = func(e faultprovider.Entry) { logEntry(out, f.log, e) }
	p, err := faultprovider.New(o)
	if err != nil {
		return failed(err)
	}
	p.QueueFaults(faults)
	if f.log == "text" {
		out.put("[provider] listening on http://" + l.Addr().String())
	} else {
		fmt.Fprintf(a.Err, "listening on http://%s\n", l.Addr())
	}
	srv := p.Server(faultprovider.DefaultReadLimit)
	ctx, stop := a.clk.WithCancel(ctx)
	defer stop(nil)
	// Close, not Shutdown: a request that hangs would keep it from ending.
	defer a.clk.OnCancel(ctx, func(error) { srv.Close() })()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return failed(fmt.Errorf("serve %s: %w", l.Addr(), err))
	}
	return nil
}

// logEntry prints one entry of the provider's log: in text the lines of the reference
// fixture, in JSON every entry.
func logEntry(out *lines, format string, e faultprovider.Entry) {
	if format == "text" {
		if text := e.Text(); text != "" {
			out.put("[provider] " + plain.Escape(text))
		}
		return
	}
	var b bytes.Buffer
	if printJSON(&b, e, "") == nil { // an entry always encodes
		out.put(strings.TrimSuffix(b.String(), "\n"))
	}
}

// contractOf returns a preset, or the contract in a file.
func contractOf(name string) (faultprovider.Contract, error) {
	if c, ok := contract.Preset(name); ok {
		return c, nil
	}
	if _, err := os.Stat(name); err != nil {
		return faultprovider.Contract{}, usage("not a contract or a file: %s; the contracts are %s", name, joined(contract.Names()))
	}
	src, err := readFile(name)
	if err != nil {
		return faultprovider.Contract{}, err
	}
	c, err := contract.Parse(src)
	if err != nil {
		return c, usage("%s:%w", name, err)
	}
	return c, nil
}

func faultsOf(args []string) ([]faultprovider.Fault, error) {
	var out []faultprovider.Fault
	for _, arg := range args {
		f, err := fault.Parse(arg)
		switch {
		case err != nil && strings.Contains(arg, ",") && !strings.Contains(arg, "{"):
			return nil, usage("--fault %s: a flag takes one fault; write --fault %s", arg, strings.ReplaceAll(arg, ",", " --fault "))
		case err != nil:
			return nil, usage("--fault: %w", err)
		}
		out = append(out, f)
	}
	return out, nil
}
