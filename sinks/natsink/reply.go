package natsink

import (
	"driftscope/sinks/message"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	gateway      = "_GR_."  // of the server, before the reply subject of a request from another cluster: two tokens follow
	inboxes      = "_INBOX" // what the first token of an inbox begins with, unless a client was told otherwise
	serviceInbox = "_R_."   // of the server, where a request comes from another account, whose subjects are its own

	logRefusedEvery = 10 * time.Second // a flood of such requests is one line
)

// errNoInbox is why a request was not carried out. The program may publish what the asker may not: an answer on a subject of his choice would
// lend him its rights, and what a JetStream consumer delivers on a command's subject ($JS.ACK) was asked for by nobody.
var errNoInbox = errors.New("the answer was wanted on a subject that is no inbox: send a request, as nats req does")

// inboxOf is what the answers to this connection's own requests begin with.
func inboxOf(nc *nats.Conn) string {
	inbox := nc.NewInbox()
	return inbox[:strings.LastIndexByte(inbox, '.')+1]
}

// inboxed says whether a request's answer would go to an inbox. One that would not is counted and, at most every ten seconds, logged.
func (e *endpoints) inboxed(m *nats.Msg) bool {
	if e.isInbox(m.Reply) {
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refused++
	if now := time.Now(); e.log != nil && now.Sub(e.logged) >= logRefusedEvery {
		e.logged = now
		e.log.Warn("a request was not carried out", "subject", message.Printable(m.Subject), "reply", message.Printable(m.Reply), "refused", e.refused, "err", errNoInbox)
	}
	return false
}

// isInbox says whether a reply subject is one that a client made to wait for answers. No client can name the server's own prefixes: it refuses them.
func (e *endpoints) isInbox(reply string) bool {
	if rest, routed := strings.CutPrefix(reply, gateway); routed {
		tokens := strings.SplitN(rest, ".", 3) // cluster, server, what the asker said
		reply = tokens[len(tokens)-1]
	}
	for _, inbox := range []string{inboxes, serviceInbox, e.inbox} {
		if strings.HasPrefix(reply, inbox) {
			return true
		}
	}
	return false
}
