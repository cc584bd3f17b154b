package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus/bustest"
)

// resources returns all resources of a site and its streams.
func resources(t *testing.T) map[string]*Resource {
	t.Helper()
	names, err := NewSubject("", "", "bead")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*Resource{}
	for _, r := range []Resource{
		Leases(names.BucketOf("leases"), 5*time.Second, 1), names.Desired(1), names.Workers(5*time.Second, 1), names.Laws(1), names.Results(time.Hour, 1<<20, 1),
		Frames("camera.bead", time.Hour, 64<<20, 1), names.ModelStore(1), names.Films(1), names.FilmRecords(1), names.Batch("one", 1),
	} {
		all[r.Name()] = &r
	}
	return all
}

// guardedServer starts a server on which the user worker may not create or change streams.
func guardedServer(t *testing.T) (admin, worker *Conn) {
	t.Helper()
	s := bustest.Start(t, fmt.Sprintf(`jetstream {store_dir: %q}
authorization {users: [
  {user: admin, password: p1}
  {user: worker, password: p2, permissions {
    publish {allow: ">", deny: ["$JS.API.STREAM.CREATE.>", "$JS.API.STREAM.UPDATE.>", "$JS.API.STREAM.DELETE.>"]}
    subscribe: ">"
  }}
]}`, t.TempDir()))
	as := func(user string) *Conn {
		c, err := Connect(t.Context(), Options{URL: strings.Replace(s.URL(), "nats://", "nats://"+user+"@", 1)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	return as("admin:p1"), as("worker:p2")
}

func streams(t *testing.T, c *Conn) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(c.NATS())
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// TestResources: a user with rights creates each resource with its defined settings. Other users get an error with the missing resource and the command that
// creates it, and can use the resource afterwards.
func TestResources(t *testing.T) {
	admin, worker := guardedServer(t)
	made, used := streams(t, admin), streams(t, worker)
	ctx, done := context.WithTimeout(t.Context(), time.Minute)
	defer done()
	for name, r := range resources(t) {
		_, _, err := r.Ensure(ctx, used)
		if !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "driftscope site init"+r.Init) {
			t.Errorf("%s: found %v for a user who may not make it", name, err)
		}
		if _, is, err := r.Ensure(ctx, made); err != nil || !is {
			t.Fatalf("%s: made %v, %v", name, is, err)
		}
		s, is, err := r.Ensure(ctx, used)
		if err != nil || is {
			t.Fatalf("%s: made %v, %v, where it is there", name, is, err)
		}
		if differs := r.Differs(s.CachedInfo().Config); len(differs) > 0 {
			t.Errorf("%s: right after it was made it differs: %v", name, differs)
		}
	}
}

// TestDiffers: Differs compares every setting that decides what is stored and who receives it.
func TestDiffers(t *testing.T) {
	for what, change := range map[string]func(*jetstream.StreamConfig){
		"subjects":             func(c *jetstream.StreamConfig) { c.Subjects = []string{"other"} },
		"storage":              func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage },
		"retention":            func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy },
		"replicas":             func(c *jetstream.StreamConfig) { c.Replicas = 3 },
		"max_age":              func(c *jetstream.StreamConfig) { c.MaxAge++ },
		"max_bytes":            func(c *jetstream.StreamConfig) { c.MaxBytes = -1 },
		"max_msg_size":         func(c *jetstream.StreamConfig) { c.MaxMsgSize = 1 },
		"max_msgs_per_subject": func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 7 },
		"republish":            func(c *jetstream.StreamConfig) { c.RePublish = &jetstream.RePublish{Destination: "$KV.>"} },
		"mirror":               func(c *jetstream.StreamConfig) { c.Mirror = &jetstream.StreamSource{Name: "other"} },
		"sources":              func(c *jetstream.StreamConfig) { c.Sources = []*jetstream.StreamSource{{Name: "other"}} },
		"subject_transform":    func(c *jetstream.StreamConfig) { c.SubjectTransform = &jetstream.SubjectTransformConfig{} },
	} {
		for name, r := range resources(t) {
			there := r.wanted()
			there.Subjects = slices.Clone(there.Subjects)
			change(&there)
			there.Replicas = max(there.Replicas, 1)
			found := r.Differs(there)
			if want := there.MaxBytes != -1 || limit(r.wanted().MaxBytes) != -1; want && (len(found) != 1 || !strings.HasPrefix(found[0], what+":")) {
				t.Errorf("%s of %s is another: found %q", what, name, found)
			}
		}
	}
}

// TestSettle changes an existing stream if the user may, never removes replicas, and otherwise leaves the stream unchanged.
func TestSettle(t *testing.T) {
	admin, worker := guardedServer(t)
	ctx, done := context.WithTimeout(t.Context(), time.Minute)
	defer done()
	names, err := NewSubject("", "", "bead")
	if err != nil {
		t.Fatal(err)
	}
	first, second := names.Results(time.Hour, 1<<20, 1), names.Results(2*time.Hour, 1<<20, 1)
	if _, made, err := first.Settle(ctx, streams(t, admin)); err != nil || !made {
		t.Fatalf("made %v, %v", made, err)
	}
	s, made, err := second.Settle(ctx, streams(t, worker))
	if s == nil || made || !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), "max_age: found 1h0m0s, expected 2h0m0s") {
		t.Errorf("found %v, %v for a user who may not change it", made, err)
	}
	if s, made, err = second.Settle(ctx, streams(t, admin)); err != nil || made || s.CachedInfo().Config.MaxAge != 2*time.Hour {
		t.Errorf("found %v, %v", made, err)
	}
	if s, _, err = second.Settle(ctx, streams(t, worker)); err != nil || s == nil {
		t.Errorf("found %v for a user who may not change what is as it should be", err)
	}
}

// TestRefusedBefore: the refusal of one request does not affect a later request on the same connection.
func TestRefusedBefore(t *testing.T) {
	_, worker := guardedServer(t)
	js := streams(t, worker)
	names, err := NewSubject("", "", "bead")
	if err != nil {
		t.Fatal(err)
	}
	r := names.Laws(1)
	for range 2 { // both attempts are refused
		if _, _, err := r.Ensure(t.Context(), js); !errors.Is(err, ErrForbidden) {
			t.Fatalf("found %v for a user who may not make it", err)
		}
	}
	slow := func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * refusedEvery):
			return nil
		}
	}
	if err := guarded(t.Context(), js, "CREATE."+r.Name(), slow); err != nil {
		t.Errorf("found %v for what the server has not refused", err)
	}
}
