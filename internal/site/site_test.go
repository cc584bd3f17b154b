package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/suite"
)

// TestStreams: streams are added, moved, replaced and removed. Of two users who change a stream at once, one gets an error.
func TestStreams(t *testing.T) {
	changes(t, opened(t, embedded(t)))
}

// TestStreamsOfCluster: like TestStreams, on three servers.
func TestStreamsOfCluster(t *testing.T) {
	suite.Long(t)
	servers := bustest.Cluster(t, 3)
	changes(t, opened(t, connect(t, bus.Options{URL: servers.URL()}), func(o *Options) { o.Replicas = 3 }))
}

func changes(t *testing.T, s *Site) {
	added(t, s, "bead", "cell")
	if _, err := s.Add(t.Context(), stream("bead")); !errors.Is(err, ErrExists) {
		t.Errorf("added twice: %v", err)
	}
	must(t, s.Move(t.Context(), "bead", "w1"))
	var told, done atomic.Int32
	var both sync.WaitGroup
	read, err := s.Stream(t.Context(), "cell")
	must(t, err)
	for i := range 8 {
		both.Go(func() {
			changed := read
			changed.Worker = fmt.Sprint("w", i)
			switch _, err := s.Replace(t.Context(), changed); {
			case err == nil:
				done.Add(1)
			case errors.Is(err, ErrChanged):
				told.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	both.Wait()
	if done.Load() != 1 || told.Load() != 7 {
		t.Errorf("of eight that replaced one record at once %d did and %d were told", done.Load(), told.Load())
	}
	for range 8 {
		both.Go(func() {
			if err := s.Move(t.Context(), "bead", ""); err != nil && !errors.Is(err, ErrChanged) {
				t.Error(err)
			}
		})
	}
	both.Wait()
	suite.Until(t, func() bool {
		all := s.Now().Streams
		return len(all) == 2 && all[0].Name == "bead" && all[0].Worker == "" && all[1].Revision > read.Revision && all[0].Config == stream("bead").Config
	})
	must(t, s.Remove(t.Context(), "bead"))
	suite.Until(t, func() bool { return len(s.Now().Streams) == 1 && len(s.Now().Vanished) == 0 })
	for what, err := range map[string]error{
		"remove": s.Remove(t.Context(), "bead"), "move": s.Move(t.Context(), "bead", "w1"), "dots": s.Remove(t.Context(), "a.b"),
	} {
		if !errors.Is(err, ErrUnknown) {
			t.Errorf("%s of what is not there: %v", what, err)
		}
	}
	if _, err := s.Replace(t.Context(), stream("none")); !errors.Is(err, ErrUnknown) {
		t.Errorf("found %v, expected that there is nothing to replace", err)
	}
	added(t, s, "bead")
}

// TestRefused: invalid streams, and streams with secrets, are not added.
func TestRefused(t *testing.T) {
	s := opened(t, embedded(t))
	with := func(change func(*Stream)) Stream { x := stream("bead"); change(&x); return x }
	for says, x := range map[string]Stream{
		"name":           with(func(x *Stream) { x.Name = "a b" }),
		"config":         with(func(x *Stream) { x.Config = strings.Repeat("#", MostConfig+1) }),
		"UTF-8":          with(func(x *Stream) { x.Config = "\xff" }),
		"cores":          with(func(x *Stream) { x.Cores = -1 }),
		"worker":         with(func(x *Stream) { x.Worker = "a b" }),
		"labels":         with(func(x *Stream) { x.Labels = []string{""} }),
		"at most 32":     with(func(x *Stream) { x.Labels = make([]string, 33) }),
		"bead.yaml":      with(func(x *Stream) { x.Config += "nosuchkey: 1\n" }),
		"stream: found":  with(func(x *Stream) { x.Name = "cell" }),
		"${secret:NAME}": with(func(x *Stream) { x.Config += "nats: {url: \"nats://me:secret@host:4222\"}\n" }),
	} {
		if _, err := s.Add(t.Context(), x); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: found %v", says, err)
		} else if strings.Contains(err.Error(), "secret@") {
			t.Errorf("the secret is told: %v", err)
		}
	}
	if n := len(s.Now().Streams); n != 0 {
		t.Errorf("%d streams were added", n)
	}
}

// TestWorkers: a worker is listed while it announces itself, until a TTL later or its retirement. Another process cannot get its name before that.
func TestWorkers(t *testing.T) {
	c := embedded(t)
	a, double := opened(t, c, as("a")), opened(t, c, as("a"))
	w := Worker{Cores: 4, Labels: []string{"camera1"}, Version: "1", Since: time.Now(), Streams: []Running{{Stream: "bead", Epoch: 7}}}
	for range 3 {
		must(t, a.Announce(t.Context(), w))
	}
	suite.Until(t, func() bool {
		all := double.Workers()
		return len(all) == 1 && all[0].Name == "a" && all[0].ID == a.Held().ID() && all[0].Streams[0].Epoch == 7
	})
	if err := double.Announce(t.Context(), w); !errors.Is(err, ErrName) {
		t.Errorf("found %v, expected that the name is another's", err)
	}
	silent := time.Now()
	suite.Until(t, func() bool { return len(double.Workers()) == 0 })
	if took := time.Since(silent); took > 3*time.Second {
		t.Errorf("a silent worker was there for %v", took)
	}
	suite.Until(t, func() bool { return double.Announce(t.Context(), w) == nil })
	if err := a.Announce(t.Context(), w); !errors.Is(err, ErrName) {
		t.Errorf("found %v, expected that the name is the other's by now", err)
	}
	must(t, double.Retire(t.Context()))
	must(t, double.Retire(t.Context()))
	suite.Until(t, func() bool { return len(a.Workers()) == 0 })
	must(t, a.Announce(t.Context(), w))
	for says, bad := range map[string]Worker{"cores": {}, "labels": {Cores: 1, Labels: []string{"a b"}}, "version": {Cores: 1, Version: strings.Repeat("x", 65)},
		"load": {Cores: 1, Load: -1}, "a stream's name": {Cores: 1, Streams: []Running{{}}}, "at most 1000": {Cores: 1, Streams: make([]Running, 1001)}} {
		if err := a.Announce(t.Context(), bad); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: found %v", says, err)
		}
	}
	if err := opened(t, c).Announce(t.Context(), w); !errors.Is(err, ErrReadOnly) {
		t.Errorf("found %v, expected that who has no name is no worker", err)
	}
}

// TestVanished: a deleted or emptied bucket removes no stream. The loss is reported, and the streams continue until they are added again or removed.
func TestVanished(t *testing.T) {
	c := embedded(t)
	js, err := jetstream.New(c.NATS())
	must(t, err)
	var said lockedBuffer
	s := opened(t, c, as("a"), func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&said, nil)) })
	added(t, s, "bead", "cell", "dna")
	suite.Until(t, func() bool { return len(s.Now().Streams) == 3 })
	for name, end := range map[string]func() error{
		"deleted": func() error { return js.DeleteKeyValue(t.Context(), "driftscope_local_streams") },
		"purged": func() error {
			of, err := js.Stream(t.Context(), "KV_driftscope_local_streams")
			if err == nil {
				err = of.Purge(t.Context())
			}
			return err
		},
	} {
		must(t, end())
		suite.Until(t, func() bool { n := s.Now(); return n.Read && len(n.Streams) == 0 && len(n.Vanished) == 3 })
		suite.Until(t, func() bool { _, err := s.Add(t.Context(), stream("bead")); return err == nil })
		must(t, s.Remove(t.Context(), "cell"))
		suite.Until(t, func() bool {
			n := s.Now()
			return len(n.Streams) == 1 && len(n.Vanished) == 1 && n.Vanished[0].Name == "dna"
		})
		if err := s.Move(t.Context(), "dna", "b"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "add it again") {
			t.Errorf("%s: found %v, expected what to do", name, err)
		}
		added(t, s, "cell", "dna")
		suite.Until(t, func() bool { n := s.Now(); return len(n.Streams) == 3 && len(n.Vanished) == 0 })
	}
	for _, word := range []string{"level=ERROR", "deleted", "emptied", "vanished=3"} {
		if !strings.Contains(said.String(), word) {
			t.Errorf("%q was not told: %s", word, said.String())
		}
	}
	must(t, js.DeleteKeyValue(t.Context(), "driftscope_local_workers"))
	suite.Until(t, func() bool { return s.Announce(t.Context(), Worker{Cores: 1}) == nil })
	suite.Until(t, func() bool { return len(s.Workers()) == 1 })
}

