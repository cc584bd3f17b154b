package recording

import (
	"context"
	"errors"
	"fmt"
	"io"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// scout reads a recording a second time, a film ahead of its reader, for the steps that suit themselves to whole films. A film is one
// trajectory, in one piece.
type scout struct {
	looks  []func(*frame.Frame) error // steps that look ahead
	source pipeline.Source            // nil if no step looks
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

// ahead shows the steps the whole film of f, unless f continues a film they have seen. It skips earlier films without requested frames: a step
// would take them for a part of it.
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
			err = fmt.Errorf("frame %d, of trajectory %d, is missing when read again: the recording changed meanwhile", f.Seq, s.film)
		}
		if err != nil {
			return err
		}
	}
}

// read makes next the next frame, unless there is one. The reader reports frames that cannot be read.
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

// drop is done with the next frame.
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
