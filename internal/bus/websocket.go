package bus

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/nats-io/nats-server/v2/server"
)

// Pages says what web pages may do on the bus.
type Pages string

// Looking and asking for what a run does is all that pages can do, even when they command: a page never publishes a result.
const (
	NoPages    Pages = ""      // no WebSocket
	PagesLook  Pages = "look"  // subscribe
	PagesSteer Pages = "steer" // subscribe, and send commands
)

// The users of the embedded server: nobody names them, each port has its own.
const (
	anyone = "anyone" // programs on this machine
	viewer = "viewer" // pages
)

// nowhere is the one origin that the embedded WebSocket takes of a browser. No page has it: browsers come through the dashboard's
// port, where their origin is checked.
const nowhere = "http://pages.invalid"

// openWebSocket has the server take pages on a free port of this machine. Where the server asks a token, pages give it too, and may do
// what its other holders may.
func openWebSocket(s *server.Options, o Options) {
	s.Websocket = server.WebsocketOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoTLS: true, AllowedOrigins: []string{nowhere}}
	if o.Token != "" {
		return
	}
	everything := o.Prefix
	if everything == "" {
		everything = DefaultPrefix
	}
	publish := &server.SubjectPermission{Deny: []string{">"}}
	if o.Pages == PagesSteer {
		publish = &server.SubjectPermission{Allow: []string{everything + ".*.*.cmd.>"}}
	}
	s.Users = []*server.User{{Username: anyone}, {Username: viewer, Permissions: &server.Permissions{
		Publish:   publish,
		Subscribe: &server.SubjectPermission{Allow: []string{everything + ".>", "_INBOX.>"}},
	}}}
	s.NoAuthUser, s.Websocket.NoAuthUser = anyone, viewer
}

// WebSocket is where the dashboard passes pages on to, ws:// or wss://, with its secrets left out; empty where pages cannot connect.
func (c *Conn) WebSocket() string { return c.webSocket }

// checkWebSocket accepts the address of another server's WebSocket.
func checkWebSocket(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || !slices.Contains([]string{"ws", "wss"}, u.Scheme) {
		found := "what is no address"
		if u != nil {
			found = fmt.Sprintf("%.80q", redacted(u))
		}
		return fmt.Errorf("nats websocket: found %s, expected ws://host:port or wss://host:port, without a user", found)
	}
	return nil
}