// TestBad: an invalid record is ignored, named and counted. A valid record that it overwrote stays in effect.
func TestBad(t *testing.T) {
	c := embedded(t)
	s := opened(t, c)
	added(t, s, "bead")
	suite.Until(t, func() bool { return len(s.Now().Streams) == 1 })
	js, err := jetstream.New(c.NATS())
	must(t, err)
	for bucket, values := range map[string]map[string]string{
		"driftscope_local_streams": {"bead": "{", "x": `{"name":"y"}`, "a.b": `{"name":"a.b"}`, "n": "null", "long": `{"name":"long","config":"` + strings.Repeat("x", MostConfig+1) + `"}`},
		"driftscope_local_workers": {"w": `{"name":"w","id":"x","cores":1e999}`, "v": `[]`, "u": `{"name":"u","id":"x","cores":-1}`},
	} {
		kv, err := js.KeyValue(t.Context(), bucket)
		must(t, err)
		for key, value := range values {
			_, err := kv.Put(t.Context(), key, []byte(value))
			must(t, err)
		}
	}
	suite.Until(t, func() bool { return s.Now().BadAll == 8 })
	if n := s.Now(); len(n.Streams) != 1 || len(n.Workers) != 0 || len(n.Bad) != 8 || n.Bad[0].Key != "a.b" || n.Bad[0].Why == "" {
		t.Errorf("found %d streams, %d workers and %v", len(n.Streams), len(n.Workers), n.Bad)
	}
	must(t, s.Remove(t.Context(), "x"))
	suite.Until(t, func() bool { return len(s.Now().Bad) == 7 })
}

