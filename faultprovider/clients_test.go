package faultprovider

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// These tests count the requests that other people's clients send by themselves when a provider drops one. What they
// find is the table "retries you did not write" of the README.

// dropping serves a provider that drops everything but GET /jobs/warm-up; requests counts what it was asked else.
func dropping(t *testing.T) (address string, requests func() int) {
	t.Helper()
	p := newWall(t, Options{Contract: preset(t, "ignores-key")})
	(&lab{t: t, p: p}).faults(
		`{"name":"look-up-drop","on":{"requests":"look-up","collection":"slots","times":-1}}`,
		`{"name":"commit-then-drop","on":{"times":-1}}`,
	)
	count := func() int {
		n := 0
		for _, e := range p.Log(0) {
			if e.Kind == Received && e.Path != "/jobs/warm-up" {
				n++
			}
		}
		return n
	}
	return newServer(t, p), count
}

// TestGoRepeatsByItself: Go's default client sends a request again when a reused connection dies, if it is a read or says
// that it is idempotent, and its body can be sent again.
func TestGoRepeatsByItself(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, method, body string
		keyed, fresh       bool
		idle, want         int
	}{
		{"keyed POST", http.MethodPost, "{}", true, false, 1, 2},
		{"keyed POST, three idle connections", http.MethodPost, "{}", true, false, 3, 4},
		{"keyed POST, six idle connections", http.MethodPost, "{}", true, false, 6, 7},
		{"keyed POST, a connection of its own", http.MethodPost, "{}", true, true, 1, 1},
		{"keyed POST without a body", http.MethodPost, "", true, false, 1, 2},
		{"unkeyed POST", http.MethodPost, "{}", false, false, 1, 1},
		{"keyed PUT", http.MethodPut, "{}", true, false, 1, 2},
		{"unkeyed PUT", http.MethodPut, "{}", false, false, 1, 1},
		{"GET", http.MethodGet, "", false, false, 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			address, requests := dropping(t)
			transport := &http.Transport{MaxIdleConnsPerHost: 10}
			defer transport.CloseIdleConnections()
			if c.fresh {
				transport = &http.Transport{DisableKeepAlives: true}
			}
			client := &http.Client{Transport: transport}
			warmUp(t, client, address, c.idle)
			req, err := http.NewRequest(c.method, address+"/slots/order-42", strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if c.body == "" {
				req.Body, req.GetBody = http.NoBody, nil
			}
			if c.keyed {
				req.Header.Set("Idempotency-Key", "k")
			}
			if resp, err := client.Do(req); err == nil {
				_ = resp.Body.Close()
				t.Error("the drop became an answer")
			}
			if got := requests(); got != c.want {
				t.Errorf("one call reached the provider %d times, want %d", got, c.want)
			}
		})
	}
}

// warmUp leaves a client with so many idle connections.
func warmUp(t *testing.T, client *http.Client, address string, idle int) {
	t.Helper()
	var open []*http.Response
	for range idle {
		resp, err := client.Get(address + "/jobs/warm-up")
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, resp)
	}
	for _, resp := range open {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

// TestCurlRepeatsByItself: curl sends a POST again when a reused connection dies.
func TestCurlRepeatsByItself(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Log("not run: there is no curl here")
		return
	}
	for name, c := range map[string]struct {
		warm bool
		want int
	}{"on a fresh connection": {false, 1}, "on a reused connection": {true, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, requests := dropping(t)
			args := []string{"-s", "-X", "POST", "-d", "{}", address + "/slots"}
			if c.warm {
				args = append([]string{"-s", address + "/jobs/warm-up", "--next"}, args...)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			_ = exec.CommandContext(ctx, curl, args...).Run() // it fails: the last answer is a reset
			if got := requests(); got != c.want {
				t.Errorf("one call reached the provider %d times, want %d", got, c.want)
			}
		})
	}
}

// TestNodeClients: Node's fetch does not send a POST again, on a warmed connection either. axios with axios-retry
// does; it is run where it is installed.
func TestNodeClients(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Log("not run: there is no Node here")
		return
	}
	const fetch = `
const post = () => fetch(base + "/slots", {method: "POST", body: "{}", headers: {"idempotency-key": "k"}});
await (await fetch(base + "/jobs/warm-up")).text();
await post().then(() => { throw new Error("the drop became an answer"); }, () => {});
`
	const axios = `
import axios from "axios"; import axiosRetry from "axios-retry";
axiosRetry(axios, {retries: 3});
await axios.post(base + "/slots", {}, {headers: {"idempotency-key": "k"}}).then(() => { throw new Error("the drop became an answer"); }, () => {});
`
	for name, c := range map[string]struct {
		script, needs string
		want          int
	}{"fetch": {fetch, "", 1}, "axios with axios-retry": {axios, "axios-retry", 4}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, requests := dropping(t)
			dir := t.TempDir()
			modules := os.Getenv("NODE_PATH")
			if c.needs != "" {
				if _, err := os.Stat(filepath.Join(modules, c.needs)); modules == "" || err != nil {
					t.Logf("not run: %s is not in NODE_PATH", c.needs)
					return
				}
				if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
					t.Fatal(err)
				}
			}
			file := filepath.Join(dir, "client.mjs")
			script := c.script
			if i := strings.LastIndex(script, "import "); i >= 0 {
				end := i + strings.IndexByte(script[i:], '\n') + 1
				script = script[:end] + fmt.Sprintf("const base = %q;\n", address) + script[end:]
			} else {
				script = fmt.Sprintf("const base = %q;\n", address) + script
			}
			if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if out, err := exec.CommandContext(ctx, node, file).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if got := requests(); got != c.want {
				t.Errorf("one call reached the provider %d times, want %d", got, c.want)
			}
		})
	}
}
