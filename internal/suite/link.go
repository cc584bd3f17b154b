package suite

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// Way is the state of a link.
type Way int

// States of a link.
const (
	Whole  Way = iota
	Held       // nothing passes, but connections stay open, as with a switch without power: sent bytes arrive once the link works again
	Cut        // connections are closed, new ones refused
	Lost       // sent bytes are lost, and connections of that time stay dead afterwards, as behind a firewall that has forgotten them
	Slowed     // every byte is delayed by LinkLag
)

// LinkLag is the delay of a slowed link in each direction.
const LinkLag = 300 * time.Millisecond

// Link forwards its own ports to servers, one port per server. It may be used from any goroutine.
type Link struct {
	listeners []net.Listener
	work      sync.WaitGroup

	mu     sync.Mutex
	turns  *sync.Cond
	way    Way
	losses int // number of times that the link was lost
	ends   map[net.Conn]bool
	shut   bool
}

// NewLink returns a link that forwards to these addresses, host:port.
func NewLink(to ...string) (*Link, error) {
	l := &Link{ends: map[net.Conn]bool{}}
	l.turns = sync.NewCond(&l.mu)
	for _, address := range to {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			l.Close()
			return nil, err
		}
		l.listeners = append(l.listeners, listener)
		l.work.Go(func() { l.accept(listener, address) })
	}
	return l, nil
}

// Address returns the link's own address for the first server, host:port.
func (l *Link) Address() string { return l.listeners[0].Addr().String() }

// Addresses returns the link's own addresses.
func (l *Link) Addresses() (all []string) {
	for _, listener := range l.listeners {
		all = append(all, "nats://"+listener.Addr().String())
	}
	return all
}

// Turn sets the state of the link.
func (l *Link) Turn(way Way) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.way = way
	switch way {
	case Cut:
		l.part()
	case Lost:
		l.losses++
	}
	l.turns.Broadcast()
}

// part closes all connections. The caller holds the lock.
func (l *Link) part() {
	for c := range l.ends {
		c.Close()
	}
}

// Close closes the link and all its connections.
func (l *Link) Close() {
	for _, listener := range l.listeners {
		listener.Close()
	}
	l.mu.Lock()
	l.shut = true
	l.part()
	l.turns.Broadcast()
	l.mu.Unlock()
	l.work.Wait()
}

func (l *Link) accept(listener net.Listener, to string) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		l.work.Go(func() { l.join(near, to) })
	}
}

// keep registers c, so Close closes it. It returns false if the link refuses c.
func (l *Link) keep(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shut || l.way == Cut || l.way == Lost {
		c.Close()
		return false
	}
	l.ends[c] = true
	return true
}

// drop closes c.
func (l *Link) drop(c net.Conn) {
	c.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.ends, c)
}

// join forwards one connection.
func (l *Link) join(near net.Conn, to string) {
	if !l.keep(near) {
		return
	}
	defer l.drop(near)
	_, born := l.pass()
	far, err := net.DialTimeout("tcp", to, time.Second)
	if err != nil || !l.keep(far) {
		return
	}
	defer l.drop(far)
	var both sync.WaitGroup
	both.Go(func() { l.carry(far, near, born) })
	both.Go(func() { l.carry(near, far, born) })
	both.Wait()
}

// carry copies from one end to the other, and drops bytes once the link was lost.
func (l *Link) carry(to, from net.Conn, born int) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		way, losses := l.pass()
		if way == Slowed {
			time.Sleep(LinkLag)
		}
		dead := losses != born
		if n > 0 && !dead {
			if _, failed := to.Write(buffer[:n]); failed != nil {
				err = failed
			}
		}
		if err == nil {
			continue
		}
		if !dead || !errors.Is(err, io.EOF) {
			to.Close() // one direction alone is useless
			from.Close()
		}
		return
	}
}

// pass waits while the link is held. It returns the state of the link, and the number of times that it was lost.
func (l *Link) pass() (Way, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.way == Held && !l.shut {
		l.turns.Wait()
	}
	return l.way, l.losses
}
