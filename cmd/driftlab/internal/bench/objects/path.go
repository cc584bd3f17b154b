package objects

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
	"gocv.io/x/gocv"

	"driftscope/cmd/driftlab/internal/bench"
	"driftscope/ingest/sim/field"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/job/stream"
	"driftscope/internal/suite"
	"driftscope/sinks/message"
)

// The whole path: run's stages, views included, track and publish a film in memory in a separate process; this process
// subscribes to the objects.
const (
	pathStream = "field"
	pathFilm   = 60 // frames, shown forwards and backwards so that no object jumps
	pathWarm   = 2 * time.Second
	latencyFPS = 50.0 // rate for latencies

	recorded = 20 * time.Millisecond // frame interval of the film as a recording
)

// path is the result for the whole path.
type path struct {
	FPS  float64 // at full speed
	P50  float64 // ms from a frame's arrival until the subscriber has its objects, at latencyFPS
	P99  float64
	Peak float64 // MiB of the tracking process, without the film
}

// measurePath runs the path at full speed and at a camera's rate.
func (c *Command) measurePath(ctx context.Context, o field.Options) (path, error) {
	fast, err := c.subscribe(ctx, o, 0)
	if err != nil {
		return path{}, err
	}
	paced, err := c.subscribe(ctx, o, latencyFPS)
	if err != nil {
		return path{}, err
	}
	p := path{FPS: fast.rate(), Peak: max(fast.peak, paced.peak)}
	slices.Sort(paced.ages)
	at := func(part float64) float64 {
		return float64(paced.ages[int(part*float64(len(paced.ages)-1))]) / float64(time.Millisecond)
	}
	p.P50, p.P99 = at(0.5), at(0.99)
	return p, nil
}

// subscriber is the receiving end of the path.
type subscriber struct {
	mu          sync.Mutex
	first, last time.Time // times of messages after the warm-up
	begun       time.Time
	frames      int
	ages        []time.Duration
	peak        float64
	err         error
}

// rate returns the frames per second between the first message and the last.
func (s *subscriber) rate() float64 { return float64(s.frames-1) / s.last.Sub(s.first).Seconds() }

// subscribe starts the path in a separate process, with or without a frame rate, and listens.
func (c *Command) subscribe(ctx context.Context, o field.Options, fps float64) (*subscriber, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var ports suite.ReservedPorts
	defer ports.Close()
	port, err := ports.Next()
	if err != nil {
		return nil, err
	}
	p := bench.Contender{Program: self, Threads: runtime.NumCPU(), Args: []string{"bench", "objects", "--alone", strconv.Itoa(port), "--pace", fmt.Sprint(fps), "--seconds", fmt.Sprint(c.Seconds), "--model", c.Model,
		"--scenario", string(o.Scenario), "--density", strconv.Itoa(o.Density), "--snr", fmt.Sprint(o.SNR), "--size", strconv.Itoa(o.Width)}}
	s, ended := &subscriber{}, make(chan error, 1)
	var told struct {
		Peak float64 `json:"peak_mib"`
	}
	go func() { ended <- p.Run(ctx, &told) }()
	nc, err := nats.Connect(fmt.Sprintf("nats://127.0.0.1:%d", port), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	if err != nil {
		return nil, errors.Join(err, <-ended)
	}
	_, err = nc.Subscribe("driftscope.local."+pathStream+"."+string(latent.KindObjects), s.take)
	err = errors.Join(err, <-ended)
	nc.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peak = told.Peak; err == nil {
		err = s.err
	}
	if err == nil && s.frames < 2 {
		err = errors.New("too few objects arrived: measure for longer, with --seconds")
	}
	return s, err
}

// take handles every message.
func (s *subscriber) take(m *nats.Msg) {
	now := time.Now()
	record, err := message.Decode(latent.KindObjects, m.Data)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.err = err
		return
	}
	if s.begun.IsZero() {
		s.begun = now
	}
	if now.Sub(s.begun) < pathWarm {
		return
	}
	if s.frames++; s.frames == 1 {
		s.first = now
	}
	s.last = now
	s.ages = append(s.ages, now.Sub(record.(*message.ObjectsRecord).Time))
}

