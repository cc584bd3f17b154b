package frames

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"

	"gonum.org/v1/gonum/mat"

	"driftscope/ingest/sim"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/latent"
	"driftscope/internal/job/stream"
	"driftscope/internal/suite"
	"driftscope/online/offline"
	"driftscope/sinks"
)

// boundaries are the borders of rules along each of the two latents, in which the whirl is half a unit wide: six rules
// trigger some forty times a second.
var boundaries = []float64{-0.2, 0, 0.2}

// arrival is a byte at the pin.
type arrival struct {
	letter byte
	at     time.Time
}

// board reads the pin until nothing more is written.
func board(pin io.Reader) (arrivals []arrival, err error) {
	chunk := make([]byte, 256)
	for {
		n, err := pin.Read(chunk)
		at := time.Now()
		for _, letter := range chunk[:n] {
			arrivals = append(arrivals, arrival{letter, at})
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return arrivals, nil
		} else if err != nil {
			return arrivals, err
		}
	}
}

// witness is a sink that records messages and passes them on.
type witness struct {
	sinks.Sink
	triggers []*latent.Trigger
	seqs     []uint64 // of the latents
	latents  []float64

	written map[uint64]time.Duration // by frame, from the exposure until the driver took the bytes
	first   uint64                   // first counted frame
}

func (w *witness) Write(ctx context.Context, m latent.Message) error {
	switch m := m.(type) {
	case *latent.Trigger:
		w.triggers = append(w.triggers, m)
	case *latent.Estimate:
		w.seqs, w.latents = append(w.seqs, m.Latent.Seq), append(w.latents, m.Latent.Mean...)
	}
	return w.Sink.Write(ctx, m)
}

// configuration returns a run's configuration with the rules and the pin.
func (c *LoopCommand) configuration(device string) (cfg config.Config, err error) {
	cfg = config.Default()
	cfg.Stream, cfg.NATS.Port, cfg.Online.Lead, cfg.Online.Seed = "loop", 0, c.lead(), c.Seed
	texts := map[string]any{}
	for axis := range 2 {
		for i, low := range boundaries {
			name := fmt.Sprintf("z%d-%d", axis+1, i)
			zone, err := config.NewComponent("zone", map[string]any{"name": name, "margin": 0.02, "box": map[string]any{fmt.Sprintf("z%d", axis+1): []float64{low, 1e3}}})
			if err != nil {
				return cfg, err
			}
			cfg.Triggers = append(cfg.Triggers, zone)
			on, off := letters(len(cfg.Triggers) - 1)
			texts[name] = map[string]any{"on": string(on), "off": string(off)}
		}
	}
	if cfg.Source, err = config.NewComponent("sim", map[string]any{"name": "molecule"}); err != nil { // selects the model; the camera here makes the pictures
		return cfg, err
	}
	serial, err := config.NewComponent("serial", map[string]any{"device": device, "rules": texts})
	cfg.Sinks = []config.Component{serial}
	return cfg, err
}

// letters returns the letters written for a rule.
func letters(rule int) (on, off byte) { return 'A' + byte(rule), 'a' + byte(rule) }

