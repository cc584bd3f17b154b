package main

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/latent"
	"driftscope/internal/job/jobtest"
	"driftscope/internal/suite"
	"driftscope/sinks/message"
)

// trialSite is the site hall of docs/howto/deployment.md, together with a second site, lab, on three servers with a leaf node. It uses the shipped files with
// other ports.
type trialSite struct {
	t       *testing.T
	folder  string // of certificates and contexts
	servers []*bustest.Server
	leaf    *bustest.Server
	uplinks []*suite.Link // from the leaf node to the first two servers
}

// trialPassword is the password of all users.
const trialPassword = "hunter2"

func newTrialSite(t *testing.T) *trialSite {
	t.Helper()
	s := &trialSite{t: t, folder: t.TempDir()}
	if out, err := exec.Command("../../configs/site/certificates.sh", s.folder, "localhost").CombinedOutput(); err != nil {
		t.Fatalf("certificates.sh: %v\n%s", err, out)
	}
	for key, value := range map[string]string{
		"NATS_CERT": filepath.Join(s.folder, "localhost.pem"), "NATS_KEY": filepath.Join(s.folder, "localhost.key"), "NATS_CA": filepath.Join(s.folder, "ca.pem"),
		"SYS_PASSWORD": trialPassword, "BEAD_PASSWORD": trialPassword, "XDG_CONFIG_HOME": s.folder,
	} {
		t.Setenv(key, value)
	}
	hall := shippedSite(t, "hall.conf")
	for _, user := range []string{"WORKER", "OPERATOR", "ADMIN", "VIEWER", "BEAD"} {
		t.Setenv("HALL_"+user+"_PASSWORD", trialPassword)
		t.Setenv("LAB_"+user+"_PASSWORD", trialPassword)
	}
	lab := strings.NewReplacer("HALL", "LAB", "hall", "lab").Replace(hall)
	routes, leaves, clients := ports(t, 3), ports(t, 3), make([]string, 3)
	t.Setenv("NATS_ROUTES", fmt.Sprintf("[nats://localhost:%d, nats://localhost:%d, nats://localhost:%d]", routes[0], routes[1], routes[2]))
	for i := range 3 {
		t.Setenv("NATS_NAME", fmt.Sprint("n", i))
		t.Setenv("NATS_STORE", t.TempDir())
		here := fmt.Sprintf("127.0.0.1:%d", routes[i])
		text := strings.NewReplacer(`include "hall.conf"`, hall+lab, "0.0.0.0:4222", "127.0.0.1:-1", "0.0.0.0:6222", here, "0.0.0.0:7422", fmt.Sprintf("127.0.0.1:%d", leaves[i]),
			"0.0.0.0:8080", "127.0.0.1:-1").Replace(shippedSite(t, "server.conf"))
		server := bustest.Start(t, text)
		s.servers = append(s.servers, server)
		clients[i] = fmt.Sprintf("nats://localhost:%d", server.Port())
	}
	t.Setenv("NATS_NAME", "leaf")
	var up []string
	for _, port := range leaves[:2] {
		wire := bustest.NewWire(t, fmt.Sprintf("127.0.0.1:%d", port))
		s.uplinks = append(s.uplinks, wire)
		up = append(up, fmt.Sprintf("tls://hall_bead:%s@%s", trialPassword, strings.Replace(wire.Address(), "127.0.0.1", "localhost", 1)))
	}
	t.Setenv("LEAF_URLS", "["+strings.Join(up, ", ")+"]")
	s.leaf = bustest.Start(t, strings.Replace(shippedSite(t, "leaf.conf"), "0.0.0.0:4222", "127.0.0.1:-1", 1))
	for _, of := range []string{"hall", "lab"} {
		for _, user := range []string{"worker", "operator", "admin", "viewer", "bead"} {
			s.context(of+"_"+user, of+"_"+user, strings.Join(clients, ","))
		}
	}
	s.context("bead", "bead", fmt.Sprintf("nats://localhost:%d", s.leaf.Port()))
	s.ready()
	return s
}

// shippedSite returns the text of a file in configs/site.
func shippedSite(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../configs/site", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// ports returns n free ports.
func ports(t *testing.T, n int) (free []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		free = append(free, l.Addr().(*net.TCPAddr).Port)
	}
	return free
}

