// Package bus is the NATS connection that sinks publish on and sources read from: to a server of the user's, or to one that runs
// inside this process. It also builds the subjects. What the messages hold is not its business.
//
// Live values are worth nothing late, so nothing is kept for a server that is away: publishing then fails at once, and the
// connection comes back by itself, however long it takes. A server that is silent is given up within MaxAge, with all that was on
// its way to it.
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

	// MaxAge is the greatest age of an outgoing message. Beyond it the connection is given up and its messages are dropped.
	MaxAge = pingEvery * (pingsMissed + 1)

	pingEvery    = time.Second
	pingsMissed  = 2
	firstConnect = 5 * time.Second // for a server to answer at all, unless ctx ends earlier
	closing      = 2 * time.Second // for what was published to leave
	blocking     = time.Second / 4 // for the socket to take more, unless Options say otherwise

	privateInbox = "_INBOX_" // begins the inboxes of this program's connection to its own server
)

var (
	// ErrNoServer is returned by Connect when nothing answers at the URL.
	ErrNoServer = errors.New("no NATS server answers")
	// ErrOptions is the error of Connect for wrong options, independent of any server.
	ErrOptions = errors.New("wrong NATS options")
)

// wrongOptions is an ErrOptions with a reason.
type wrongOptions struct{ error }

func (e wrongOptions) Unwrap() error   { return e.error }
func (wrongOptions) Is(err error) bool { return err == ErrOptions || err == console.ErrUsage }

// Options is the address of the bus. Host and Port are for the embedded server, files for any other.
type Options struct {
	// URL is Embedded; or nats://host:port, also tls, ws, wss, several of one cluster with commas between; or context:NAME, what the tool
	// nats calls a context, the selected one where NAME is empty.
	URL         string
	Host        string       // to listen on; 127.0.0.1
	Port        int          // to listen on; 0 takes a free one
	Token       string       // shared secret: asked by the embedded server, given to any other
	Credentials string       // path of a .creds file
	NKey        string       // path of a user's seed
	CA          string       // path of the certificates that the server's is checked against; the system's where empty
	Cert, Key   string       // paths of this program's own certificate and its key
	Store       string       // folder in which the embedded server keeps JetStream; none where empty
	StoreMost   int64        // bytes that it may keep there, all streams and buckets together; 16 GiB where 0
	Name        string       // of this connection, as the server lists it; driftscope
	Prefix      string       // first token of every subject; DefaultPrefix
	Site        string       // second token of every subject; DefaultSite
	Pages       Pages        // the embedded server: what web pages may do; none connects by default
	MQTT        string       // where the embedded server takes MQTT clients, host:port; nowhere where empty. Needs Store, and beyond this machine Token
	WebSocket   string       // any other server: where pages connect, ws://host:port; empty if they cannot
	Log         *slog.Logger // lost and regained connections; nil is silent

	// Patience is how long the network may take nothing more before the server counts as away; a quarter of a second, because
	// what is live does not wait. Who sends megabytes at once gives more.
	Patience time.Duration

	user, password, inbox string // of a context
	tlsFirst              bool
}

// Conn is a connected bus. It may be used from any goroutine.
type Conn struct {
	nats         *nats.Conn
	server       *server.Server // nil unless embedded
	url          string         // without secrets
	webSocket    string         // where pages connect
	prefix, site string
	closed       chan struct{}
	up           atomic.Bool
	why          atomic.Pointer[error] // what hindered the connection last
}

// Connect starts the embedded server, or finds the one at o.URL: ErrNoServer after 5 s, or when ctx ends.
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

// check takes in the context that the URL names, refuses what is wrong before anything is dialled, and gives what lets the connection in.
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
		return nil, fmt.Errorf("nats.mqtt: found %q beside a server that is not embedded, which opens its own: leave it out", o.MQTT)
	}
	if o.WebSocket != "" {
		if err := checkWebSocket(o.WebSocket); err != nil {
			return nil, err
		}
	}
	return o.access()
}

// dial connects, trying again until firstConnect has passed.
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
		nats.IgnoreAuthErrorAbort(), // credentials that have expired are renewed one day
		nats.ReconnectBufSize(-1),   // never replay as live what has become old
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
			if err != nil { // nil: it was closed on purpose
				said.warn("the NATS server is away; trying again until it answers", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { c.up.Store(true); said.back() }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			c.why.Store(&err)
			said.warn("NATS", err)
		}),
	)
	if c.server != nil { // without the system's sockets, which take a tenth of a small frame's time; its inbox is one that no page may hear
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

// dialer makes connections that drop undelivered data when they are given up.
type dialer struct{}

// Dial connects within firstConnect.
func (dialer) Dial(network, address string) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, firstConnect)
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0) // what has to arrive was confirmed before Close
	}
	return c, err
}

// URL returns the address for other clients, without secrets.
func (c *Conn) URL() string { return c.url }

// NATS lends the connection, for publishing and subscribing. Close alone closes it.
func (c *Conn) NATS() *nats.Conn { return c.nats }

// Connected reports whether the server is reachable. It never waits, unlike methods of NATS during a try of a silent server.
func (c *Conn) Connected() bool { return c.up.Load() }

// Away returns an error that says why the server is not there, such as credentials that have expired, or nil if the server is there. Away never waits.
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

// Close delivers what was published, ends the connection, and then the embedded server. It may be called on nil.
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

// drain ends the connection once the server has everything.
func (c *Conn) drain() error {
	switch err := c.nats.Drain(); {
	case errors.Is(err, nats.ErrConnectionReconnecting), errors.Is(err, nats.ErrConnectionClosed):
		return nil // nothing is on its way
	case err != nil:
		c.nats.Close()
		return fmt.Errorf("%s: not closed cleanly: %w", c.url, err)
	}
	select {
	case <-c.closed:
		return nil
	case <-time.After(closing):
		c.nats.Close()
		return fmt.Errorf("%s: the last messages were not taken within %v: check the server", c.url, closing)
	}
}
