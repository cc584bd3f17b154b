package web

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"driftscope/internal/flow/bus"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "a token of the laboratory"

// start serves a dashboard of its own embedded NATS server.
func start(t *testing.T, o Options, pages bus.Pages) (*Server, *bus.Conn) {
	t.Helper()
	b, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded, Pages: pages})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	o.WebSocket, o.Prefix, o.Connected = b.WebSocket(), bus.DefaultPrefix, func() bool { return b.NATS().IsConnected() }
	o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "metrics") })
	o.Ready = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, b
}

// ask sends one request; headers come in pairs, and Host is one of them.
func ask(t *testing.T, method, address string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	transport := &http.Transport{DisableKeepAlives: true}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

func TestPage(t *testing.T) {
	s, _ := start(t, Options{Address: "127.0.0.1:0", Commands: true}, bus.PagesSteer)
	for path, kind := range map[string]string{"": "text/html", "app.js": "text/javascript", "app.css": "text/css", "icon.svg": "image/svg+xml", "LICENSES.txt": "text/plain"} {
		answer, body := ask(t, "GET", s.URL()+path)
		if answer.StatusCode != http.StatusOK || !strings.HasPrefix(answer.Header.Get("Content-Type"), kind) || body == "" {
			t.Errorf("/%s: %s, %s, %d bytes", path, answer.Status, answer.Header.Get("Content-Type"), len(body))
		}
		if answer.Header.Get("Content-Security-Policy") != policy || answer.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("/%s lacks what protects it: %v", path, answer.Header)
		}
		if again, _ := ask(t, "GET", s.URL()+path, "If-None-Match", answer.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
			t.Errorf("/%s is sent again: %s", path, again.Status)
		}
	}
	if answer, _ := ask(t, "GET", s.URL()+"none"); answer.StatusCode != http.StatusNotFound {
		t.Errorf("/none: %s", answer.Status)
	}
	if _, body := ask(t, "GET", s.URL()+"config.json"); !strings.Contains(body, `"commands":true,"prefix":"driftscope"`) {
		t.Errorf("/config.json: %s", body)
	}
	if _, page := ask(t, "GET", s.URL()); strings.Contains(page, "http://") || strings.Contains(page, "https://") {
		t.Error("the page names another server")
	}
}

// TestDoor: who is let in without a token, at an address of this machine.
func TestDoor(t *testing.T) {
	s, _ := start(t, Options{Address: "127.0.0.1:0"}, bus.PagesLook)
	own := strings.TrimSuffix(s.URL(), "/")
	for name, test := range map[string]struct {
		headers []string
		want    int
	}{
		"a program":              {nil, 200},
		"own page":               {[]string{"Origin", own, "Sec-Fetch-Site", "same-origin"}, 200},
		"through a tunnel":       {[]string{"Host", "localhost:9999", "Origin", "http://localhost:9999"}, 200},
		"IPv6":                   {[]string{"Host", "[::1]:8300"}, 200},
		"a typed address":        {[]string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"}, 200},
		"a link from elsewhere":  {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 200},
		"another site":           {[]string{"Origin", "http://evil.example"}, 403},
		"another port":           {[]string{"Origin", "http://127.0.0.1:1"}, 403},
		"a file":                 {[]string{"Origin", "null"}, 403},
		"a scheme":               {[]string{"Origin", "ftp" + strings.TrimPrefix(own, "http")}, 403},
		"without an origin":      {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403},
		"a name that leads here": {[]string{"Host", "evil.example", "Origin", "http://evil.example"}, 403},
	} {
		if answer, body := ask(t, "GET", s.URL()+"config.json", test.headers...); answer.StatusCode != test.want {
			t.Errorf("%s: %s %s, expected %d", name, answer.Status, body, test.want)
		}
	}
	if _, body := ask(t, "GET", s.URL()+"healthz"); body != `{"nats_connected":true,"refused":6}`+"\n" {
		t.Errorf("/healthz: %s", body)
	}
}

// TestToken: an address that others can reach asks everyone.
func TestToken(t *testing.T) {
	s, _ := start(t, Options{Address: "0.0.0.0:0", Token: secret}, bus.PagesLook)
	at := "http://127.0.0.1:" + portOf(t, s.URL()) + "/"
	if answer, _ := ask(t, "GET", at); answer.StatusCode != http.StatusOK {
		t.Errorf("the page itself: %s", answer.Status)
	}
	for _, path := range []string{"config.json", "nats", "metrics", "readyz"} {
		if answer, _ := ask(t, "GET", at+path, "Cookie", "driftscope_"+portOf(t, at)+"=guess"); answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("/%s without the token: %s", path, answer.Status)
		}
	}
	if answer, body := ask(t, "GET", at+"metrics", "Authorization", "Bearer "+secret); answer.StatusCode != http.StatusOK || body != "metrics" {
		t.Errorf("/metrics with the token: %s", answer.Status)
	}
	if answer, _ := ask(t, "GET", at+"readyz", "Authorization", "Bearer "+secret); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("/readyz with the token: %s", answer.Status)
	}
	for _, wrong := range []string{"", "Bearer ", "Bearer guess", "Basic " + secret} {
		if answer, _ := ask(t, "GET", at+"metrics", "Authorization", wrong); answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("/metrics with %q: %s", wrong, answer.Status)
		}
		if answer, _ := ask(t, "POST", at+"login", "Authorization", wrong); answer.StatusCode != http.StatusUnauthorized || len(answer.Cookies()) != 0 {
			t.Errorf("%q was let in: %s", wrong, answer.Status)
		}
	}
	answer, _ := ask(t, "POST", at+"login", "Authorization", "Bearer "+secret)
	if answer.StatusCode != http.StatusNoContent || len(answer.Cookies()) != 1 {
		t.Fatalf("the token: %s, %v", answer.Status, answer.Cookies())
	}
	cookie := answer.Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || strings.Contains(cookie.Value, secret) {
		t.Errorf("the cookie %v can be read or sent by others, or holds the token", cookie)
	}
	if answer, _ := ask(t, "GET", at+"config.json", "Cookie", cookie.Name+"="+cookie.Value); answer.StatusCode != http.StatusOK {
		t.Errorf("with the cookie: %s", answer.Status)
	}
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}