// context writes a NATS context, as users store them.
func (s *trialSite) context(name, user, url string) {
	s.t.Helper()
	text, err := json.Marshal(map[string]string{"url": url, "user": user, "password": trialPassword, "ca": filepath.Join(s.folder, "ca.pem")})
	folder := filepath.Join(s.folder, "nats", "context")
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+".json"), text, 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// write writes a file into the folder of the contexts.
func (s *trialSite) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.folder, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// as connects with a context.
func (s *trialSite) as(name string) *bus.Conn {
	s.t.Helper()
	conn, err := bus.Connect(s.t.Context(), bus.Options{URL: "context:" + name})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	return conn
}

// ready waits until the cluster can store streams on all its servers.
func (s *trialSite) ready() {
	s.t.Helper()
	js, err := jetstream.New(s.as("hall_admin").NATS())
	if err != nil {
		s.t.Fatal(err)
	}
	s.eventually("a stream on three servers", func() bool {
		_, err := js.CreateOrUpdateStream(s.t.Context(), jetstream.StreamConfig{Name: "ready", Subjects: []string{"ready"}, Replicas: 3})
		return err == nil && js.DeleteStream(s.t.Context(), "ready") == nil
	})
}

// eventually waits for a condition, with time for a busy machine and elections in the cluster.
func (s *trialSite) eventually(what string, is func() bool) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("not within a minute: %s", what)
		}
	}
}

// violations returns the requests that the servers refused because of permissions.
func (s *trialSite) violations() (all []string) {
	for _, server := range append(s.servers[:3:3], s.leaf) {
		for line := range strings.Lines(server.Log()) {
			if strings.Contains(line, "Violation") {
				all = append(all, strings.TrimSpace(line))
			}
		}
	}
	return all
}

// kept waits until n latents of a stream are stored, and returns all. It requests them one by one, because the servers of a cluster need time to learn of a
// new consumer.
func (s *trialSite) kept(stream string, n int) (all []*message.LatentRecord) {
	s.t.Helper()
	admin := s.as("hall_admin")
	js, err := jetstream.New(admin.NATS())
	if err != nil {
		s.t.Fatal(err)
	}
	read := uint64(0) // the last message that was read
	s.eventually(fmt.Sprintf("%d latents of %s are kept", n, stream), func() bool {
		of, err := js.Stream(s.t.Context(), "driftscope_local_"+stream)
		if err != nil {
			return false
		}
		for read < of.CachedInfo().State.LastSeq {
			m, err := of.GetMsg(s.t.Context(), read+1)
			if err != nil {
				return false
			}
			read++
			if !strings.HasSuffix(m.Subject, ".latent") {
				continue
			}
			r, err := message.Decode(latent.KindLatent, m.Data)
			if err != nil {
				s.t.Fatal(err)
			}
			all = append(all, r.(*message.LatentRecord))
		}
		return len(all) >= n
	})
	return all
}

// driven runs driftscope, which must succeed, and returns its output.
func (s *trialSite) driven(args ...string) string {
	s.t.Helper()
	o := drive(s.t, s.folder, args...)
	if o.status != 0 {
		s.t.Fatalf("driftscope %s: status %d\n%s", strings.Join(args, " "), o.status, o.errors)
	}
	return o.out
}

