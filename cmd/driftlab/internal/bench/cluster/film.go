package cluster

import (
	"context"
	"errors"
	"fmt"
	"image"
	"sync/atomic"
	"time"

	"gocv.io/x/gocv"

	"driftscope/ingest"
	"driftscope/ingest/natsource"
	"driftscope/ingest/wire"
	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/kit/console"
)

// region is the part of the picture that the shipped molecule model uses: 1/28. The rest is black or cropped, so that frames
// are small and disks do not limit the measurement.
var region = image.Rect(208, 204, 208+96, 204+96)

// mostKept bounds the stored frames of a stream in bytes: 50 trials need 0.3 GB, and the unbroken run reads them all.
const mostKept = 4 << 30

// film publishes one simulated film on every stream.
type film struct {
	conn    *bus.Conn
	source  pipeline.Source
	streams []*natsource.DurablePublisher
	frames  atomic.Uint64 // frames published on every stream

	stop  context.CancelFunc
	ended chan error
}

// subject returns the subject of a stream's frames.
func subject(stream string) string { return "bench." + stream }

// newFilm starts publishing at a rate in frames per second.
func newFilm(ctx context.Context, l *lab) (f *film, err error) {
	f = &film{ended: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	component, err := config.NewComponent("sim", map[string]any{"name": "molecule", "seed": 3, "realtime": false}) // the same for all fault seeds
	if err == nil {
		f.source, err = ingest.New(component.Kind, component.Decode)
	}
	if err == nil {
		err = f.source.Open(ctx)
	}
	if err == nil {
		f.conn, err = bus.Connect(ctx, bus.Options{URL: addresses(l.servers), Name: "bench cluster's film", Patience: natsource.FramePatience})
	}
	if err != nil {
		return f, err
	}
	keep := natsource.Kept()
	keep.MaxBytes, keep.MaxAge, keep.Replicas = mostKept, 24*time.Hour, l.c.Replicas
	for _, name := range l.streams {
		p, err := natsource.NewDurablePublisher(ctx, f.conn, natsource.Durably{Subject: subject(name), Encoding: wire.Zstd, Keep: keep, Warn: console.Warn})
		if err != nil {
			return f, err
		}
		f.streams = append(f.streams, p)
	}
	ctx, f.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() { f.ended <- f.run(ctx, time.Duration(float64(time.Second)/l.c.FPS)) }()
	return f, nil
}

// run publishes until ctx ends.
func (f *film) run(ctx context.Context, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := f.next(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
}

// next publishes a frame on all streams.
func (f *film) next(ctx context.Context) error {
	picture, err := f.source.Read(ctx)
	if err != nil {
		return err
	}
	defer picture.Close()
	small := frame.New(picture.Seq, picture.Time, picture.Meta, looked(picture.Mat()))
	defer small.Close()
	for _, p := range f.streams {
		if err := p.Publish(ctx, small, true); err != nil {
			return err
		}
	}
	f.frames.Add(1)
	return nil
}

// looked returns a picture with only the region of another.
func looked(at *gocv.Mat) gocv.Mat {
	m := gocv.Zeros(region.Max.Y, region.Max.X, at.Type())
	from, to := at.Region(region), m.Region(region)
	defer from.Close()
	defer to.Close()
	from.CopyTo(&to)
	return m
}

// finish stops publishing and waits until everything is stored.
func (f *film) finish(ctx context.Context) error {
	f.stop()
	if err := <-f.ended; err != nil {
		return err
	}
	ctx, done := context.WithTimeout(ctx, settling)
	defer done()
	for i, p := range f.streams {
		if left := p.Finish(ctx); left > 0 {
			return fmt.Errorf("%d frames of stream %d were not confirmed within %v: %s", left, i, settling, p.Problem())
		}
	}
	return nil
}

// close stops publishing at once.
func (f *film) close() error {
	if f.stop != nil {
		f.stop()
	}
	for _, p := range f.streams {
		p.Close()
	}
	if f.source != nil {
		f.source.Close()
	}
	return f.conn.Close()
}
