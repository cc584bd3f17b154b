package bus

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/suite"
)

// authority signs certificates, and stores them in one folder.
type authority struct {
	t      *testing.T
	folder string
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	serial int64
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, folder: t.TempDir()}
	a.cert, a.key = a.sign("ca", &x509.Certificate{
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

func (a *authority) path(name string) string { return filepath.Join(a.folder, name) }

// sign writes name.pem and name.key.
func (a *authority) sign(name string, c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	a.serial++
	c.SerialNumber, c.Subject = big.NewInt(a.serial), pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	write(a.t, a.path(name+".pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	write(a.t, a.path(name+".key"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}))
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return parsed, key
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// reaches returns nil if a connection with these options can publish and receive, or the reason why not.
func reaches(t *testing.T, o Options) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second) // a refusal arrives sooner
	defer cancel()
	c, err := Connect(ctx, o)
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := c.NATS().SubscribeSync("driftscope.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.NATS().Publish("driftscope.local.bead.latent", []byte("1")); err != nil {
		t.Fatal(err)
	}
	_, err = s.NextMsg(3 * time.Second)
	return err
}

func TestTLS(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.sign("server", &x509.Certificate{
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
	a.sign("client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	s := bustest.Start(t, fmt.Sprintf(`tls {cert_file: %q, key_file: %q, ca_file: %q, verify: true}`,
		a.path("server.pem"), a.path("server.key"), a.path("ca.pem")))
	at := fmt.Sprintf("tls://localhost:%d", s.Port())
	if err := reaches(t, Options{URL: at, CA: a.path("ca.pem"), Cert: a.path("client.pem"), Key: a.path("client.key")}); err != nil {
		t.Error(err)
	}
	if err := reaches(t, Options{URL: at, Cert: a.path("client.pem"), Key: a.path("client.key")}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a server that no authority vouches for: found %v", err)
	}
	if err := reaches(t, Options{URL: at, CA: a.path("ca.pem")}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("no certificate of our own: found %v", err)
	}
}

// TestUsers connects with a password in the URL, a token, an nkey, and a context whose first server does not exist.
func TestUsers(t *testing.T) {
	seed, public := newUser(t)
	s := bustest.Start(t, fmt.Sprintf(`authorization {users = [{user: rig, password: hunter2}, {nkey: %s}]}`, public))
	folder := t.TempDir()
	nk := filepath.Join(folder, "rig.nk")
	write(t, nk, seed)
	host := strings.TrimPrefix(s.URL(), "nats://")
	t.Setenv("XDG_CONFIG_HOME", folder)
	contexts := filepath.Join(folder, "nats", "context")
	if err := os.MkdirAll(contexts, 0o700); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"description": "the laboratory", "url": "nats://127.0.0.1:1," + s.URL(), "nkey": nk, "color_scheme": ""})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(contexts, "lab.json"), text)
	write(t, filepath.Join(contexts, "proxied.json"), []byte(`{"socks_proxy": "socks5://a"}`))
	write(t, filepath.Join(contexts, "torn.json"), []byte(`{"url": `))
	if err := reaches(t, Options{URL: "context:"}); err == nil || !strings.Contains(err.Error(), "none is selected") {
		t.Errorf("no context is selected: found %v", err)
	}
	write(t, filepath.Join(folder, "nats", "context.txt"), []byte("lab\n"))
	tests := map[string]struct {
		options Options
		want    string // expected error; empty for none
	}{
		"password":         {Options{URL: "nats://rig:hunter2@" + host}, ""},
		"wrong password":   {Options{URL: "nats://rig:hunter3@" + host}, "authorization violation"},
		"nobody":           {Options{URL: s.URL()}, "authorization violation"},
		"nkey":             {Options{URL: s.URL(), NKey: nk}, ""},
		"not a seed":       {Options{URL: s.URL(), NKey: filepath.Join(contexts, "lab.json")}, "give a file with the seed of a user"},
		"context":          {Options{URL: "context:lab"}, ""},
		"selected context": {Options{URL: "context:"}, ""},
		"no context":       {Options{URL: "context:attic"}, "nats context ls"},
		"torn context":     {Options{URL: "context:torn"}, "not a context"},
		"proxy":            {Options{URL: "context:proxied"}, "socks_proxy is not supported here"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := reaches(t, test.options)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(strings.ToLower(err.Error()), test.want) {
				t.Errorf("found %v, expected %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter") {
				t.Errorf("a secret in %q", err)
			}
		})
	}
}

// newUser creates the seed and the public key of a user.
func newUser(t *testing.T) (seed []byte, public string) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	if seed, err = pair.Seed(); err == nil {
		public, err = pair.PublicKey()
	}
	if err != nil {
		t.Fatal(err)
	}
	return seed, public
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	s, operator := bustest.StartOperated(t, "")
	credentials := func(path string, change func(*jwt.UserClaims)) Options {
		operator.Credentials(path, change)
		return Options{URL: s.URL(), Credentials: path}
	}
	folder := t.TempDir()
	rig := credentials(filepath.Join(folder, "rig.creds"), func(*jwt.UserClaims) {})
	viewer := credentials(filepath.Join(folder, "viewer.creds"), func(c *jwt.UserClaims) {
		c.Permissions.Sub.Allow.Add("driftscope.>", "_INBOX.>")
		c.Permissions.Pub.Deny.Add(">")
	})

	c := connect(t, rig)
	commands, err := c.NATS().SubscribeSync("driftscope.local.bead.cmd.*")
	if err != nil {
		t.Fatal(err)
	}
	looker := connect(t, viewer)
	seen, err := looker.NATS().SubscribeSync("driftscope.local.bead.latent")
	if err != nil {
		t.Fatal(err)
	}
	for _, nc := range []*nats.Conn{c.NATS(), looker.NATS()} {
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.NATS().Publish("driftscope.local.bead.latent", []byte("1")); err != nil {
		t.Fatal(err)
	}
	if _, err := seen.NextMsg(5 * time.Second); err != nil {
		t.Errorf("a viewer does not see: %v", err)
	}
	if _, err := looker.NATS().Request("driftscope.local.bead.cmd.reset", nil, 200*time.Millisecond); err == nil {
		t.Error("a viewer commands")
	}
	if m, err := commands.NextMsg(200 * time.Millisecond); err == nil {
		t.Errorf("a viewer's command arrived: %s", m.Subject)
	}

	// The credentials expire while in use, and are renewed in the same file at some later time.
	path := filepath.Join(folder, "brief.creds")
	brief := connect(t, credentials(path, func(c *jwt.UserClaims) { c.Expires = time.Now().Add(2 * time.Second).Unix() }))
	wait(t, "the credentials to expire", func() bool { return brief.NATS().Publish("driftscope.a", nil) != nil })
	time.Sleep(time.Second) // more than two refusals, after which a client would give up
	credentials(path, func(*jwt.UserClaims) {})
	wait(t, "the renewed credentials to be used", func() bool { return brief.NATS().Publish("driftscope.a", nil) == nil })
}

// TestCutOff: the bus gives up a silent server within MaxAge, and delivers no message later that was published before.
func TestCutOff(t *testing.T) {
	t.Parallel()
	s := bustest.Start(t, "")
	w := bustest.NewWire(t, strings.TrimPrefix(s.URL(), "nats://"))
	c := connect(t, Options{URL: "nats://" + w.Address()})
	near := connect(t, Options{URL: s.URL()})
	sub, err := near.NATS().SubscribeSync("driftscope.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := near.NATS().Flush(); err != nil {
		t.Fatal(err)
	}
	w.Turn(suite.Lost)
	start := time.Now()
	wait(t, "the silence to be noticed", func() bool {
		return c.NATS().Publish("driftscope.a", fmt.Append(nil, time.Now().UnixMilli())) != nil
	})
	if d := time.Since(start); d > MaxAge+2*time.Second { // 2 s more on a machine that runs other tests
		t.Errorf("noticed after %v, expected within %v", d, MaxAge)
	}
	w.Turn(suite.Whole)
	mended := time.Now()
	wait(t, "the connection to heal", func() bool {
		return c.NATS().Publish("driftscope.a", fmt.Append(nil, time.Now().UnixMilli())) == nil
	})
	m, err := sub.NextMsg(5 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var published int64
	if _, err := fmt.Sscan(string(m.Data), &published); err != nil || published < mended.UnixMilli() {
		t.Errorf("delivered what was published %v before the wire was mended (%v)", mended.Sub(time.UnixMilli(published)), err)
	}
}