// says runs driftscope until it has printed want, and ends it by Ctrl-C.
func (s *trialSite) says(want string, args ...string) {
	s.t.Helper()
	out, err := os.Create(filepath.Join(s.t.TempDir(), "said"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer out.Close()
	c := command(s.t, s.folder, args...)
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.eventually(strings.Join(args, " ")+" says "+want, func() bool {
		text, err := os.ReadFile(out.Name())
		return err == nil && strings.Contains(string(text), want)
	})
	c.Process.Signal(os.Interrupt)
	if err := c.Wait(); err != nil {
		s.t.Errorf("%s: %v", strings.Join(args, " "), err)
	}
}

// work runs a worker until end is called, which acts like Ctrl-C.
func (s *trialSite) work(name, context string) (end func()) {
	s.t.Helper()
	c := command(s.t, s.folder, "work", "--nats", "context:"+context, "--name", name, "--replicas", "3", "--cores", "2", "--store", filepath.Join(s.t.TempDir(), name))
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	ended := false
	end = func() {
		s.t.Helper()
		if ended {
			return
		}
		ended = true
		c.Process.Signal(os.Interrupt)
		if err := <-done; err != nil || s.t.Failed() {
			s.t.Errorf("worker %s: %v\n%s", name, err, said.String())
		}
	}
	s.t.Cleanup(end)
	return end
}

// TestSite: the program's own commands set up the site in configs/site. An operator adds a stream, a worker runs it, and a microscope's frames arrive over TLS
// and a leaf node. Each is stored once, even though a server is killed. A viewer lists the streams. The servers refuse no request. Another site sees no data.
func TestSite(t *testing.T) {
	suite.Long(t)
	s := newTrialSite(t)
	drive(t, s.folder, "work", "--nats", "context:hall_worker").check(t, 1, "driftscope site init")
	drive(t, s.folder, "publish", "sim:molecule?frames=1", "--subject", "camera.bead", "--url", "context:bead", "--durable").check(t, 1, "driftscope site init --camera bead")
	model, err := filepath.Abs("../../configs/molecule.onnx")
	if err != nil {
		t.Fatal(err)
	}
	drive(t, s.folder, "model", "put", model, "--nats", "context:hall_operator").check(t, 1, "driftscope site init")
	streams, err := jetstream.New(s.as("hall_worker").NATS())
	if err != nil {
		t.Fatal(err)
	}
	spy := bus.Resource{Holds: "a copy", Stream: &jetstream.StreamConfig{Name: "spy", Subjects: []string{"spy"}, RePublish: &jetstream.RePublish{Source: "spy", Destination: "$KV.driftscope_local_streams.bead"}}}
	if _, _, err := spy.Ensure(t.Context(), streams); !errors.Is(err, bus.ErrForbidden) { // the server would write what the worker may not
		t.Errorf("a worker makes a stream with republish: %v", err)
	}
	before := s.violations()
	if out := s.driven("site", "init", "--nats", "context:hall_admin", "--replicas", "3", "--camera", "bead"); strings.Count(out, "made ") != 9 {
		t.Errorf("the admin made\n%s", out)
	}
	end := s.work("hall-1", "hall_worker")
	s.write("bead.yaml", "stream: bead\nsource: {nats: {subject: camera.bead}}\nframes: {durable: true, replicas: 3, max_bytes: 1073741824}\nmodel: nats:spot\nonline: {checkpoint_every: 1s}\n")
	s.driven("model", "put", model, "--name", "spot", "--nats", "context:hall_operator", "--replicas", "3")
	s.driven("stream", "add", "bead.yaml", "--nats", "context:hall_operator", "--replicas", "3")
	viewer := s.as("hall_viewer")
	heard, err := viewer.NATS().SubscribeSync("driftscope.*.*.worker") // like the dashboard's page
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := s.as("lab_viewer").NATS().SubscribeSync("driftscope.*.*.*")
	if err != nil {
		t.Fatal(err)
	}
	publish := func(context string, seed int) {
		t.Helper()
		out := s.driven("publish", fmt.Sprintf("sim:molecule?frames=100&seed=%d&realtime=false", seed), "--subject", "camera.bead", "--url", "context:"+context, "--durable", "--rate", "fastest")
		if !strings.Contains(out, "kept 100 frames") {
			t.Errorf("published by %s: %s", context, out)
		}
	}
	publish("bead", 1)
	publish("hall_bead", 2)
	s.kept("bead", 200)
	if out := s.driven("stream", "list", "--nats", "context:hall_viewer"); !strings.Contains(out, "bead") || !strings.Contains(out, "hall-1") {
		t.Errorf("a viewer lists\n%s", out)
	}
	if out := s.driven("stream", "show", "bead", "--nats", "context:hall_viewer"); !strings.Contains(out, "camera.bead") {
		t.Errorf("a viewer is shown\n%s", out)
	}
	for name, want := range map[string]string{"info": `"kind":"info"`, "stats": `"kind":"health"`, "snapshot": `"kind":"snapshot"`} {
		if m, err := viewer.NATS().Request("driftscope.local.bead.cmd."+name, nil, 10*time.Second); err != nil || !strings.Contains(string(m.Data), want) {
			t.Errorf("a viewer asks %s: %v, %.200v", name, err, m)
		}
	}
	if m, err := s.as("hall_operator").NATS().Request("driftscope.local.bead.cmd.checkpoint", nil, 10*time.Second); err != nil || string(m.Data) != "ok" {
		t.Errorf("an operator commands: %v, %v", m, err)
	}
	if _, err := heard.NextMsg(10 * time.Second); err != nil {
		t.Errorf("a viewer hears nothing of the worker: %v", err)
	}
	as, authority := "tls://%s:"+trialPassword+fmt.Sprintf("@localhost:%d", s.servers[0].Port()), filepath.Join(s.folder, "ca.pem")
	s.says(`"kind":"health"`, "watch", "--json", "--nats", fmt.Sprintf(as, "hall_viewer"), "--ca", authority, "--stream", "bead")
	s.driven("model", "list", "--nats", fmt.Sprintf(as, "hall_operator"), "--ca", authority)
	s.says("dashboard at", "dashboard", "--nats", "context:hall_viewer", "--websocket", "wss://localhost:8080", "--dashboard", "127.0.0.1:0")
	if all := slices.DeleteFunc(s.violations(), func(line string) bool { return slices.Contains(before, line) }); len(all) > 0 {
		t.Errorf("refused was what is allowed:\n%s", strings.Join(all, "\n"))
	}

	going := command(t, s.folder, "publish", "sim:molecule?frames=200&seed=3&realtime=false", "--subject", "camera.bead", "--url", "context:bead", "--durable") // four seconds
	var account bytes.Buffer
	going.Stdout, going.Stderr = &account, &account
	if err := going.Start(); err != nil {
		t.Fatal(err)
	}
	s.kept("bead", 220)
	s.servers[0].Kill() // the leaf node, the worker or neither is connected to it
	if err := going.Wait(); err != nil || !strings.Contains(account.String(), "kept 200 frames") {
		t.Errorf("published while a server was killed: %v\n%s", err, account.String())
	}
	jobtest.Once(t, "bead", s.kept("bead", 400), 400)
	end()
	second := s.work("hall-2", "hall_worker")
	s.eventually("the second worker has the stream", func() bool {
		return strings.Contains(s.driven("stream", "list", "--nats", "context:hall_viewer"), "hall-2")
	})
	publish("hall_bead", 4)
	jobtest.Once(t, "bead", s.kept("bead", 500), 500)
	second()

	drive(t, s.folder, "stream", "list", "--nats", "context:lab_operator").check(t, 1, "there is no such site yet")
	drive(t, s.folder, "publish", "sim:molecule?frames=1", "--subject", "camera.bead", "--url", "context:lab_bead", "--durable").check(t, 1, "frames_camera_bead")
	if m, err := foreign.NextMsg(time.Second); !errors.Is(err, nats.ErrTimeout) {
		t.Errorf("another site's viewer saw %v (%v)", m, err)
	}
}

// TestCertificates: certificates.sh makes certificates that servers can present to clients and to each other, only for the given names.
func TestCertificates(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not there")
	}
	folder := t.TempDir()
	for _, names := range [][]string{{"n1.lab", "n2.lab"}, {"n3.lab"}} { // the certificate authority is kept
		if out, err := exec.Command("../../configs/site/certificates.sh", append([]string{folder}, names...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	read := func(name string) *x509.Certificate {
		text, err := os.ReadFile(filepath.Join(folder, name+".pem"))
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(text)
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	roots := x509.NewCertPool()
	roots.AddCert(read("ca"))
	for _, name := range []string{"n1.lab", "n2.lab", "n3.lab"} {
		for _, use := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
			if _, err := read(name).Verify(x509.VerifyOptions{Roots: roots, DNSName: name, KeyUsages: []x509.ExtKeyUsage{use}}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := read(name).VerifyHostname("n4.lab"); err == nil {
			t.Errorf("%s is another's certificate, too", name)
		}
		if info, err := os.Stat(filepath.Join(folder, name+".key")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the key of %s: %v, %v", name, info, err)
		}
	}
}
