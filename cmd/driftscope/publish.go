package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/ingest"
	"driftscope/ingest/natsource"
	"driftscope/internal/bus"
	"driftscope/internal/console"
	"driftscope/internal/exit"
	"driftscope/internal/frame"
	"driftscope/internal/pipeline"
	"driftscope/internal/recording"
)

// publishAgain is how long a recording's frame waits for a server that is away before it is tried again.
const publishAgain = 250 * time.Millisecond

// publishCmd sends a source's frames over NATS, for a run elsewhere that reads nats:SUBJECT.
type publishCmd struct {
	Source  string  `arg:"" help:"Where frames come from, as for run."`
	Subject string  `required:"" help:"The subject to publish on, one a publisher." placeholder:"SUBJECT"`
	URL     string  `name:"url" default:"nats://127.0.0.1:4222" help:"The server." placeholder:"URL"`
	Creds   string  `help:"Credentials for that server." placeholder:"FILE.creds"`
	DT      float64 `name:"dt" help:"Seconds between frames, whatever the source says." placeholder:"S"`
	FPS     float64 `name:"fps" help:"Frames a second, whatever the source says."`
	Rate    string  `enum:"realtime,fastest" default:"realtime" help:"How a recording is paced: ${enum} (realtime follows the times of its frames)."`
	PNG     bool    `name:"png" help:"Compress the frames."`
}

// Run publishes until the source or ctx ends, and prints the account.
func (c *publishCmd) Run(ctx context.Context) error {
	component, err := recording.Source(c.Source, c.DT, c.FPS)
	if err != nil {
		return err
	}
	source, err := ingest.New(component.Kind, component.Decode)
	if err != nil {
		return exit.Usage(err)
	}
	if c.URL == bus.Embedded {
		return exit.Usage(errors.New("--url: embedded is the server inside a run: give its address, " + natsource.DefaultNATS + " unless the run said otherwise"))
	}
	if _, err := natsource.NewPublisher(nil, c.Subject, c.PNG); err != nil { // before a server is looked for
		return exit.Usage(fmt.Errorf("--%w", err))
	}
	conn, err := bus.Connect(ctx, bus.Options{URL: c.URL, Credentials: c.Creds, Name: "driftscope publish", Patience: natsource.FramePatience})
	if errors.Is(err, bus.ErrNoServer) {
		return fmt.Errorf("%s: %w: start it, or driftscope run, or give --url", bus.Redacted(c.URL), bus.ErrNoServer)
	}
	if err != nil {
		return err
	}
	publisher, err := natsource.NewPublisher(conn, c.Subject, c.PNG)
	if err != nil {
		return errors.Join(exit.Usage(err), conn.Close())
	}
	p := publishing{source: source, publisher: publisher}
	failed := p.all(ctx, c.Rate == "realtime")
	if errors.Is(failed, context.Canceled) {
		failed = nil
	}
	failed = errors.Join(failed, source.Close(), conn.Close())
	p.account(os.Stdout, c.Subject, conn.URL())
	return failed
}

// publishing is a source on its way to a subject.
type publishing struct {
	source    pipeline.Source
	publisher *natsource.Publisher
	pace      pace
	unread    int // frames that the source could not read
	lost      int // frames of a live source that came while the server was away
}

// all publishes to the end of the source, which it opens and the caller closes.
func (p *publishing) all(ctx context.Context, realtime bool) error {
	if err := p.source.Open(ctx); err != nil {
		return err
	}
	patient := pipeline.Waits(p.source)
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

// publish sends one frame. A source that waits tries again until the server is back; what a live one gives meanwhile is lost.
func (p *publishing) publish(ctx context.Context, f *frame.Frame, patient bool) error {
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

// account says what was sent.
func (p *publishing) account(w io.Writer, subject, url string) {
	sent := p.publisher.Sent()
	fmt.Fprintf(w, "published %d frames (%d messages, %.6g MB) on %s at %s\n", sent.Frames, sent.Messages, float64(sent.Bytes)/1e6, subject, url)
	if p.unread > 0 {
		fmt.Fprintf(w, "  %d could not be read\n", p.unread)
	}
	if p.lost > 0 {
		fmt.Fprintf(w, "  %d were lost while the server was away\n", p.lost)
	}
}

// pace lets frames go as far apart as they were taken.
type pace struct {
	begun      bool
	trajectory uint64
	taken      time.Time // when the trajectory's first frame was taken
	went       time.Time // when it went
}

// wait returns when it is f's turn: for the first frame of a trajectory at once.
func (p *pace) wait(ctx context.Context, f *frame.Frame) error {
	if !p.begun || f.Meta.Trajectory != p.trajectory {
		*p = pace{begun: true, trajectory: f.Meta.Trajectory, taken: f.Time, went: time.Now()}
	}
	return sleep(ctx, time.Until(p.went.Add(f.Time.Sub(p.taken))))
}

// sleep waits for d, or returns ctx's error when that ends first.
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
