package site

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
)

// TestMake: all resources of a site and its streams are made once. Differing ones are named and not changed. A user without the right to make streams can
// then work with them.
func TestMake(t *testing.T) {
	server := bustest.Start(t, fmt.Sprintf(`jetstream {store_dir: %q}
authorization {users: [
  {user: admin, password: p1}
  {user: operator, password: p3, permissions {
    publish: ["$JS.API.INFO", "$JS.API.STREAM.INFO.*", "$JS.API.DIRECT.GET.>", "$KV.driftscope_local_streams.*"]
    subscribe: "_INBOX.>"
  }}
  {user: worker, password: p2, permissions {publish {allow: ">", deny: ["$JS.API.STREAM.CREATE.>", "$JS.API.STREAM.UPDATE.>", "$JS.API.STREAM.DELETE.>"]}, subscribe: ">"}}
]}`, t.TempDir()))
	at := func(user string) *bus.Conn {
		return connect(t, bus.Options{URL: strings.Replace(server.URL(), "nats://", "nats://"+user+"@", 1)})
	}
	admin, worker := at("admin:p1"), at("worker:p2")
	if s, err := Open(t.Context(), worker, Options{Worker: "one", TTL: time.Second}); !errors.Is(err, bus.ErrForbidden) || !strings.Contains(err.Error(), "driftscope site init") {
		t.Fatalf("found %v, %v where nothing is made, and this user may make nothing", s, err)
	}
	if s, err := Edit(t.Context(), at("operator:p3"), Options{}); !errors.Is(err, bus.ErrForbidden) || !strings.Contains(err.Error(), "driftscope site init") {
		t.Fatalf("found %v, %v where nothing is made, and this user may make nothing", s, err)
	}
	names := func(made []Made) (all []string) {
		for _, m := range made {
			all = append(all, fmt.Sprint(m.Name, m.New, m.Differs))
		}
		return all
	}
	plan := Resources{Replicas: 1, TTL: 2 * time.Second, Cameras: []string{"bead"}}
	made, left, err := Make(t.Context(), admin, plan)
	if err != nil || len(left) > 0 || len(made) != 9 || slices.ContainsFunc(made, func(m Made) bool { return !m.New || len(m.Differs) > 0 }) {
		t.Fatalf("made %v, left %v, %v", names(made), left, err)
	}
	s, err := Open(t.Context(), worker, Options{Worker: "one", TTL: time.Second})
	if err != nil || s.TTL() != 2*time.Second {
		t.Fatalf("found %v, %v", s, err)
	}
	defer s.Close()
	for name, text := range map[string]string{
		"tail": "source: {nats: {subject: camera.tail}}\nframes: {durable: true, max_bytes: 67108864}\nnats: {max_age: 1h}\n",
		"far":  "source: {nats: {subject: camera.far, url: 'nats://elsewhere:4222'}}\nframes: {durable: true}\n",
		"spy":  "source: {nats: {subject: driftscope.local.bead.cmd.stop}}\nframes: {durable: true}\n",
	} {
		if _, err := s.Add(t.Context(), Stream{Name: name, Config: "stream: " + name + "\n" + text, Cores: 1}); err != nil {
			t.Fatal(err)
		}
	}
	operator, err := Edit(t.Context(), at("operator:p3"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer operator.Close()
	must(t, operator.Move(t.Context(), "far", "one"))
	must(t, operator.Remove(t.Context(), "far"))
	if _, err := operator.Add(t.Context(), Stream{Name: "far", Config: "stream: far\nsource: {nats: {subject: camera.far, url: 'nats://elsewhere:4222'}}\nframes: {durable: true}\n", Cores: 1}); err != nil {
		t.Errorf("an operator without consumers adds: %v", err)
	}
	js, err := jetstream.New(admin.NATS())
	if err != nil {
		t.Fatal(err)
	}
	spied, err := js.UpdateStream(t.Context(), jetstream.StreamConfig{
		Name: "frames_camera_bead", Subjects: []string{"camera.bead"}, MaxBytes: 1 << 30, MaxAge: time.Hour, AllowDirect: true,
		RePublish: &jetstream.RePublish{Source: ">", Destination: "elsewhere.>"},
	})
	if err != nil {
		t.Fatal(err)
	}
	again, left, err := Make(t.Context(), admin, plan)
	if err != nil || len(again) != 9+4 {
		t.Errorf("found %v, %v", names(again), err)
	}
	for _, m := range again {
		differs := strings.Join(m.Differs, "; ")
		switch m.Name {
		case "frames_camera_bead":
			if m.New || !strings.Contains(differs, "max_bytes: found 1073741824, expected 17179869184") || !strings.Contains(differs, "republish") {
				t.Errorf("%s: %v, %s", m.Name, m.New, differs)
			}
		case "frames_camera_tail", "driftscope_local_tail", "driftscope_local_far", "driftscope_local_spy":
			if !m.New {
				t.Errorf("%s was there", m.Name)
			}
		default:
			if m.New || differs != "" {
				t.Errorf("%s: made %v, %s", m.Name, m.New, differs)
			}
		}
	}
	if len(left) != 1 || !strings.Contains(left[0], "stream spy: source.nats.subject: found \"driftscope.local.bead.cmd.stop\"") {
		t.Errorf("left are %q", left)
	}
	if tail, err := js.Stream(t.Context(), "frames_camera_tail"); err != nil || tail.CachedInfo().Config.MaxBytes != 64<<20 {
		t.Errorf("the frames of tail are not kept as its configuration says: %v", err)
	}
	if info, err := spied.Info(t.Context()); err != nil || info.Config.MaxBytes != 1<<30 {
		t.Errorf("what differs was changed: %v", err)
	}
}

// TestPlans: invalid settings are refused before anything is made.
func TestPlans(t *testing.T) {
	c := embedded(t)
	for says, p := range map[string]Resources{
		"replicas: found 7":    {Replicas: 7, TTL: time.Second},
		"ttl: found 1ms":       {Replicas: 1, TTL: time.Millisecond},
		`found "a.b"`:          {Replicas: 1, TTL: time.Second, Streams: []string{"a.b"}},
		`found "$JS.API.INFO"`: {Replicas: 1, TTL: time.Second, Cameras: []string{"$JS.API.INFO"}},
	} {
		if made, _, err := Make(t.Context(), c, p); !errors.Is(err, ErrResources) || !strings.Contains(err.Error(), says) || len(made) > 0 {
			t.Errorf("%s: made %v, %v", says, made, err)
		}
	}
	if _, err := Read(t.Context(), c); !errors.Is(err, ErrNone) {
		t.Errorf("found %v, expected no site", err)
	}
}
