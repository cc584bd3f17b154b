package bus

import "github.com/nats-io/nats.go"

// mostTries is the number of consecutive failed tries before a move to another server. It doubles with each move, three times at most, because
// a cluster that elects a leader is no better at another of its servers.
const mostTries = 3

// Stay counts failed tries at a server of a cluster, and moves the connection to another server after too many. A server without contact to the others
// accepts clients but stores nothing. The zero value is ready. Not safe for concurrent use.
type Stay struct {
	tries int    // consecutive failures
	moves uint64 // of the connection at the first of these tries
	hops  int    // to other servers since the last success
}

// Worked records a successful try.
func (s *Stay) Worked() { s.tries, s.hops = 0, 0 }

// Failed records a failed try. Others may share the connection: if they have moved it, the count begins again.
func (s *Stay) Failed(nc *nats.Conn) {
	if moves := nc.Stats().Reconnects; moves != s.moves {
		s.tries, s.moves = 0, moves
	}
	if s.tries++; s.tries >= mostTries<<min(s.hops, 3) && nc.IsConnected() && len(nc.Servers()) > 1 {
		s.tries, s.hops = 0, s.hops+1
		_ = nc.ForceReconnect() // its error reports a closed connection
	}
}
