package bus

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

const (
	starting   = 5 * time.Second // time limit for the embedded server to open its port, which usually takes milliseconds
	maxPayload = 8 << 20         // bytes of a message: enough for pictures of a large preview

	// Limits on the cost of clients of the embedded server. The server disconnects a client that accepts nothing for stalledAfter, or for which more than
	// maxPending bytes wait. While the server reads a message, it tries to write to every client. So stalledAfter must be shorter than the patience of a
	// connection (blocking): otherwise one stalled subscriber could make the program lose its own connection.
	maxConnections   = 128
	maxSubscriptions = 10_000                 // subscriptions of a connection
	maxPending       = 96 << 20               // bytes that wait for a connection: the largest frame and half of the next, as in the reader of frames
	stalledAfter     = 150 * time.Millisecond // time for the socket to accept anything
	mostMemory       = 64 << 20               // bytes of JetStream streams in memory; the program uses none
	mostStore        = 16 << 30               // bytes of JetStream on disk, unless Options set it
)

// startServer runs a server in this process and waits until it accepts connections.
func startServer(o Options, d *doors) (*server.Server, error) {
	if o.Host == "" {
		o.Host = "127.0.0.1"
	}
	if o.Port < 0 || o.Port > 65535 {
		return nil, fmt.Errorf("nats port: found %d, expected 0 (any free port) to 65535", o.Port)
	}
	if o.Token == "" && !Loopback(o.Host) {
		return nil, fmt.Errorf("nats host: found %q, which other machines can reach: give a token too, or use 127.0.0.1", o.Host)
	}
	port := o.Port
	if port == 0 {
		port = server.RANDOM_PORT
	}
	options := &server.Options{
		Host: o.Host, Port: port, CustomClientAuthentication: d, NoSigs: true, NoLog: true, MaxPayload: maxPayload,
		MaxConn: maxConnections, MaxSubs: maxSubscriptions, MaxPending: maxPending, WriteDeadline: stalledAfter, WriteTimeout: server.WriteTimeoutPolicyRetry,
		JetStream: o.Store != "", StoreDir: o.Store, JetStreamMaxMemory: mostMemory, JetStreamMaxStore: cmp.Or(o.StoreMost, mostStore),
	}
	if o.Pages != NoPages {
		openWebSocket(options)
	}
	if o.MQTT != "" {
		if err := openMQTT(options, o); err != nil {
			return nil, err
		}
	}
	s, err := server.NewServer(options)
	if err != nil {
		return nil, fmt.Errorf("the embedded NATS server: %w", err)
	}
	d.server = s
	if err := begun(s, func(text string) error { return refused(o, text) }); err != nil {
		stopServer(s)
		return nil, err
	}
	return s, nil
}

// begun starts s and waits until it accepts connections. refused converts the first fatal line of the server's log to an error.
func begun(s *server.Server, refused func(text string) error) error {
	fault := make(faults, 1)
	s.SetLogger(fault, false, false)
	s.Start()
	for end := time.Now().Add(starting); time.Now().Before(end); {
		if s.ReadyForConnections(50 * time.Millisecond) {
			return nil
		}
		select {
		case text := <-fault:
			return refused(text)
		default:
		}
	}
	return fmt.Errorf("the embedded NATS server did not start within %v: give --nats off, or --nats nats://host:port", starting)
}

// stopServer sends the waiting messages to the subscribers of s and stops s.
func stopServer(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

// refused explains why the server could not open its port.
func refused(o Options, text string) error {
	if err := refusedMQTT(o, text); err != nil {
		return err
	}
	at := net.JoinHostPort(o.Host, fmt.Sprint(o.Port))
	if strings.Contains(text, ErrPortTaken.Error()) {
		return fmt.Errorf("port %d is in use (%s): give --nats-port N (0 takes a free port), or --nats nats://%s to use the server on that port", o.Port, at, at)
	}
	return errors.New("the embedded NATS server: " + text + ": give another --nats-port, or --nats off")
}

// Loopback reports whether host, a name or an address, is reachable only from this machine.
func Loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// faults is a server.Logger that keeps the first fatal line and is silent otherwise.
type faults chan string

// Fatalf keeps the line. Unlike other loggers it does not end the process.
func (f faults) Fatalf(format string, v ...any) {
	select {
	case f <- fmt.Sprintf(format, v...):
	default:
	}
}

func (faults) Noticef(string, ...any) {}
func (faults) Warnf(string, ...any)   {}
func (faults) Errorf(string, ...any)  {}
func (faults) Debugf(string, ...any)  {}
func (faults) Tracef(string, ...any)  {}
