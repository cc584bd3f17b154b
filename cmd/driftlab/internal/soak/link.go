package soak

import (
	"net"
	"sync"
	"time"
)

// The ways a link can be.
const (
	whole  = iota
	held   // what is sent waits, and nobody is told
	cut    // connections are closed, new ones refused
	slowed // everything comes later by lag
)

// lag is the delay of a slowed link, each direction.
const lag = 300 * time.Millisecond

// link leads from a port of its own to the server.
type link struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	turns *sync.Cond
	way   int
	ends  map[net.Conn]bool
	shut  bool
}

func newLink(target string) (*link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &link{listener: listener, target: target, ends: map[net.Conn]bool{}}
	l.turns = sync.NewCond(&l.mu)
	go l.accept()
	return l, nil
}

// address is where the link begins.
func (l *link) address() string { return l.listener.Addr().String() }

// turn makes the link another way.
func (l *link) turn(way int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.way = way
	if way == cut {
		for c := range l.ends {
			c.Close()
		}
	}
	l.turns.Broadcast()
}

func (l *link) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.mu.Lock()
		refused := l.way == cut
		l.mu.Unlock()
		if refused {
			near.Close()
			continue
		}
		go l.join(near)
	}
}

// join leads one connection on.
func (l *link) join(near net.Conn) {
	far, err := net.DialTimeout("tcp", l.target, time.Second)
	if err != nil {
		near.Close()
		return
	}
	l.mu.Lock()
	l.ends[near], l.ends[far] = true, true
	l.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { l.carry(far, near) })
	both.Go(func() { l.carry(near, far) })
	both.Wait()
	l.mu.Lock()
	delete(l.ends, near)
	delete(l.ends, far)
	l.mu.Unlock()
}

func (l *link) carry(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if l.pass() == slowed {
			time.Sleep(lag)
		}
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

// pass waits while the link is held, and says how it is then.
func (l *link) pass() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.way == held && !l.shut {
		l.turns.Wait()
	}
	return l.way
}

func (l *link) close() {
	l.listener.Close()
	l.mu.Lock()
	l.shut = true
	l.mu.Unlock()
	l.turn(cut)
}
