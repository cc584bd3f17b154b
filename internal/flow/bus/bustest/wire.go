package bustest

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Wire is a way to a server that can be cut: what is sent into a cut wire is lost, and a connection that was on it stays dead when
// the wire is whole again, as behind a firewall that has forgotten it.
type Wire struct {
	listener net.Listener
	target   string
	cut      atomic.Bool
	cuts     atomic.Uint64
	flows    sync.WaitGroup

	mu   sync.Mutex
	ends []net.Conn
}

// NewWire leads from a free port of 127.0.0.1 to target, host:port, until the test ends.
func NewWire(t testing.TB, target string) *Wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &Wire{listener: l, target: target}
	w.flows.Go(w.accept)
	t.Cleanup(w.close)
	return w
}

// Address is where the wire begins, host:port.
func (w *Wire) Address() string { return w.listener.Addr().String() }

// Cut loses everything from now on.
func (w *Wire) Cut() { w.cuts.Add(1); w.cut.Store(true) }

// Mend lets new connections through.
func (w *Wire) Mend() { w.cut.Store(false) }

func (w *Wire) accept() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		if w.cut.Load() {
			near.Close()
			continue
		}
		far, err := net.Dial("tcp", w.target)
		if err != nil {
			near.Close()
			continue
		}
		w.mu.Lock()
		w.ends = append(w.ends, near, far)
		w.mu.Unlock()
		born := w.cuts.Load()
		w.flows.Go(func() { w.carry(far, near, born) })
		w.flows.Go(func() { w.carry(near, far, born) })
	}
}

// carry copies from one end to the other, and swallows what comes once the wire was cut.
func (w *Wire) carry(to, from net.Conn, born uint64) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		dead := w.cuts.Load() != born
		if n > 0 && !dead {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if !dead || err != io.EOF {
				to.Close()
			}
			return
		}
	}
}

func (w *Wire) close() {
	w.listener.Close()
	w.mu.Lock()
	for _, c := range w.ends {
		c.Close()
	}
	w.mu.Unlock()
	w.flows.Wait()
}
