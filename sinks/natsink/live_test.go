package natsink

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/sinks/message"
	"driftscope/sinks/sinktest"
)

// TestLiveIsNeverStale: without durability, a subscriber never receives a message older than bus.MaxAge, even after the server was killed or disconnected.
func TestLiveIsNeverStale(t *testing.T) {
	t.Parallel()
	server := keeper(t)
	wire := bustest.NewWire(t, strings.TrimPrefix(server.URL(), "nats://"))
	b, err := bus.Connect(t.Context(), bus.Options{URL: "nats://" + wire.Address()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, err := New(sinktest.Decoder(t, nil), Env{Stream: "bead", Bus: b})
	if err != nil {
		t.Fatal(err)
	}
	defer sinktest.Close(t, s)
	var mu sync.Mutex
	oldest, got, gaps, last := time.Duration(0), 0, 0, uint64(0)
	nc, err := nats.Connect(server.URL(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	done, stop := context.WithCancel(t.Context())
	if _, err := nc.Subscribe("driftscope.local.bead.latent", func(m *nats.Msg) {
		r, err := message.Decode(latent.KindLatent, m.Data)
		if err != nil {
			t.Error(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		l := r.(*message.LatentRecord)
		oldest = max(oldest, time.Since(l.Time))
		if got++; got > 1 && l.Seq != last+1 {
			gaps++
		}
		if last = l.Seq; l.Seq >= 3000 && done.Err() == nil {
			stop()
		}
	}); err != nil {
		t.Fatal(err)
	}
	var lost int
	for n := 0; done.Err() == nil; n++ {
		switch n {
		case 500:
			server.Kill()
		case 1000:
			server.Run()
		case 2000:
			wire.Turn(suite.Lost)
			time.AfterFunc(outage(t, noticed), func() { wire.Turn(suite.Whole) })
		}
		e := sinktest.Estimate(uint64(n), 0)
		e.Latent.Time = time.Now()
		if err := s.Write(t.Context(), e); err != nil {
			lost++
		}
		time.Sleep(time.Millisecond)
		if n > 200_000 {
			t.Fatal("nothing arrives any more")
		}
	}
	mu.Lock() // a message may still be arriving
	defer mu.Unlock()
	t.Logf("%d arrived, %d were refused, %d gaps, the oldest was %v old", got, lost, gaps, oldest)
	if oldest > bus.MaxAge || gaps < 2 || lost == 0 {
		t.Errorf("the oldest was %v old, at most %v; %d gaps, %d refused", oldest, bus.MaxAge, gaps, lost)
	}
}

// BenchmarkNATS measures the time per frame of the sink's goroutine, only live and with the spool. The metric is the slowest of a hundred frames.
func BenchmarkNATS(b *testing.B) {
	for name, options := range map[string]map[string]any{"live": nil, "durable": durableOptions(b.TempDir())} {
		b.Run(name, func(b *testing.B) {
			conn, err := bus.Connect(b.Context(), bus.Options{URL: bus.Embedded, Store: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			s, err := New(sinktest.Decoder(b, options), Env{Stream: "bead", Bus: conn})
			if err != nil {
				b.Fatal(err)
			}
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				if err := s.Write(b.Context(), sinktest.Estimate(uint64(i), uint64(i/10)+1)); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
			if err := s.Close(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkBareNATS publishes the encoded frames of BenchmarkNATS on the embedded server, without the sink.
func BenchmarkBareNATS(b *testing.B) {
	conn := sinktest.Bus(b)
	encoder := message.Encoder{Stream: "bead"}
	var frames [10][]string // every tenth frame has a law
	for i := range frames {
		_, frames[i] = sinktest.Lines(b, encoder.Encode, sinktest.Estimate(uint64(i), 1))
	}
	for i := 0; b.Loop(); i++ {
		for _, line := range frames[i%len(frames)] {
			if err := conn.NATS().Publish("driftscope.local.bead.latent", []byte(line)); err != nil {
				b.Fatal(err)
			}
		}
	}
}
