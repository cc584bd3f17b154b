package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/ingest"
	"driftscope/ingest/natsource"
	"driftscope/ingest/wire"
	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
)

// publishAgain is the delay between attempts to send a recording's frame while the server is unreachable.
const publishAgain = 250 * time.Millisecond

// unfinished bounds the wait for confirmations after a publisher is stopped.
const unfinished = 5 * time.Second

// publishCmd sends the frames of sources over NATS to runs elsewhere that read nats:SUBJECT.
type publishCmd struct {
	Source    []string      `arg:"" help:"Source of the frames, as for run."`
	Subject   []string      `required:"" sep:"none" help:"Subject to publish on; give one per source, in the same order." placeholder:"SUBJECT"`
	URL       string        `name:"nats" aliases:"url" default:"nats://127.0.0.1:4222" help:"NATS server, or context:NAME." placeholder:"URL"`
	Creds     string        `help:"Credentials for that server." placeholder:"FILE.creds"`
	CA        string        `name:"ca" help:"Certificate authority of the server." placeholder:"FILE.pem"`
	DT        float64       `name:"dt" help:"Seconds between frames; overrides the source." placeholder:"S"`
	FPS       float64       `name:"fps" help:"Frames per second; overrides the source."`
	Follow    bool          `help:"Wait for more frames at the end of recordings that still grow, until Ctrl-C."`
	UntilIdle time.Duration `help:"With --follow: end after this time without a frame, such as 30s." placeholder:"TIME"`
	Rate      string        `enum:"realtime,fastest" default:"realtime" help:"Pace of a recording: ${enum} (realtime follows the frames' times)."`
	Compress  string        `enum:"none,png,zstd" default:"none" help:"Lossless compression: ${enum}."`
	PNG       bool          `name:"png" help:"The same as --compress png."`
	Durable   bool          `help:"Store each frame exactly once in JetStream, even if the server is unreachable for a while."`
	MaxBytes  int64         `default:"17179869184" help:"With --durable: largest size of the stored frames in bytes; applies to a new stream." placeholder:"N"`
	MaxAge    time.Duration `default:"1h" help:"With --durable: time to keep a frame."`
	Replicas  int           `default:"1" help:"With --durable: number of replicas of each frame in a cluster."`
}

// Run publishes until every source or ctx ends, and prints the frame counts. If a source fails, the others continue.
func (c *publishCmd) Run(ctx context.Context) error {
	sources, err := c.check()
	if err != nil {
		return console.Usage(err)
	}
	failures := make([]error, len(sources))
	var running sync.WaitGroup
	var mu sync.Mutex // guards standard output
	for i, source := range sources {
		running.Go(func() {
			err := c.one(ctx, source, c.Subject[i], &mu)
			if err != nil && len(sources) > 1 {
				err = fmt.Errorf("%s: %w", c.Subject[i], err)
				console.Say("%v", err) // report it now, because other sources may run for days
			}
			failures[i] = err
		})
	}
	running.Wait()
	return errors.Join(failures...)
}

// check constructs the sources and reports errors before Run connects to a server.
func (c *publishCmd) check() ([]pipeline.Source, error) {
	switch {
	case c.URL == bus.Embedded:
		return nil, errors.New("--nats: embedded is the server inside a run: give its address, " + natsource.DefaultNATS + " unless the run printed another")
	case len(c.Subject) != len(c.Source):
		return nil, fmt.Errorf("--subject: found %d subjects for %d sources: give one per source", len(c.Subject), len(c.Source))
	case c.PNG && c.Compress == "zstd":
		return nil, errors.New("--png and --compress zstd: give one of them")
	}
	var sources []pipeline.Source
	for i, name := range c.Source {
		if err := c.durably(c.Subject[i]).Check(); err != nil {
			return nil, fmt.Errorf("--%w", err)
		}
		if slices.Contains(c.Subject[:i], c.Subject[i]) {
			return nil, fmt.Errorf("--subject: found %s twice: give each source its own subject", c.Subject[i])
		}
		component, err := recording.Source(name, c.DT, c.FPS)
		if err != nil {
			return nil, err
		}
		if component, err = following(component, name, c.Follow, c.UntilIdle); err != nil {
			return nil, err
		}
		source, err := ingest.New(component.Kind, component.Decode)
		if err != nil {
			return nil, err
		}
		sources = append(sources, source)
	}
	return sources, nil
}

// durably returns the storage settings of a subject's frames.
func (c *publishCmd) durably(subject string) *natsource.Durably {
	return &natsource.Durably{
		Subject: subject, Encoding: c.encoding(), Warn: console.Warn,
		Keep: natsource.Keep{MaxBytes: c.MaxBytes, MaxAge: c.MaxAge, Replicas: c.Replicas},
	}
}

// encoding returns the encoding of the frames.
func (c *publishCmd) encoding() wire.Encoding {
	switch {
	case c.PNG || c.Compress == "png":
		return wire.PNG
	case c.Compress == "zstd":
		return wire.Zstd
	}
	return wire.Raw
}

