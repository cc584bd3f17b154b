package cluster

import (
	"net"
	"sync"
)

// way is how one worker reaches the servers: a listener a server. While it is cut nothing passes in either direction, and connections stay as they are, as
// where a switch has lost its power. What was on its way comes once it is mended.
type way struct {
	listeners []net.Listener
	work      sync.WaitGroup

	mu    sync.Mutex
	whole chan struct{} // closed while the way is whole
	is    bool
	ended bool
	conns map[net.Conn]bool
}

// newWay makes one to those addresses.
func newWay(to []string) (*way, error) {
	w := &way{whole: make(chan struct{}), is: true, conns: map[net.Conn]bool{}}
	close(w.whole)
	for _, address := range to {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			w.close()
			return nil, err
		}
		w.listeners = append(w.listeners, l)
		w.work.Go(func() { w.accept(l, address) })
	}
	return w, nil
}

// cut cuts it, or mends it.
func (w *way) cut(off bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case off && w.is:
		w.whole = make(chan struct{})
	case !off && !w.is:
		close(w.whole)
	}
	w.is = !off
}

// passable waits until it is whole.
func (w *way) passable() {
	w.mu.Lock()
	whole := w.whole
	w.mu.Unlock()
	<-whole
}

// accept takes connections until close.
func (w *way) accept(l net.Listener, to string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		w.work.Go(func() { w.carry(c, to) })
	}
}

// keep has c closed with the way; false where that has ended.
func (w *way) keep(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		c.Close()
		return false
	}
	w.conns[c] = true
	return true
}

// drop closes c.
func (w *way) drop(c net.Conn) {
	c.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, c)
}

// carry joins a connection with one to a server.
func (w *way) carry(c net.Conn, to string) {
	if !w.keep(c) {
		return
	}
	defer w.drop(c)
	w.passable()
	s, err := net.Dial("tcp", to)
	if err != nil || !w.keep(s) {
		return
	}
	defer w.drop(s)
	var both sync.WaitGroup
	for _, pair := range [][2]net.Conn{{c, s}, {s, c}} {
		both.Go(func() {
			w.copy(pair[1], pair[0])
			c.Close() // one half alone is of no use
			s.Close()
		})
	}
	both.Wait()
}

// copy passes on what comes while the way is whole.
func (w *way) copy(to, from net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		w.passable()
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// addresses is where the worker finds the servers.
func (w *way) addresses() (all []string) {
	for _, l := range w.listeners {
		all = append(all, "nats://"+l.Addr().String())
	}
	return all
}

// close ends it.
func (w *way) close() {
	w.cut(false)
	w.mu.Lock()
	w.ended = true
	for c := range w.conns {
		c.Close()
	}
	w.mu.Unlock()
	for _, l := range w.listeners {
		l.Close()
	}
	w.work.Wait()
}
