//go:build cgo

package stream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"driftscope/ingest"
	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/job/reach"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
	"driftscope/sinks/natsink"
	"driftscope/sinks/web"
)

// Process holds the streams of one process. They share only the bus and the dashboard: a stream that fails, floods or hangs does not slow the others.
type Process struct {
	Streams []*Stream
	Bus     *bus.Conn // nil if nats.url is off
	stays   bool      // a stream can be started again after its end

	mu sync.Mutex // guards the running streams and standard output

	dashboard *web.Server // nil if there is none
}

// SideBySide refuses configurations that would overwrite each other's output. It gives all of them the bus and dashboard of the first file.
func SideBySide(sources []string, cfgs []config.Config) error {
	names, states, records := map[string]string{}, map[string]string{}, map[string]string{} // each name to its source
	results := map[string]string{}                                                          // each path of a sink to its source
	file := -1                                                                              // index of the first configuration file
	for i, cfg := range cfgs {
		source := sources[i]
		if other, taken := names[cfg.Stream]; taken {
			return fmt.Errorf("%s and %s: both streams are called %s: give one of them another name, with stream: NAME in a configuration", other, source, cfg.Stream)
		}
		names[cfg.Stream] = source
		if other, taken := states[cfg.Online.State]; taken && cfg.Online.State != "" {
			return fmt.Errorf("%s and %s: both keep their law in %s: give one of them another online.state", other, source, cfg.Online.State)
		}
		states[cfg.Online.State] = source
		if other, taken := records[cfg.Record.Path]; taken && cfg.Record.Path != "" {
			return fmt.Errorf("%s and %s: both record into %s: give one of them another record.path", other, source, cfg.Record.Path)
		}
		records[cfg.Record.Path] = source
		for _, sink := range cfg.Sinks {
			path, _ := sink.Options()["path"].(string)
			if other, taken := results[path]; taken && path != "" {
				return fmt.Errorf("%s and %s: both write %s: give one of the sinks another path", other, source, path)
			}
			results[path] = source
		}
		switch {
		case !recording.IsConfig(source):
		case file < 0:
			file = i
		case cfg.NATS != cfgs[file].NATS:
			return fmt.Errorf("%s and %s: their nats settings differ, but a process has one bus: give both the same settings, or run them in separate processes", sources[file], source)
		case cfg.Dashboard != cfgs[file].Dashboard:
			return fmt.Errorf("%s and %s: their dashboard settings differ, but a process has one dashboard: give both the same settings, or run them in separate processes", sources[file], source)
		}
	}
	for i := range cfgs {
		if file >= 0 {
			cfgs[i].NATS, cfgs[i].Dashboard = cfgs[file].NATS, cfgs[file].Dashboard
		}
	}
	return nil
}

// Assemble makes every stream, or none. It connects to the bus just before making the sinks, so that it reports invalid options without a connection. It
// connects first if a source reads from NATS, because the server may be the embedded one, or if a model is stored there.
func Assemble(ctx context.Context, cfgs []config.Config, before *Earlier, stays bool) (_ *Process, err error) {
	p := &Process{stays: stays}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	reading := slices.ContainsFunc(cfgs, func(c config.Config) bool {
		return c.Source.Kind == recording.NatsSource || strings.HasPrefix(c.Model, reach.ServerModel)
	})
	if reading {
		if p.Bus, err = Connect(ctx, keepingAll(cfgs)); err != nil {
			return nil, err
		}
	}
	for _, cfg := range cfgs {
		s, err := p.assemble(ctx, cfg, before)
		if err != nil {
			return nil, ofStream(cfg.Stream, len(cfgs), err)
		}
		p.Streams = append(p.Streams, s)
	}
	if !reading {
		if p.Bus, err = Connect(ctx, cfgs[0]); err != nil {
			return nil, err
		}
	}
	metrics := NewMetrics(p.Bus)
	if p.dashboard, err = ShowDashboard(cfgs[0], p.Bus, metrics); err != nil {
		return nil, err
	}
	for _, s := range p.Streams {
		if p.dashboard != nil {
			s.metrics = metrics
		}
		if stays {
			if s.service, err = natsink.NewService(p.Bus, s.cfg.Stream); err != nil {
				return nil, err
			}
		}
		if err := s.attach(p.Bus, len(p.Streams) == 1); err != nil {
			return nil, ofStream(s.cfg.Stream, len(p.Streams), err)
		}
	}
	return p, nil
}

// assemble makes one stream without its sinks.
func (p *Process) assemble(ctx context.Context, cfg config.Config, before *Earlier) (*Stream, error) {
	written, err := cfg, error(nil)
	if cfg.Source, err = readingFrom(cfg, p.Bus); err != nil {
		return nil, err
	}
	s, err := assemble(ctx, cfg, before, p.Bus)
	if err != nil {
		return nil, err
	}
	s.written = written
	return s, nil
}

// keepingAll returns the first configuration, with room on the server for the stored frames of all streams.
func keepingAll(cfgs []config.Config) config.Config {
	shared := cfgs[0]
	shared.Frames = config.Frames{}
	for _, c := range cfgs {
		if c.Frames.Durable {
			shared.Frames.Durable = true
			shared.Frames.MaxBytes += c.Frames.MaxBytes
		}
	}
	return shared
}

// checkFrames refuses to store frames on the embedded server without a folder.
func checkFrames(cfg config.Config) error {
	if _, elsewhere := cfg.Source.Options()["url"]; cfg.Frames.Durable && !elsewhere && cfg.NATS.URL == config.NATSEmbedded && cfg.NATS.Store == "" {
		return errors.New("nats.store: is missing, but frames.durable needs it: give a folder in which the embedded server stores frames, or set source.nats.url")
	}
	return nil
}