// one publishes a source on a subject over its own connection, and prints the frame counts.
func (c *publishCmd) one(ctx context.Context, source pipeline.Source, subject string, printing *sync.Mutex) error {
	conn, err := bus.Connect(ctx, bus.Options{URL: c.URL, Credentials: c.Creds, CA: c.CA, Name: "driftscope publish", Patience: natsource.FramePatience, Log: bus.Warnings().With("frames", subject)})
	if errors.Is(err, bus.ErrNoServer) {
		return fmt.Errorf("%s: %w: start a server or driftscope run, or give --nats", bus.Redacted(c.URL), bus.ErrNoServer)
	}
	if err != nil {
		return err
	}
	p := publishing{source: source}
	if c.Durable {
		p.durable, err = natsource.NewDurablePublisher(ctx, conn, *c.durably(subject))
	} else {
		p.publisher, err = natsource.NewPublisher(conn, subject, c.encoding())
	}
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	failed := p.all(ctx, c.Rate == "realtime" && !c.Follow)
	if errors.Is(failed, context.Canceled) {
		failed = nil
	}
	failed = errors.Join(failed, p.finish(ctx, subject), source.Close(), conn.Close())
	printing.Lock()
	defer printing.Unlock()
	p.account(os.Stdout, subject, conn.URL())
	return failed
}

// publishing is a source with its publisher.
type publishing struct {
	source    pipeline.Source
	publisher *natsource.Publisher        // nil if frames are stored
	durable   *natsource.DurablePublisher // nil unless frames are stored
	pace      pace
	unread    int // frames that the source could not read
	lost      int // frames of a live source lost while the server was away
}

// all opens the source and publishes all its frames. The caller closes the source.
func (p *publishing) all(ctx context.Context, realtime bool) error {
	if err := p.source.Open(ctx); err != nil {
		return console.About(console.FramesPage, err)
	}
	patient := !p.source.Info().Live
	for {
		f, err := p.source.Read(ctx)
		var skip *pipeline.ErrSkip
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &skip):
			if p.unread++; p.unread == 1 {
				console.Warn("%v", skip)
			}
			continue
		case err != nil:
			return err
		}
		if patient && realtime {
			err = p.pace.wait(ctx, f)
		}
		if err == nil {
			err = p.publish(ctx, f, patient)
		}
		f.Close()
		if err != nil {
			return err
		}
	}
}

// publish sends one frame. While the server is unreachable, it retries a recording's frame but drops a live source's frame.
func (p *publishing) publish(ctx context.Context, f *frame.Frame, patient bool) error {
	if p.durable != nil {
		return p.durable.Publish(ctx, f, patient)
	}
	for {
		err := p.publisher.Publish(f)
		switch {
		case !errors.Is(err, nats.ErrReconnectBufExceeded):
			return err
		case !patient:
			p.lost++
			return nil
		}
		if err := sleep(ctx, publishAgain); err != nil {
			return err
		}
	}
}

// finish waits until the server has confirmed all stored frames. After ctx ends, it waits at most the time unfinished.
func (p *publishing) finish(ctx context.Context, subject string) error {
	if p.durable == nil {
		return nil
	}
	left := p.durable.Finish(ctx)
	if left > 0 {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), unfinished)
		defer cancel()
		left = p.durable.Finish(late)
	}
	problem := p.durable.Problem()
	p.durable.Close()
	if left == 0 {
		return nil
	}
	return fmt.Errorf("%d frames on %s were not confirmed and may be lost (%s): publish them again when the server is reachable", left, subject, problem)
}

// account prints the numbers of sent, unreadable and lost frames.
func (p *publishing) account(w io.Writer, subject, url string) {
	verb, sent := "published", natsource.Sent{}
	if p.durable != nil {
		delivered := p.durable.Delivered()
		verb, sent, p.lost = "kept", delivered.Sent, int(delivered.Lost)
	} else {
		sent = p.publisher.Sent()
	}
	fmt.Fprintf(w, verb+" %d frames (%d messages, %.6g MB) on %s at %s\n", sent.Frames, sent.Messages, float64(sent.Bytes)/1e6, subject, url)
	if p.unread > 0 {
		fmt.Fprintf(w, "  %d could not be read\n", p.unread)
	}
	if p.lost > 0 {
		fmt.Fprintf(w, "  %d were lost while the server was away or too slow\n", p.lost)
	}
}

// pace sends frames at the intervals at which they were taken.
type pace struct {
	begun      bool
	trajectory uint64
	taken      time.Time // when the trajectory's first frame was taken
	went       time.Time // when that frame was sent
}

// wait returns when f is due; the first frame of a trajectory is due at once.
func (p *pace) wait(ctx context.Context, f *frame.Frame) error {
	if !p.begun || f.Meta.Trajectory != p.trajectory {
		*p = pace{begun: true, trajectory: f.Meta.Trajectory, taken: f.Time, went: time.Now()}
	}
	return sleep(ctx, time.Until(p.went.Add(f.Time.Sub(p.taken))))
}

// sleep waits for d. It returns ctx's error if ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
