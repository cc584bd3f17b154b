package sinks

import (
	"context"
	"math"
	"testing"
	"time"

	"go.uber.org/goleak"

	"driftscope/internal/bus"
	"driftscope/internal/config"
	"driftscope/internal/latent"
)

// TestMain fails the suite when a goroutine outlives it, but for one: nats.go 1.55.0 leaves a goroutine behind where an object was put before that goroutine had begun, on a busy
// machine: it waits on a channel that is nil by then.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect"))
}

// decoder gives options as a configuration would.
func decoder(t testing.TB, options map[string]any) func(any) error {
	t.Helper()
	c, err := config.NewComponent("sink", options)
	if err != nil {
		t.Fatal(err)
	}
	return c.Decode
}

func newBus(t *testing.T) *bus.Conn {
	t.Helper()
	b, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func closeSink(t *testing.T, s Sink) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
}

var noon = time.Date(2026, 5, 6, 12, 0, 0, 123456789, time.FixedZone("CEST", 7200))

// estimate is frame seq's, with a law of the given revision.
func estimate(seq, revision uint64) *latent.Estimate {
	return &latent.Estimate{
		Latent:  latent.Latent{Seq: seq, Time: noon, Trajectory: 2, Dropped: 3, Mean: []float64{0.5, -1e-9}, SD: []float64{0.1, 1}, Light: 190},
		Drift:   []float64{-2, 1e300},
		Latency: 1500 * time.Microsecond,
		NIS:     2.5, Filtered: []float64{0.25, 0}, FilteredSD: []float64{0.05, 0.5},
		Horizons: []float64{0.1}, Forecast: []float64{0.125, math.NaN()}, ForecastSD: []float64{0.5, 1},
		SDE: latent.SDE{
			Revision: revision, Transitions: 9, Seconds: 0.3, Sigma: []float64{1, 2}, SigmaLow: []float64{0.9, 1.9},
			SigmaHigh: []float64{1.1, 2.1}, Diffusion: []float64{0.5, 2}, Noise: []float64{0.01, 0.02},
			Activity: []latent.Activity{latent.Active, latent.Undecided}, ActiveCount: 1, CRLB: 0.25, DriftRevision: 4, Held: 5,
		},
	}
}

func event() *latent.Event {
	return &latent.Event{Seq: 7, Time: noon, Level: latent.Warning, Code: "queue_full", Text: "a \"quoted\" text\x1b[2J", Count: 3}
}

// trigger is where the zone well is entered, by frame seq.
func trigger(seq uint64) *latent.Trigger {
	return &latent.Trigger{
		Seq: seq, Time: noon, Name: "well", Rule: "zone", On: true, Value: 0.25, Unit: "latent",
		Filtered: []float64{0.25, math.NaN()}, Centroid: []float64{250.5, 9}, Latency: 1500 * time.Microsecond,
	}
}

func health() *latent.Health {
	return &latent.Health{
		Time: noon, State: "tracking", UptimeS: 12, Frames: 20, Tracked: 18, Dropped: map[string]uint64{"queue_full": 2}, Alarms: map[string]uint64{"bleached": 1}, FPS: 29.5,
		Published: 40, Stages: []latent.Stage{{Name: "read", P50MS: 1, P95MS: 2, P99MS: 3}},
	}
}

func view() *latent.View {
	return &latent.View{Seq: 7, Time: noon, Preview: []byte{0xff, 0xd8}, Reconstruction: []byte{1}}
}
