package pipeline

import "sync"

// sequencer admits one frame at a time, in the order of the tickets, which are consecutive numbers. Every ticket passes every sequencer, even if its frame is
// lost.
type sequencer struct {
	mu   sync.Mutex
	turn sync.Cond
	next uint64 // the ticket that may enter next, or that has entered
}

// newSequencer returns a sequencer that admits the ticket first before all others.
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

// leave admits the next ticket.
func (s *sequencer) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	s.turn.Broadcast()
}
