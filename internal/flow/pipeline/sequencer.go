package pipeline

import "sync"

// sequencer admits frames one at a time, in the order of their tickets, which are numbered without gaps. Every ticket passes every
// sequencer, even for a lost frame.
type sequencer struct {
	mu   sync.Mutex
	turn sync.Cond
	next uint64 // the ticket that may enter, or has entered
}

// newSequencer makes a sequencer whose first ticket is first.
func newSequencer(first uint64) *sequencer {
	s := &sequencer{next: first}
	s.turn.L = &s.mu
	return s
}

// enter waits until every earlier ticket has left.
func (s *sequencer) enter(ticket uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.next != ticket {
		s.turn.Wait()
	}
}

// leave lets the next ticket in.
func (s *sequencer) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	s.turn.Broadcast()
}
