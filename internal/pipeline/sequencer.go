package pipeline

import "sync"

// sequencer lets frames pass one at a time, in the order of their tickets, which are numbered without gaps. Every ticket passes every
// sequencer, a refused frame's too.
type sequencer struct {
	mu   sync.Mutex
	turn sync.Cond
	next uint64 // the ticket that may enter, or has entered
}

// newSequencer makes a sequencer whose first ticket is first.
func newSequencer(first uint64) *sequencer {
	g := &sequencer{next: first}
	g.turn.L = &g.mu
	return g
}

// enter waits until every earlier ticket has left.
func (g *sequencer) enter(ticket uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.next != ticket {
		g.turn.Wait()
	}
}

// leave lets the next ticket in.
func (g *sequencer) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next++
	g.turn.Broadcast()
}
