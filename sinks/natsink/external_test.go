package natsink

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/bus"
	"driftscope/internal/bus/bustest"
	"driftscope/sinks/sinktest"
)

// accounts starts a server with the configuration that is shipped, with some of its text replaced, and returns a way in for each of its users.
func accounts(t *testing.T, replaced ...string) (as func(user string) string) {
	t.Helper()
	shipped, err := os.ReadFile("../../configs/nats-server.conf")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(append(replaced, "./nats ", t.TempDir()+" ", "127.0.0.1:8080", "127.0.0.1:-1", "127.0.0.1:4222", "127.0.0.1:-1")...).Replace(string(shipped))
	for _, user := range []string{"DRIFTSCOPE", "CAMERA", "VIEWER", "OPERATOR", "READER", "MODELS", "POOL"} {
		t.Setenv(user+"_PASSWORD", "hunter2")
	}
	s := bustest.Start(t, text)
	host := strings.TrimPrefix(s.URL(), "nats://")
	return func(user string) string { return "nats://" + user + ":hunter2@" + host }
}

func dial(t *testing.T, at string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(at, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // refusals are what is tested
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// TestPermissions: by the configuration that is shipped, a viewer sees and asks and cannot command, publish or listen to commands; an
// operator commands; a camera gives pictures and nothing else.
func TestPermissions(t *testing.T) {
	as := accounts(t)
	b, err := bus.Connect(t.Context(), bus.Options{URL: as("driftscope")})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, applied := newControlled(t, Env{Stream: "bead", Bus: b})
	defer sinktest.Close(t, s)
	if err := b.NATS().Flush(); err != nil {
		t.Fatal(err)
	}
	viewer, operator := dial(t, as("viewer")), dial(t, as("operator"))
	request := func(nc *nats.Conn, name string) (string, error) {
		m, err := nc.Request("driftscope.local.bead.cmd."+name, nil, 500*time.Millisecond)
		if err != nil {
			return "", err
		}
		return string(m.Data), nil
	}
	seen, err := viewer.SubscribeSync("driftscope.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := viewer.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pause", "reset", "stop", "dance"} {
		if text, err := request(viewer, name); err == nil {
			t.Errorf("a viewer commands %s: %s", name, text)
		}
	}
	if len(applied) != 0 {
		t.Fatal("a viewer's command reached the runner")
	}
	if text, err := request(operator, "pause"); err != nil || text != "ok" {
		t.Errorf("an operator's command: %q, %v", text, err)
	}
	for _, nc := range []*nats.Conn{viewer, operator} {
		if text, err := request(nc, "info"); err != nil || !strings.Contains(text, `"kind":"info"`) {
			t.Errorf("info: %q, %v", text, err)
		}
		if found := askServices(t, nc, 1); found["bead"].Name != "driftscope" {
			t.Errorf("micro: %v", found)
		}
		if err := nc.Publish("driftscope.local.bead.latent", []byte("forged")); err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Write(t.Context(), sinktest.Event()); err != nil {
		t.Fatal(err)
	}
	m, err := seen.NextMsg(5 * time.Second)
	if err != nil || m.Subject != "driftscope.local.bead.event" {
		t.Errorf("a viewer sees %v, %v: expected the event, and neither commands nor what was forged", m, err)
	}
	for _, word := range []struct {
		by   *nats.Conn
		text string
	}{{viewer, "forged"}, {operator, "forged"}, {b.NATS(), "told"}} { // a worker's word is seen as results are, and nobody else's
		if err := word.by.Publish("driftscope.local.hall-1.worker", []byte(word.text)); err != nil {
			t.Fatal(err)
		}
		if err := word.by.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := seen.NextMsg(5 * time.Second); err != nil || m.Subject != "driftscope.local.hall-1.worker" || string(m.Data) != "told" {
		t.Errorf("a viewer sees %v, %v: expected what the worker says", m, err)
	}
	pictures, err := b.NATS().SubscribeSync("camera.bead")
	if err == nil {
		err = b.NATS().Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	camera, commanded := dial(t, as("camera")), len(applied)
	for _, subject := range []string{"driftscope.local.bead.cmd.stop", "camera.bead"} {
		if err := camera.Publish(subject, []byte("picture")); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := pictures.NextMsg(5 * time.Second); err != nil || string(m.Data) != "picture" || len(applied) != commanded {
		t.Errorf("from the camera came %v, %v, and %d commands", m, err, len(applied)-commanded)
	}
	if _, err := nats.Connect(strings.Replace(as("viewer"), "hunter2", "hunter3", 1)); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("a wrong password: found %v", err)
	}
}

// TestBucketPermissions: by the same configuration the program keeps its law and its configuration in KV, and a reader reads them. Who puts
// another configuration has to be let in.
func TestBucketPermissions(t *testing.T) {
	for name, test := range map[string]struct {
		replaced []string
		puts     map[string]bool // by whom and what: accepted
	}{
		"shipped": {nil, map[string]bool{"viewer bead.config": false, "viewer bead.state": false, "operator bead.config": false, "operator bead.state": false}},
		"let in":  {[]string{`# "$KV`, `"$KV`, `# {service`, `{service`}, map[string]bool{"viewer bead.config": false, "operator bead.state": false, "operator bead.config": true}},
	} {
		t.Run(name, func(t *testing.T) {
			as := accounts(t, test.replaced...)
			k := newBucket(t, as("driftscope"))
			if err := k.KeepState(law(1, 100_000), "model-a", At{}); err != nil {
				t.Fatal(err)
			}
			k.KeepConfiguration([]byte("stream: bead\n"))
			for k.waiting() {
				time.Sleep(time.Millisecond)
			}
			for put, accepted := range test.puts {
				user, key, _ := strings.Cut(put, " ")
				js, err := jetstream.New(dial(t, as(user)))
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				_, err = js.Publish(ctx, "$KV.driftscope_local."+key, []byte("stream: bead\nqueue: 3\n"))
				cancel()
				if (err == nil) != accepted {
					t.Errorf("%s puts %s: %v", user, key, err)
				}
			}
			js, err := jetstream.New(dial(t, as("reader")))
			if err != nil {
				t.Fatal(err)
			}
			kv, err := js.KeyValue(t.Context(), "driftscope_local")
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"bead.config", "bead.state"} {
				if entry, err := kv.Get(t.Context(), key); err != nil || len(entry.Value()) == 0 {
					t.Errorf("a reader reads %s: %v", key, err)
				}
			}
			holds(t, as("driftscope"), "model-a", law(1, 100_000))
		})
	}
}

// TestReadersRead: by the same configuration the program may keep, and a reader reads what is kept, in batches (ADR-31 of NATS), without a consumer.
func TestReadersRead(t *testing.T) {
	as := accounts(t)
	s, _ := newDurableSink(t, as("driftscope"), t.TempDir(), nil)
	for i := range 20 {
		if err := s.Write(t.Context(), sinktest.Estimate(uint64(i), uint64(i/10)+1)); err != nil {
			t.Fatal(err)
		}
	}
	sinktest.Close(t, s)
	reader := dial(t, as("reader"))
	inbox, err := reader.SubscribeSync(reader.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.PublishRequest("$JS.API.DIRECT.GET.driftscope_local_bead", inbox.Subject, []byte(`{"seq": 1, "batch": 100}`)); err != nil {
		t.Fatal(err)
	}
	for i := range 23 { // 20 latents, a law for every ten, and the word that this was all
		m, err := inbox.NextMsg(5 * time.Second)
		if err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		if last := m.Header.Get("Status") == "204"; last != (i == 22) {
			t.Fatalf("message %d: found %v", i, m.Header)
		}
	}
}

// TestModelPermissions: by the same configuration the user models keeps models, the program fetches them, and nobody else does either.
func TestModelPermissions(t *testing.T) {
	as := accounts(t)
	models := func(user string) *bus.Models {
		b, err := bus.Connect(t.Context(), bus.Options{URL: as(user)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		m, err := b.Models()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	librarian, large := models("models"), bytes.Repeat([]byte("model"), 4<<20)
	for range 2 { // the second takes the place of the first
		if err := librarian.Put(t.Context(), "spot", "", large); err != nil {
			t.Fatal(err)
		}
	}
	for _, user := range []string{"models", "driftscope"} {
		got, err := models(user).Get(t.Context(), "spot", int64(len(large)))
		if err != nil || !bytes.Equal(got, large) {
			t.Errorf("%s gets %d bytes of %d: %v", user, len(got), len(large), err)
		}
	}
	for _, user := range []string{"viewer", "operator", "reader"} {
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		if err := models(user).Put(short, "spot", "", []byte("forged")); err == nil {
			t.Errorf("%s keeps a model", user)
		}
		cancel()
	}
	if kept, err := librarian.List(t.Context()); err != nil || len(kept) != 1 || kept[0].Size != int64(len(large)) {
		t.Errorf("the user models lists %v, %v", kept, err)
	}
	if err := librarian.Remove(t.Context(), "spot"); err != nil {
		t.Error(err)
	}
}
