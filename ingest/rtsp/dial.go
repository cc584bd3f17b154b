package rtsp

import (
	"context"
	"net"
	"sync"
)

// dialed records a client's connections. Close closes them if Open is abandoned, because the library waits for TLS without limit.
type dialed struct {
	mu    sync.Mutex
	all   []net.Conn
	ended bool
}

func (d *dialed) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		conn.Close()
	}
	d.all = append(d.all, conn)
	return conn, nil
}

func (d *dialed) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	for _, c := range d.all {
		c.Close()
	}
}
