// Package bus is the NATS connection of sinks and sources, to the user's server or to a server inside this process. It also builds
// the subjects. It does not interpret messages.
//
// Live values become obsolete, so the bus keeps nothing for an unreachable server. Publishing then fails at once, and the connection recovers by itself after
// any time. The bus gives up a silent server within MaxAge, and drops all messages that it has not delivered to it.
package bus

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"driftscope/internal/kit/console"
)

const (
	// Embedded is the URL of the server inside this process.
	Embedded = "embedded"

	// MaxAge is the largest age of an outgoing message. After that time the bus gives up the connection and drops its messages.
	MaxAge = pingEvery * (pingsMissed + 1)

	pingEvery    = time.Second
	pingsMissed  = 2
	firstConnect = 5 * time.Second // time for the first answer of a server, unless ctx ends earlier
	closing      = 2 * time.Second // time for delivering published messages
	blocking     = time.Second / 4 // time for the socket to accept more data, unless Options set it

	privateInbox = "_INBOX_" // prefix of the inboxes of this program's connection to its own server
)

var (
	// ErrNoServer reports that no server answers at the URL.
	ErrNoServer = errors.New("no NATS server answers")
	// ErrOptions reports wrong options, independent of any server.
	ErrOptions = errors.New("wrong NATS options")
)

// wrongOptions is an ErrOptions with a reason.
type wrongOptions struct{ error }

func (e wrongOptions) Unwrap() error   { return e.error }
func (wrongOptions) Is(err error) bool { return err == ErrOptions || err == console.ErrUsage }

// Options describes the bus. Host and Port configure the embedded server; any other server has its own configuration.
type Options struct {
	// URL is Embedded, one or several addresses nats://host:port of a cluster (also tls, ws, wss), separated by commas, or context:NAME, a context of the tool
	// nats. An empty NAME is the selected context.
	URL         string
	Host        string       // address to listen on; 127.0.0.1
	Port        int          // port to listen on; 0 takes a free port
	Token       string       // shared secret: required by the embedded server, sent to any other
	Credentials string       // path of a .creds file
	NKey        string       // path of a user's seed
	CA          string       // path of the certificates that verify the server; empty for the system's
	Cert, Key   string       // paths of this program's own certificate and its key
	Store       string       // folder of the embedded server's JetStream; empty for none
	StoreMost   int64        // limit on the bytes of all streams and buckets together; 0 for 16 GiB
	Name        string       // name of this connection in the server's list; driftscope
	Prefix      string       // first token of every subject; DefaultPrefix
	Site        string       // second token of every subject; DefaultSite
	Pages       Pages        // rights of web pages on the embedded server; by default no page may connect
	MQTT        string       // host:port of the embedded server's MQTT listener; empty for none. It needs Store, and Token if other machines can reach it
	WebSocket   string       // address at which pages reach another server, ws://host:port; empty if they cannot
	Log         *slog.Logger // lost and regained connections; nil is silent

	// Patience is the time without accepted data after which the server counts as away. The default is a quarter of a second, because live data do not wait. A
	// sender of megabytes needs more.
	Patience time.Duration

	user, password, inbox string // from a context of the tool nats
	tlsFirst              bool
}

// Conn is a connected bus. It may be used from any goroutine.
type Conn struct {
	nats         *nats.Conn
	server       *server.Server // nil unless embedded
	url          string         // without secrets
	webSocket    string         // address for pages
	prefix, site string
	closed       chan struct{}
	up           atomic.Bool
	why          atomic.Pointer[error] // last error of the connection
}

