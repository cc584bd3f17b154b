package bus

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"

	"github.com/nats-io/nats-server/v2/server"
)

// openMQTT makes the embedded server accept MQTT 3.1.1 clients at o.MQTT. They have the rights of programs. If there is a token, a client must send it as its
// password. The server stores their sessions in JetStream.
func openMQTT(s *server.Options, o Options) error {
	host, port, err := splitMQTT(o.MQTT)
	switch {
	case err != nil:
		return err
	case o.Token == "" && !Loopback(host):
		return fmt.Errorf("nats.mqtt: found %q, which other machines can reach: give nats.token too, or use 127.0.0.1", o.MQTT)
	case o.Store == "":
		return errors.New("nats.mqtt: needs a folder in which the server stores the sessions of its clients: give nats.store")
	}
	s.MQTT = server.MQTTOpts{Host: host, Port: port}
	return nil
}

// splitMQTT parses host:port.
func splitMQTT(at string) (host string, port int, err error) {
	host, digits, err := net.SplitHostPort(at)
	n, bad := strconv.ParseUint(digits, 10, 16)
	if err != nil || bad != nil || host == "" || n == 0 {
		return "", 0, fmt.Errorf("nats.mqtt: found %.80q, expected host:port, such as 127.0.0.1:1883", at)
	}
	return host, int(n), nil
}

// refusedMQTT explains why the MQTT listener did not open. It returns nil if text is about another listener.
func refusedMQTT(o Options, text string) error {
	switch {
	case o.MQTT == "" || !strings.Contains(text, "MQTT"):
		return nil
	case strings.Contains(text, syscall.EADDRINUSE.Error()):
		return fmt.Errorf("nats.mqtt: %s is in use: give another port; the server of mosquitto uses 1883", o.MQTT)
	}
	return fmt.Errorf("nats.mqtt: %s: give another address, or leave it out", text)
}