// measure runs the loop.
func (c *LoopCommand) measure(ctx context.Context) (found LoopFindings, err error) {
	pin, device, err := suite.OpenTerminal()
	if err != nil {
		return found, err
	}
	defer pin.Close()
	held, err := os.OpenFile(device, os.O_RDWR|syscall.O_NOCTTY, 0) // keeps the pin open before and after the sink
	if err != nil {
		return found, err
	}
	defer held.Close()
	cfg, err := c.configuration(device)
	if err != nil {
		return found, err
	}
	painter, err := sim.NewPainter(c.Seed)
	if err != nil {
		return found, err
	}
	period := time.Duration(float64(time.Second) / c.FPS).Round(grid)
	frames := uint64((c.Warm + c.Seconds) / period.Seconds())
	source := &camera{painter: painter, period: period, readout: c.Readout, path: whirl.walk(time.Duration(frames+1)*period+time.Second, c.Seed)}
	server, err := stream.Connect(ctx, cfg)
	if err != nil {
		return found, err
	}
	defer server.Close()
	seen := &witness{}
	written := map[uint64]time.Duration{} // by frame, until the device took its last trigger; only the one device's goroutine writes it
	s, err := stream.Behind(ctx, cfg, server, stream.Own{Source: source, Sink: func(s sinks.Sink) sinks.Sink {
		seen.Sink = s
		return seen
	}, Wrote: func(t *latent.Trigger, took time.Duration) { written[t.Seq] = t.Arrived.Sub(t.Time) + t.Latency + took }})
	if err != nil {
		return found, err
	}
	type outcome struct {
		arrivals []arrival
		err      error
	}
	read := make(chan outcome, 1)
	go func() {
		arrivals, err := board(pin)
		read <- outcome{arrivals, err}
	}()
	summary, err := s.Run(ctx, frames)
	pin.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) // bytes in flight still arrive
	pulses := <-read
	if err := errors.Join(err, pulses.err); err != nil {
		return found, err
	}
	found = LoopFindings{Cores: runtime.NumCPU(), FPS: c.FPS, Seconds: c.Seconds, Readout: c.Readout.Seconds() * 1e3, Tracked: summary.Tracked, Dropped: summary.FramesIn - summary.Tracked}
	seen.written, seen.first = written, uint64(c.Warm/period.Seconds())
	err = found.fill(source, seen, pulses.arrivals)
	return found, err
}

// fill compares writes and arrivals with the truth.
func (f *LoopFindings) fill(source *camera, seen *witness, arrivals []arrival) error {
	toUM, err := source.alignment(seen)
	if err != nil {
		return err
	}
	names := map[byte]string{}
	for axis := range 2 {
		for i := range boundaries {
			rule := axis*len(boundaries) + i
			on, off := letters(rule)
			names[on], names[off] = fmt.Sprintf("z%d-%d+", axis+1, i), fmt.Sprintf("z%d-%d-", axis+1, i)
		}
	}
	var pulses, drivers []pulse // at the pin, and at the driver
	for _, t := range seen.triggers {
		// Both are in the triggers' order: the next byte belongs to the trigger, or the trigger got none.
		if len(arrivals) == 0 || names[arrivals[0].letter] != t.Name+map[bool]string{true: "+", false: "-"}[t.On] {
			f.Lost++
			continue
		}
		arrived := arrivals[0].at
		if arrivals = arrivals[1:]; t.Seq < seen.first || len(t.Forecast) != 2 {
			continue
		}
		then, _ := source.path.at(time.Duration(t.Seq) * source.period)
		p := pulse{lead: t.Lead, seen: then, last: toUM(t.Filtered), forecast: toUM(t.Forecast)}
		for _, of := range []struct {
			list *[]pulse
			took time.Duration
		}{{&pulses, arrived.Sub(t.Time)}, {&drivers, seen.written[t.Seq]}} {
			var inside bool
			if p.now, inside = source.path.at(time.Duration(t.Seq)*source.period + of.took); !inside {
				return fmt.Errorf("a pulse arrived %v after its frame, when the path had ended: the machine is overloaded", of.took)
			}
			p.took = of.took
			*of.list = append(*of.list, p)
		}
	}
	if f.Pulses = len(pulses); f.Pulses == 0 {
		return errors.New("no pulse arrived: measure for longer")
	}
	f.Written, f.Latency = latency(drivers), latency(pulses)
	f.AtDriver, f.Errors = errorsOf(drivers, whirl), errorsOf(pulses, whirl)
	return nil
}

// alignment fits the map from latents to µm, because a model's latents have their own axes and units.
func (c *camera) alignment(seen *witness) (func(z []float64) [2]float64, error) {
	var z, truth []float64
	for i, seq := range seen.seqs {
		if at, inside := c.path.at(time.Duration(seq) * c.period); inside && seq >= seen.first {
			z, truth = append(z, seen.latents[2*i:2*i+2]...), append(truth, at[:]...)
		}
	}
	if len(z) == 0 {
		return nil, errors.New("nothing was tracked: measure for longer")
	}
	m, err := offline.Affine(mat.NewDense(len(z)/2, 2, z), mat.NewDense(len(z)/2, 2, truth))
	if err != nil {
		return nil, err
	}
	return func(z []float64) [2]float64 {
		at := m.Apply(mat.NewDense(1, 2, append([]float64(nil), z...)))
		return [2]float64{at.At(0, 0), at.At(0, 1)}
	}, nil
}