// Connect starts the embedded server or connects to the server at o.URL. It returns ErrNoServer after 5 s without an answer, or when ctx ends.
func Connect(ctx context.Context, o Options) (*Conn, error) {
	access, err := o.check()
	if err != nil {
		return nil, wrongOptions{err}
	}
	if o.Name == "" {
		o.Name = "driftscope"
	}
	if o.Patience == 0 {
		o.Patience = blocking
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Conn{prefix: o.Prefix, site: o.Site, webSocket: o.WebSocket, closed: make(chan struct{})}
	at := o.URL
	if o.URL == Embedded {
		d := newDoors(o)
		s, err := startServer(o, d)
		if err != nil {
			return nil, err
		}
		c.server, at = s, s.ClientURL()
		access = append(access, nats.UserInfo(program, d.secret))
		if c.webSocket = ""; o.Pages != NoPages {
			c.webSocket = s.WebsocketURL()
		}
	}
	c.url = Redacted(at)
	if err := c.dial(ctx, at, o, access); err != nil {
		return nil, console.About(console.ServersPage, errors.Join(err, c.Close()))
	}
	return c, nil
}

// check applies the context that the URL names, refuses invalid options before dialling, and returns the credentials.
func (o *Options) check() ([]nats.Option, error) {
	if _, err := NewSubject(o.Prefix, o.Site, "stream"); err != nil {
		return nil, err
	}
	if err := o.fromContext(); err != nil {
		return nil, err
	}
	if o.URL != Embedded {
		if err := checkURL(o.URL); err != nil {
			return nil, err
		}
	}
	if o.MQTT != "" && o.URL != Embedded {
		return nil, fmt.Errorf("nats.mqtt: found %q, but only the embedded server uses it: leave it out, and configure MQTT in your own server", o.MQTT)
	}
	if o.WebSocket != "" {
		if err := checkWebSocket(o.WebSocket); err != nil {
			return nil, err
		}
	}
	return o.access()
}

// dial connects, and retries until firstConnect has passed.
func (c *Conn) dial(ctx context.Context, at string, o Options, access []nats.Option) error {
	ctx, cancel := context.WithTimeout(ctx, firstConnect)
	defer cancel()
	connected := make(chan struct{})
	said := &told{log: o.Log, url: c.url}
	options := append(access,
		nats.Name(o.Name),
		nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(250*time.Millisecond),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(), // expired credentials may be renewed
		nats.ReconnectBufSize(-1),   // never publish old messages as live
		nats.SetCustomDialer(dialer{}),
		nats.PingInterval(pingEvery),
		nats.MaxPingsOutstanding(pingsMissed),
		nats.FlusherTimeout(o.Patience),
		nats.ReconnectOnFlusherError(),
		nats.DrainTimeout(closing),
		nats.ConnectHandler(func(*nats.Conn) { c.up.Store(true); close(connected) }),
		nats.ClosedHandler(func(*nats.Conn) { close(c.closed) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			c.up.Store(false)
			c.why.Store(&err)
			if err != nil { // nil after a deliberate Close
				said.warn("the NATS server is away; retrying until it answers", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { c.up.Store(true); said.back() }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			c.why.Store(&err)
			said.warn("NATS", err)
		}),
	)
	if c.server != nil { // sockets would take a tenth of a small frame's time; the private prefix hides replies from pages
		options = append(options, nats.InProcessServer(c.server), nats.CustomInboxPrefix(privateInbox+rand.Text()))
	}
	var err error
	if c.nats, err = nats.Connect(at, options...); err != nil {
		return fmt.Errorf("%s: %w: check the address and the credentials", c.url, err)
	}
	select {
	case <-connected:
		return nil
	case <-ctx.Done():
		if refused := c.nats.LastError(); refused != nil && !errors.Is(refused, nats.ErrNoServers) {
			return fmt.Errorf("%s: %w: check the credentials and certificates", c.url, refused)
		}
		return fmt.Errorf("%s: %w: start one there, or give --nats embedded", c.url, ErrNoServer)
	}
}

// dialer makes connections that drop undelivered data when closed for good.
type dialer struct{}

// Dial connects within firstConnect.
func (dialer) Dial(network, address string) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, firstConnect)
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0) // Close has confirmed all messages that must arrive
	}
	return c, err
}

// URL returns the address for other clients, without secrets.
func (c *Conn) URL() string { return c.url }

// NATS lends the connection, for publishing and subscribing. Only Close closes it.
func (c *Conn) NATS() *nats.Conn { return c.nats }

// Connected reports whether the server is reachable. It never blocks, unlike methods of NATS while nats.go tries to reach a silent server.
func (c *Conn) Connected() bool { return c.up.Load() }

// Away returns the reason why the server is unreachable, such as expired credentials, or nil if it is reachable. It never blocks.
func (c *Conn) Away() error {
	if c.up.Load() {
		return nil
	}
	if why := c.why.Load(); why != nil && *why != nil {
		return fmt.Errorf("the NATS server is away (%w)", *why)
	}
	return errors.New("the NATS server is away")
}

// Subject builds the subjects of one stream on this bus.
func (c *Conn) Subject(stream string) (Subject, error) { return NewSubject(c.prefix, c.site, stream) }

// Close delivers the published messages, closes the connection and stops the embedded server. c may be nil.
func (c *Conn) Close() error {
	if c == nil {
		return nil
	}
	var err error
	if c.nats != nil {
		err = c.drain()
	}
	if c.server != nil {
		stopServer(c.server)
	}
	return err
}

// drain ends the connection after delivering everything.
func (c *Conn) drain() error {
	switch err := c.nats.Drain(); {
	case errors.Is(err, nats.ErrConnectionReconnecting), errors.Is(err, nats.ErrConnectionClosed):
		return nil // everything is delivered
	case err != nil:
		c.nats.Close()
		return fmt.Errorf("%s: not closed cleanly: %w", c.url, err)
	}
	select {
	case <-c.closed:
		return nil
	case <-time.After(closing):
		c.nats.Close()
		return fmt.Errorf("%s: the server did not accept the last messages within %v: check the server", c.url, closing)
	}
}
