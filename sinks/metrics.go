package sinks

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"driftscope/internal/flow/latent"
)

// Bounds on one scrape, and on how many are answered at once.
const (
	scrapeWithin = 5 * time.Second
	scrapesMost  = 4
)

// Metrics answers Prometheus, and those who ask whether the streams of this process track. Each stream writes into its Sink; an answer is
// made of the last health and the last law. It may be used from any goroutine.
type Metrics struct {
	registry  *prometheus.Registry
	names     names
	connected func() bool // to NATS

	mu      sync.Mutex
	streams map[string]*snapshot
	spools  map[string]func() int64 // bytes that wait, by stream
}

// NewMetrics has no streams yet. connected says whether NATS is there.
func NewMetrics(connected func() bool) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), names: describe(), connected: connected, streams: map[string]*snapshot{}, spools: map[string]func() int64{},
	}
	m.registry.MustRegister(m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Sink takes the messages of a stream, in the place of an earlier one of that name. The stream is away once no frame was tracked for stall;
// 0 waits for ever.
func (m *Metrics) Sink(stream string, stall time.Duration) Sink {
	p := &snapshot{stream: stream, stall: stall, begun: map[string]uint64{}}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.streams[stream] = p
	return p
}

// Gauge adds a figure of the whole process, read at every scrape. A name is given once.
func (m *Metrics) Gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// watch adds how many bytes wait in a stream's spool. It may be called on nil.
func (m *Metrics) watch(stream string, waiting func() int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spools[stream] = waiting
}

// Handler answers with the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: scrapesMost, Timeout: scrapeWithin})
}

// Ready answers 200 while every stream tracks, 503 while one does not, and says which.
func (m *Metrics) Ready() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer := struct {
			Ready   bool        `json:"ready"`
			Streams []readiness `json:"streams"`
		}{true, []readiness{}}
		for _, p := range m.snapshots() {
			r := p.ready(time.Now())
			answer.Ready = answer.Ready && r.Ready
			answer.Streams = append(answer.Streams, r)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if !answer.Ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		json.NewEncoder(w).Encode(answer)
	})
}

// snapshots are those of all streams, sorted by name.
func (m *Metrics) snapshots() []*snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []*snapshot
	for _, stream := range slices.Sorted(maps.Keys(m.streams)) {
		all = append(all, m.streams[stream])
	}
	return all
}

// snapshot is what is known last of one stream.
type snapshot struct {
	stream string
	stall  time.Duration

	mu      sync.Mutex
	health  latent.Health
	law     latent.SDE
	tracked time.Time         // when the last frame was
	begun   map[string]uint64 // conditions, by the name of their rule
}

// Write notes m. It never fails.
func (p *snapshot) Write(_ context.Context, m latent.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch m := m.(type) {
	case *latent.Estimate:
		p.tracked = time.Now()
		if m.SDE.Revision != p.law.Revision {
			p.law.Copy(&m.SDE)
		}
	case *latent.Law:
		p.law.Copy(&m.SDE)
	case *latent.Trigger:
		if m.On {
			p.begun[m.Name]++
		}
	case *latent.Health:
		p.health = *m
	}
	return nil
}

// Close leaves what was noted for those who ask how it ended.
func (p *snapshot) Close(context.Context) error { return nil }

// readiness is whether a stream tracks.
type readiness struct {
	Stream string   `json:"stream"`
	Ready  bool     `json:"ready"`
	State  string   `json:"state"`
	Last   *float64 `json:"last_frame_s"` // since the last frame was tracked; null before the first
}

func (p *snapshot) ready(now time.Time) readiness {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := readiness{Stream: p.stream, State: orStarting(p.health.State)}
	if p.tracked.IsZero() {
		return r
	}
	age := now.Sub(p.tracked)
	seconds := age.Seconds()
	r.Last = &seconds
	r.Ready = r.State == "tracking" && (p.stall == 0 || age <= p.stall)
	return r
}
