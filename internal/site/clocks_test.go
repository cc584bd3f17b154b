package site

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// TestForgottenEarly: a server whose clock jumps ahead forgets leases that are held, as after a purge. Neither a worker that has watched them nor a new
// worker takes a lease while its holder considers it valid.
func TestForgottenEarly(t *testing.T) {
	js := jetStream(t, embedded(t))
	a, b := worker(t, js, "a"), worker(t, js, "b")
	s, err := js.Stream(t.Context(), "KV_leases")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			stream := fmt.Sprint("bead", i)
			h := awaited(t, a, stream, 0)
			time.Sleep(time.Duration(i) * 40 * time.Millisecond)
			if err := s.Purge(t.Context(), jetstream.WithPurgeSubject("$KV.leases."+stream)); err != nil {
				t.Error(err)
				return
			}
			other := b
			if i%2 == 0 {
				other = worker(t, js, fmt.Sprint("fresh", i))
			}
			n := awaited(t, other, stream, h.Epoch())
			if h.Valid() || n.Epoch() <= h.Epoch() {
				t.Errorf("%s: epochs %d and %d; the first is valid: %v", stream, h.Epoch(), n.Epoch(), h.Valid())
			}
		})
	}
	all.Wait()
}

// TestClocksApart: workers whose clocks differ by a minute take over from each other as usual.
func TestClocksApart(t *testing.T) {
	js := jetStream(t, embedded(t))
	apart := func(by time.Duration) func(*Options) {
		return func(o *Options) { o.clock = func() time.Duration { return awake() + by } }
	}
	a, b := worker(t, js, "a", apart(time.Hour)), worker(t, js, "b", apart(time.Hour-time.Minute))
	h := awaited(t, a, "bead", 0)
	time.Sleep(1500 * time.Millisecond)
	if !h.Valid() {
		t.Fatal(h.Err())
	}
	a.Close()
	died := time.Now()
	n := awaited(t, b, "bead", h.Epoch())
	if took := time.Since(died); took > 2*time.Second || n.Epoch() <= h.Epoch() {
		t.Errorf("taken over after %v, epoch %d after %d", took, n.Epoch(), h.Epoch())
	}
}