// alone tracks a film in this process, with the server on a port, and prints its memory without the film.
func (c *Command) alone(ctx context.Context) error {
	cfg := config.Default()
	cfg.Stream, cfg.Model, cfg.NATS.Port, cfg.Objects.Enabled, cfg.Dashboard.Address = pathStream, c.Model, c.Alone, true, config.DashboardOff
	source, err := newCinema(field.Options{Scenario: field.Scenario(c.Scenario[0]), Density: c.Density[0], SNR: c.SNR[0], Width: c.Size[0], Height: c.Size[0], Frames: pathFilm, Seed: 1}, c.Pace)
	if err != nil {
		return err
	}
	defer source.end()
	server, err := stream.Connect(ctx, cfg)
	if err != nil {
		return err
	}
	defer server.Close()
	s, err := stream.Behind(ctx, cfg, server, stream.Own{Source: source})
	if err != nil {
		return err
	}
	source.lasts = pathWarm + time.Duration(c.Seconds*float64(time.Second))
	if _, err := s.Run(ctx, 0); err != nil {
		return err
	}
	peak, err := bench.PeakMiB()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]float64{"peak_mib": peak - source.mib()})
}

// cinema is a source that repeats a film from memory, forwards and backwards.
type cinema struct {
	film   []gocv.Mat
	period time.Duration // between frames; 0 returns frames on request
	lasts  time.Duration // total duration
	begun  time.Time
	seq    uint64
	frames frame.Pool
}

func newCinema(o field.Options, fps float64) (*cinema, error) {
	f, err := field.New(o)
	if err != nil {
		return nil, err
	}
	c := &cinema{}
	if fps > 0 {
		c.period = time.Duration(float64(time.Second) / fps)
	}
	for i := range o.Frames {
		m := gocv.NewMatWithSize(o.Height, o.Width, gocv.MatTypeCV16UC1)
		c.film = append(c.film, m)
		pixels, err := m.DataPtrUint16()
		if err != nil {
			c.end()
			return nil, err
		}
		f.Draw(i, pixels)
	}
	return c, nil
}

// Info says that a camera does not wait.
func (c *cinema) Info() pipeline.Info { return pipeline.Info{Live: c.period > 0, Timed: true} }

// Open starts the clock.
func (c *cinema) Open(context.Context) error {
	c.begun, c.seq = time.Now(), 0
	return nil
}

// Read returns the next frame when it is due, and io.EOF at the end.
func (c *cinema) Read(ctx context.Context) (*frame.Frame, error) {
	arrived, at := time.Now(), c.begun.Add(time.Duration(c.seq)*recorded) // a recording has its camera's times, at any reading speed
	if c.period > 0 {
		at = c.begun.Add(time.Duration(c.seq) * c.period)
		time.Sleep(time.Until(at))
		arrived = at // even if this process overslept: a camera does not wait
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if arrived.Sub(c.begun) > c.lasts {
		return nil, io.EOF
	}
	n := len(c.film)
	k := int(c.seq) % (2 * (n - 1))
	if k >= n {
		k = 2*(n-1) - k
	}
	f := c.frames.New(c.seq, at, frame.Meta{Arrived: arrived}, c.film[k].Clone())
	c.seq++
	return f, nil
}

// Close keeps the film.
func (c *cinema) Close() error { return nil }

// mib returns the film's memory.
func (c *cinema) mib() (sum float64) {
	for i := range c.film {
		sum += float64(c.film[i].Total()*c.film[i].ElemSize()) / (1 << 20)
	}
	return sum
}

// end frees the film.
func (c *cinema) end() {
	for i := range c.film {
		c.film[i].Close()
	}
}
