package natsink

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/rights"
	"driftscope/sinks/sinktest"
)

// hunter2 is the password of all users.
const hunter2 = "hunter2"

// role returns a role of a server.
func roleOf(s *rights.Server, name string) *rights.Role {
	return &s.Roles[slices.IndexFunc(s.Roles, func(r rights.Role) bool { return r.Name == name })]
}

// embeddedTrial returns the trial of the embedded server, with a program's stream.
func embeddedTrial(token string, commands bool) func(*testing.T) *trial {
	return func(t *testing.T) *trial {
		pages, page := bus.PagesLook, "page-looks"
		if commands {
			pages, page = bus.PagesSteer, "page"
		}
		at := fmt.Sprintf("127.0.0.1:%d", bustest.FreePort(t))
		b, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded, Store: t.TempDir(), Pages: pages, Token: token, MQTT: at})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		of := rights.Embedded()
		tr := &trial{t: t, name: fmt.Sprintf("embedded (token %v, commands %v)", token != "", commands), of: of, observers: map[string]*nats.Conn{"": b.NATS()}}
		s, _ := newControlled(t, Env{Stream: "bead", Bus: b})
		t.Cleanup(func() { sinktest.Close(t, s) })
		program, pageRole := roleOf(of, "program"), roleOf(of, page)
		known := []nats.Option{}
		if token != "" {
			known = append(known, nats.Token(token))
		}
		tr.ways = []way{
			{"program", program, rights.TCP, dials(t, b.URL(), known...)},
			{"program", program, rights.MQTT, dialsMQTT(t, at, "camera", token)},
			{page, pageRole, rights.WebSocket, dials(t, b.WebSocket(), known...)},
		}
		for _, name := range []string{"anyone", "viewer", "program", "driftscope", "page"} { // names that a page might try
			role := pageRole
			if token != "" {
				role = nil
			}
			tr.ways = append(tr.ways, way{"a page as " + name, role, rights.WebSocket, dials(t, b.WebSocket(), nats.UserInfo(name, ""))})
		}
		if token != "" {
			tr.ways = append(tr.ways,
				way{"a stranger", nil, rights.TCP, dials(t, b.URL())}, way{"a stranger", nil, rights.WebSocket, dials(t, b.WebSocket())}, way{"a stranger", nil, rights.MQTT, dialsMQTT(t, at, "", "")},
				way{"a guess", nil, rights.TCP, dials(t, b.URL(), nats.Token("guess"))}, way{"a guess", nil, rights.MQTT, dialsMQTT(t, at, "camera", "guess")})
		}
		tr.observe()
		return tr
	}
}

// configured runs a server with a shipped configuration, on free ports and with an observer in every account.
func configured(t *testing.T, file string, change func(*server.Options)) (*server.Server, map[string]*nats.Conn) {
	t.Helper()
	o, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	o.Host, o.Port, o.NoLog, o.NoSigs, o.StoreDir = "127.0.0.1", server.RANDOM_PORT, true, true, t.TempDir()
	if o.Websocket.Port != 0 {
		o.Websocket.Host, o.Websocket.Port = "127.0.0.1", server.RANDOM_PORT
	}
	if change != nil {
		change(o)
	}
	for _, a := range o.Accounts {
		o.Users = append(o.Users, &server.User{Username: "observer " + a.GetName(), Password: hunter2, Account: a})
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	s.SetLogger(fatal{t, file}, false, false)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatalf("%s: the server does not take connections", file)
	}
	observers := map[string]*nats.Conn{}
	for _, a := range o.Accounts {
		nc, err := nats.Connect("", nats.InProcessServer(s), nats.UserInfo("observer "+a.GetName(), hunter2))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		observers[a.GetName()] = nc
	}
	return s, observers
}

// fatal is a server.Logger that fails the test if a server does not start.
type fatal struct {
	t    *testing.T
	file string
}

func (f fatal) Fatalf(format string, v ...any) { f.t.Errorf(f.file+": "+format, v...) }
func (fatal) Noticef(string, ...any)           {}
func (fatal) Warnf(string, ...any)             {}
func (fatal) Errorf(string, ...any)            {}
func (fatal) Debugf(string, ...any)            {}
func (fatal) Tracef(string, ...any)            {}

// passwords sets the environment variables with the passwords of a server's users.
func passwords(t *testing.T, names ...string) {
	for _, name := range names {
		t.Setenv(strings.ToUpper(name)+"_PASSWORD", hunter2)
	}
}

