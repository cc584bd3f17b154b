package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"driftscope/configs"
	"driftscope/internal/flow/bus"
	"driftscope/internal/kit/console"
	"driftscope/internal/kit/system"
)

// serverCmd runs the NATS server of a site in this process.
type serverCmd struct {
	Store     string   `required:"" help:"Folder for the site's data and the passwords." placeholder:"DIR" type:"path"`
	StoreGB   int64    `name:"store-gb" default:"100" help:"Largest size of the site's data, GB; the frames of one camera take 17."`
	Listen    string   `default:"127.0.0.1:4222" help:"Address for clients. If other machines can reach it, clients need a user name and password." placeholder:"HOST:PORT"`
	WebSocket string   `name:"websocket" help:"Address for dashboards." placeholder:"HOST:PORT"`
	Users     bool     `help:"Require a password from clients, also on 127.0.0.1."`
	Camera    []string `help:"Name of a camera of the site. Its own user publishes on camera.NAME." placeholder:"NAME"`
	Cert      string   `help:"Certificate of the server; encrypts the connections." placeholder:"FILE.pem" type:"path"`
	Key       string   `help:"Private key of the certificate." placeholder:"FILE.pem" type:"path"`
}

// Run serves until ctx ends.
func (c *serverCmd) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return console.Usage(err)
	}
	o := bus.Site{Listen: c.Listen, WebSocket: c.WebSocket, Store: c.Store, StoreMost: c.StoreGB * 1e9, Cert: c.Cert, Key: c.Key}
	users := []string(nil)
	if c.asks() {
		accounts, named, err := c.accounts()
		if err != nil {
			return err
		}
		o.Accounts, users = accounts, named
	}
	err := bus.Serve(ctx, o, func() { c.introduce(users) })
	if err == nil {
		console.Say("stopped")
	}
	return err
}

// asks reports whether clients need a password: always if other machines or browser pages can reach the server.
func (c *serverCmd) asks() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	return c.Users || c.WebSocket != "" || err == nil && !bus.Loopback(host)
}

// cameraName matches the valid names of cameras, which are part of subjects and of the server's configuration.
var cameraName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

func (c *serverCmd) check() error {
	for _, name := range c.Camera {
		if !cameraName.MatchString(name) {
			return fmt.Errorf("--camera: found %.40q, expected a lower-case letter, then lower-case letters, digits and _", name)
		}
	}
	switch {
	case c.StoreGB < 1 || c.StoreGB > 1e6:
		return fmt.Errorf("--store-gb: found %d, expected 1 to 1000000", c.StoreGB)
	case (c.Cert == "") != (c.Key == ""):
		return errors.New("--cert and --key: give both, or none")
	case len(c.Camera) > 0 && !c.asks():
		return errors.New("--camera adds a user, but this server has no users: add --users, or leave --camera out")
	}
	return nil
}

// introduce prints the server's address and how to use it.
func (c *serverCmd) introduce(users []string) {
	console.Say("NATS server on nats://%s, store %s: Ctrl-C ends it", c.Listen, c.Store)
	if c.WebSocket != "" {
		console.Say("dashboards: --websocket %s://%s", map[bool]string{false: "ws", true: "wss"}[c.Cert != ""], c.WebSocket)
	}
	if !c.asks() {
		console.Say("every program on this machine may use the server; for other machines, give --listen 0.0.0.0:4222")
		return
	}
	console.Say("users %s; passwords in %s: --nats nats://USER:PASSWORD@HOST:PORT", strings.Join(users, ", "), c.passwords())
	if c.Cert == "" {
		console.Warn("connections are not encrypted: on an untrusted network, give --cert and --key")
	}
}

func (c *serverCmd) passwords() string { return filepath.Join(c.Store, "passwords") }

// mostPasswords is the largest size of the password file in bytes.
const mostPasswords = 1 << 20

// secret matches the name of a password in the accounts.
var secret = regexp.MustCompile(`\$[A-Z0-9_]+_PASSWORD`)

// accounts returns the shipped accounts with passwords, and the users. It generates missing passwords and adds them to the file.
func (c *serverCmd) accounts() (text string, users []string, err error) {
	text = configs.SiteAccounts()
	at := strings.Index(text, "HALL_BEAD {")
	each := text[at:]
	text = text[:at]
	for _, name := range c.Camera {
		text += strings.NewReplacer("BEAD", strings.ToUpper(name), "bead", name).Replace(each) + "\n"
	}
	text = regexp.MustCompile(`max_file: \S+`).ReplaceAllString(text, fmt.Sprintf("max_file: %d", c.StoreGB*1e9))
	text = regexp.MustCompile(`max_mem: \S+`).ReplaceAllString(text, "max_mem: 16MB")
	known, err := c.read()
	if err != nil {
		return "", nil, err
	}
	drawn := false
	text = secret.ReplaceAllStringFunc(text, func(name string) string {
		name = name[1:]
		if known[name] == "" {
			known[name], drawn = "p"+rand.Text(), true
		}
		users = append(users, strings.ToLower(strings.TrimSuffix(name, "_PASSWORD")))
		return fmt.Sprintf("%q", known[name])
	})
	if !drawn {
		return text, users, nil
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&b, "%s=%s\n", name, known[name])
	}
	if err := os.MkdirAll(c.Store, 0o700); err != nil {
		return "", nil, err
	}
	f, err := system.Create(c.passwords()+system.Suffix, 0o600)
	if err != nil {
		return "", nil, err
	}
	_, err = f.WriteString(b.String())
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", nil, err
	}
	return text, users, system.Rename(c.passwords()+system.Suffix, c.passwords())
}

// read returns the passwords of the file, by name.
func (c *serverCmd) read() (map[string]string, error) {
	known := map[string]string{}
	data, err := system.ReadBounded(c.passwords(), mostPasswords)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || value == "" || !secret.MatchString("$"+name) {
			return nil, console.Usage(fmt.Errorf("%s: found a line %.20q, expected NAME_PASSWORD=TEXT: correct or delete it", c.passwords(), name))
		}
		known[name] = value
	}
	return known, nil
}
