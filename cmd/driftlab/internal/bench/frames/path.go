package frames

import (
	"context"
	"image"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/job/stream"
	"driftscope/sinks"
)

const (
	ringLength = 8                      // pictures in the repeated loop
	recorded   = 10 * time.Millisecond  // between the times of frames that are read at full speed, as from a recording
	warmUp     = 500 * time.Millisecond // before counting starts

	mostLatencies = 1 << 16 // preallocated latencies
)

// pictures are a spot on a noisy background, which moves along a circle.
type pictures struct {
	side, bits int
}

// window returns the grey window of the pictures.
func (p pictures) window() [2]float64 {
	if p.bits == 8 {
		return [2]float64{20, 230}
	}
	return [2]float64{400, 4000}
}

// make draws the pictures. The caller closes them.
func (p pictures) make() []gocv.Mat {
	rng := rand.New(rand.NewPCG(1, 1))
	window := p.window()
	low, high := window[0], window[1]
	var ring []gocv.Mat
	for i := range ringLength {
		kind := gocv.MatTypeCV8UC1
		if p.bits == 16 {
			kind = gocv.MatTypeCV16UC1
		}
		m := gocv.NewMatWithSize(p.side, p.side, kind)
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / ringLength)
		middle, radius, sd := float64(p.side)/2, float64(p.side)/6, float64(p.side)/16
		grey := func(x, y int) float64 {
			dx, dy := float64(x)-middle-radius*cos, float64(y)-middle-radius*sin
			return low + (high-low)*(0.1+0.8*math.Exp(-(dx*dx+dy*dy)/(2*sd*sd))+0.03*rng.NormFloat64())
		}
		if p.bits == 8 {
			v, _ := m.DataPtrUint8() // contiguous and of this type
			for k := range v {
				v[k] = uint8(min(max(grey(k%p.side, k/p.side), 0), 255))
			}
		} else {
			v, _ := m.DataPtrUint16()
			for k := range v {
				v[k] = uint16(min(max(grey(k%p.side, k/p.side), 0), math.MaxUint16))
			}
		}
		ring = append(ring, m)
	}
	return ring
}

// steps converts them to the shipped encoder's input.
func (p pictures) steps() []config.Component {
	var made []config.Component
	for _, s := range []struct {
		kind    string
		options map[string]any
	}{
		{"normalise", map[string]any{"window": p.window(), "to": "uint8"}},
		{"clahe", map[string]any{}},
		{"resize", map[string]any{"width": 64, "height": 64}},
		{"normalise", map[string]any{"window": [2]float64{0, 255}}},
	} {
		c, err := config.NewComponent(s.kind, s.options)
		if err != nil {
			panic(err) // options are ours
		}
		made = append(made, c)
	}
	return made
}

// memorySource returns pictures from memory: it copies the next one, as a driver does, on request or, with a period, at its
// time.
type memorySource struct {
	ring         []gocv.Mat    // its own from Open on
	period, late time.Duration // 0: whenever asked; before the first
	seconds      float64

	size       image.Point
	seq        uint64
	frames     frame.Pool
	begun      time.Time
	warm, cold mark // start and end of counting
	counting   atomic.Bool
}

// mark is the process' use of resources at a moment.
type mark struct {
	at     time.Time
	cpu    time.Duration
	allocs uint64
	frames uint64 // frames returned by the source
}

func (s *memorySource) mark() mark {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return mark{time.Now(), cpuTime(), memory.Mallocs, s.seq}
}

// cpuTime returns the processor time of all threads of this process.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// Info says that a source with a period is live.
func (s *memorySource) Info() pipeline.Info { return pipeline.Info{Live: s.period > 0} }

func (s *memorySource) Open(context.Context) error {
	s.size, s.begun = image.Pt(s.ring[0].Cols(), s.ring[0].Rows()), time.Now().Add(s.late)
	return nil
}

