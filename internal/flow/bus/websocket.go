package bus

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/url"
	"slices"

	"github.com/nats-io/nats-server/v2/server"

	"driftscope/internal/flow/rights"
)

// Pages are the rights of web pages on the bus.
type Pages string

// A page can only watch a run and send it requests, even with the right to command: it never publishes a result.
const (
	NoPages    Pages = ""      // no WebSocket
	PagesLook  Pages = "look"  // subscribe, and ask for the last state
	PagesSteer Pages = "steer" // subscribe, ask, and send commands
)

// nowhere is the only browser origin that the embedded WebSocket accepts, and no page has it. Browsers connect through the dashboard's port, which checks their
// origin.
const nowhere = "http://pages.invalid"

// openWebSocket makes the embedded server accept WebSocket connections on a free port of this machine.
func openWebSocket(s *server.Options) {
	s.Websocket = server.WebsocketOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoTLS: true, AllowedOrigins: []string{nowhere}}
}

// doors authenticates connections to the embedded server. The port of a connection determines its role; a name does not. Only this process knows the
// secret of its own connection. Programs send the token if there is one. Every connection of the WebSocket is a page.
type doors struct {
	secret, token string
	server        *server.Server
	page          *server.Permissions
}

// newDoors draws the secret of this process.
func newDoors(o Options) *doors {
	d := &doors{secret: rand.Text(), token: o.Token}
	name := "page-looks"
	if o.Pages == PagesSteer {
		name = "page"
	}
	embedded := rights.Embedded()
	r := &embedded.Roles[slices.IndexFunc(embedded.Roles, func(r rights.Role) bool { return r.Name == name })]
	may := embedded.Permissions(r, cmp.Or(o.Prefix, DefaultPrefix)) // an empty list would allow everything: each role of a page has its questions
	if len(may.Publish) == 0 {                                      // the server takes an empty list for every subject
		may.DenyPublish = []string{">"}
	}
	d.page = &server.Permissions{
		Publish: &server.SubjectPermission{Allow: may.Publish, Deny: may.DenyPublish}, Subscribe: &server.SubjectPermission{Allow: may.Subscribe, Deny: may.DenySubscribe},
	}
	return d
}

// Check is server.Authentication.
func (d *doors) Check(c server.ClientAuthentication) bool {
	given := c.GetOpts()
	if Same(given.Username, program) && Same(given.Password, d.secret) {
		return true
	}
	if d.token != "" && !Same(given.Token, d.token) {
		return false
	}
	found, err := d.server.Connz(&server.ConnzOptions{CID: c.GetID()})
	if err != nil || len(found.Conns) != 1 {
		return false
	}
	switch found.Conns[0].Type {
	case "nats", "mqtt":
	default:
		c.RegisterUser(&server.User{Username: "page", Permissions: d.page})
	}
	return true
}

// program is the user name of this process's own connection.
const program = "driftscope"

// Same compares secrets in constant time.
func Same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// WebSocket returns the address to which the dashboard forwards pages, ws:// or wss://, without secrets; empty if pages cannot connect.
func (c *Conn) WebSocket() string { return c.webSocket }

// checkWebSocket accepts the address of another server's WebSocket.
func checkWebSocket(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || !slices.Contains([]string{"ws", "wss"}, u.Scheme) {
		found := "something that is not an address"
		if u != nil {
			found = fmt.Sprintf("%.80q", redacted(u))
		}
		return fmt.Errorf("nats websocket: found %s, expected ws://host:port or wss://host:port, without a user", found)
	}
	return nil
}