// users returns the ways of all roles of a server, by each of its doors. A role without the right to a door is refused there.
func (tr *trial) users(doors map[rights.Door]string, options ...nats.Option) {
	for i := range tr.of.Roles {
		r := &tr.of.Roles[i]
		for door, url := range doors {
			tr.ways = append(tr.ways, way{r.Name, r, door, dials(tr.t, url, append(options, nats.UserInfo(r.Name, hunter2))...)})
		}
	}
	for door, url := range doors {
		tr.ways = append(tr.ways, way{"a stranger", nil, door, dials(tr.t, url, options...)}, way{"an empty password", nil, door, dials(tr.t, url, append(options, nats.UserInfo(tr.of.Roles[0].Name, ""))...)})
	}
}

// instrumentTrial returns the trial of configs/nats-server.conf.
func instrumentTrial(t *testing.T) *trial {
	of := rights.Instrument()
	for _, r := range of.Roles {
		passwords(t, r.Name)
	}
	s, observers := configured(t, "../../configs/nats-server.conf", nil)
	tr := &trial{t: t, name: "nats-server.conf", of: of, observers: observers}
	tr.program("nats://driftscope:" + hunter2 + "@" + strings.TrimPrefix(s.ClientURL(), "nats://"))
	tr.users(map[rights.Door]string{rights.TCP: s.ClientURL(), rights.WebSocket: s.WebsocketURL()})
	tr.observe()
	return tr
}

// program runs the endpoints of a stream, as the real program does.
func (tr *trial) program(url string) {
	tr.t.Helper()
	b, err := bus.Connect(tr.t.Context(), bus.Options{URL: url, CA: tr.authority})
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.t.Cleanup(func() { b.Close() })
	s, _ := newControlled(tr.t, Env{Stream: "bead", Bus: b})
	tr.t.Cleanup(func() { sinktest.Close(tr.t, s) })
}

// siteTrial returns the trial of configs/site: a server, a shipped leaf node, and leaf nodes that check no rights.
func siteTrial(t *testing.T) *trial {
	folder := t.TempDir()
	if out, err := exec.Command("../../configs/site/certificates.sh", folder, "localhost").CombinedOutput(); err != nil {
		t.Fatalf("certificates.sh: %v\n%s", err, out)
	}
	of, leaves := rights.Site(), bustest.FreePort(t)
	authority := filepath.Join(folder, "ca.pem")
	for key, value := range map[string]string{
		"NATS_CERT": filepath.Join(folder, "localhost.pem"), "NATS_KEY": filepath.Join(folder, "localhost.key"), "NATS_CA": authority,
		"NATS_NAME": "n1", "NATS_ROUTES": "[nats://localhost:1]", "NATS_STORE": t.TempDir(),
	} {
		t.Setenv(key, value)
	}
	passwords(t, "sys", "bead")
	for _, r := range of.Roles {
		passwords(t, r.Name)
	}
	passwords(t, "hall_other")
	s, observers := configured(t, anotherMicroscope(t), func(o *server.Options) {
		o.Cluster, o.Routes, o.LeafNode.Host, o.LeafNode.Port = server.ClusterOpts{}, nil, "127.0.0.1", leaves
		o.JetStreamMaxStore = 1 << 50 // a single server stores what three would
	})
	tr := &trial{t: t, name: "site", of: of, observers: observers, authority: authority}
	port := s.Addr().(*net.TCPAddr).Port
	tr.program(fmt.Sprintf("tls://hall_worker:%s@localhost:%d", hunter2, port))
	_, pages, _ := strings.Cut(s.WebsocketURL(), "127.0.0.1")
	tr.users(map[rights.Door]string{rights.TCP: fmt.Sprintf("tls://localhost:%d", port), rights.WebSocket: "wss://localhost" + pages}, nats.RootCAs(authority))
	tr.ways = append(tr.ways, way{"sys", nil, rights.TCP, dials(t, fmt.Sprintf("tls://localhost:%d", port), nats.RootCAs(authority), nats.UserInfo("sys", hunter2))})
	for i := range of.Roles {
		r := &of.Roles[i]
		for _, user := range []string{"bead", "observer MICROSCOPE"} { // with the rights of leaf.conf, and with all rights that a leaf node can have
			tr.ways = append(tr.ways, way{r.Name + " as " + user, r, rights.Leaf, func() (hand, error) {
				t.Setenv("NATS_NAME", "leaf")
				t.Setenv("LEAF_URLS", fmt.Sprintf("[tls://%s:%s@localhost:%d]", r.Name, hunter2, leaves))
				leaf, _ := configured(t, "../../configs/site/leaf.conf", func(o *server.Options) { o.TLSConfig = nil })
				for end := time.Now().Add(joining); leaf.NumLeafNodes() == 0; time.Sleep(10 * time.Millisecond) {
					if time.Now().After(end) {
						leaf.Shutdown()
						return nil, errors.New("the leaf node is not let in")
					}
				}
				time.Sleep(quietFor) // time for the servers to exchange their subscriptions
				return dials(t, leaf.ClientURL(), nats.UserInfo(user, hunter2))()
			}})
		}
	}
	tr.observe()
	return tr
}

