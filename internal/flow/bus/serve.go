package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

// Site configures the standalone server of a site with workers.
type Site struct {
	Listen    string // host:port for clients
	WebSocket string // host:port for dashboards; empty for none
	Store     string // folder of JetStream
	StoreMost int64  // limit on its bytes; 0 for 16 GiB
	Accounts  string // the section accounts of a server's configuration; empty: every client has all rights
	Cert, Key string // paths of the server's certificate and its key; empty: not encrypted
}

// siteConnections is the largest number of connections to a site's server: workers, microscopes and pages.
const siteConnections = 4096

// options returns the server's options.
func (o *Site) options() (*server.Options, error) {
	host, port, err := address("--listen", o.Listen)
	if err != nil {
		return nil, err
	}
	options := &server.Options{}
	text := ""
	if o.Cert != "" || o.Key != "" {
		text = fmt.Sprintf("tls { cert_file: %q, key_file: %q }\n", o.Cert, o.Key)
	}
	if o.WebSocket != "" {
		if _, _, err := address("--websocket", o.WebSocket); err != nil {
			return nil, err
		}
		if o.Accounts == "" { // any page in a browser on this machine could connect
			return nil, errors.New("--websocket: without users, a page of any web site could use the server: give --users too")
		}
		text += fmt.Sprintf("websocket { listen: %q, %s }\n", o.WebSocket, cmp.Or(strings.TrimSpace(text), "no_tls: true"))
	}
	if o.Accounts == "" && !Loopback(host) {
		return nil, fmt.Errorf("--listen: found %q, which other machines can reach: give --users too, or use 127.0.0.1", host)
	}
	if o.Accounts != "" {
		text += "accounts {\n" + o.Accounts + "\n}\n"
	}
	if err := options.ProcessConfigString(text); text != "" && err != nil { // an empty text is an error
		return nil, fmt.Errorf("the NATS server's configuration: %w", err)
	}
	options.Host, options.Port, options.ServerName = host, port, "driftscope"
	options.NoSigs, options.NoLog, options.MaxPayload, options.MaxPending = true, true, maxPayload, maxPending
	options.MaxConn, options.MaxSubs = siteConnections, maxSubscriptions
	options.JetStream, options.StoreDir = true, o.Store
	options.JetStreamMaxMemory, options.JetStreamMaxStore = mostMemory, cmp.Or(o.StoreMost, mostStore)
	return options, nil
}

// address parses host:port.
func address(flag, at string) (host string, port int, err error) {
	host, digits, err := net.SplitHostPort(at)
	if err == nil {
		port, err = strconv.Atoi(digits)
	}
	if err != nil || host == "" || port < 1 || port > 65535 {
		return "", 0, fmt.Errorf("%s: found %q, expected HOST:PORT, such as 127.0.0.1:4222", flag, at)
	}
	return host, port, nil
}

// Serve runs the server until ctx ends. It calls ready once the server accepts connections. The error for wrong options is ErrOptions.
func Serve(ctx context.Context, o Site, ready func()) error {
	options, err := o.options()
	if err != nil {
		return wrongOptions{err}
	}
	if err := os.MkdirAll(filepath.Join(o.Store, server.JetStreamStoreDir), 0o700); err != nil {
		return wrongOptions{fmt.Errorf("--store: %w: give a folder that can be written", err)}
	}
	s, err := server.NewServer(options)
	if err != nil {
		return fmt.Errorf("the NATS server: %w", err)
	}
	defer stopServer(s)
	if err := begun(s, func(text string) error {
		if strings.Contains(text, ErrPortTaken.Error()) {
			return fmt.Errorf("%s is in use: give another --listen or --websocket, or stop the program that uses the port", o.Listen)
		}
		return errors.New("the NATS server: " + text)
	}); err != nil {
		return err
	}
	ready()
	<-ctx.Done()
	return nil
}
