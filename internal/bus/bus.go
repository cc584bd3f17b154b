// Package bus is the NATS connection that sinks publish on and sources read from: to a server of the user's, or to one that runs
// inside this process. It also builds the subjects. What the messages hold is not its business.
//
// Live values are worth nothing late, so nothing is kept for a server that is away: publishing then fails at once, and the
// connection comes back by itself, however long it takes.
package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

const (
	// Embedded is the URL of the server inside this process.
	Embedded = "embedded"

	firstConnect = 5 * time.Second // for a server to answer at all, unless ctx ends earlier
	closing      = 2 * time.Second // for what was published to leave
)

// ErrNoServer is returned by Connect when nothing answers at the URL.
var ErrNoServer = errors.New("no NATS server answers")

// Options says where the bus is. Host and Port are for the embedded server.
type Options struct {
	URL         string       // Embedded or nats://host:port, also tls, ws, wss
	Host        string       // to listen on; 127.0.0.1
	Port        int          // to listen on; 0 takes a free one
	Token       string       // shared secret: asked by the embedded server, given to any other
	Credentials string       // path of a .creds file, for a server that is not embedded
	Name        string       // of this connection, as the server lists it; driftscope
	Prefix      string       // first token of every subject; DefaultPrefix
	Site        string       // second token of every subject; DefaultSite
	Pages       Pages        // the embedded server: what web pages may do; none connects by default
	WebSocket   string       // any other server: where pages connect, ws://host:port; empty where they cannot
	Log         *slog.Logger // lost and regained connections; nil is silent
}

// Conn is a connected bus. It may be used from any goroutine.
type Conn struct {
	nats         *nats.Conn
	server       *server.Server // nil unless embedded
	url          string         // without secrets
	webSocket    string         // where pages connect
	prefix, site string
	closed       chan struct{}
}

// Connect starts the embedded server, or finds the one at o.URL: ErrNoServer after 5 s, or when ctx ends.
func Connect(ctx context.Context, o Options) (*Conn, error) {
	if _, err := NewSubject(o.Prefix, o.Site, "stream"); err != nil {
		return nil, err
	}
	if o.Name == "" {
		o.Name = "driftscope"
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.WebSocket != "" {
		if err := checkWebSocket(o.WebSocket); err != nil {
			return nil, err
		}
	}
	c := &Conn{prefix: o.Prefix, site: o.Site, webSocket: o.WebSocket, closed: make(chan struct{})}
	at := o.URL
	if o.URL == Embedded {
		s, err := startServer(o)
		if err != nil {
			return nil, err
		}
		c.server, at = s, s.ClientURL()
		if c.webSocket = ""; o.Pages != NoPages {
			c.webSocket = s.WebsocketURL()
		}
	}
	parsed, err := parseURL(at)
	if err != nil {
		return nil, err
	}
	c.url = parsed.Redacted()
	if err := c.dial(ctx, at, o); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// parseURL accepts what nats.go can dial.
func parseURL(at string) (*url.URL, error) {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
		if u != nil {
			at = u.Redacted()
		}
		return nil, fmt.Errorf("nats: found %q, expected embedded, off or nats://host:port", at)
	}
	return u, nil
}

// Redacted is an address without its password, for errors and logs.
func Redacted(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return "the given address"
	}
	return u.Redacted()
}

// dial connects, trying again until firstConnect has passed.
func (c *Conn) dial(ctx context.Context, at string, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, firstConnect)
	defer cancel()
	connected := make(chan struct{})
	options := []nats.Option{
		nats.Name(o.Name),
		nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.MaxReconnects(-1),
		nats.ReconnectBufSize(-1), // never replay as live what has become old
		nats.DrainTimeout(closing),
		nats.ConnectHandler(func(*nats.Conn) { close(connected) }),
		nats.ClosedHandler(func(*nats.Conn) { close(c.closed) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // nil: it was closed on purpose
				o.Log.Warn("the NATS server is away; trying again until it answers", "url", c.url, "err", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { o.Log.Info("the NATS server is back", "url", c.url) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { o.Log.Warn("NATS", "url", c.url, "err", err) }),
	}
	if o.Token != "" {
		options = append(options, nats.Token(o.Token))
	}
	if o.Credentials != "" {
		options = append(options, nats.UserCredentials(o.Credentials))
	}
	var err error
	if c.nats, err = nats.Connect(at, options...); err != nil {
		return fmt.Errorf("%s: %w: check the address and the credentials", c.url, err)
	}
	select {
	case <-connected:
		return nil
	case <-ctx.Done():
		if refused := c.nats.LastError(); refused != nil {
			return fmt.Errorf("%s: %w: check the credentials", c.url, refused)
		}
		return fmt.Errorf("%s: %w: start one there, or give --nats embedded", c.url, ErrNoServer)
	}
}

// URL is where others connect, without secrets.
func (c *Conn) URL() string { return c.url }

// NATS lends the connection, for publishing and subscribing. Close alone closes it.
func (c *Conn) NATS() *nats.Conn { return c.nats }

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
