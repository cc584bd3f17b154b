package site

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"driftscope/internal/suite"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestOneWinner: of forty claimants of one lease, one gets it. After each release another gets it at once, with a larger epoch. Never two hold it.
func TestOneWinner(t *testing.T) {
	js := jetStream(t, embedded(t))
	var (
		holders atomic.Int32
		mu      sync.Mutex
		epochs  []uint64
		all     sync.WaitGroup
	)
	const workers, each = 8, 5
	begun := time.Now()
	for i := range workers {
		b := worker(t, js, fmt.Sprint("w", i))
		for range each {
			all.Go(func() {
				h, err := b.Await(suite.Soon(t), "bead", 0)
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d hold one lease", n)
				}
				mu.Lock()
				epochs = append(epochs, h.Epoch())
				mu.Unlock()
				if !h.Valid() {
					t.Error("a lease that was just claimed is not valid")
				}
				holders.Add(-1)
				if err := h.Release(suite.Soon(t), ""); err != nil {
					t.Error(err)
				}
				if h.Valid() || !errors.Is(h.Err(), ErrReleased) {
					t.Errorf("after Release it is valid: %v, %v", h.Valid(), h.Err())
				}
			})
		}
	}
	all.Wait()
	if len(epochs) != workers*each || !slices.IsSorted(epochs) || len(slices.Compact(epochs)) != workers*each {
		t.Errorf("found epochs %v, expected %d that grow", epochs, workers*each)
	}
	// The first claim waits for a TTL of watching; later ones do not.
	if took := time.Since(begun); took > time.Second+slack {
		t.Errorf("%d hand-overs took %v", workers*each, took)
	} else {
		t.Logf("%d hand-overs took %v", workers*each, took)
	}
}

// TestKilled: after a holder dies without a release, another gets its lease within a TTL and a second.
func TestKilled(t *testing.T) {
	js := jetStream(t, embedded(t))
	next := worker(t, js, "next")
	var worst time.Duration
	for i := range 3 {
		b := worker(t, js, fmt.Sprint("w", i))
		stream := fmt.Sprint("bead", i)
		h := awaited(t, b, stream, 0)
		time.Sleep(time.Duration(i) * 150 * time.Millisecond)
		b.Close() // sends nothing to the server
		died := time.Now()
		if h.Valid() {
			t.Error("a lease is valid after Close")
		}
		n := awaited(t, next, stream, h.Epoch())
		took := time.Since(died)
		worst = max(worst, took)
		if took > 2*time.Second {
			t.Errorf("taken over after %v, expected within a TTL of 1s and a second", took)
		}
		if n.Epoch() <= h.Epoch() {
			t.Errorf("epoch %d follows %d", n.Epoch(), h.Epoch())
		}
	}
	t.Logf("taken over after %v at most", worst)
}

// TestFrozen: if a holder's renewals stop at any moment, for any time, its lease becomes invalid before another gets it. Sixty parallel trials.
func TestFrozen(t *testing.T) {
	js := jetStream(t, embedded(t))
	a, b := worker(t, js, "a"), worker(t, js, "b")
	const trials, seed = 60, 34
	random := rand.New(rand.NewPCG(seed, 0))
	var frozen sync.Map // by stream, a channel that closes when the holder resumes
	a.hinder = func(ctx context.Context, w *write) error {
		if thaw, ok := frozen.Load(w.key); ok {
			<-thaw.(chan struct{})
		}
		return nil
	}
	var all sync.WaitGroup
	var lasted atomic.Int32
	for i := range trials {
		before, asleep := time.Duration(random.IntN(1500))*time.Millisecond, time.Duration(300+random.IntN(2500))*time.Millisecond
		all.Go(func() {
			stream := fmt.Sprint("bead", i)
			h := awaited(t, a, stream, 0)
			time.Sleep(before)
			thaw := make(chan struct{})
			frozen.Store(stream, thaw)
			time.AfterFunc(asleep, func() { frozen.Delete(stream); close(thaw) })
			ctx, done := context.WithTimeout(context.Background(), asleep+3*time.Second)
			defer done()
			n, err := b.Await(ctx, stream, h.Epoch())
			switch valid := h.Valid(); {
			case err == nil && valid:
				t.Errorf("%s: two hold it, after %v asleep", stream, asleep)
			case err == nil && (n.Epoch() <= h.Epoch() || h.Err() == nil):
				t.Errorf("%s: epoch %d follows %d; the first was lost by %v", stream, n.Epoch(), h.Epoch(), h.Err())
			case err != nil && !valid:
				t.Errorf("%s: nobody has it after %v: %v", stream, asleep, err)
			case err != nil:
				lasted.Add(1)
			}
		})
	}
	all.Wait()
	if n := lasted.Load(); n == 0 || n > trials/2 {
		t.Errorf("%d of %d leases lasted, expected some: those that slept for less than a third of a TTL", n, trials)
	}
}

