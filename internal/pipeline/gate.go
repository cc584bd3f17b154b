package pipeline

import "sync"

// gate lets frames pass one at a time, in the order of their tickets, which are numbered without gaps. Every ticket passes every
// gate, a refused frame's too.
type gate struct {
	mu   sync.Mutex
	turn sync.Cond
	next uint64 // the ticket that may enter, or has entered
}

// newGate makes a gate whose first ticket is first.
func newGate(first uint64) *gate {
	g := &gate{next: first}
	g.turn.L = &g.mu
	return g
}

// enter waits until every earlier ticket has left.
func (g *gate) enter(ticket uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.next != ticket {
		g.turn.Wait()
	}
}

// leave lets the next ticket in.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next++
	g.turn.Broadcast()
}
