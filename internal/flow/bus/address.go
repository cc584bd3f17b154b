package bus

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// schemes are the URL schemes of NATS servers.
var schemes = []string{"nats", "tls", "ws", "wss"}

// maxServers is the largest number of addresses to try for one cluster.
const maxServers = 16

// checkURL accepts addresses that nats.go can dial: one, or several separated by commas.
func checkURL(at string) error {
	addresses := strings.Split(at, ",")
	if len(addresses) > maxServers {
		return fmt.Errorf("nats: found %d addresses, expected at most %d: leave some out, the servers of a cluster announce each other", len(addresses), maxServers)
	}
	for _, address := range addresses {
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil {
			return errors.New("nats: found an address that cannot be parsed, expected nats://host:port or context:NAME")
		}
		if u.Host == "" || !slices.Contains(schemes, u.Scheme) {
			return fmt.Errorf("nats: found %q, expected nats://host:port or context:NAME", redacted(u))
		}
	}
	return nil
}

// redacted returns u without its password or token. A name without a password is a token.
func redacted(u *url.URL) string {
	if strings.Contains(u.Opaque+u.Path, "@") { // malformed: the password may be anywhere
		return "the given address"
	}
	if _, both := u.User.Password(); u.User != nil && !both {
		hidden := *u
		hidden.User = url.User("xxxxx")
		return hidden.String()
	}
	return u.Redacted()
}

// Redacted returns an address, or several separated by commas, without passwords and tokens, for errors and logs.
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
