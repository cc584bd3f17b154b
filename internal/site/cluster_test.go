package site

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/suite"
)

// TestCluster: three servers, leases in three replicas. The leader of the bucket's stream is killed again and again. Every stream soon has a
// worker again, with a larger epoch, and never two.
func TestCluster(t *testing.T) {
	suite.Long(t)
	servers := bustest.Cluster(t, 3)
	const streams, workers, kills = 4, 3, 2
	var (
		holder  [streams]atomic.Pointer[Held]
		last    [streams]atomic.Uint64
		work    sync.WaitGroup
		ends    = make(chan struct{})
		changes atomic.Int32
		buckets []*Leases
	)
	defer func() {
		close(ends)
		for _, b := range buckets {
			b.Close()
		}
		work.Wait()
	}()
	for i := range workers {
		js := jetStream(t, connect(t, bus.Options{URL: servers.URL()}))
		b := worker(t, js, fmt.Sprint("w", i), func(o *Options) { o.Replicas = 3 })
		for s := range streams {
			work.Go(func() {
				for {
					h, err := b.Await(suite.Soon(t), fmt.Sprint("bead", s), last[s].Load())
					if err != nil {
						return // Close
					}
					if before := holder[s].Load(); before != nil && before.Valid() {
						t.Errorf("stream %d: two hold it", s)
					}
					if before := last[s].Swap(h.Epoch()); before >= h.Epoch() {
						t.Errorf("stream %d: epoch %d follows %d", s, h.Epoch(), before)
					}
					holder[s].Store(h)
					changes.Add(1)
					select {
					case <-h.Lost():
					case <-ends:
						return
					}
				}
			})
		}
		buckets = append(buckets, b)
	}
	all := func() bool {
		for s := range holder {
			if h := holder[s].Load(); h == nil || !h.Valid() {
				return false
			}
		}
		return true
	}
	within := func(what string) {
		t.Helper()
		begun := time.Now()
		suite.Until(t, all, what)
		t.Logf("%s: every stream has a worker after %v; %d claims so far", what, time.Since(begun).Round(time.Millisecond), changes.Load())
	}
	within("start")
	for range kills {
		leader := servers.Leader("KV_leases")
		if leader < 0 {
			t.Fatal("nobody leads")
		}
		servers.Each()[leader].Kill()
		time.Sleep(time.Second) // more than a lease is valid
		within("leader killed")
		time.Sleep(2 * time.Second)
		within("later")
		servers.Each()[leader].Run()
		servers.Ready(3)
	}
}
