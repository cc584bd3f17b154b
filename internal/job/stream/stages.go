//go:build cgo

package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/term"

	"driftscope/infer/card"
	"driftscope/ingest"
	"driftscope/ingest/recorder"
	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
	"driftscope/online"
	"driftscope/preprocess"
	"driftscope/sinks"
	"driftscope/sinks/natsink"
)

// natsSink is the kind of sink that a stream adds itself if there is a bus.
const natsSink = "nats"

// Stream holds every stage of a run, made from a configuration and not yet started.
type Stream struct {
	cfg     config.Config
	written config.Config // cfg before its source was set to the embedded server
	Stages  pipeline.Stages
	rules   []string                                    // names of the triggers' rules
	told    func(t *latent.Trigger, took time.Duration) // called after a device took a trigger; may be nil
	ahead   *lead                                       // lead time of the triggers' forecasts; nil without forecasts
	bus     *bus.Conn                                   // borrowed; nil if nats.url is off
	service *natsink.Service                            // borrowed; nil if the stream ends with its run

	metrics *sinks.Metrics // borrowed; nil if no client can read them

	recorder *recorder.Recorder // records the source's frames; nil if disabled
	tracking *tracking          // nil until made
	bucket   *natsink.Bucket    // nil if nothing is stored in KV

	lease    natsink.Lease     // the worker's lease on the stream; nil without a worker
	standing *natsink.Standing // checkpoints that frames are replayed from; nil if frames are not replayed
	anew     error             // why no stored law was loaded; nil if one was, or none was requested
	from     natsink.At        // where replay starts; zero if frames are not replayed
	source   pipeline.Info     // properties of the unopened source

	repeats  bool   // repeats an earlier run from its beginning: no law is loaded or kept
	restored string // where the law was restored from; empty for a new law
}

