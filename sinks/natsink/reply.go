package natsink

import (
	"driftscope/sinks/message"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	gateway      = "_GR_."  // prefix of the server for a reply subject from another cluster: two tokens follow
	inboxes      = "_INBOX" // default first token of an inbox
	serviceInbox = "_R_."   // prefix of the server for a request from another account, which has its own subjects

	logRefusedEvery = 10 * time.Second // interval of log lines during a flood of such requests
)

// errNoInbox reports a request that was not executed. The program may have rights that the client lacks, and an answer on a subject chosen by the client would
// lend it these rights. A reply subject in $JS.ACK comes from a JetStream consumer, not from a client.
var errNoInbox = errors.New("the reply subject is not an inbox: send a request, as nats req does")

// inboxOf returns the prefix of the inboxes of this connection.
func inboxOf(nc *nats.Conn) string {
	inbox := nc.NewInbox()
	return inbox[:strings.LastIndexByte(inbox, '.')+1]
}

// inboxed reports whether a request's reply subject is an inbox. Otherwise it counts the request, and logs such requests at most every ten seconds.
func (e *endpoints) inboxed(m *nats.Msg) bool {
	if e.isInbox(m.Reply) {
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refused++
	if now := time.Now(); e.log != nil && now.Sub(e.logged) >= logRefusedEvery {
		e.logged = now
		e.log.Warn("a request was not executed", "subject", message.Printable(m.Subject), "reply", message.Printable(m.Reply), "refused", e.refused, "err", errNoInbox)
	}
	return false
}

// isInbox reports whether a reply subject is a client's inbox. Clients cannot use the server's own prefixes, because the server refuses them.
func (e *endpoints) isInbox(reply string) bool {
	if rest, routed := strings.CutPrefix(reply, gateway); routed {
		tokens := strings.SplitN(rest, ".", 3) // cluster, server, the client's reply subject
		reply = tokens[len(tokens)-1]
	}
	for _, inbox := range []string{inboxes, serviceInbox, e.inbox} {
		if strings.HasPrefix(reply, inbox) {
			return true
		}
	}
	return false
}
