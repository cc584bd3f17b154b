package bus

import (
	"errors"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"
)

// access returns the options that authenticate this program and the server. nats.go reads the files again at each reconnection, so renewed credentials take
// effect.
func (o *Options) access() ([]nats.Option, error) {
	if err := o.checkAccess(); err != nil {
		return nil, err
	}
	var options []nats.Option
	if o.Token != "" {
		options = append(options, nats.Token(o.Token))
	}
	if o.user != "" {
		options = append(options, nats.UserInfo(o.user, o.password))
	}
	if o.Credentials != "" {
		options = append(options, nats.UserCredentials(o.Credentials))
	}
	if o.NKey != "" {
		option, err := nats.NkeyOptionFromSeed(o.NKey)
		if err != nil {
			return nil, fmt.Errorf("nats.nkey: %s: %w: give a file with the seed of a user (SU and 56 letters)", o.NKey, err)
		}
		options = append(options, option)
	}
	if o.CA != "" {
		options = append(options, nats.RootCAs(o.CA))
	}
	if o.Cert != "" {
		options = append(options, nats.ClientCert(o.Cert, o.Key))
	}
	if o.tlsFirst {
		options = append(options, nats.TLSHandshakeFirst())
	}
	if o.inbox != "" {
		options = append(options, nats.CustomInboxPrefix(o.inbox))
	}
	return options, nil
}

// checkAccess refuses contradictory options and missing files.
func (o *Options) checkAccess() error {
	switch {
	case (o.Cert == "") != (o.Key == ""):
		return errors.New("nats.cert and nats.key: only one is given: give the certificate and its key")
	case o.Credentials != "" && o.NKey != "":
		return errors.New("nats.creds and nats.nkey: found both: keep the one that the server requires")
	}
	for _, f := range []struct{ key, path string }{
		{"creds", o.Credentials}, {"nkey", o.NKey}, {"ca", o.CA}, {"cert", o.Cert}, {"key", o.Key},
	} {
		if f.path == "" {
			continue
		}
		if o.URL == Embedded {
			return fmt.Errorf("nats.%s: found %q, but the embedded server does not use it: leave it out, or give the nats.url of another server", f.key, f.path)
		}
		if _, err := os.Stat(f.path); err != nil {
			return fmt.Errorf("nats.%s: %w: check the path", f.key, err)
		}
	}
	return nil
}
