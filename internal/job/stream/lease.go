//go:build cgo

package stream

import (
	"context"
	"errors"
	"fmt"
	"math"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/kit/console"
	"driftscope/sinks/natsink"
)

// Leased makes a stream that a worker runs under a lease, on the worker's connection. The law continues from KV. If the server stores
// the frames, they are replayed from the law's checkpoint. before is the name of the previous worker, for display; empty if there was none.
func Leased(ctx context.Context, cfg config.Config, b *bus.Conn, lease natsink.Lease, before string) (*Stream, error) {
	s := &Stream{cfg: cfg, written: cfg, bus: b, lease: lease}
	if err := s.lead(ctx, before); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// lead fills s. After an error s is filled in part.
func (s *Stream) lead(ctx context.Context, before string) (err error) {
	if s.cfg.Source, err = readingFrom(s.cfg, s.bus); err != nil {
		return err
	}
	if err := s.build(ctx, nil); err != nil {
		return err
	}
	if s.source.ResumeAfter != nil { // the stored frames are replayed
		standing, err := natsink.Stand(ctx, s.bus, s.cfg.Stream)
		if err != nil {
			return err
		}
		if standing.Epoch > s.lease.Epoch() {
			return fmt.Errorf("stream %s: the stored results have epoch %d, but this lease has %d: %w", s.cfg.Stream, standing.Epoch, s.lease.Epoch(), natsink.ErrFenced)
		}
		s.standing = &standing
	}
	if err := s.attach(s.bus, false); err != nil {
		return err
	}
	if before == "" {
		return nil
	}
	return s.tell(ctx, natsink.TakenOver, s.takenOver(before))
}

// takeOver loads the newest checkpoint of the law whose results are all stored, and replays the frames from there. If no result is stored, as
// for a deleted stream, it loads the newest checkpoint.
func (s *Stream) takeOver() error {
	kept := s.standing.At
	most := kept.Frames
	if most == 0 {
		most = math.MaxUint64 - 1 // any state with a known number of frames
	}
	at, err := s.restoreKept(most)
	if err != nil {
		return err
	}
	if at.Frames == 0 && kept.Frames > 0 {
		if s.anew == nil {
			s.anew = errors.New("the newest law that is old enough has no frame number")
		}
		console.Warn("stream %s: no saved law matches the stored results: a new law starts after frame %d: %v", s.cfg.Stream, kept.Frames-1, s.anew)
		at = kept
	}
	if kept.Frames > at.Frames {
		s.tracking.reserve(uint64(s.cfg.Objects.Max) * (kept.Frames - at.Frames)) // skip the numbers given in the replayed frames
	}
	if at.Sequence != 0 {
		s.source.ResumeAfter(at.Sequence, at.Frames)
	}
	s.from = at
	return nil
}

// takenOver describes where the stream continues.
func (s *Stream) takenOver(before string) string {
	text := fmt.Sprintf("the stream is taken over from %s, at epoch %d", before, s.lease.Epoch())
	switch {
	case s.standing == nil:
		return text + ": frames in between are missing, and frame numbers start at 0 again"
	case s.standing.At.Frames > s.from.Frames:
		return text + fmt.Sprintf(": the law learns frames %d to %d again, results continue at frame %d", s.from.Frames, s.standing.At.Frames-1, s.standing.At.Frames)
	}
	return text + fmt.Sprintf(": it continues at frame %d", s.from.Frames)
}

// Fenced reports whether a run ended because it had lost its lease.
func Fenced(err error) bool { return errors.Is(err, natsink.ErrFenced) }

// Wrong reports whether the configuration prevents a stream from running, so that a retry is useless until the configuration changes. A model
// that the server lacks or refuses may still become available.
func Wrong(err error) bool {
	for _, passing := range []error{bus.ErrUnanswered, bus.ErrNoModel, bus.ErrNoStore, bus.ErrForbidden} {
		if errors.Is(err, passing) {
			return false
		}
	}
	return console.Status(err) == 2
}
