package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
)

// read owns the source. It opens the source, queues frames until the run stops, and closes the source.
func (r *runner) read(p phases) {
	defer r.frames.close()
	s := supervise(r)
	err := r.readAll(p, s)
	if p.read.Err() != nil {
		err = nil // the run has asked the source to stop: ignore its error
	}
	if closing := s.end(p.read); err == nil {
		err = closing
	}
	if err != nil {
		r.fail(err)
	}
}

// readAll returns nil when the source has ended or o.Frames frames have been read.
func (r *runner) readAll(p phases, s *supervisor) error {
	track := p.track
	if err := s.start(p.read); err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if err := r.settle(); err != nil {
		return err
	}
	r.log.Info("source is open", "live", !r.waits.Load(), "latest", r.latest.Load())
	var lost uint64 // number of lost frames since the last frame that was read
	var inARow streak
	for n := uint64(0); r.o.Frames == 0 || n < r.o.Frames; n++ {
		f, err := s.read(p)
		if err != nil {
			skip, ok := skipped(err)
			if !ok || p.read.Err() != nil {
				return r.ended(err)
			}
			lost++
			r.lose(track, framesLost(skip, r.counters.unread(), 1))
			if err := r.tolerate(track, &inARow, fmt.Errorf("source: %d frames in a row could not be read, the last error was: %w", inARow.add(), err)); err != nil {
				return err
			}
			continue
		}
		if err := r.admit(track, f, lost); err != nil {
			return err
		}
		inARow.frames, lost = 0, 0
	}
	return nil
}

// ended returns nil for the normal end of a stream, and otherwise explains the failure of the source.
func (r *runner) ended(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, ErrNotConnected):
		return fmt.Errorf("source lost after frame %d: %w: check the connection and start again", r.counters.lastSeq(), err)
	}
	return fmt.Errorf("source: after frame %d: %w", r.counters.lastSeq(), err)
}

// admit counts a frame and queues it. unread is the number of skipped Reads before it. The error reports a full queue in mode Lossless.
func (r *runner) admit(track context.Context, f *frame.Frame, unread uint64) error {
	if f.Meta.Arrived.IsZero() {
		f.Meta.Arrived = time.Now()
	}
	r.counters.read(f.Seq, f.Meta.Dropped)
	if n := f.Meta.Dropped; n > 0 {
		r.lose(track, framesLost(errBySource, f.Seq, n))
	}
	f.Meta.Dropped += unread
	for _, e := range events(f) {
		r.remarkOnFrame(track, e)
	}
	r.fit(f.Bytes())
	switch {
	case r.latest.Load():
		if old, dropped := r.frames.force(f, oldest); dropped {
			r.lose(track, framesLost(errQueueFull, old.Seq, 1))
			old.Close()
		}
	case !r.waits.Load():
		if _, dropped := r.frames.force(f, newest); dropped {
			return r.noRoom(track, f)
		}
	case !r.frames.put(track, f):
		r.lose(track, framesLost(errUnfinished, f.Seq, 1))
		f.Close()
	}
	return nil
}

// events returns the events of f and removes them from f.
func events(f *frame.Frame) []*latent.Event {
	var out []*latent.Event
	for _, e := range f.Meta.Events {
		level := latent.Info
		if e.Warn {
			level = latent.Warning
		}
		out = append(out, &latent.Event{Seq: f.Seq, Time: time.Now(), Level: level, Code: e.Code, Text: e.Text, Count: 1})
	}
	f.Meta.Events = f.Meta.Events[:0]
	return out
}
