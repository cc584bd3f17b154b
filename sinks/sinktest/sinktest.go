// Package sinktest has the shared parts of the sinks' tests: messages to write, options, a bus, and the end of a sink.
package sinktest

import (
	"context"
	"math"
	"testing"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/latent"
)

// Decoder returns options as a configuration would.
func Decoder(t testing.TB, options map[string]any) func(any) error {
	t.Helper()
	c, err := config.NewComponent("sink", options)
	if err != nil {
		t.Fatal(err)
	}
	return c.Decode
}

// Bus returns the server inside the program, open until the test ends.
func Bus(t testing.TB) *bus.Conn {
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

// Close ends a sink within 5 s.
func Close(t testing.TB, s interface{ Close(context.Context) error }) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
}

// Lines returns the records of messages, with their kinds, as encode emits them. encode is a message.Encoder's, whose own tests use this package.
func Lines(t testing.TB, encode func(latent.Message, func(latent.Kind, []byte) error) error, messages ...latent.Message) (kinds []latent.Kind, out []string) {
	t.Helper()
	for _, m := range messages {
		err := encode(m, func(kind latent.Kind, line []byte) error {
			kinds, out = append(kinds, kind), append(out, string(line))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return kinds, out
}

// Noon is the time of all messages here, with nanoseconds and a zone that is not UTC.
var Noon = time.Date(2026, 5, 6, 12, 0, 0, 123456789, time.FixedZone("CEST", 7200))

// Estimate returns the estimate of frame seq, with a law of the given revision.
func Estimate(seq, revision uint64) *latent.Estimate {
	return &latent.Estimate{
		Latent:  latent.Latent{Seq: seq, Time: Noon, Trajectory: 2, Dropped: 3, Mean: []float64{0.5, -1e-9}, SD: []float64{0.1, 1}, Light: 190},
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

// Event returns an event whose text has quotes and terminal control codes.
func Event() *latent.Event {
	return &latent.Event{Seq: 7, Time: Noon, Level: latent.Warning, Code: "queue_full", Text: "a \"quoted\" text\x1b[2J", Count: 3}
}

// Trigger returns the trigger of frame seq, which enters the zone well.
func Trigger(seq uint64) *latent.Trigger {
	return &latent.Trigger{
		Seq: seq, Time: Noon, Name: "well", Rule: "zone", On: true, Object: 9, Value: 0.25, Unit: "latent",
		Filtered: []float64{0.25, math.NaN()}, Centroid: []float64{250.5, 9}, Latency: 1500 * time.Microsecond,
		Lead: 12 * time.Millisecond, Forecast: []float64{0.5, math.NaN()}, ForecastSD: []float64{0.125, math.NaN()},
	}
}

// Health returns the health of a stream that tracks and has dropped frames.
func Health() *latent.Health {
	return &latent.Health{
		Time: Noon, State: "tracking", UptimeS: 12, Frames: 20, Tracked: 18, Dropped: map[string]uint64{"queue_full": 2}, Alarms: map[string]uint64{"bleached": 1}, FPS: 29.5,
		Published: 40, Stages: []latent.Stage{{Name: "read", P50MS: 1, P95MS: 2, P99MS: 3}},
	}
}

// View returns a view with pictures of two bytes and one byte.
func View() *latent.View {
	return &latent.View{Seq: 7, Time: Noon, Preview: []byte{0xff, 0xd8}, Reconstruction: []byte{1}}
}

// Hard returns an estimate with units, and with numbers that a careless writer loses.
func Hard() *latent.Estimate {
	e := Estimate(1<<53+1, 7)
	e.Latent.Mean = []float64{0.1 + 0.2, math.SmallestNonzeroFloat64}
	e.Latent.SD = []float64{math.MaxFloat64, math.NaN()}
	e.Latent.Centroid = []float64{31.25, 1.0 / 3}
	e.Drift = []float64{math.Copysign(0, -1), math.Inf(1)}
	e.SDE.Units = latent.Units{
		Calibration: latent.Calibrated, R2: []float64{0.9, 0.8}, PixelsPerLatentX: []float64{3, 0}, PixelsPerLatentY: []float64{0, 3},
		Px: latent.Spread{D: 4, Low: 3, High: 5, X: 4.5, Y: 3.5}, UM: latent.Spread{D: 0.04, Low: 0.03, High: 0.05, X: 0.045, Y: 0.035},
	}
	return e
}

// Wide returns an estimate of d latents.
func Wide(d int) *latent.Estimate {
	e := Estimate(0, 1)
	many := func(v float64) []float64 {
		list := make([]float64, d)
		for i := range list {
			list[i] = v * math.Sqrt(float64(i+2))
		}
		return list
	}
	e.Latent.Mean, e.Latent.SD, e.Drift, e.Filtered, e.FilteredSD = many(1), many(0.1), many(-3), many(1.01), many(0.05)
	e.Horizons, e.Forecast, e.ForecastSD = nil, nil, nil
	return e
}

// Field returns an estimate of a field with two objects. One of them was confirmed only with this frame.
func Field(seq uint64) *latent.Estimate {
	return &latent.Estimate{
		Latent: latent.Latent{Seq: seq, Time: Estimate(seq, 0).Latent.Time}, Latency: 1500 * time.Microsecond,
		Objects: &latent.Objects{
			Width: 640, Height: 480, PixelUM: 0.25, ID: []uint64{3, 18446744073709551615}, X: []float64{0.5, 639.12345}, Y: []float64{7, 1e-9}, SD: []float64{0.1, 0.25},
			D: []float64{math.NaN(), 2.5}, Doubt: []float64{0.5, 0}, Link: []float64{math.NaN(), 0.75}, Marks: []latent.Mark{latent.Predicted | latent.Doubtful, latent.Directed}, Left: 2,
			LocX: []float64{math.NaN(), 639.25}, LocY: []float64{math.NaN(), 0.5}, States: 2, State: []float64{0.25, 0.75, math.NaN(), math.NaN()},
			Earlier: []latent.Place{{Seq: seq - 1, ID: 3, X: 1, Y: 2, SD: 0.5, Filled: true}}, Swaps: []latent.Swap{{ID: 3, With: math.MaxUint64, Since: seq - 2, P: 0.25}},
		},
	}
}

// Track returns a track that has ended.
func Track(seq uint64) *latent.Track {
	return &latent.Track{Seq: seq, Time: Estimate(seq, 0).Latent.Time, ID: 3, Change: latent.Ended, Why: latent.Lost, First: 1, Last: 5, Frames: 4, X: 1, Y: 2, Path: 9,
		DriftX: 0.5, DriftY: -0.5, Runs: true, Px: latent.Range{D: 4, Low: 0, High: 6}, UM: latent.Range{D: 0.25, Low: 0, High: 0.375},
		Shrunk: latent.Range{D: 3.5, Low: 1, High: 5}, State: []float64{0.125, 0.875},
		Motion: &latent.Motion{Class: "free", Free: 0.75, Confined: 0.25, Alpha: latent.Bounds{Value: 1.125, Low: 0.5, High: 1.5}, Radius: math.NaN(), Speed: math.NaN()}}
}

// Population returns all objects of a field, without lengths in µm.
func Population(seq uint64) *latent.Population {
	return &latent.Population{Seq: seq, Time: Estimate(seq, 0).Latent.Time, Count: 2, Spots: 3, PerPixel: 0.001, Births: 5, Deaths: 3, Wrong: 0.125, Unlinked: 0, Faster: 0.0625, Slower: 0.25, Detected: 0.9, Template: 1.5, Tracks: 5, Steps: 40,
		Px: latent.Range{D: 4, Low: 3, High: math.NaN()}, Noise: 0.125, Edges: []float64{0.1, 1}, Spectrum: []float64{0.25, 0.75}, CommonX: 1, CommonY: -1, CommonSD: 0.5,
		ShiftX: 10, ShiftY: -10, DirectedN: 1,
		Law: &latent.PopulationLaw{Seq: seq - 1, Tracks: 7, Steps: 35, Spread: latent.Bounds{Value: 0.5, Low: 0.25, High: 0.75}, Rates: []float64{0, 0.5, 0.25, 0}, Nats: 12, Says: "2 states",
			States: []latent.StateLaw{
				{Px: latent.Range{D: 0.5, Low: 0, High: 1}, UM: latent.Range{D: 0.125, Low: 0, High: 0.25}, Share: latent.Bounds{Value: 0.25, Low: 0.125, High: 0.5}},
				{Px: latent.Range{D: 8, Low: 4, High: 16}, UM: latent.Range{D: 2, Low: 1, High: 4}, Share: latent.Bounds{Value: 0.75, Low: 0.5, High: 0.875}},
			}},
		Pairs:  &latent.Pairs{Distance: []float64{4, 8}, Force: []float64{1, -0.5}, Low: []float64{0.5, -1}, High: []float64{1.5, 0}, Count: []float64{100, 200}, Nats: -3},
		MapSeq: new(seq - 1),
		Map: &latent.FieldMap{X: []float64{16, 48}, Y: []float64{16, 16}, Width: []float64{32, 32}, VX: []float64{1, -1}, VY: []float64{0.5, 0.25}, SD: []float64{0.125, 0.25},
			D: []float64{4, 5}, DSD: []float64{0.5, 0.75}, Steps: []float64{300, 400}, Says: []string{"a trap at 32, 16"}}}
}

// Crowd returns the estimate of frame seq of a field with n objects. Every third was not detected, and doubt falls with the number. n places
// of the frame before become known with this frame.
func Crowd(seq uint64, n int) *latent.Estimate {
	e := Field(seq)
	o := e.Objects
	o.Reset()
	o.Width, o.Height = 640, 480
	for i := range n {
		x, mark := float64(i%600)+0.12345, latent.Mark(0)
		if i%3 == 0 {
			mark = latent.Predicted
		}
		o.ID, o.X, o.Y, o.SD, o.D = append(o.ID, uint64(i+1)), append(o.X, x), append(o.Y, x/2), append(o.SD, 0.1234), append(o.D, 1.2345)
		o.Doubt, o.Link, o.Marks = append(o.Doubt, 1/float64(i+2)), append(o.Link, 0.9), append(o.Marks, mark)
		o.Earlier = append(o.Earlier, latent.Place{Seq: seq - 1, ID: uint64(i + 1), X: x, Y: x / 2, SD: 0.1234})
	}
	return e
}
