package bus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"driftscope/internal/suite"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"
)

// TestMain fails the suite if a goroutine outlives it, with one exception: on a busy machine nats.go 1.55.0 leaks a goroutine if an object is stored before
// that goroutine has started. It then waits on a nil channel.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect"))
}

func connect(t *testing.T, o Options) *Conn {
	t.Helper()
	c, err := Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestCloseLosesNothing: everything published before Close reaches a subscriber on another connection.
func TestCloseLosesNothing(t *testing.T) {
	const n = 20000
	c, err := Connect(t.Context(), Options{URL: Embedded})
	if err != nil {
		t.Fatal(err)
	}
	other, err := nats.Connect(c.URL(), nats.MaxReconnects(-1)) // a client that gives up drops its messages
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	got, done := 0, make(chan struct{})
	_, err = other.Subscribe("driftscope.>", func(m *nats.Msg) {
		if string(m.Data) != fmt.Sprint(got) {
			t.Errorf("message %d reads %q", got, m.Data)
		}
		if got++; got == n {
			close(done)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Flush(); err != nil {
		t.Fatal(err)
	}
	s, err := c.Subject("bead")
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := c.NATS().Publish(s.Of("latent"), fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatalf("%d of %d arrived", got, n)
	}
}

func TestBusyPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	_, err = Connect(t.Context(), Options{URL: Embedded, Port: port})
	if err == nil {
		t.Fatal("two servers on one port")
	}
	for _, part := range []string{fmt.Sprintf("port %d is in use", port), "--nats-port", fmt.Sprintf("--nats nats://127.0.0.1:%d", port)} {
		if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
			t.Errorf("found %q, expected one line with %q", err, part)
		}
	}
}

func TestRefused(t *testing.T) {
	tests := map[string]struct {
		options Options
		want    string
	}{
		"open to others":   {Options{URL: Embedded, Host: "0.0.0.0"}, "give a token"},
		"named host":       {Options{URL: Embedded, Host: "imaging.example"}, "give a token"},
		"port":             {Options{URL: Embedded, Port: 70000}, "65535"},
		"address":          {Options{URL: Embedded, Host: "192.0.2.1", Token: "t"}, "192.0.2.1"},
		"word":             {Options{URL: "embeded"}, `found "embeded", expected nats://host:port or context:NAME`},
		"scheme":           {Options{URL: "http://127.0.0.1"}, "expected nats://host:port"},
		"prefix":           {Options{URL: Embedded, Prefix: "a.b"}, "nats prefix"},
		"no credentials":   {Options{URL: "nats://127.0.0.1:1", Credentials: "/no/such.creds"}, "/no/such.creds"},
		"WebSocket":        {Options{URL: "nats://127.0.0.1:1", WebSocket: "ws://user:hunter2@127.0.0.1:1"}, "expected ws://host:port"},
		"secret in errors": {Options{URL: "http://user:hunter2@127.0.0.1"}, "user:xxxxx@"},
		"token in errors":  {Options{URL: "http://hunter2@127.0.0.1"}, "http://xxxxx@127.0.0.1"},
		"mistyped":         {Options{URL: "viewer:hunter2@127.0.0.1:1"}, `found "the given address"`},
		"token of pages":   {Options{URL: "nats://127.0.0.1:1", WebSocket: "ws://hunter2@127.0.0.1:1"}, `found "ws://xxxxx@127.0.0.1:1"`},
		"mistyped pages":   {Options{URL: "nats://127.0.0.1:1", WebSocket: "viewer:hunter2@127.0.0.1:1"}, `found "the given address"`},
		"one of several":   {Options{URL: "nats://a:1,b"}, `found "b", expected`},
		"too many":         {Options{URL: strings.Repeat("nats://a:1,", 16) + "nats://a:1"}, "found 17 addresses, expected at most 16"},
		"half a pair":      {Options{URL: "tls://a:1", Cert: "client.pem"}, "give the certificate and its key"},
		"two identities":   {Options{URL: "tls://a:1", Credentials: "a.creds", NKey: "a.nk"}, "found both"},
		"files embedded":   {Options{URL: Embedded, CA: "ca.pem"}, "give the nats.url of another server"},
		"no authority":     {Options{URL: "tls://a:1", CA: "/no/such.pem"}, "nats.ca: stat /no/such.pem"},
		"context path":     {Options{URL: "context:../x"}, "a name listed by nats context ls"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := Connect(t.Context(), test.options)
			if err == nil {
				c.Close()
				t.Fatal("connected")
			}
			if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("found %q, expected it to say %q", err, test.want)
			}
		})
	}
}

