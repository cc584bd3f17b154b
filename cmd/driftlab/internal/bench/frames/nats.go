package frames

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/cmd/driftlab/internal/bench"
	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/console"
	"driftscope/internal/suite"
	"driftscope/sinks/message"
)

// NATSCommand measures the age of a latent when a subscriber receives it.
type NATSCommand struct {
	FPS     float64 `name:"fps" default:"100" help:"Frames a second."`
	Seconds float64 `default:"20" help:"Seconds measured." placeholder:"S"`
	Durable bool    `help:"Keep everything, as nats.durable does."`
	JSON    bool    `name:"json" help:"Print one JSON object instead of a table."`
	Alone   int     `hidden:"" help:"Track in this process, with the server on this port."`
}

// Help describes the measurement, under the command's own help.
func (c *NATSCommand) Help() string {
	return "The molecule of sim:molecule is shown as by a camera, every frame with its arrival time, and is tracked and published as by run, with views, on the embedded server. " +
		"Another process subscribes to the latents over loopback: latencies are from the frame's arrival until that process has the latent. Publishing is the run's own time to pass on a latent."
}

// Quantiles are quantiles of a time, milliseconds.
type Quantiles struct {
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
	P99 float64 `json:"p99_ms"`
	Max float64 `json:"max_ms"`
}

// quantilesOf sorts took, which is not empty.
func quantilesOf(took []time.Duration) Quantiles {
	slices.Sort(took)
	at := func(part float64) float64 {
		return float64(took[int(part*float64(len(took)-1))]) / float64(time.Millisecond)
	}
	return Quantiles{at(0.5), at(0.95), at(0.99), at(1)}
}

// publisherCost is the tracking process' own figures.
type publisherCost struct {
	Publish Quantiles      `json:"publish"`
	Stages  []latent.Stage `json:"stages"`
	Dropped uint64         `json:"dropped"` // frames
}

// NATSFindings is the result of bench nats.
type NATSFindings struct {
	Cores   int       `json:"cores"`
	FPS     float64   `json:"fps"`
	Seconds float64   `json:"seconds"`
	Durable bool      `json:"durable"`
	Latents int       `json:"latents"`
	Missed  uint64    `json:"missed"` // tracked latents that did not arrive
	Latency Quantiles `json:"latency"`
	publisherCost
}

// Run measures and prints.
func (c *NATSCommand) Run(ctx context.Context) error {
	if !(c.FPS >= 1 && c.FPS <= 1e4) || !(c.Seconds >= 0.1 && c.Seconds <= maxSeconds) {
		return console.Usage(fmt.Errorf("--fps, --seconds: found %g and %g, expected 1 to 10000 and 0.1 to %d", c.FPS, c.Seconds, maxSeconds))
	}
	if c.Alone != 0 {
		return c.alone(ctx)
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

// measure subscribes to a separate tracking process.
func (c *NATSCommand) measure(ctx context.Context) (found NATSFindings, err error) {
	self, err := os.Executable()
	if err != nil {
		return found, err
	}
	var ports suite.ReservedPorts
	defer ports.Close()
	port, err := ports.Next()
	if err != nil {
		return found, err
	}
	p := bench.Contender{Program: self, Threads: runtime.NumCPU(), Args: []string{"bench", "nats", "--alone", strconv.Itoa(port),
		"--fps", fmt.Sprint(c.FPS), "--seconds", fmt.Sprint(c.Seconds), "--durable=" + strconv.FormatBool(c.Durable)}}
	found = NATSFindings{Cores: runtime.NumCPU(), FPS: c.FPS, Seconds: c.Seconds, Durable: c.Durable}
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx, &found.publisherCost) }()
	seen := &consumer{}
	nc, err := nats.Connect(fmt.Sprintf("nats://127.0.0.1:%d", port), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	if err != nil {
		return found, errors.Join(err, <-ended)
	}
	_, err = nc.Subscribe("driftscope.local.molecule.latent", seen.take)
	err = errors.Join(err, <-ended)
	nc.Close()
	seen.mu.Lock()
	defer seen.mu.Unlock()
	if err == nil {
		err = seen.err
	}
	if err == nil && len(seen.ages) == 0 {
		err = errors.New("no latent arrived: measure for longer")
	}
	if err != nil {
		return found, err
	}
	found.Latents, found.Missed, found.Latency = len(seen.ages), seen.missed, quantilesOf(seen.ages)
	return found, nil
}

// consumer subscribes to latents.
type consumer struct {
	mu     sync.Mutex
	first  time.Time
	next   uint64
	ages   []time.Duration
	missed uint64
	err    error
}

// take records the age of a latent, after a warm-up.
func (c *consumer) take(m *nats.Msg) {
	now := time.Now()
	record, err := message.Decode(latent.KindLatent, m.Data)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.err = err
		return
	}
	l := record.(*message.LatentRecord)
	if c.first.IsZero() {
		c.first = now
	} else {
		c.missed += l.Seq - c.next - l.Dropped
	}
	if c.next = l.Seq + 1; now.Sub(c.first) > warmUp {
		c.ages = append(c.ages, now.Sub(l.Time))
	}
}

// print prints the findings.
func (f *NATSFindings) print(w io.Writer) {
	kept := "live"
	if f.Durable {
		kept = "live and kept"
	}
	fmt.Fprintf(w, "sim:molecule at %g frames/s, %s, on %d cores; %d latents, %d frames lost, %d messages lost. Milliseconds.\n\n", f.FPS, kept, f.Cores, f.Latents, f.Dropped, f.Missed)
	fmt.Fprintln(w, "| | p50 | p95 | p99 | longest |\n|---|---|---|---|---|")
	for _, row := range []struct {
		name string
		Quantiles
	}{{"from the frame's arrival until a subscriber has its latent", f.Latency}, {"publishing", f.Publish}} {
		fmt.Fprintf(w, "| %s | %.2f | %.2f | %.2f | %.2f |\n", row.name, row.P50, row.P95, row.P99, row.Max)
	}
	fmt.Fprint(w, "\np99 of each stage:")
	for _, s := range f.Stages {
		fmt.Fprintf(w, " %s %.2f", s.Name, s.P99MS)
	}
	fmt.Fprintln(w)
}
