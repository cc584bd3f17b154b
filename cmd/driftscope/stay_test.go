package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/config"
	"driftscope/internal/job/stream"
)

// staying is a driftscope process with --stay, and a client of its server.
type staying struct {
	t             *testing.T
	process       *exec.Cmd
	out, problems bytes.Buffer
	nats          *nats.Conn
}

// stayHere starts run --stay in folder, on a running server.
func stayHere(t *testing.T, folder, at string, args ...string) *staying {
	t.Helper()
	s := &staying{t: t, process: command(t, folder, append([]string{"run", "--stay"}, args...)...)}
	s.process.Stdout, s.process.Stderr = &s.out, &s.problems
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.nats, err = nats.Connect(at); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.nats.Close)
	return s
}

// ask repeats a command until the stream answers, and checks the code and text.
func (s *staying) ask(stream, name, payload, code, want string) {
	s.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		m, err := s.nats.Request("driftscope.local."+stream+".cmd."+name, []byte(payload), 30*time.Second)
		if err == nats.ErrNoResponders && time.Now().Before(end) {
			continue
		}
		if err != nil || m.Header.Get("Nats-Service-Error-Code") != code || !strings.Contains(string(m.Data), want) {
			s.t.Fatalf("%s of %s: found %+v, %v, expected code %q and %q", name, stream, m, err, code, want)
		}
		return
	}
}

// wait returns the stream's health once is accepts it.
func (s *staying) wait(stream string, is func(health) bool) health {
	s.t.Helper()
	var h health
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if m, err := s.nats.Request("driftscope.local."+stream+".cmd.stats", nil, 30*time.Second); err == nil && json.Unmarshal(m.Data, &h) == nil && is(h) {
			return h
		}
	}
	s.t.Fatalf("%s: found %+v", stream, h)
	return h
}

// health has the fields that a test checks.
type health struct {
	State   string `json:"state"`
	Problem string `json:"problem"`
	Frames  uint64 `json:"frames_in"`
}

func stopped(h health) bool { return h.State == "stopped" }

// interrupt ends the process in order, and checks that it ends within the time that the README promises.
func (s *staying) interrupt() {
	s.t.Helper()
	asked := time.Now()
	if err := s.process.Process.Signal(syscall.SIGINT); err != nil {
		s.t.Fatal(err)
	}
	if err := s.process.Wait(); err != nil {
		s.t.Fatalf("%v\n%s", err, s.problems.String())
	}
	if took := time.Since(asked); took > 5*time.Second {
		s.t.Errorf("took %v to end, expected at most 5 s", took)
	}
}

// bucket is the site's.
func (s *staying) bucket() jetstream.KeyValue {
	s.t.Helper()
	js, err := jetstream.New(s.nats)
	if err != nil {
		s.t.Fatal(err)
	}
	kv, err := js.KeyValue(s.t.Context(), "driftscope_local")
	if err != nil {
		s.t.Fatal(err)
	}
	return kv
}