// assemble makes every stage except the sinks. It returns a user's mistake as a usage error, with nothing left open.
//
// If before is set, the stream tracks the same frames and applies refined drifts at the same frames. b is the bus for models stored there, or nil.
func assemble(ctx context.Context, cfg config.Config, before *Earlier, b *bus.Conn) (*Stream, error) {
	s := &Stream{cfg: cfg, written: cfg, bus: b, repeats: before != nil}
	if err := s.build(ctx, before); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// build fills s in order, and stops at the first error.
func (s *Stream) build(ctx context.Context, before *Earlier) (err error) {
	cfg := s.cfg
	if s.Stages.Source, err = ingest.New(cfg.Source.Kind, cfg.Source.Decode); err != nil {
		return console.Usage(err)
	}
	s.source = s.Stages.Source.Info()
	var own Own
	if before != nil {
		if s.Stages.Source, err = before.repeat(s.Stages.Source); err != nil {
			return console.Usage(err)
		}
		own.Applied = before.applied
	}
	if cfg.Record.Path != "" {
		if s.recorder, err = recorder.New(s.Stages.Source, cfg.Record.Path, int64(cfg.Record.MaxGB*1e9)); err != nil {
			return console.Usage(err)
		}
		s.Stages.Source = s.recorder
	}
	return s.track(ctx, own, !s.source.Live)
}

// attach makes the sinks. Only a stream that is alone may use the terminal.
func (s *Stream) attach(b *bus.Conn, alone bool) (err error) {
	s.bus = b
	about, err := s.about()
	if err != nil {
		return err
	}
	if err := s.openBucket(); err != nil {
		return s.ofServer(err)
	}
	if b != nil {
		t := s.tracking
		t.bus, t.bucket, s.Stages.Swap = b, s.bucket, t.swap
		viewer, err := t.viewer(t.now)
		if err != nil {
			return console.Usage(fmt.Errorf("%s: %w", t.now.about.name, err))
		}
		s.Stages.Viewer = viewer
	}
	env := sinks.Env{
		Stream: s.cfg.Stream, Bus: b, Bucket: s.bucket, Service: s.service, Lease: s.lease, Standing: s.standing, Log: logger(s.cfg), Metrics: s.metrics,
		About: func() natsink.About { return s.tracking.about(about) },
		Rules: append([]string{}, s.rules...), Wrote: s.wrote,
		Stdout: os.Stdout, Terminal: alone && term.IsTerminal(int(os.Stdout.Fd())),
	}
	if s.Stages.Sinks, err = newSinks(s.cfg, env); err != nil {
		return s.ofServer(err)
	}
	return s.keepConfiguration()
}

// wrote records the time from a trigger to a device's write.
func (s *Stream) wrote(t *latent.Trigger, took time.Duration) {
	s.ahead.pin(took)
	if s.told != nil {
		s.told(t, took)
	}
}

// ofServer marks err as the user's error, unless a server did not answer or a worker runs the stream. Then the configuration may be right, and a retry
// may succeed: a cluster that has just made a bucket or lost a server may refuse a request that it accepts a second later.
func (s *Stream) ofServer(err error) error {
	if s.lease != nil || errors.Is(err, natsink.ErrUnanswered) {
		return err
	}
	return console.Usage(err)
}

// about returns the stream's description for clients.
func (s *Stream) about() (natsink.About, error) {
	digest, err := s.cfg.Digest()
	about := natsink.About{
		Source: recording.SourceName(s.cfg.Source), ConfigSHA256: digest, Seed: s.cfg.Online.Seed, Started: time.Now().UTC(), Triggers: s.rules,
	}
	for _, c := range s.cfg.Triggers {
		rule, failed := json.Marshal(map[string]any{c.Kind: c.Options()})
		about.Rules, err = append(about.Rules, rule), errors.Join(err, failed)
	}
	return about, err
}

// close frees the stages of a stream that will not run. An unopened source holds nothing.
func (s *Stream) close() {
	closeSteps(s.Stages.Steps)
	closeEncoders(s.Stages.Encoders)
	if s.Stages.Viewer != nil {
		s.Stages.Viewer.Close()
	}
	if s.Stages.Estimator != nil {
		s.Stages.Estimator.Close()
	}
	closeSinks(s.Stages.Sinks)
	s.bucket.Close()
}

func closeEncoders(made []pipeline.Encoder) {
	for _, encoder := range made {
		encoder.Close()
	}
}

// newSteps makes all preprocessing steps, or none. Each lane gets its own step, but all lanes share a step that needs frames in order.
func newSteps(components []config.Component, lanes int) (made []pipeline.NamedStep, err error) {
	defer func() {
		if err != nil {
			closeSteps(made)
		}
	}()
	for i, c := range components {
		made = append(made, pipeline.NamedStep{Name: c.Kind})
		named := &made[i]
		for len(named.Steps) < lanes {
			step, err := preprocess.New(c.Kind, c.Decode)
			if err != nil {
				return made, fmt.Errorf("preprocess[%d]: %w", i, err)
			}
			named.Steps = append(named.Steps, step)
			if !step.Can().Independent {
				break
			}
		}
	}
	return made, nil
}

func closeSteps(made []pipeline.NamedStep) {
	for _, named := range made {
		for _, step := range named.Steps {
			step.Close()
		}
	}
}

// lawConfig returns the configuration of a law. dt is the frame interval in seconds, 0 if unknown. If the source waits for tracking, the estimator also waits
// for its refinements, so that the same input gives the same output.
func lawConfig(o config.Online, dt float64, deterministic bool, applied []uint64, l *lead) online.Config {
	return online.Config{
		Seed: o.Seed, MaxGap: longestStep(o.MaxGap, dt), Exposure: o.Exposure, RefineLag: o.RefineLag, Replay: o.Memory, PixelUM: o.PixelUM, Deterministic: deterministic, Applied: applied,
		Forecast: o.Forecast, AlarmFrames: float64(o.AlarmFrames), Lead: l.asked(),
	}
}

// longestStep returns the longest pause between two frames of one increment: as configured, or ten times dt, the model's training interval in seconds.
// Without a setting it is at least a second and at most an hour.
func longestStep(configured time.Duration, dt float64) time.Duration {
	if configured > 0 {
		return configured
	}
	return max(time.Second, time.Duration(min(10*dt, time.Hour.Seconds())*float64(time.Second)))
}

// newSinks makes the listed sinks, a NATS sink if there is a bus, and a metrics sink if a client can read it. It makes all or none.
func newSinks(cfg config.Config, env sinks.Env) ([]pipeline.NamedSink, error) {
	components := cfg.Sinks
	if env.Bus != nil {
		keeping, err := natsComponent(cfg.NATS)
		if err != nil {
			return nil, err
		}
		components = append([]config.Component{keeping}, components...)
	}
	if slices.ContainsFunc(cfg.Sinks, func(c config.Component) bool { return c.Kind == natsSink }) {
		return nil, errors.New("sinks: nats is switched by nats.url: leave it out of the list")
	}
	var made []pipeline.NamedSink
	for _, c := range components {
		named := pipeline.NamedSink{Name: c.Kind}
		env.Commands = func(arriving <-chan latent.Command) { named.Commands = arriving }
		var err error
		if named.Sink, err = sinks.New(c.Kind, c.Decode, env); err != nil {
			return nil, errors.Join(err, closeSinks(made))
		}
		made = append(made, named)
	}
	if env.Metrics != nil {
		made = append(made, pipeline.NamedSink{Name: "metrics", Sink: env.Metrics.Sink(cfg.Stream, cfg.StallAfter)})
	}
	return made, nil
}

// natsComponent returns the NATS sink with its retention settings.
func natsComponent(o config.NATS) (config.Component, error) {
	if !o.Durable {
		return config.Component{Kind: natsSink}, nil
	}
	return config.NewComponent(natsSink, map[string]any{
		"durable": true, "store": o.Store, "replicas": o.Replicas, "max_age": o.MaxAge.String(), "max_bytes": o.MaxBytes,
	})
}

func closeSinks(made []pipeline.NamedSink) error {
	var errs []error
	for _, s := range made {
		errs = append(errs, s.Sink.Close(context.Background()))
	}
	return errors.Join(errs...)
}

// viewEvery returns the interval between the encoder's views; 0 without a bus, because then nothing shows them.
func (s *Stream) viewEvery() time.Duration {
	if s.bus == nil {
		return 0
	}
	return time.Second / 10
}

// introduce prints which stream is about to run, with every seed.
func (s *Stream) introduce() {
	cfg := s.cfg
	source := recording.SourceName(cfg.Source)
	if seed, ok := cfg.Source.Options()["seed"]; ok {
		source += fmt.Sprintf(" (seed %v)", seed)
	}
	what := s.tracking.now.about
	by := fmt.Sprintf("model %s (%d latents, seed %d)", what.name, what.latents, what.seed)
	switch seen := s.first(); {
	case seen != nil:
		by = seen.finder.String()
	case cfg.Objects.Enabled && cfg.Model == "":
		by = "every object in the field"
	case cfg.Objects.Enabled:
		by = "every object in the field, " + by
	}
	console.Say("stream %s: %s; %s; estimator seed %d", cfg.Stream, source, by, cfg.Online.Seed)
	if s.restored != "" {
		console.Say("the law continues from %s", s.restored)
	}
	if s.bus != nil {
		console.Say("publishing on %s under %s.%s.%s", s.bus.URL(), cfg.NATS.Prefix, cfg.NATS.Site, cfg.Stream)
	}
}

// stepsOf returns the steps of a card as components.
func stepsOf(steps []card.Step) ([]config.Component, error) {
	var components []config.Component
	for _, s := range steps {
		c, err := config.NewComponent(s.Kind, s.Options)
		if err != nil {
			return nil, err
		}
		components = append(components, c)
	}
	return components, nil
}
