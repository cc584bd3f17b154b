package bus

import "github.com/nats-io/nats.go"

// mostTries is the number of consecutive failed attempts before a move to another server. It doubles with each move, at most three times: while a cluster
// elects a leader, no server of the cluster works.
const mostTries = 3

// Stay counts failed attempts at a server of a cluster, and after too many moves the connection to another server. It is needed because a server without
// contact to the others accepts clients but stores nothing. The zero value is ready to use. Not safe for concurrent use.
type Stay struct {
	tries int    // consecutive failures
	moves uint64 // reconnects of the connection at the first of these failures
	hops  int    // moves to other servers since the last success
}

// Worked records a successful attempt.
func (s *Stay) Worked() { s.tries, s.hops = 0, 0 }

// Failed records a failed attempt. Other users of the connection may have moved it to another server; then the count starts again.
func (s *Stay) Failed(nc *nats.Conn) {
	if moves := nc.Stats().Reconnects; moves != s.moves {
		s.tries, s.moves = 0, moves
	}
	if s.tries++; s.tries >= mostTries<<min(s.hops, 3) && nc.IsConnected() && len(nc.Servers()) > 1 {
		s.tries, s.hops = 0, s.hops+1
		_ = nc.ForceReconnect() // its error reports a closed connection
	}
}