// TestAnswerLost: a claim, renewals and a release whose first answers are lost are sent again, and take effect once.
func TestAnswerLost(t *testing.T) {
	js := jetStream(t, embedded(t))
	a := worker(t, js, "a")
	var mu sync.Mutex
	lost := map[string]bool{} // ids of writes
	a.hinder = func(ctx context.Context, w *write) error {
		mu.Lock()
		defer mu.Unlock()
		if lost[w.id] {
			return nil
		}
		lost[w.id] = true
		m := &nats.Msg{Subject: "$KV.leases." + w.key, Data: w.value, Header: nats.Header{}}
		if _, err := js.PublishMsg(ctx, m, jetstream.WithMsgID(w.id), jetstream.WithExpectLastSequencePerSubject(w.expected)); err != nil {
			t.Error(err)
		}
		return errors.New("the answer is lost")
	}
	h := awaited(t, a, "bead", 0)
	time.Sleep(2 * time.Second) // six renewals
	if !h.Valid() {
		t.Errorf("the lease is lost: %v", h.Err())
	}
	if err := h.Release(suite.Soon(t), ""); err != nil {
		t.Error(err)
	}
	if n := len(lost); n < 5 {
		t.Errorf("%d answers were lost, expected those of a claim, renewals and a release", n)
	}
}

// TestOwnAgain: a holder that was disconnected gets its lease again at once, with a larger epoch, if no other took it.
func TestOwnAgain(t *testing.T) {
	js := jetStream(t, embedded(t))
	a := worker(t, js, "a", func(o *Options) { o.TTL = 6 * time.Second })
	var away atomic.Bool
	a.hinder = func(context.Context, *write) error {
		if away.Load() {
			return errors.New("away")
		}
		return nil
	}
	h := awaited(t, a, "bead", 0)
	away.Store(true)
	<-h.Lost()
	if h.Valid() || !errors.Is(h.Err(), ErrFenced) {
		t.Errorf("cut off: valid %v, %v", h.Valid(), h.Err())
	}
	away.Store(false)
	again := time.Now()
	n := awaited(t, a, "bead", h.Epoch())
	if took := time.Since(again); took > time.Second || n.Epoch() <= h.Epoch() {
		t.Errorf("again after %v with epoch %d, before it was %d", took, n.Epoch(), h.Epoch())
	}
}

// TestHandOver: the worker to which a lease is handed over gets it, even if others claim first. If it does not claim, others get the lease after some seconds.
func TestHandOver(t *testing.T) {
	js := jetStream(t, embedded(t))
	a, b, c := worker(t, js, "a"), worker(t, js, "b"), worker(t, js, "c")
	h := awaited(t, a, "bead", 0)
	if err := h.Release(suite.Soon(t), "c"); err != nil {
		t.Fatal(err)
	}
	var other atomic.Bool
	var asked sync.WaitGroup
	asked.Go(func() {
		if n, err := b.Await(suite.Soon(t), "bead", 0); err == nil {
			other.Store(true)
			_ = n.Release(suite.Soon(t), "")
		}
	})
	time.Sleep(200 * time.Millisecond)
	n := awaited(t, c, "bead", h.Epoch())
	if other.Load() || n.Epoch() <= h.Epoch() {
		t.Error("another took what was handed over to c")
	}
	if err := n.Release(suite.Soon(t), "nobody"); err != nil {
		t.Fatal(err)
	}
	let := time.Now()
	asked.Wait()
	if took := time.Since(let); !other.Load() || took > handOver+slack {
		t.Errorf("b has it (%v) after %v, expected after %v: nobody came", other.Load(), took, handOver)
	}
}