// TestAddress: a port that is taken, and addresses that cannot be.
func TestAddress(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	at := taken.Addr().String()
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"taken":         {Options{Address: at}, at + " is busy: give --dashboard 127.0.0.1:0"},
		"no port":       {Options{Address: "127.0.0.1"}, "expected host:port"},
		"open":          {Options{Address: "0.0.0.0:0"}, "give dashboard.token"},
		"short":         {Options{Address: "0.0.0.0:0", Token: "short"}, "at least 16"},
		"not ours":      {Options{Address: "192.0.2.1:0", Token: secret}, "192.0.2.1:0 cannot be opened"},
		"bad WebSocket": {Options{Address: "127.0.0.1:0", WebSocket: "ws://%zz"}, "invalid URL"},
	} {
		s, err := Start(test.options)
		if err == nil {
			s.Close()
			t.Errorf("%s: started", name)
		} else if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: found %q, expected it to say %q", name, err, test.want)
		}
	}
	s, _ := start(t, Options{Address: at, Move: true}, bus.PagesLook)
	if portOf(t, s.URL()) == portOf(t, "http://"+at) {
		t.Errorf("two servers at %s", at)
	}
}

// TestBridge: pages read messages through the dashboard's port, send commands only where they may, and never results.
func TestBridge(t *testing.T) {
	for pages, steers := range map[bus.Pages]bool{bus.PagesLook: false, bus.PagesSteer: true} {
		s, b := start(t, Options{Address: "127.0.0.1:0"}, pages)
		heard := make(chan *nats.Msg, 16)
		if _, err := b.NATS().ChanSubscribe("driftscope.>", heard); err != nil {
			t.Fatal(err)
		}
		refused := make(chan error, 16)
		page, err := nats.Connect(strings.Replace(s.URL(), "http", "ws", 1), nats.ProxyPath("/nats"),
			nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
		if err != nil {
			t.Fatal(err)
		}
		told := []string{"driftscope.local.bead.latent", "driftscope.local.hall-1.worker"}
		for _, subject := range told {
			said, err := page.SubscribeSync(subject)
			if err != nil {
				t.Fatal(err)
			}
			page.Flush()
			b.NATS().Publish(subject, []byte("true"))
			if m, err := said.NextMsg(5 * time.Second); err != nil || string(m.Data) != "true" {
				t.Errorf("%s: found %v, %v", pages, m, err)
			}
			page.Publish(subject, []byte("forged"))
		}
		page.Publish("driftscope.local.bead.cmd.pause", nil)
		page.Flush()
		wantRefused := len(told) + 1
		if steers {
			wantRefused--
		}
		for range wantRefused {
			select {
			case err := <-refused:
				if !strings.Contains(err.Error(), "Permissions Violation") {
					t.Errorf("%s: %v", pages, err)
				}
			case <-time.After(5 * time.Second):
				t.Errorf("%s: a message was not refused", pages)
			}
		}
		b.NATS().Flush()
		var subjects []string
		for len(heard) > 0 {
			subjects = append(subjects, (<-heard).Subject)
		}
		if commanded := len(subjects) == 3 && subjects[2] == "driftscope.local.bead.cmd.pause"; commanded != steers || len(subjects) > 3 {
			t.Errorf("%s: heard %v", pages, subjects)
		}
		page.Close()
	}
}

// TestNoBridge: what a page is told where it cannot be connected.
func TestNoBridge(t *testing.T) {
	s, err := Start(Options{Address: "127.0.0.1:0", Connected: func() bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if answer, body := ask(t, "GET", s.URL()+"nats"); answer.StatusCode != http.StatusNotFound || !strings.Contains(body, "nats.websocket") {
		t.Errorf("/nats: %s %s", answer.Status, body)
	}
	if answer, _ := ask(t, "GET", s.URL()+"healthz"); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("/healthz: %s", answer.Status)
	}
	gone, err := Start(Options{Address: "127.0.0.1:0", WebSocket: "ws://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close()
	for headers, want := range map[string]int{"websocket": http.StatusBadGateway, "": http.StatusUpgradeRequired} {
		if answer, body := ask(t, "GET", gone.URL()+"nats", "Connection", "Upgrade", "Upgrade", headers); answer.StatusCode != want {
			t.Errorf("upgrade to %q: %s %s", headers, answer.Status, body)
		}
	}
}
