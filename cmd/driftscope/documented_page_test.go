package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/nats-io/nats.go"
)

// documentedPage: clients/web/index.html, served as in docs/howto/control.md, shows the latents, reacts to an event and sends commands.
func documentedPage(t *testing.T, b *browser, dashboard string, told []string) {
	said := regexp.MustCompile(`publishing on (\S+) under`).FindStringSubmatch(strings.Join(told, "\n"))
	if said == nil {
		t.Fatalf("no NATS server in %q", told)
	}
	nc, err := nats.Connect(said[1])
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	applied := make(chan string, 64)
	if _, err := nc.Subscribe("driftscope.local.molecule.event", func(m *nats.Msg) {
		var e struct{ Code string }
		if json.Unmarshal(m.Data, &e) == nil && strings.HasPrefix(e.Code, "command_") {
			applied <- e.Code
		}
	}); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(ownSite(t, dashboard)))
	b.forget() // errors of the previous page
	b.until(30*time.Second, "latents in the page", `/^-?\d\.\d{3}  -?\d\.\d{3}$/.test(document.querySelector('#z').textContent)`)
	expect := func(what string) {
		t.Helper()
		select {
		case code := <-applied:
			if code != what {
				t.Errorf("found %s, expected %s", code, what)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("no %s", what)
		}
	}
	for level, command := range map[string]string{"warning": "command_freeze", "info": "command_resume"} {
		nc.Publish("driftscope.local.molecule.event", fmt.Appendf(nil, `{"v":1,"kind":"event","stream":"molecule","level":%q,"code":"unlike_training"}`, level))
		expect(command)
	}
	b.do(chromedp.Click(chromedp.CSS("#freeze")))
	expect("command_freeze")
	b.clean(true)
}

// ownSite serves clients/web/index.html and its client, forwards /nats to the dashboard, and returns its address.
func ownSite(t *testing.T, dashboard string) string {
	t.Helper()
	page, err := os.ReadFile("../../clients/web/index.html")
	if err != nil {
		t.Fatal(err)
	}
	client := natsClient(t)
	target, err := url.Parse(dashboard)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { w.Write(page) })
	mux.HandleFunc("/nats.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, client) })
	mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.Handle("/nats", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}})
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	return site.URL + "/"
}

// natsClient builds the client as in docs/howto/control.md, in the versions of the dashboard's lock file.
func natsClient(t *testing.T) string {
	t.Helper()
	tool(t, "node")
	tool(t, "npm")
	folder := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := os.ReadFile(filepath.Join("../../sinks/web/page", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "sh", "-ec", `
		npm ci --ignore-scripts --no-audit --no-fund
		echo 'export { wsconnect } from "@nats-io/nats-core"' | npx esbuild --bundle --format=esm --outfile=nats.js`)
	build.Dir = folder
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(folder, "nats.js")
}