func TestToken(t *testing.T) {
	server := connect(t, Options{URL: Embedded, Host: "0.0.0.0", Token: "secret"})
	_, port, err := net.SplitHostPort(strings.TrimPrefix(server.URL(), "nats://"))
	if err != nil {
		t.Fatal(err)
	}
	at := "nats://127.0.0.1:" + port
	connect(t, Options{URL: at, Token: "secret"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if c, err := Connect(ctx, Options{URL: at, Token: "wrong"}); err == nil {
		c.Close()
		t.Error("a wrong token was let in")
	} else if !strings.Contains(strings.ToLower(err.Error()), "authorization") {
		t.Errorf("found %v", err)
	}
}

// TestWebSocket: no browser can connect directly to the embedded server's port. It has to use the dashboard's port.
func TestWebSocket(t *testing.T) {
	if c := connect(t, Options{URL: Embedded}); c.WebSocket() != "" {
		t.Errorf("a WebSocket at %s that nobody asked for", c.WebSocket())
	}
	c := connect(t, Options{URL: Embedded, Pages: PagesLook})
	connect(t, Options{URL: c.URL()}) // programs need no name
	at := strings.Replace(c.WebSocket(), "ws://", "http://", 1)
	for origin, want := range map[string]int{"": http.StatusSwitchingProtocols, at: http.StatusForbidden, "http://evil.example": http.StatusForbidden} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Origin": origin} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		transport := &http.Transport{DisableKeepAlives: true}
		answer, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("origin %q: %s, expected %d", origin, answer.Status, want)
		}
	}
}

func TestNoServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := Connect(ctx, Options{URL: "nats://127.0.0.1:1"})
	if !errors.Is(err, ErrNoServer) || !strings.Contains(err.Error(), "nats://127.0.0.1:1") {
		t.Errorf("found %v", err)
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("took %v", d)
	}
}

// TestServerComesBack: publishing fails while the server is away, no old message arrives later, and the connection recovers.
func TestServerComesBack(t *testing.T) {
	first := connect(t, Options{URL: Embedded})
	var port int
	if _, err := fmt.Sscanf(first.URL(), "nats://127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	c := connect(t, Options{URL: first.URL()})
	first.Close()
	wait(t, "the loss to be seen", func() bool { return !c.NATS().IsConnected() })
	if err := c.NATS().Publish("driftscope.a", []byte("old")); err == nil {
		t.Error("a message was taken while the server is away")
	}
	second := connect(t, Options{URL: Embedded, Port: port})
	sub, err := second.NATS().SubscribeSync("driftscope.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := second.NATS().Flush(); err != nil {
		t.Fatal(err)
	}
	wait(t, "the connection to heal", func() bool { return c.NATS().Publish("driftscope.a", []byte("new")) == nil })
	m, err := sub.NextMsg(5 * time.Second)
	if err != nil || string(m.Data) != "new" {
		t.Errorf("found %v, %v", m, err)
	}
}

// wait polls until a condition holds that another goroutine establishes.
func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	suite.Until(t, ok, what)
}

func TestSubject(t *testing.T) {
	s, err := NewSubject("", "", "bead_2")
	if err != nil || s.Of("latent") != "driftscope.local.bead_2.latent" {
		t.Errorf("found %q, %v", s.Of("latent"), err)
	}
	if s, err = NewSubject("lab", "room-7", "a"); err != nil || s.Of("sde") != "lab.room-7.a.sde" {
		t.Errorf("found %q, %v", s.Of("sde"), err)
	}
	for bad, want := range map[string]string{
		"bulk-water.mov":        "bulk-water-mov is valid",
		"":                      `found ""`,
		">":                     `found ">"`,
		"*":                     "expected 1 to 64",
		"é a":                   "a is valid",
		"a\r\nPUB x 0\r\n":      "a--PUB-x-0 is valid",
		strings.Repeat("a", 65): strings.Repeat("a", 64) + " is valid",
	} {
		if _, err := NewSubject("", "", bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: found %v, expected %q", bad, err, want)
		}
	}
}