// TestForgotten: a key that the server does not expire is taken once its revision has not changed for a TTL, not before. This includes an invalid record.
func TestForgotten(t *testing.T) {
	for name, value := range map[string]string{
		"record": `{"worker":"x","id":"ABC","since":"2099-01-01T00:00:00Z","epoch":9007199254740991}`, "garbage": "{{{", "empty": "",
		"name": `{"worker":"no such name","id":"A"}`, "to": `{"worker":"x","id":"A","to":"b"}`, "number": "17", "null": "null",
	} {
		t.Run(name, func(t *testing.T) {
			js := jetStream(t, embedded(t))
			var now atomic.Int64
			clock := func(o *Options) {
				o.clock, o.TTL = func() time.Duration { return time.Duration(now.Load()) }, MostTTL
			}
			b := worker(t, js, "b", clock)
			_, err := bucketOf(t, js).Put(t.Context(), "bead", []byte(value))
			must(t, err)
			suite.Until(t, func() bool { return len(b.all()) == 1 })
			for _, step := range []struct {
				to   time.Duration
				held bool
			}{{0, false}, {MostTTL - 1, false}, {MostTTL, true}} {
				now.Store(int64(step.to))
				h, err := b.Claim(suite.Soon(t), "bead", 0)
				if held := err == nil; held != step.held {
					t.Fatalf("after %v: claimed: %v (%v), expected %v", step.to, held, err, step.held)
				}
				if step.held && (!h.Valid() || h.Epoch() > 1<<45) {
					t.Errorf("valid: %v, epoch %d", h.Valid(), h.Epoch())
				}
			}
		})
	}
}

// TestForged: a client that overwrites or deletes a lease ends it within one renewal. The holder gets it again, with a larger epoch. In between no process
// considers it valid.
func TestForged(t *testing.T) {
	js := jetStream(t, embedded(t))
	a, b := worker(t, js, "a"), worker(t, js, "b")
	kv := bucketOf(t, js)
	h := awaited(t, a, "bead", 0)
	for name, forge := range map[string]func() error{
		"garbage": func() error { _, err := kv.Put(t.Context(), "bead", []byte("\xff\x00")); return err },
		"free": func() error {
			_, err := kv.Put(t.Context(), "bead", Record{Worker: "evil", ID: "evil", Free: true}.bytes())
			return err
		},
		"copy":    func() error { _, err := kv.Put(t.Context(), "bead", h.Record().bytes()); return err },
		"deleted": func() error { return kv.Delete(t.Context(), "bead") },
		"purged":  func() error { return kv.Purge(t.Context(), "bead") },
	} {
		if err := forge(); err != nil {
			t.Fatal(name, err)
		}
		select {
		case <-h.Lost():
		case <-time.After(time.Second + slack):
			t.Fatalf("%s: the lease is not lost", name)
		}
		if !errors.Is(h.Err(), ErrStolen) && !errors.Is(h.Err(), ErrFenced) {
			t.Errorf("%s: it is lost by %v", name, h.Err())
		}
		from := b
		if name == "free" {
			from = a
		}
		n := awaited(t, from, "bead", h.Epoch())
		if n.Epoch() <= h.Epoch() {
			t.Errorf("%s: epoch %d follows %d", name, n.Epoch(), h.Epoch())
		}
		h = n
	}
	if _, err := kv.Put(t.Context(), "bead", make([]byte, 1<<20)); err == nil {
		t.Error("a value of 1 MiB was taken")
	}
	if _, err := kv.Put(t.Context(), "a.b.c", nil); err != nil {
		t.Fatal(err)
	}
	suite.Until(t, func() bool { return bad(a) >= 2 })
}

// TestDeleted: a bucket that is deleted while leases are held is made again. The leases are lost and claimed again with larger epochs, and never held twice.
func TestDeleted(t *testing.T) {
	js := jetStream(t, embedded(t))
	workers := []*Leases{worker(t, js, "a"), worker(t, js, "b")}
	h := awaited(t, workers[0], "bead", 0)
	for i := range 3 {
		if err := js.DeleteKeyValue(t.Context(), "leases"); err != nil {
			t.Fatal(err)
		}
		n := awaited(t, workers[(i+1)%2], "bead", 0)
		if h.Valid() || h.Err() == nil {
			t.Error("two hold it")
		}
		if n.Epoch() <= h.Epoch() {
			t.Errorf("epoch %d follows %d", n.Epoch(), h.Epoch())
		}
		h = n
	}
	if n := remade(workers[0]) + remade(workers[1]); n < 3 { // one may miss a bucket that the other made and that was deleted
		t.Errorf("made again %d times, expected 3 at least", n)
	}
	for _, b := range workers {
		b.Close()
	}
	if err := js.DeleteKeyValue(t.Context(), "leases"); err != nil { // and no running process knows the bucket
		t.Fatal(err)
	}
	if n := awaited(t, worker(t, js, "c"), "bead", 0); n.Epoch() <= h.Epoch() {
		t.Errorf("made by another: epoch %d follows %d", n.Epoch(), h.Epoch())
	}
}

