package config

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
)

// schemes are the URL schemes of NATS servers.
var schemes = []string{"nats", "tls", "ws", "wss"}

// natsContext is the prefix of the name of a context, which the tool nats stores.
const natsContext = "context:"

// Limits on stored messages.
const (
	leastAge   = time.Minute
	mostAge    = 10 * 365 * 24 * time.Hour
	leastBytes = 16 << 20
	mostBytes  = 1 << 40
)

// validate returns all errors in the settings of the server.
func (n *NATS) validate() []error {
	var errs []error
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(validNATS(n.URL), "nats.url: found %q, expected embedded, off, context:NAME or nats://host:port", mistyped(n.URL))
	bad(n.Port >= 0 && n.Port <= 65535, "nats.port: found %d, expected 0 (any free port) to 65535", n.Port)
	bad(token64.MatchString(n.Prefix), "nats.prefix: found %q, expected 1 to 64 letters, digits, - or _", n.Prefix)
	bad(token64.MatchString(n.Site), "nats.site: found %q, expected 1 to 64 letters, digits, - or _", n.Site)
	bad((n.Cert == "") == (n.Key == ""), "nats.cert, nats.key: only one is given: give the certificate and its key")
	bad(n.Creds == "" || n.NKey == "", "nats.creds, nats.nkey: both are given: keep the one that the server requires")
	files := n.Creds + n.NKey + n.CA + n.Cert + n.Key
	bad(files == "" || n.URL != NATSEmbedded, "nats: creds, nkey, ca, cert and key are only for an external server: leave them out, or give its nats.url")
	bad(validWebSocket(n.WebSocket), "nats.websocket: found %q, expected ws://host:port or wss://host:port, without a user", mistyped(n.WebSocket))
	bad(n.WebSocket == "" || n.URL != NATSEmbedded, "nats.websocket: only for an external server, the embedded server has its own: leave it out, or give nats.url")
	_, port, err := net.SplitHostPort(n.MQTT)
	bad(n.MQTT == "" || err == nil && validPort(port), "nats.mqtt: found %q, expected host:port, such as 127.0.0.1:1883", n.MQTT)
	bad(n.MQTT == "" || n.URL == NATSEmbedded, "nats.mqtt: only the embedded server uses it: leave it out, and configure MQTT in your own server")
	bad(n.MQTT == "" || n.Store != "", "nats.store: is missing, but nats.mqtt needs it: give a folder in which the embedded server stores the sessions of MQTT clients")
	return append(errs, n.validateDurable()...)
}

// validateDurable returns the errors in the settings for storing messages.
func (n *NATS) validateDurable() []error {
	var errs []error
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(!n.Durable || n.URL != NATSOff, "nats.durable: found true, but nats.url is off: give nats.url, or leave durable out")
	bad(!n.Durable || n.Store != "", "nats.store: is missing, but nats.durable needs it: give a folder for undelivered messages and the data of an embedded server")
	bad(n.MaxAge >= leastAge && n.MaxAge <= mostAge, "nats.max_age: found %v, expected %v to %v", n.MaxAge, leastAge, mostAge)
	bad(n.Replicas >= 1 && n.Replicas <= mostReplicas, "nats.replicas: found %d, expected 1 to %d", n.Replicas, mostReplicas)
	bad(n.MaxBytes >= leastBytes && n.MaxBytes <= mostBytes, "nats.max_bytes: found %d, expected %d to %d", n.MaxBytes, int64(leastBytes), int64(mostBytes))
	return errs
}

// validNATS accepts the words embedded and off, a context, and a list of addresses that all have a host.
func validNATS(address string) bool {
	if address == NATSEmbedded || address == NATSOff || strings.HasPrefix(address, natsContext) {
		return true
	}
	for part := range strings.SplitSeq(address, ",") {
		u, err := url.Parse(strings.TrimSpace(part))
		if err != nil || !slices.Contains(schemes, u.Scheme) || u.Host == "" {
			return false
		}
	}
	return true
}

// validWebSocket accepts "" and the address of a WebSocket. The address must contain no user, because the page shows it.
func validWebSocket(address string) bool {
	u, err := url.Parse(address)
	return address == "" || err == nil && (u.Scheme == "ws" || u.Scheme == "wss") && u.Host != "" && u.User == nil
}
