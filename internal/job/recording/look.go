package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"driftscope/infer/field"
	"driftscope/infer/finder"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// Bounds on the frames that Look reads. For a recording, lookPixels sets the number between leastLook and mostLook. Look reads a live source for at
// least lookLive and leastLook frames, or slowLook and fewLook frames, but never longer than longLook.
const (
	fewLook, leastLook, mostLook, lookPixels = 10, 60, 600, 100_000_000
	lookLive, slowLook, longLook             = 2 * time.Second, 20 * time.Second, time.Minute
)

// seen reports whether Look has read enough frames of a live source after the time since.
func seen(frames int, since time.Duration) bool {
	return frames >= leastLook && since >= lookLive || frames >= fewLook && since >= slowLook || since >= longLook
}

// Of returns a component's source as a recording.
func Of(c config.Component) *Recording {
	return &Recording{Arg: SourceName(c), kind: c.Kind, options: c.Options(), span: Whole, told: map[string]bool{}}
}

// ErrUnread reports a recording without a frame that can be read.
var ErrUnread = errors.New("found no frame that can be read")

// Look reads the beginning of the recording's span through the steps, or the first seconds of a live source, and learns the objects. It does not
// report unreadable frames, because the next reader does.
func (r *Recording) Look(ctx context.Context, steps []pipeline.Step, force finder.Force) (*finder.Finder, error) {
	source, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	steps = append(steps, field.NewPicture())
	var sampler finder.Sampler
	live, begun, reading, stop := source.Info().Live, time.Now(), ctx, func() {}
	if live {
		reading, stop = context.WithTimeout(ctx, longLook)
	}
	defer stop()
	for more := true; more && !(live && seen(sampler.Frames(), time.Since(begun))); {
		more, err = r.lookAt(reading, source, steps, &sampler)
		var skip *pipeline.ErrSkip
		if err != nil && !errors.As(err, &skip) && (reading.Err() == nil || ctx.Err() != nil) { // the timeout longLook is no error
			return nil, r.Naming(err)
		}
	}
	sample := sampler.Sample()
	if len(sample.Frames) == 0 {
		return nil, fmt.Errorf("%s: %w: check it (driftscope probe)", r.Arg, ErrUnread)
	}
	sample.Force = force
	found, err := finder.Learn(sample)
	return found, r.Naming(err)
}

// lookAt passes the next frame to a sampler. more is false after the last.
func (r *Recording) lookAt(ctx context.Context, source pipeline.Source, steps chain, sampler *finder.Sampler) (more bool, err error) {
	f, err := source.Read(ctx)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	defer f.Close()
	if !r.span.Holds(f.Seq) {
		return !r.span.after(f.Seq), nil
	}
	if err := steps.apply(ctx, f); err != nil {
		return true, err
	}
	p, err := field.PictureOf(f)
	if err == nil {
		err = frame.Look.Check(p.W, p.H)
	}
	if err == nil {
		err = sampler.Add(p)
	}
	if err != nil {
		return true, fmt.Errorf("frame %d: %w", f.Seq, err)
	}
	return sampler.Frames() < min(max(lookPixels/(p.W*p.H), leastLook), mostLook), nil
}
