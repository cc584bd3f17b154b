package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	contextScheme   = "context:"
	maxContextBytes = 64 << 10
	defaultServer   = "nats://127.0.0.1:4222" // server of a context without one, as in the nats tool
)

// natsContext is a file of the tool nats in ~/.config/nats/context: a server and its credentials.
type natsContext struct {
	URL         string `json:"url"`
	Token       string `json:"token"`
	User        string `json:"user"`
	Password    string `json:"password"`
	Creds       string `json:"creds"`
	NKey        string `json:"nkey"`
	CA          string `json:"ca"`
	Cert        string `json:"cert"`
	Key         string `json:"key"`
	InboxPrefix string `json:"inbox_prefix"`
	TLSFirst    bool   `json:"tls_first"`

	// Settings that driftscope does not support.
	NSC        string `json:"nsc"`
	UserJWT    string `json:"user_jwt"`
	SOCKSProxy string `json:"socks_proxy"`
}

// fromContext replaces a URL context:NAME by the settings in the context's file. Settings that o already has override the file.
func (o *Options) fromContext() error {
	name, ok := strings.CutPrefix(o.URL, contextScheme)
	if !ok {
		return nil
	}
	path, err := contextPath(name)
	if err != nil {
		return err
	}
	c, err := readContext(path)
	if err != nil {
		return fmt.Errorf("nats context: %s: %w", path, err)
	}
	o.URL, o.user, o.password, o.inbox, o.tlsFirst = c.URL, c.User, c.Password, c.InboxPrefix, c.TLSFirst
	if o.URL == "" {
		o.URL = defaultServer
	}
	for _, entry := range []struct {
		dst   *string
		value string
	}{{&o.Token, c.Token}, {&o.Credentials, home(c.Creds)}, {&o.NKey, home(c.NKey)}, {&o.CA, home(c.CA)}, {&o.Cert, home(c.Cert)}, {&o.Key, home(c.Key)}} {
		if *entry.dst == "" {
			*entry.dst = entry.value
		}
	}
	return nil
}

// contextPath returns the path of the context called name, or of the selected context if name is empty.
func contextPath(name string) (string, error) {
	folder := os.Getenv("XDG_CONFIG_HOME")
	if folder == "" {
		folder = home("~/.config")
	}
	folder = filepath.Join(folder, "nats")
	if name == "" {
		selected, err := readAtMost(filepath.Join(folder, "context.txt"), maxToken+1)
		if err != nil {
			return "", fmt.Errorf("nats context: none is selected: give context:NAME, or select one with nats context select")
		}
		name = strings.TrimSpace(string(selected))
	}
	if name == "" || name != filepath.Base(name) || name == ".." || name == "." {
		return "", fmt.Errorf("nats context: found %.80q, expected a name listed by nats context ls", name)
	}
	return filepath.Join(folder, "context", name+".json"), nil
}

// readContext reads the file of a context and refuses unsupported settings.
func readContext(path string) (c natsContext, err error) {
	data, err := readAtMost(path, maxContextBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return c, errors.New("does not exist: nats context ls shows the existing contexts")
	}
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("not a context: %w: nats context edit corrects it", err)
	}
	for key, value := range map[string]string{"nsc": c.NSC, "user_jwt": c.UserJWT, "socks_proxy": c.SOCKSProxy} {
		if value != "" {
			return c, fmt.Errorf("%s is not supported here: use creds or nkey in the context, and an address that needs no proxy", key)
		}
	}
	return c, nil
}

// readAtMost reads a file of at most limit bytes.
func readAtMost(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("more than %d bytes: is this the right file?", limit)
	}
	return data, err
}

// home replaces a leading ~ by the user's folder.
func home(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path
	}
	folder, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(folder, rest)
}
