package frames

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"driftscope/internal/flow/config"
	"driftscope/internal/kit/console"
)

// LoopCommand measures the loop.
type LoopCommand struct {
	FPS     float64       `name:"fps" default:"100" help:"Frames a second."`
	Seconds float64       `default:"30" help:"Seconds measured." placeholder:"S"`
	Warm    float64       `default:"20" help:"Seconds of learning the law before the measurement." placeholder:"S"`
	Readout time.Duration `default:"4.2ms" help:"From the end of an exposure to the frame's arrival: a gigabit line takes as long for a picture of 512x512 of 16 bits." placeholder:"TIME"`
	Lead    string        `help:"online.lead (default: auto plus the readout, which a camera's user knows)." placeholder:"TIME"`
	Seed    uint64        `default:"1" help:"Seed of the path and of the pixels."`
	JSON    bool          `name:"json" help:"Print one JSON object instead of a table."`
}

// Help describes the measurement, under the command's own help.
func (c *LoopCommand) Help() string {
	return "A molecule whirls and diffuses, by a law whose forecast errors are known in closed form. A camera films it, 512x512 pixels of 16 bits, each frame with the time of the end of its exposure, and delivers it after the readout; " +
		"run's own steps, encoder, estimator and sinks make triggers from it. The triggers are also published over NATS with views, and the sink serial writes a byte for each to a pseudo-terminal. " +
		"Photon to pin lasts from the end of the exposure, over the readout, until the byte is read. A real line adds 10 bits at its baud rate. The kernel passes bytes through a pseudo-terminal on a worker of its own, which waits on a busy machine, so the time to the driver is given, too. " +
		"The errors are those of the molecule's place when the byte arrives: of the last filtered latent, and of the trigger's forecast; their ratio is compared with the ratio that the law predicts."
}

// Bounds on a measurement.
const (
	leastFPS, mostFPS = 1, 1000
	mostSeconds       = 3600
	mostReadout       = time.Second
)

// Latency is the time from photon to pin, milliseconds.
type Latency struct {
	P50    float64 `json:"p50_ms"`
	P99    float64 `json:"p99_ms"`
	Max    float64 `json:"max_ms"`
	Jitter float64 `json:"jitter_sd_ms"` // the standard deviation
}

// Errors are root mean square distances in the specimen, when a byte arrives, µm.
type Errors struct {
	Seen      float64 `json:"seen_um"`       // filtered latent at its own frame
	Last      float64 `json:"last_um"`       // filtered latent when the byte arrives
	Forecast  float64 `json:"forecast_um"`   // the trigger's forecast
	Factor    float64 `json:"factor"`        // Last over Forecast
	Allowed   float64 `json:"factor_by_law"` // from the law itself, for these frames and arrivals
	MedianMS  float64 `json:"lead_ms"`       // median lead of the triggers
	OffLeadMS float64 `json:"lead_off_ms"`   // root mean square difference between arrivals and their lead
}

// LoopFindings is the result of bench loop.
type LoopFindings struct {
	Cores   int     `json:"cores"`
	FPS     float64 `json:"fps"`
	Seconds float64 `json:"seconds"`
	Readout float64 `json:"readout_ms"`
	Tracked uint64  `json:"frames_tracked"`
	Dropped uint64  `json:"frames_dropped"`
	Pulses  int     `json:"pulses"`
	Lost    int     `json:"pulses_lost"`     // triggers without a byte
	Written Latency `json:"photon_to_write"` // until the device's driver took the byte
	Latency Latency `json:"photon_to_pin"`   // until the other end read it

	AtDriver Errors `json:"error_at_write"`
	Errors   Errors `json:"error_at_arrival"`
}

// Run measures and prints.
func (c *LoopCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return console.Usage(err)
	}
	found, err := c.measure(ctx)
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted before everything was measured")
	case err != nil:
		return err
	case c.JSON:
		return json.NewEncoder(os.Stdout).Encode(found)
	}
	found.print(os.Stdout)
	return nil
}

func (c *LoopCommand) check() error {
	if !(c.FPS >= leastFPS && c.FPS <= mostFPS) {
		return fmt.Errorf("--fps: found %g, expected %d to %d", c.FPS, leastFPS, mostFPS)
	}
	if !(c.Seconds >= 1 && c.Seconds <= mostSeconds) || !(c.Warm >= 1 && c.Warm <= mostSeconds) {
		return fmt.Errorf("--seconds, --warm: found %g and %g, expected 1 to %d", c.Seconds, c.Warm, mostSeconds)
	}
	if c.Readout < 0 || c.Readout > mostReadout {
		return fmt.Errorf("--readout: found %v, expected 0s to %v", c.Readout, mostReadout)
	}
	if _, _, err := (&config.Online{Lead: c.Lead}).ReadLead(); err != nil {
		return fmt.Errorf("--lead: %w", err)
	}
	return nil
}

