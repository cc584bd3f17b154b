package ingest

import (
	"context"
	"fmt"
	"time"

	"driftscope/ingest/sim"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// simulated returns the pictures of a scene or a field, CV_16UC1 or CV_32FC3 in the order blue, green, red. Acquisition times
// count from the Unix epoch. The truth stays in the scene: it must not leak into tracking.
type simulated struct {
	scene    simulation
	realtime bool

	ticker *time.Ticker // nil unless realtime
	seq    uint64
	frames frame.Pool
	lent   sim.Picture // shares the pixels of the frame being drawn
}

func newSimulated(decode func(dst any) error) (pipeline.Source, error) {
	o := simulatedOptions{Seed: 1}
	if err := decode(&o); err != nil {
		return nil, err
	}
	scene, err := o.simulation()
	if err != nil {
		return nil, err
	}
	return &simulated{scene: scene, realtime: given(o.Realtime, scene.Paced())}, nil
}

// Info reports whether frames come in real time, as from a camera. A simulation knows its frame times.
func (s *simulated) Info() pipeline.Info {
	return pipeline.Info{Live: s.realtime, Timed: true, Frames: s.scene.Frames()}
}

// Open starts the clock of a live scene. A reopened scene continues, with numbers from 0.
func (s *simulated) Open(context.Context) error {
	s.seq = 0
	if s.realtime {
		s.ticker = time.NewTicker(timing.Duration(s.scene.DT()))
	}
	return nil
}

// Close stops the clock.
func (s *simulated) Close() error {
	if s.ticker != nil {
		s.ticker.Stop()
	}
	return nil
}

// Read draws the next frame, at the next tick if the scene is live. It returns io.EOF after the last frame.
func (s *simulated) Read(ctx context.Context) (*frame.Frame, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	mat, err := s.lend()
	if err != nil {
		mat.Close()
		return nil, err
	}
	truth, err := s.scene.Next(&s.lent)
	s.lent = sim.Picture{}
	if err != nil {
		mat.Close()
		return nil, err
	}
	f := s.frames.New(s.seq, time.Unix(0, 0).UTC().Add(timing.Duration(truth.T)), frame.Meta{Trajectory: truth.Trajectory, Arrived: time.Now()}, mat)
	s.seq++
	if !truth.Inside {
		f.Notice(true, "simulation_clipped", fmt.Sprintf("%s left the picture and was drawn at its edge: set a finite number of frames, so that the picture is made large enough for the path", s.scene.Name()))
	}
	return f, nil
}

func (s *simulated) wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil || s.ticker == nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.ticker.C:
		return nil
	}
}

// lend makes a Mat of the scene's format and passes its pixels to s.lent. The caller owns the Mat, even with an error.
func (s *simulated) lend() (mat frame.Mat, err error) {
	format := s.scene.Format()
	switch {
	case format.Depth == sim.Counts && format.Channels == 1:
		mat = frame.NewMatWithSize(format.Height, format.Width, frame.MatTypeCV16UC1)
		s.lent.U16, err = mat.DataPtrUint16()
	case format.Depth != sim.Counts && format.Channels == 1:
		mat = frame.NewMatWithSize(format.Height, format.Width, frame.MatTypeCV32FC1)
		s.lent.F32, err = mat.DataPtrFloat32()
	case format.Depth != sim.Counts && format.Channels == 3:
		mat = frame.NewMatWithSize(format.Height, format.Width, frame.MatTypeCV32FC3)
		s.lent.F32, err = mat.DataPtrFloat32()
	default:
		mat = frame.NewMat()
		err = fmt.Errorf("scene %s draws %d channels of depth %d, and no Mat type has this format", s.scene.Name(), format.Channels, format.Depth)
	}
	return mat, err
}
