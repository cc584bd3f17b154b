package sinks

import (
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// names lists the metrics. Units are base units, and counters end in _total. The program chooses all values of labels.
type names struct {
	connected, state, uptime, tracked, queue  *prometheus.Desc
	frames, framesTracked, framesDropped      *prometheus.Desc
	messages, messagesDropped, spool, alarms  *prometheus.Desc
	triggers                                  *prometheus.Desc
	stage                                     *prometheus.Desc
	sigma, sigmaLow, sigmaHigh, active, drift *prometheus.Desc
	diffusion                                 *prometheus.Desc
}

func describe() names {
	of := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("driftscope_"+name, help, append([]string{"stream"}, labels...), nil)
	}
	return names{
		connected:       prometheus.NewDesc("driftscope_nats_connected", "Whether the NATS server is connected.", nil, nil),
		state:           of("stream_state", "1 for the present state of the stream, 0 for the others.", "state"),
		uptime:          of("stream_uptime_seconds", "Time since the stream started."),
		tracked:         of("last_tracked_timestamp_seconds", "Time of the last tracked frame, by the clock of this machine."),
		queue:           of("queue_frames", "Frames that wait to be tracked."),
		frames:          of("frames_total", "Frames read from the source, and frames that the source reported as lost."),
		framesTracked:   of("frames_tracked_total", "Frames encoded and estimated."),
		framesDropped:   of("frames_dropped_total", "Frames that were not tracked.", "cause"),
		messages:        of("messages_total", "Messages that sinks accepted."),
		messagesDropped: of("messages_dropped_total", "Messages that a sink did not get.", "sink"),
		spool:           of("spool_bytes", "Bytes that wait on disk until the NATS server stores them."),
		alarms:          of("alarms_total", "Alarms begun.", "code"),
		triggers:        of("triggers_total", "Conditions of a rule that began.", "rule"),
		stage:           of("stage_seconds", "Time per frame of a stage: quantiles since the start, within 1/32.", "stage"),
		sigma:           of("latent_sigma", "Sigma of a latent dimension, latent units per square root of a second.", "dim"),
		sigmaLow:        of("latent_sigma_low", "Lower limit of the 95 % interval of sigma.", "dim"),
		sigmaHigh:       of("latent_sigma_high", "Upper limit of the 95 % interval of sigma.", "dim"),
		active:          of("active_dimensions", "Latent dimensions that move by diffusion."),
		drift:           of("drift_changes_total", "Detected changes of the drift."),
		diffusion:       of("diffusion_square_meters_per_second", "Coefficient of diffusion in the plane of the picture, if lengths are known."),
	}
}

// Describe and Collect implement prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	n := &m.names
	for _, d := range []*prometheus.Desc{
		n.connected, n.state, n.uptime, n.tracked, n.queue, n.frames, n.framesTracked, n.framesDropped, n.messages, n.messagesDropped, n.spool, n.alarms, n.triggers,
		n.stage, n.sigma, n.sigmaLow, n.sigmaHigh, n.active, n.drift, n.diffusion,
	} {
		to <- d
	}
}

// Collect sends the last values of every stream.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	to <- prometheus.MustNewConstMetric(m.names.connected, prometheus.GaugeValue, number01(m.connected()))
	for _, p := range m.snapshots() {
		sender{&m.names, p.stream, to}.snapshot(p)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for stream, waiting := range m.spools {
		sender{&m.names, stream, to}.gauge(m.names.spool, float64(waiting()))
	}
}

// sender sends the metrics of one stream.
type sender struct {
	names  *names
	stream string
	to     chan<- prometheus.Metric
}

func (t sender) gauge(d *prometheus.Desc, v float64, labels ...string) {
	t.to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{t.stream}, labels...)...)
}

func (t sender) counter(d *prometheus.Desc, v uint64, labels ...string) {
	t.to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), append([]string{t.stream}, labels...)...)
}

// snapshot sends every known value.
func (t sender) snapshot(p *snapshot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.tracked.IsZero() {
		t.gauge(t.names.tracked, float64(p.tracked.UnixNano())/1e9)
	}
	t.health(&p.health)
	for rule, n := range p.begun {
		t.counter(t.names.triggers, n, rule)
	}
	if p.law.Revision > 0 {
		t.law(&p.law)
	}
}

func (t sender) health(h *latent.Health) {
	states, now := []string{"starting", "tracking", "source_lost", "stopped"}, orStarting(h.State)
	if !slices.Contains(states, now) {
		states = append(states, now)
	}
	for _, s := range states {
		t.gauge(t.names.state, number01(s == now), s)
	}
	t.gauge(t.names.uptime, h.UptimeS)
	t.gauge(t.names.queue, float64(h.Queue))
	t.counter(t.names.frames, h.Frames)
	t.counter(t.names.framesTracked, h.Tracked)
	t.counter(t.names.messages, h.Published)
	for cause, n := range h.Dropped {
		if sink, ok := strings.CutPrefix(cause, "sink_"); ok {
			t.counter(t.names.messagesDropped, n, sink)
		} else {
			t.counter(t.names.framesDropped, n, cause)
		}
	}
	for code, n := range h.Alarms {
		t.counter(t.names.alarms, n, code)
	}
	for _, s := range h.Stages {
		t.to <- prometheus.MustNewConstSummary(t.names.stage, s.Count, s.TotalMS/1e3,
			map[float64]float64{0.5: s.P50MS / 1e3, 0.95: s.P95MS / 1e3, 0.99: s.P99MS / 1e3}, t.stream, s.Name)
	}
}

func (t sender) law(l *latent.SDE) {
	for i := range l.Sigma {
		dim := strconv.Itoa(i)
		t.gauge(t.names.sigma, l.Sigma[i], dim)
		t.gauge(t.names.sigmaLow, message.At(l.SigmaLow, i), dim)
		t.gauge(t.names.sigmaHigh, message.At(l.SigmaHigh, i), dim)
	}
	t.gauge(t.names.active, float64(l.ActiveCount))
	t.counter(t.names.drift, l.DriftChanges)
	if l.Units.Calibration == latent.Calibrated && l.Units.UM != (latent.Spread{}) {
		t.gauge(t.names.diffusion, l.Units.UM.D*1e-12)
	}
}

func number01(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