// readingFrom sets the embedded server for a NATS source without a server, and the storage of its frames.
func readingFrom(cfg config.Config, b *bus.Conn) (source config.Component, err error) {
	if source = cfg.Source; source.Kind != recording.NatsSource {
		return source, nil
	}
	if err := checkFrames(cfg); err != nil {
		return source, console.Usage(err)
	}
	if f := cfg.Frames; f.Durable {
		kept := map[string]any{"max_bytes": f.MaxBytes, "max_age": f.MaxAge.String(), "replicas": f.Replicas}
		if source, err = source.With("durable", kept); err != nil {
			return source, err
		}
	}
	if _, named := source.Options()["url"]; named || cfg.NATS.URL != config.NATSEmbedded || cfg.NATS.Token != "" {
		return source, nil
	}
	return source.With("url", b.URL())
}

// close frees streams that will not run.
func (p *Process) close() {
	for _, s := range p.Streams {
		s.close()
		s.service.Close()
	}
	p.Disconnect()
}

// Disconnect closes the shared parts after the streams have run: the dashboard last, so that pages get the end of the run.
func (p *Process) Disconnect() {
	p.Bus.Close()
	p.dashboard.Close()
}

// Run tracks every stream until it or ctx ends, and prints the frame counts. If streams stay, a client can restart an ended stream until ctx ends. A
// stream that fails does not end the others.
func (p *Process) Run(ctx context.Context, frames uint64) error {
	ended := make([]func(), len(p.Streams)) // prints the frame counts, in the order of the streams
	errs := make([]error, len(p.Streams))
	var running sync.WaitGroup
	for _, s := range p.Streams {
		s.introduce()
	}
	if p.dashboard != nil {
		console.Say("dashboard at %s", p.dashboard.URL())
	}
	for i, s := range p.Streams {
		running.Go(func() {
			if p.stays {
				errs[i] = p.stay(ctx, i, frames)
				return
			}
			summary, err := s.Run(ctx, frames)
			ended[i] = func() { p.account(s, summary) }
			errs[i] = ofStream(s.cfg.Stream, len(p.Streams), err)
			if len(p.Streams) > 1 && err != nil && ctx.Err() == nil {
				console.Say("%v", errs[i]) // report it now, because the other streams may run for days
			}
		})
	}
	running.Wait()
	for _, account := range ended {
		if account != nil {
			account()
		}
	}
	if p.dashboard != nil && !p.stays && ctx.Err() == nil {
		console.Say("the dashboard ends with the run; run --stay keeps it until Ctrl-C")
	}
	return errors.Join(errs...)
}

// account prints the counts of a stream's frames.
func (p *Process) account(s *Stream, summary pipeline.Summary) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.Streams) > 1 {
		fmt.Printf("%s: ", s.cfg.Stream)
	}
	printSummary(os.Stdout, summary)
	if l, ok := s.Stages.Estimator.(fieldLaw); ok && l.estimator.Trackability() != "" {
		fmt.Println("  links: " + l.estimator.Trackability())
	}
	if s.recorder != nil {
		fmt.Println("  " + s.recorder.Account())
	}
}

// ofStream adds the stream's name to an error if there are several streams.
func ofStream(stream string, streams int, err error) error {
	if err == nil || streams == 1 {
		return err
	}
	return fmt.Errorf("stream %s: %w", stream, err)
}

// collect starts garbage collection when the heap has grown by half, instead of doubled. With 500 objects this saves tens of MiB and costs 1 % of the
// processor time. GOGC overrides it.
var collect = sync.OnceFunc(func() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
})

// Run tracks the stream. It owns the stages from now on.
func (s *Stream) Run(ctx context.Context, frames uint64) (pipeline.Summary, error) {
	collect()
	defer s.tracking.close()
	summary, err := pipeline.Run(ctx, s.Stages, pipeline.Options{
		Stream: s.cfg.Stream, Frames: frames, Mode: pipeline.Mode(s.cfg.Mode), Queue: s.cfg.Queue, Stall: s.cfg.StallAfter,
		Seed: s.cfg.Online.Seed, Grace: s.cfg.Grace, ViewEvery: s.viewEvery(), KeepEvery: s.cfg.Online.CheckpointEvery, Log: logger(s.cfg), Keep: s.keep(), From: pipeline.Place(s.from),
	})
	s.bucket.Close()
	if errors.Is(err, pipeline.ErrMode) {
		err = console.Usage(err)
	}
	var unopened pipeline.OpenError
	if errors.As(err, &unopened) {
		err = console.About(ingest.Page(s.cfg.Source.Kind), err)
	}
	if err == nil && s.recorder != nil {
		err = s.recorder.Failed()
	}
	if err == nil && ctx.Err() == nil {
		err = s.conclude()
	}
	return summary, err
}

// printSummary prints the counts of all frames.
func printSummary(w *os.File, s pipeline.Summary) {
	fmt.Fprintf(w, "frames in %d, tracked %d, dropped %d, messages published %d, in %.1f s\n",
		s.FramesIn, s.Tracked, s.FramesIn-s.Tracked, s.Published, s.Duration.Seconds())
	for _, cause := range slices.Sorted(maps.Keys(s.Dropped)) {
		fmt.Fprintf(w, "  dropped %d: %s\n", s.Dropped[cause], cause)
	}
	for _, code := range slices.Sorted(maps.Keys(s.Health.Alarms)) {
		fmt.Fprintf(w, "  alarms %d: %s\n", s.Health.Alarms[code], code)
	}
}