// lead returns online.lead.
func (c *LoopCommand) lead() string {
	switch {
	case c.Lead != "":
		return c.Lead
	case c.Readout == 0:
		return "auto"
	}
	return "auto+" + c.Readout.String()
}

// pulse is a trigger with its byte's arrival.
type pulse struct {
	took      time.Duration // since the end of the exposure
	lead      time.Duration
	seen, now [2]float64 // positions in the frame and at the byte's arrival, µm
	last      [2]float64 // position by the filtered latent
	forecast  [2]float64
}

// latency summarises pulses, at least one.
func latency(pulses []pulse) Latency {
	var ms []float64
	sum, square := 0.0, 0.0
	for _, p := range pulses {
		v := p.took.Seconds() * 1e3
		ms, sum, square = append(ms, v), sum+v, square+v*v
	}
	slices.Sort(ms)
	n := float64(len(ms))
	at := func(part float64) float64 { return ms[int(part*(n-1))] }
	return Latency{P50: at(0.5), P99: at(0.99), Max: at(1), Jitter: math.Sqrt(max(square/n-sum*sum/(n*n), 0))}
}

// errorsOf compares pulses with the truth, and with the limit of the law l. Given all frames so far, the molecule is at x̂ +
// e. When the byte arrives, L later, it is at Φ(x̂ + e) + η, with Φ = exp(AL) and η of variance q(L) per axis. So
//
//	E|z - Φx̂|² = ρ²|e|² + 2q,   E|z - x̂|² = |(Φ - 1)x̂|² + ρ²|e|² + 2q,   ρ = exp(-κL).
//
// |e|² is the measured error of the latents in their own frames.
func errorsOf(pulses []pulse, l law) Errors {
	var e Errors
	var seen, off, drift, noise float64
	var leads []time.Duration
	for _, p := range pulses {
		seen += distance2(p.last, p.seen)
	}
	seen /= float64(len(pulses))
	for _, p := range pulses {
		late := p.took.Seconds()
		e.Last += distance2(p.last, p.now)
		e.Forecast += distance2(p.forecast, p.now)
		drift += distance2(l.turned(p.last, late), p.last)
		rho := math.Exp(-l.kappa * late)
		noise += rho*rho*seen + 2*l.spread(late)
		d := (p.took - p.lead).Seconds() * 1e3
		off += d * d
		leads = append(leads, p.lead)
	}
	n := float64(len(pulses))
	slices.Sort(leads)
	e.Seen, e.Last, e.Forecast = math.Sqrt(seen), math.Sqrt(e.Last/n), math.Sqrt(e.Forecast/n)
	e.Factor, e.Allowed = e.Last/e.Forecast, math.Sqrt((drift+noise)/noise)
	e.MedianMS, e.OffLeadMS = leads[len(leads)/2].Seconds()*1e3, math.Sqrt(off/n)
	return e
}

func distance2(a, b [2]float64) float64 {
	x, y := a[0]-b[0], a[1]-b[1]
	return x*x + y*y
}

// print prints the findings.
func (f *LoopFindings) print(w io.Writer) {
	fmt.Fprintf(w, "A whirling molecule at %g frames/s for %g s, read out in %.1f ms, on %d cores: %d frames tracked, %d lost; %d pulses, %d lost.\n\n",
		f.FPS, f.Seconds, f.Readout, f.Cores, f.Tracked, f.Dropped, f.Pulses, f.Lost)
	fmt.Fprintln(w, "| from the photon, ms | p50 | p99 | longest | jitter (sd) |\n|---|---|---|---|---|")
	for _, row := range []struct {
		name string
		Latency
	}{{"to the driver", f.Written}, {"to the pin", f.Latency}} {
		fmt.Fprintf(w, "| %s | %.2f | %.2f | %.2f | %.2f |\n", row.name, row.P50, row.P99, row.Max, row.Jitter)
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "| error when the pulse is there, µm | last estimate | forecast | factor | factor that the law allows | off the lead, ms |\n|---|---|---|---|---|---|")
	for _, row := range []struct {
		name string
		*Errors
	}{{"at the driver", &f.AtDriver}, {"at the pin", &f.Errors}} {
		fmt.Fprintf(w, "| %s | %.4f | %.4f | %.3f | %.3f | %.2f |\n", row.name, row.Last, row.Forecast, row.Factor, row.Allowed, row.OffLeadMS)
	}
	fmt.Fprintf(w, "\nThe lead was %.2f ms in the median; an estimate is %.4f µm off in its own frame.\n", f.Errors.MedianMS, f.Errors.Seen)
}
