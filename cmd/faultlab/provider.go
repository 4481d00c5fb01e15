package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"faultlab/faultprovider"
	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
	"faultlab/store"
)

// ownRules is how to write faults and contracts of one's own, and where the controls are.
const ownRules = `A fault of your own is a JSON object. With the "name" of one of the above it starts as
that, and says what differs:
  commit  when: before-reply, never, stuck or late; after: a duration
  reply   do: normal, status, reset, nothing, cut, cut-unframed, cut-reset, cut-chunked,
          not-json, too-large, wrong-length or redirect;
          status, error, retryAfter, bytes, slow, drip, stale
  on      requests: new, replay, look-up or any; key, collection, nth, probability,
          times (-1: always)

A contract of your own is a JSON file. It starts as the contract that it "extends", and
GET /_test/contract shows every member that it can have.

Controls:  GET and POST /_test/faults and /_test/contract; GET /_test/jobs, /_test/log
           (?follow=1 goes on), /_test/state and /_test/clock; POST /_test/reset`

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
		Long: "provider serves POST /jobs (any collection path works) under an idempotency contract,\n" +
			"with faults that are queued by --fault or POST /_test/faults. Point a client of your\n" +
			"own at it, in any language. With --state, records survive restarts.\n\n" +
			"Faults:    " + wrap(joined(fault.Names()), 11) + "\n" +
			"Contracts: " + wrap(joined(contract.Names()), 11) + "\n\n" + ownRules,
		Example: "  faultlab provider --fault commit-then-drop\n" +
			"  faultlab provider --contract stripe-v1 --fault '{\"commit\":{\"when\":\"late\",\"after\":\"2s\"},\"reply\":{\"do\":\"reset\"}}'\n" +
			"  curl -s -X POST http://127.0.0.1:4040/_test/faults -d '{\"faults\":[\"fail-before-commit\"]}'",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.provider(cmd.Context(), f) },
	}
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:4040", "`HOST:PORT` to listen on; port 0 picks one")
	c.Flags().StringVar(&f.contract, "contract", "seed", "idempotency contract to keep: the `NAME` of one of the above, or a file")
	c.Flags().StringArrayVar(&f.faults, "fault", nil, "`FAULT` for the queue: a name or a JSON object; may be repeated")
	c.Flags().Int64Var(&f.seed, "seed", 0, "seed `N` of ids and of faults' probabilities (default: another one each time)")
	c.Flags().StringVar(&f.log, "log", "text", "`FORMAT` of the log on standard output: text or json")
	c.Flags().StringVar(&a.state, "state", "", "keep what is committed in this `FILE` (default: in memory)")
	c.Flags().BoolVar(&f.insecure, "insecure", false, "listen where others can reach it: its controls have no password")
	for flag, values := range map[string][]string{"contract": contract.Names(), "fault": fault.Names(), "log": {"text", "json"}} {
		_ = c.RegisterFlagCompletionFunc(flag, oneOf(values...)) // fails for an unknown flag only
	}
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
		return usage("--log %s is neither text nor json", f.log)
	case !faultprovider.Loopback(f.listen) && !f.insecure:
		if _, _, err := net.SplitHostPort(f.listen); err != nil {
			return usage("--listen %s is no address: write HOST:PORT, as 127.0.0.1:4040", f.listen)
		}
		return usage("%s can be reached by others, and the provider's controls have no password: listen on 127.0.0.1, or add --insecure", f.listen)
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
		return errors.Join(a.provide(ctx, f, o, faults, l), failedOr(ledger.Close()))
	}
	return a.provide(ctx, f, o, faults, l)
}

// failedOr is failed for an error that may be nil.
func failedOr(err error) error {
	if err == nil {
		return nil
	}
	return failed(err)
}

// provide serves until the context ends.
func (a *app) provide(ctx context.Context, f providerFlags, o faultprovider.Options, faults []faultprovider.Fault, l net.Listener) error {
	// What a provider remembers is bytes without pointers: the collector can look often at little cost, and the memory
	// stays close to what is remembered.
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
	// Not orderly, on purpose: a request that hangs would keep it from ending.
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
			out.put("[provider] " + clean(text))
		}
		return
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(e) == nil { // an entry always encodes
		out.put(strings.TrimSuffix(b.String(), "\n"))
	}
}

// contractOf is a preset, or what a file says.
func contractOf(name string) (faultprovider.Contract, error) {
	if c, ok := contract.Preset(name); ok {
		return c, nil
	}
	if _, err := os.Stat(name); err != nil {
		return faultprovider.Contract{}, usage("%s is neither a contract nor a file: the contracts are %s", name, joined(contract.Names()))
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
