package bus

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// schemes are the ways to reach a server.
var schemes = []string{"nats", "tls", "ws", "wss"}

// maxServers bounds the tried addresses of one cluster.
const maxServers = 16

// checkURL accepts addresses that nats.go can dial: one, or several separated by commas.
func checkURL(at string) error {
	addresses := strings.Split(at, ",")
	if len(addresses) > maxServers {
		return fmt.Errorf("nats: found %d addresses, expected at most %d: the servers of a cluster name each other", len(addresses), maxServers)
	}
	for _, address := range addresses {
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil {
			return errors.New("nats: found an address that cannot be read, expected nats://host:port or context:NAME")
		}
		if u.Host == "" || !slices.Contains(schemes, u.Scheme) {
			return fmt.Errorf("nats: found %q, expected nats://host:port or context:NAME", redacted(u))
		}
	}
	return nil
}

// redacted returns u without its password or token: a single name before the host is a token.
func redacted(u *url.URL) string {
	if strings.Contains(u.Opaque+u.Path, "@") { // mistyped: a password may be anywhere
		return "the given address"
	}
	if _, both := u.User.Password(); u.User != nil && !both {
		hidden := *u
		hidden.User = url.User("xxxxx")
		return hidden.String()
	}
	return u.Redacted()
}

// Redacted returns an address, or several with commas between, without passwords and tokens, for errors and logs.
func Redacted(at string) string {
	addresses := strings.Split(at, ",")
	for i, address := range addresses {
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil {
			return "the given address"
		}
		addresses[i] = redacted(u)
	}
	return strings.Join(addresses, ",")
}