// keptLatents counts the stored latents of a stream, and checks that every identity occurs once.
func (s *staying) keptLatents(stream string) (latents int) {
	s.t.Helper()
	js, err := jetstream.New(s.nats)
	if err != nil {
		s.t.Fatal(err)
	}
	consumer, err := js.OrderedConsumer(s.t.Context(), "driftscope_local_"+stream, jetstream.OrderedConsumerConfig{})
	if err != nil {
		s.t.Fatal(err)
	}
	info, err := consumer.Info(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	ids := map[string]bool{}
	for range info.NumPending {
		m, err := consumer.Next(jetstream.FetchMaxWait(5 * time.Second))
		if err != nil {
			s.t.Fatal(err)
		}
		id := m.Headers().Get(jetstream.MsgIDHeader)
		if ids[id] {
			s.t.Errorf("%s is there twice", id)
		}
		ids[id] = true
		if strings.HasSuffix(m.Subject(), ".latent") {
			latents++
		}
	}
	return latents
}

// put writes a stream's configuration into KV as an engineer does.
func put(t *testing.T, kv jetstream.KeyValue, stream, text string) {
	t.Helper()
	if _, err := kv.Put(t.Context(), stream+".config", []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// jetStream returns the configuration of a server with storage.
func jetStream(t *testing.T) string { return fmt.Sprintf("jetstream {store_dir: %q}", t.TempDir()) }

// TestStay: streams end, fail, are stopped, and run again in the same process, with their last configuration or one from KV. The law
// continues, and no stored message is lost or doubled.
func TestStay(t *testing.T) {
	t.Parallel()
	folder, at := t.TempDir(), bustest.Start(t, jetStream(t)).URL()
	durable := "model: embedded:molecule\nnats: {url: \"" + strings.Replace(at, "//", "//rig:hunter2@", 1) + "\", durable: true, store: kept}\ndashboard: {address: \"off\"}\n"
	written(t, folder, map[string]string{
		"live.yaml":  "stream: live\nsource: {sim: {name: molecule}}\nmode: latest\n" + durable,
		"film.yaml":  "stream: film\nsource: {sim: {name: molecule, frames: 60, realtime: false}}\n" + durable,
		"notes.yaml": "stream: notes\nsource: {tiff: {path: text.tif}}\nsinks: [{jsonl: {path: notes.jsonl}}]\n" + durable,
		"text.tif":   "this is no picture\n",
	})
	s := stayHere(t, folder, at, "live.yaml", "film.yaml", "notes.yaml")
	s.wait("live", func(h health) bool { return h.State == "tracking" })
	s.ask("live", "start", "", "409", "start: the stream is already running: send stop first")

	if h := s.wait("film", stopped); h.Problem != "" || h.Frames != 60 {
		t.Errorf("found %+v, expected 60 frames and no problem", h)
	}
	s.ask("film", "pause", "", "409", "pause: the stream is stopped: send start")
	s.ask("film", "info", "", "", `"state":{"bucket":"driftscope_local","key":"film.state","revision":`)
	heard, err := s.nats.SubscribeSync("driftscope.local.film.event")
	if err != nil {
		t.Fatal(err)
	}
	s.ask("film", "start", "", "", "ok")
	if m, err := heard.NextMsg(patience); err != nil || !strings.Contains(string(m.Data), `"code":"command_start"`) {
		t.Errorf("found %v, %v, expected the event", m, err)
	}

	if h := s.wait("notes", stopped); !strings.Contains(h.Problem, "text.tif") {
		t.Errorf("found %+v, expected what is wrong with text.tif", h)
	}
	s.ask("notes", "start", "", "409", "notes.jsonl: exists already")

	s.ask("live", "checkpoint", "", "", "ok")
	kv := s.bucket()
	heard, err = s.nats.SubscribeSync("driftscope.local.live.event")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Put(t.Context(), "live.state", []byte("another's")); err != nil {
		t.Fatal(err)
	}
	s.ask("live", "checkpoint", "", "503", "another process keeps this stream's state")
	for {
		if m, err := heard.NextMsg(patience); err != nil || strings.Contains(string(m.Data), `"code":"state_not_kept"`) {
			if err != nil || !strings.Contains(string(m.Data), "another process keeps this stream's state") {
				t.Errorf("found %v, %v", m, err)
			}
			break
		}
	}

	s.ask("live", "stop", "", "", "ok")
	s.ask("live", "start", "", "", "ok") // the command waits for the end of the run
	s.wait("live", func(h health) bool { return h.State == "tracking" })

	s.wait("film", stopped)
	entry, err := kv.Get(t.Context(), "film.config")
	if err != nil {
		t.Fatal(err)
	}
	running, err := config.Parse("film.config", entry.Value())
	if err != nil || running.Stream != "film" || running.NATS.URL != at || strings.Contains(string(entry.Value()), "hunter2") {
		t.Errorf("KV has %v\n%s", err, entry.Value())
	}
	const config = `{"config": true}`
	put(t, kv, "film", "stream: film\nsource: {sim: {name: molecule, frames: 90, realtime: false}}\nqueue: 5000\ngrace: 2h\n")
	s.ask("film", "start", config, "409", "queue: found 5000, expected 1 to 4096 frames, or 0 for the default of the mode; film.config: grace: found 2h0m0s")
	put(t, kv, "film", "stream: other\nsource: {sim: {name: molecule}}\n")
	s.ask("film", "start", config, "409", "film.config: stream: found other, expected film")
	put(t, kv, "film", "stream: film\nsource: {sim: {name: molecule}}\nnats: {site: elsewhere}\n")
	s.ask("film", "start", config, "409", "film.config: nats: differs from the process's, and")
	put(t, kv, "film", "stream: film\nsource: {sim: {name: molecule, frames: 90, realtime: false}}\nsinks: [{jsonl: {path: nowhere/film.jsonl}}]\n")
	s.ask("film", "start", config, "409", "nowhere/film.jsonl")
	s.wait("film", func(h health) bool { return stopped(h) && h.Frames == 60 })
	put(t, kv, "film", strings.Replace(string(entry.Value()), "frames: 60", "frames: 90", 1))
	s.ask("film", "start", config, "", "ok")
	s.wait("film", func(h health) bool { return stopped(h) && h.Frames == 90 })
	s.ask("film", "start", "", "", "ok") // from now on this is its configuration
	s.wait("film", func(h health) bool { return stopped(h) && h.Frames == 90 })
	if n := s.keptLatents("film"); n != 60+60+90+90 {
		t.Errorf("%d latents are kept, expected 300", n)
	}
	s.interrupt()
	for text, n := range map[string]int{"film: frames in 60, tracked 60": 2, "film: frames in 90, tracked 90": 2, "live: frames in": 2, "notes: frames in": 1} {
		if found := strings.Count(s.out.String(), text); found != n {
			t.Errorf("%q %d times, expected %d:\n%s", text, found, n, s.out.String())
		}
	}
	if n := strings.Count(s.problems.String(), "the law continues from film.state in KV driftscope_local, revision "); n != 3 {
		t.Errorf("the law of film went on %d times, expected 3:\n%s", n, s.problems.String())
	}
}

// TestNotToStay: without --stay a stream cannot be started. With --stay a configuration from KV is refused if clients need no login.
func TestNotToStay(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	written(t, folder, map[string]string{
		"open.yaml": "stream: open\nsource: {sim: {name: molecule, frames: 10, realtime: false}}\nnats: {port: 0, durable: true, store: kept}\ndashboard: {address: \"off\"}\n",
	})
	server := bustest.Start(t, "")
	s := stayHere(t, folder, server.URL(), "sim:molecule", "--no-status", "--stream", "bare", "--nats", server.URL(), "--dashboard", "off")
	s.ask("bare", "stop", "", "", "ok")
	s.wait("bare", stopped)
	s.ask("bare", "start", `{"config": true}`, "409", "set nats.durable")
	s.ask("bare", "start", "", "", "ok")
	s.interrupt()

	c := command(t, folder, "run", "sim:molecule", "--no-status", "--stream", "once", "--nats", server.URL(), "--dashboard", "off")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s.ask("once", "start", "", "409", "run --stay starts an ended stream again")
	s.ask("once", "stop", "", "", "ok")
	if err := c.Wait(); err != nil {
		t.Error(err)
	}

	cfg, err := config.Load(folder + "/open.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cfg.NATS.Store = t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p, err := stream.Assemble(ctx, []config.Config{cfg}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Bus.Close()
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx, 0) }()
	if s.nats, err = nats.Connect(p.Bus.URL()); err != nil {
		t.Fatal(err)
	}
	defer s.nats.Close()
	s.wait("open", stopped)
	s.ask("open", "start", `{"config": true}`, "409", "anyone on this machine can write to its NATS server")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestLawFromKV: another machine continues the law from KV. A state file of its own has priority, and a state that is not of this model
// causes a warning.
func TestLawFromKV(t *testing.T) {
	t.Parallel()
	at := bustest.Start(t, jetStream(t)).URL()
	run := func(args ...string) string {
		t.Helper()
		folder := t.TempDir()
		written(t, folder, map[string]string{
			"film.yaml": "stream: film\nsource: {sim: {name: molecule, frames: 40, realtime: false}}\nnats: {url: \"" + at + "\", durable: true, store: kept}\ndashboard: {address: \"off\"}\n",
		})
		o := drive(t, folder, append([]string{"run", "film.yaml"}, args...)...)
		if o.status != 0 {
			t.Fatal(o.errors)
		}
		return o.errors
	}
	state := t.TempDir() + "/law"
	if said := run(); strings.Contains(said, "the law continues") {
		t.Errorf("the first run:\n%s", said)
	}
	if said := run("--state", state); !strings.Contains(said, "the law continues from film.state in KV driftscope_local, revision 2") {
		t.Errorf("on another machine:\n%s", said)
	}
	if said := run("--state", state); !strings.Contains(said, "the law continues from "+state) {
		t.Errorf("with a file:\n%s", said)
	}
	nc, err := nats.Connect(at)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	kv := (&staying{t: t, nats: nc}).bucket()
	entry, err := kv.Get(t.Context(), "film.state")
	if err != nil {
		t.Fatal(err)
	}
	whole := entry.Value()
	model := whole[10:] // gzip's comment begins with the model's digest
	for name, test := range map[string]struct {
		value []byte
		want  string
	}{
		"torn":          {whole[:len(whole)/2], "torn after"},
		"damaged":       {damaged(whole), "unusable checkpoint"},
		"another model": {bytes.Replace(whole, model[:8], []byte("00000000"), 1), "it belongs to another model, SHA-256 00000000"},
		"text":          {[]byte("notes"), "it is no state"},
	} {
		if _, err := kv.Put(t.Context(), "film.state", test.value); err != nil {
			t.Fatal(err)
		}
		if said := run(); !strings.Contains(said, "warning: stream film: starts with a new law: film.state in KV driftscope_local, revision ") || !strings.Contains(said, test.want) {
			t.Errorf("%s: no %q in\n%s", name, test.want, said)
		}
	}
	if said := run(); !strings.Contains(said, "the law continues from film.state in KV") {
		t.Errorf("after what was damaged:\n%s", said)
	}
}

// damaged returns a copy with some changed bytes in the middle.
func damaged(whole []byte) []byte {
	value := bytes.Clone(whole)
	for i := range 64 {
		value[len(value)/2+i] ^= 0x55
	}
	return value
}
