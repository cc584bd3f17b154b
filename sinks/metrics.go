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

// Limits on one scrape, and on simultaneous scrapes.
const (
	scrapeWithin = 5 * time.Second
	scrapesMost  = 4
)

// Metrics serves Prometheus and readiness checks. Each stream writes to its Sink, and an answer contains the last health and the last law. Metrics may be used
// from any goroutine.
type Metrics struct {
	registry  *prometheus.Registry
	names     names
	connected func() bool // reports whether NATS is connected

	mu      sync.Mutex
	streams map[string]*snapshot
	spools  map[string]func() int64 // functions that return the waiting bytes, by stream
}

// NewMetrics returns Metrics without streams. connected reports whether NATS is connected.
func NewMetrics(connected func() bool) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), names: describe(), connected: connected, streams: map[string]*snapshot{}, spools: map[string]func() int64{},
	}
	m.registry.MustRegister(m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Sink returns a sink for a stream's messages. It replaces an earlier sink of that name. A stream that has tracked no frame for stall is not ready; 0 disables
// this check.
func (m *Metrics) Sink(stream string, stall time.Duration) Sink {
	p := &snapshot{stream: stream, stall: stall, begun: map[string]uint64{}}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.streams[stream] = p
	return p
}

// Gauge adds a metric of the whole process, which is read at every scrape. Each name may be added once.
func (m *Metrics) Gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// watch adds a metric for the waiting bytes of a stream's spool. m may be nil.
func (m *Metrics) watch(stream string, waiting func() int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spools[stream] = waiting
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: scrapesMost, Timeout: scrapeWithin})
}

// Ready answers 200 while every stream tracks, and otherwise 503 with the names of the streams that do not.
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

// snapshots returns the last state of every stream, sorted by name.
func (m *Metrics) snapshots() []*snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []*snapshot
	for _, stream := range slices.Sorted(maps.Keys(m.streams)) {
		all = append(all, m.streams[stream])
	}
	return all
}

// snapshot holds the last messages of one stream.
type snapshot struct {
	stream string
	stall  time.Duration

	mu      sync.Mutex
	health  latent.Health
	law     latent.SDE
	tracked time.Time         // time of the last tracked frame
	begun   map[string]uint64 // number of conditions that began, by the name of the rule
}

// Write stores m. It never fails.
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

// Close keeps the last messages, for a scrape after the end.
func (p *snapshot) Close(context.Context) error { return nil }

// readiness reports whether a stream tracks.
type readiness struct {
	Stream string   `json:"stream"`
	Ready  bool     `json:"ready"`
	State  string   `json:"state"`
	Last   *float64 `json:"last_frame_s"` // seconds since the last tracked frame; null before the first
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
