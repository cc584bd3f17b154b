package recording

import (
	"context"
	"errors"
	"fmt"
	"io"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// scout reads a recording a second time, one film ahead of its reader, for steps that adapt to whole films. A film is one contiguous
// trajectory.
type scout struct {
	looks  []func(*frame.Frame) error // steps that look ahead
	source pipeline.Source            // nil if no step looks ahead
	next   *frame.Frame               // first frame of the next film
	begun  bool
	film   uint64 // trajectory of the last shown frame
}

func (r *Recording) scout(ctx context.Context, chain chain) (s *scout, err error) {
	s = &scout{}
	for _, step := range chain {
		if look := step.Can().Look; look != nil {
			s.looks = append(s.looks, look)
		}
	}
	if len(s.looks) > 0 {
		s.source, err = r.open(ctx)
	}
	return s, err
}

// ahead shows the whole film of f to the steps, unless they have already seen it. It skips earlier films without requested frames, because a step
// would mistake them for part of the film.
func (s *scout) ahead(ctx context.Context, f *frame.Frame) error {
	if s.source == nil || s.begun && f.Meta.Trajectory == s.film {
		return nil
	}
	s.begun, s.film = true, f.Meta.Trajectory
	for shown := false; ; {
		err := s.read(ctx)
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case err == nil && s.next.Meta.Trajectory == s.film:
			shown = true
			err = s.show()
		case shown:
			return nil
		case err == nil:
			s.drop()
		default:
			err = fmt.Errorf("frame %d, of trajectory %d, was missing in a second reading: the recording changed meanwhile", f.Seq, s.film)
		}
		if err != nil {
			return err
		}
	}
}

// read sets next to the next frame, unless it is set. It skips unreadable frames, which the main reader reports.
func (s *scout) read(ctx context.Context) (err error) {
	var skip *pipeline.ErrSkip
	for s.next == nil && (err == nil || errors.As(err, &skip)) {
		s.next, err = s.source.Read(ctx)
	}
	return err
}

// show shows the next frame to the steps, and then drops it.
func (s *scout) show() error {
	defer s.drop()
	for _, look := range s.looks {
		if err := look(s.next); err != nil {
			return err
		}
	}
	return nil
}

// drop closes the next frame.
func (s *scout) drop() {
	s.next.Close()
	s.next = nil
}

func (s *scout) close() {
	if s.next != nil {
		s.drop()
	}
	if s.source != nil {
		s.source.Close()
	}
}