// anotherMicroscope returns configs/site with a copy of the block of the microscope bead for the camera other, as in docs/howto/deployment.md.
func anotherMicroscope(t *testing.T) (server string) {
	t.Helper()
	folder := t.TempDir()
	out, err := exec.Command("sh", "-c", `cp ../../configs/site/*.conf "$0" && cd "$0" && sed -n '/^HALL_BEAD {/,/^}/p' hall.conf | sed 's/BEAD/OTHER/g; s/bead/other/g' >> hall.conf`, folder).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(folder, "server.conf")
}

// joining is the time within which an admitted leaf node connects.
const joining = time.Second

// mqttHand is a hand that uses MQTT 3.1.1, which has no answers.
type mqttHand struct {
	t     *testing.T
	conn  net.Conn
	mu    sync.Mutex
	heard []func(string, []byte)
	pongs chan struct{}
}

// dialsMQTT returns a function that connects by MQTT.
func dialsMQTT(t *testing.T, at, user, password string) func() (hand, error) {
	return func() (hand, error) {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			return nil, err
		}
		h := &mqttHand{t: t, conn: conn, pongs: make(chan struct{}, 1)}
		flags, payload := byte(2), text("hand")
		if user != "" {
			flags, payload = flags|0x80, append(payload, text(user)...)
		}
		if password != "" {
			flags, payload = flags|0x40, append(payload, text(password)...)
		}
		h.send(0x10, slices.Concat(text("MQTT"), []byte{4, flags, 0, 0}, payload))
		in := bufio.NewReader(conn)
		kind, body, err := packet(in)
		if err != nil || kind != 0x20 || body[1] != 0 {
			conn.Close()
			return nil, fmt.Errorf("not let in: %v, %v", body, err)
		}
		go h.read(in)
		return h, nil
	}
}

// text returns the encoding of a string in a packet.
func text(s string) []byte { return append(binary.BigEndian.AppendUint16(nil, uint16(len(s))), s...) }

// packet reads one packet.
func packet(in *bufio.Reader) (kind byte, body []byte, err error) {
	if kind, err = in.ReadByte(); err != nil {
		return 0, nil, err
	}
	n, err := binary.ReadUvarint(in) // MQTT uses the same encoding
	if err != nil {
		return 0, nil, err
	}
	body = make([]byte, n)
	_, err = io.ReadFull(in, body)
	return kind, body, err
}

func (h *mqttHand) read(in *bufio.Reader) {
	for {
		kind, body, err := packet(in)
		switch {
		case err != nil:
			return
		case kind == 0xd0:
			h.pongs <- struct{}{}
		case kind&0xf0 == 0x30:
			n := 2 + int(binary.BigEndian.Uint16(body))
			subject := strings.ReplaceAll(string(body[2:n]), "/", ".")
			h.mu.Lock()
			for _, heard := range h.heard {
				heard(subject, body[n:])
			}
			h.mu.Unlock()
		}
	}
}

func (h *mqttHand) send(kind byte, body []byte) {
	if _, err := h.conn.Write(append(binary.AppendUvarint([]byte{kind}, uint64(len(body))), body...)); err != nil {
		h.t.Error(err)
	}
}

// topic converts a subject or a pattern to MQTT's notation.
func topic(subject string) string {
	return strings.NewReplacer(".", "/", "*", "+", ">", "#").Replace(subject)
}

func (h *mqttHand) publish(subject, reply string, data []byte) {
	if reply == "" {
		h.send(0x30, append(text(topic(subject)), data...))
	}
}

func (h *mqttHand) subscribe(subject string, heard func(string, []byte)) {
	h.mu.Lock()
	h.heard = append(h.heard, heard)
	h.mu.Unlock()
	h.send(0x82, append(append([]byte{0, 1}, text(topic(subject))...), 0))
}

func (h *mqttHand) flush() {
	h.send(0xc0, nil)
	select {
	case <-h.pongs:
	case <-time.After(10 * time.Second):
		h.t.Error("an MQTT client is not answered")
	}
}

func (h *mqttHand) inbox() string { return "" }
func (h *mqttHand) close()        { h.conn.Close() }