// TestEpochBeyond: an epoch that is not larger than the last is refused. A new bucket begins with larger epochs, for any time of the server's clock.
func TestEpochBeyond(t *testing.T) {
	js := jetStream(t, embedded(t))
	a := worker(t, js, "a")
	const last = 1 << 45
	if _, err := a.Await(suite.Soon(t), "bead", last); !errors.Is(err, ErrEpoch) || !strings.Contains(err.Error(), "leases") {
		t.Fatalf("found %v, expected that the epoch is refused", err)
	}
	if _, err := a.Claim(suite.Soon(t), "bead", 1<<53); !errors.Is(err, ErrEpoch) {
		t.Errorf("found %v, expected that no such epoch can be", err)
	}
	if err := js.DeleteKeyValue(t.Context(), "leases"); err != nil {
		t.Fatal(err)
	}
	suite.Until(t, func() bool { return remade(a) == 1 })
	if h := awaited(t, a, "bead", last); h.Epoch() <= last {
		t.Errorf("epoch %d, expected more than %d", h.Epoch(), last)
	}
}

// TestRefusedLeases: invalid settings, and buckets that are unfit for leases.
func TestRefusedLeases(t *testing.T) {
	js := jetStream(t, embedded(t))
	for _, o := range []Options{
		{Worker: "a b"}, {Worker: "a", TTL: time.Millisecond}, {Worker: "a", TTL: time.Hour}, {Worker: "a", Replicas: 9}, {Worker: "a", Version: strings.Repeat("x", 65)},
	} {
		if err := o.check(); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	for name, c := range map[string]jetstream.KeyValueConfig{
		"memory": {TTL: time.Second, Storage: jetstream.MemoryStorage}, "endless": {}, "floor": {TTL: time.Second, Metadata: map[string]string{floorKey: "x"}},
	} {
		c.Bucket = name
		if _, err := js.CreateKeyValue(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		o := options(t, "a")
		must(t, o.check())
		if b, err := openLeases(t.Context(), js, name, o, writes); err == nil {
			b.Close()
			t.Errorf("a bucket was taken that is %s", name)
		} else if !strings.Contains(err.Error(), "delete the bucket") {
			t.Errorf("%s: %v does not say what to do", name, err)
		}
	}
	a := worker(t, js, "a")
	h := awaited(t, a, "bead", 0)
	if _, err := a.Claim(t.Context(), "no.dots", 0); err == nil {
		t.Error("a stream with a dot was taken")
	}
	if err := h.Release(t.Context(), "no dots"); err == nil || !h.Valid() {
		t.Errorf("a hand-over to nobody: %v", err)
	}
}

// TestReadLeases: a user without the right to make a consumer reads the existing leases, and cannot claim.
func TestReadLeases(t *testing.T) {
	js := jetStream(t, embedded(t))
	if _, err := leases(t, js, options(t, ""), reads); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("found %v, expected that there is no bucket", err)
	}
	a := worker(t, js, "a")
	h, free := awaited(t, a, "bead", 0), awaited(t, a, "free", 0)
	if err := free.Release(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	seer, err := leases(t, js, options(t, ""), reads)
	if err != nil {
		t.Fatal(err)
	}
	l := seer.all()
	if len(l) != 2 || l[0].State != Taken || l[0].Record.Epoch != h.Epoch() || l[1].State != Free || l[1].Record.To != "b" || seer.TTL() != a.TTL() {
		t.Errorf("found %+v", l)
	}
	if _, err := seer.Claim(t.Context(), "other", 0); !errors.Is(err, ErrReadOnly) {
		t.Errorf("found %v, expected that who reads claims nothing", err)
	}
	stream, err := js.Stream(t.Context(), "KV_leases")
	if err != nil {
		t.Fatal(err)
	}
	before := stream.CachedInfo().State.Consumers
	if _, err := leases(t, js, options(t, ""), reads); err != nil {
		t.Fatal(err)
	}
	if info, err := stream.Info(t.Context()); err != nil || info.State.Consumers != before {
		t.Errorf("%d consumers, %v, expected %d as before", info.State.Consumers, err, before)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := openLeases(over, js, "leases", seer.o, reads); err == nil {
		t.Error("what could not be read was given as read")
	}
}
