package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"driftscope/internal/flow/bus"
)

// closing is the time limit for open requests once the server ends.
const closing = time.Second

// Options holds the address and the content of the dashboard.
type Options struct {
	Address string // host:port to listen on; port 0 takes a free one
	Token   string // required from everyone; mandatory if Address is reachable from other machines
	Move    bool   // if the port is taken, use a free one instead of failing

	WebSocket    string // of the NATS server; empty if it has none, and the page says so
	Prefix, Site string // the first tokens of the subjects
	Commands     bool   // the page shows commands; the bus decides whether it takes them
	Connected    func() bool

	Metrics, Ready http.Handler // answer GET /metrics and /readyz
}

// Server is a running dashboard.
type Server struct {
	url     string
	http    *http.Server
	leave   context.CancelFunc // ends the WebSockets
	idle    func()             // closes the bridge's idle connections
	inside  sync.WaitGroup     // requests
	serving sync.WaitGroup
}

// Start listens and serves until Close. It reports every mistake of the user.
func Start(o Options) (*Server, error) {
	listener, err := listen(o)
	if err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(listener.Addr().String())
	if asked, _, _ := net.SplitHostPort(o.Address); asked != "" {
		host = asked
	}
	s := &Server{url: "http://" + net.JoinHostPort(named(host), port) + "/"}
	handler, err := s.handler(o, host, port)
	if err != nil {
		listener.Close()
		return nil, err
	}
	ctx, leave := context.WithCancel(context.Background())
	s.leave = leave
	s.http = &http.Server{
		Handler: handler, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, // WebSockets have no limits
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    log.New(io.Discard, "", 0), // invalid requests are answered, not logged
	}
	s.serving.Go(func() { s.http.Serve(listener) })
	return s, nil
}

// named returns the name of host for other machines: this machine's name if host is every address.
func named(host string) string {
	if name, err := os.Hostname(); err == nil && net.ParseIP(host).IsUnspecified() {
		return name
	}
	return host
}

// Check reports whether a server may listen at an address, without opening it.
func Check(address, token string) error {
	host, port, err := split(address)
	if err != nil {
		return err
	}
	_, err = newDoor(host, port, token)
	return err
}

func split(address string) (host, port string, err error) {
	if host, port, err = net.SplitHostPort(address); err != nil {
		err = fmt.Errorf("dashboard.address: found %.80q, expected host:port, such as 127.0.0.1:8300, or off", address)
	}
	return host, port, err
}

// listen opens the port, or another one.
func listen(o Options) (net.Listener, error) {
	host, _, err := split(o.Address)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", o.Address)
	if err == nil {
		return listener, nil
	}
	if !errors.Is(err, bus.ErrPortTaken) {
		return nil, fmt.Errorf("dashboard.address: %s cannot be opened (%w): give an address of this machine, or --dashboard off", o.Address, err)
	}
	if !o.Move {
		return nil, fmt.Errorf("dashboard.address: %s is busy: give --dashboard %s (any free port), or --dashboard off", o.Address, net.JoinHostPort(host, "0"))
	}
	return net.Listen("tcp", net.JoinHostPort(host, "0"))
}

// handler returns the handler of every path.
func (s *Server) handler(o Options, host, port string) (http.Handler, error) {
	files, err := loadPage()
	if err != nil {
		return nil, err
	}
	d, err := newDoor(host, port, o.Token)
	if err != nil {
		return nil, err
	}
	bridge, idle, err := newBridge(o.WebSocket)
	if err != nil {
		return nil, err
	}
	s.idle = idle
	mux := http.NewServeMux()
	mux.Handle("/", files)
	mux.HandleFunc("POST /login", d.login)
	mux.Handle("GET /nats", d.known(bridge))
	mux.Handle("GET /config.json", d.known(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		sendJSON(w, http.StatusOK, map[string]any{
			"prefix": o.Prefix, "site": o.Site, "commands": o.Commands, "websocket": o.WebSocket != "", "build": files.build,
		})
	})))
	mux.Handle("GET /metrics", d.known(o.Metrics))
	mux.Handle("GET /readyz", d.known(o.Ready))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		status, connected := http.StatusOK, o.Connected()
		if !connected {
			status = http.StatusServiceUnavailable
		}
		sendJSON(w, status, map[string]any{"nats_connected": connected, "refused": d.refused.Load()})
	})
	guarded := shelter(d.guard(mux))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.inside.Add(1)
		defer s.inside.Done()
		guarded.ServeHTTP(w, r)
	}), nil
}

// URL returns the address of the dashboard, without the token.
func (s *Server) URL() string { return s.url }

// Close ends the connections of all pages, and the server. s may be nil.
func (s *Server) Close() {
	if s == nil {
		return
	}
	s.leave()
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		s.http.Close()
	}
	s.serving.Wait()
	s.inside.Wait()
	s.idle()
}