// Read returns the next picture, and io.EOF when the measurement is complete.
func (s *memorySource) Read(ctx context.Context) (*frame.Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	at, arrived := s.begun.Add(time.Duration(s.seq)*recorded), time.Now()
	if s.period > 0 {
		at = s.begun.Add(time.Duration(s.seq) * s.period) // even if late: a camera does not wait
		sleepUntil(at)
		arrived = at
	}
	switch {
	case s.warm.at.IsZero() && time.Since(s.begun) > warmUp:
		s.warm = s.mark()
		s.counting.Store(true)
	case !s.warm.at.IsZero() && time.Since(s.warm.at).Seconds() > s.seconds:
		s.counting.Store(false)
		s.cold = s.mark()
		return nil, io.EOF
	}
	f := s.frames.New(s.seq, at, frame.Meta{Arrived: arrived}, s.ring[s.seq%uint64(len(s.ring))].Clone())
	s.seq++
	return f, nil
}

// sleepUntil waits in the system, as a driver does. Go's own timers are late by up to a millisecond on an idle core.
func sleepUntil(at time.Time) {
	for left := time.Until(at); left > 0; left = time.Until(at) {
		wait := syscall.NsecToTimespec(left.Nanoseconds())
		_ = syscall.Nanosleep(&wait, nil) // interrupted by a signal it is called again
	}
}

func (s *memorySource) Close() error {
	for _, m := range s.ring {
		m.Close()
	}
	return nil
}

// stopwatch is a sink that records when another sink has published.
type stopwatch struct {
	sinks.Sink
	source    *memorySource
	latencies []time.Duration
	first     time.Time
	last      time.Time
}

func (s *stopwatch) Write(ctx context.Context, m latent.Message) error {
	err := s.Sink.Write(ctx, m)
	if e, ok := m.(*latent.Estimate); ok && s.source.counting.Load() {
		now := time.Now()
		if len(s.latencies) == 0 {
			s.first = now
		}
		s.last = now
		s.latencies = append(s.latencies, now.Sub(e.Latent.Arrived))
	}
	return err
}

// measurePath runs run's stages on p for a time, at a camera rate or at full speed.
func measurePath(ctx context.Context, p pictures, seconds, rate float64) (sideCost, error) {
	source := &memorySource{ring: p.make(), seconds: seconds}
	if rate > 0 {
		source.period = time.Duration(float64(time.Second) / rate)
	}
	cfg := config.Default()
	cfg.NATS.Port = 0
	server, err := stream.Connect(ctx, cfg)
	if err != nil {
		return sideCost{}, err
	}
	defer server.Close()
	s, watch, err := watched(ctx, cfg, server, stream.Own{Source: source, Steps: p.steps()})
	if err != nil {
		return sideCost{}, err
	}
	summary, err := s.Run(ctx, 0)
	if err != nil {
		return sideCost{}, err
	}
	return watch.cost(summary), ctx.Err()
}

// watched makes the stages after pictures in memory, with a stopwatch around the first sink.
func watched(ctx context.Context, cfg config.Config, server *bus.Conn, own stream.Own) (*stream.Stream, *stopwatch, error) {
	watch := &stopwatch{source: own.Source.(*memorySource), latencies: make([]time.Duration, 0, mostLatencies)}
	own.Sink = func(s sinks.Sink) sinks.Sink {
		watch.Sink = s
		return watch
	}
	s, err := stream.Behind(ctx, cfg, server, own)
	return s, watch, err
}

// add merges another stopwatch's records.
func (s *stopwatch) add(other *stopwatch) {
	if len(other.latencies) == 0 {
		return
	}
	if len(s.latencies) == 0 || other.first.Before(s.first) {
		s.first = other.first
	}
	if other.last.After(s.last) {
		s.last = other.last
	}
	s.latencies = append(s.latencies, other.latencies...)
}

// cost returns the counts.
func (s *stopwatch) cost(summary pipeline.Summary) sideCost {
	n := len(s.latencies)
	if n < 2 {
		return sideCost{}
	}
	slices.Sort(s.latencies)
	at := func(part float64) float64 {
		return float64(s.latencies[int(part*float64(n-1))]) / float64(time.Millisecond)
	}
	warm, cold := s.source.warm, s.source.cold
	frames := float64(n)
	cost := sideCost{
		FPS: float64(n-1) / s.last.Sub(s.first).Seconds(), CPU: float64(cold.cpu-warm.cpu) / float64(time.Millisecond) / frames,
		Allocs: float64(cold.allocs-warm.allocs) / frames, P50: at(0.5), P95: at(0.95), P99: at(0.99),
	}
	for _, stage := range summary.Health.Stages {
		cost.Stages = append(cost.Stages, stageCost{stage.Name, stage.P50MS})
	}
	return cost
}