// TestWatch: snapshots arrive with every change, and every second, and give the plan. A reading site cannot change anything.
func TestWatch(t *testing.T) {
	c := embedded(t)
	a := opened(t, c, as("a"))
	ctx, stop := context.WithCancel(t.Context())
	shown := a.Watch(ctx)
	until := func(is func(Snapshot) bool) (last Snapshot) {
		t.Helper()
		for end := time.After(15 * time.Second); ; {
			select {
			case last = <-shown:
				if is(last) {
					return last
				}
			case <-end:
				t.Fatalf("the last snapshot is %+v", last)
			}
		}
	}
	must(t, a.Announce(t.Context(), Worker{Cores: 4}))
	added(t, a, "bead")
	plan := until(func(s Snapshot) bool { return s.Read && len(s.Workers) == 1 && len(s.Streams) == 1 })
	if p := plan.Plan(); p.Places["bead"] != "a" {
		t.Errorf("the plan says %v", p.Places)
	}
	h, err := a.Held().Await(t.Context(), "bead", 0)
	must(t, err)
	held := until(func(s Snapshot) bool { return len(s.Leases) == 1 && s.Leases[0].State == Taken })
	if l := held.Leases[0]; l.Record.Worker != "a" || l.Record.Epoch != h.Epoch() || held.holders()["bead"] != "a" {
		t.Errorf("found %+v, expected epoch %d", l, h.Epoch())
	}
	must(t, h.Release(t.Context(), "b"))
	handed := until(func(s Snapshot) bool { return len(s.Leases) == 1 && s.Leases[0].State == Free })
	if handed.holders()["bead"] != "b" {
		t.Error("what is handed over does not count as its next worker's")
	}
	until(func(s Snapshot) bool { return len(s.Workers) == 0 }) // no more writes
	seer, err := Read(t.Context(), c)
	must(t, err)
	defer seer.Close()
	for what, err := range map[string]error{"move": seer.Move(t.Context(), "bead", ""), "remove": seer.Remove(t.Context(), "bead"), "announce": seer.Announce(t.Context(), Worker{})} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := seer.Add(t.Context(), stream("x")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("add: %v", err)
	}
	if _, err := seer.Replace(t.Context(), stream("x")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("replace: %v", err)
	}
	stop()
	suite.Until(t, func() bool { _, open := <-shown; return !open })
}

// TestRead: Read reads a site once, only by requests, and changes nothing.
func TestRead(t *testing.T) {
	c := embedded(t)
	if _, err := Read(t.Context(), c); !errors.Is(err, ErrNone) {
		t.Errorf("found %v, expected that no worker has been here", err)
	}
	s := opened(t, c, as("hall-1"))
	added(t, s, "bead", "gone")
	must(t, s.Remove(t.Context(), "gone"))
	must(t, s.Announce(t.Context(), Worker{Cores: 2}))
	r, err := Read(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	now := r.Now()
	if !now.Read || len(now.Streams) != 1 || now.Streams[0].Name != "bead" || len(now.Workers) != 1 || now.Workers[0].Cores != 2 {
		t.Errorf("found %+v", now)
	}
	if x, err := r.Stream(t.Context(), "bead"); err != nil || x.Config != stream("bead").Config {
		t.Errorf("found %+v, %v", x, err)
	}
	if err := r.Move(t.Context(), "bead", "hall-2"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("found %v, expected that nothing is changed", err)
	}
}

// TestMost: records beyond the limits of a site are counted and ignored.
func TestMost(t *testing.T) {
	c := embedded(t)
	s := opened(t, c)
	s.streams.mu.Lock()
	s.streams.most = 2
	s.streams.mu.Unlock()
	added(t, s, "a", "b", "c")
	suite.Until(t, func() bool {
		n := s.Now()
		return len(n.Streams) == 2 && len(n.Bad) == 1 && strings.Contains(n.Bad[0].Why, "2 already")
	})
}

// lockedBuffer holds the output of a log, and can be read at the same time.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
