package camera

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"gocv.io/x/gocv"

	"driftscope/ingest/picture"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// appsink ends a pipeline. Its queue is short: an unread frame is overwritten, and then counted by the gap in the time stamps.
const appsink = " ! appsink sync=false max-buffers=2 drop=true"

// Waiting times for the first frame of a camera, and between two checks of the context.
const (
	firstFrame = 15 * time.Second
	pullWait   = 50 * time.Millisecond
)

// gstreamer returns the frames of a pipeline: CV_8UC1, CV_16UC1 or CV_8UC3.
type gstreamer struct {
	name        string // for errors
	description string
	endless     bool     // the end of the stream is a lost connection
	sparse      bool     // frames are triggered, so the first may come late
	advice      string   // ends errors of opening
	packed      *packing // real format if the caps wrongly say GRAY8; nil if the caps are right

	pipeline *gstPipeline
	clock    cameraClock
	first    *frame.Frame // pulled by Open, not returned yet
}

// Info returns the properties that all cameras share.
func (s *gstreamer) Info() pipeline.Info { return aCamera }

// Open starts the pipeline and waits for the first frame. A pipeline without frames fails here.
func (s *gstreamer) Open(ctx context.Context) (err error) {
	if s.pipeline, err = openPipeline(s.description); err != nil {
		return fmt.Errorf("%s: %w: %s", s.name, err, s.advice)
	}
	patience := firstFrame
	if s.sparse {
		patience = time.Second
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s.first, err = s.pull(limited)
	switch {
	case err == nil, s.sparse && errors.Is(err, context.DeadlineExceeded):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: no frame arrived within %v: %s", s.name, patience, s.advice)
	}
	return fmt.Errorf("%s: %w: %s", s.name, err, s.advice)
}

// Read returns the next frame. A pipeline failure is ErrNotConnected.
func (s *gstreamer) Read(ctx context.Context) (*frame.Frame, error) {
	if f := s.first; f != nil {
		s.first = nil
		return f, nil
	}
	f, err := s.pull(ctx)
	switch {
	case err == nil || ctx.Err() != nil:
		return f, err
	case errors.Is(err, io.EOF) && !s.endless:
		return nil, io.EOF
	}
	return nil, fmt.Errorf("%s: %w: %w", s.name, err, pipeline.ErrNotConnected)
}

// pull waits for a frame until ctx ends.
func (s *gstreamer) pull(ctx context.Context) (*frame.Frame, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		picture, err := s.pipeline.Pull(pullWait)
		if errors.Is(err, errNothing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return s.frame(picture, time.Now())
	}
}

// frame copies a picture out of GStreamer's memory.
func (s *gstreamer) frame(p rawPicture, arrived time.Time) (*frame.Frame, error) {
	kind := [...]gocv.MatType{gray8: gocv.MatTypeCV8UC1, gray16: gocv.MatTypeCV16UC1, bgr: gocv.MatTypeCV8UC3}[p.Format]
	if err := picture.CheckSize(p.Width, p.Height, picture.PixelBytes(uint32(kind))); err != nil {
		return nil, err
	}
	if s.packed != nil {
		kind = gocv.MatTypeCV16UC1
	}
	mat := gocv.NewMatWithSize(p.Height, p.Width, kind)
	err := s.fill(&mat, p)
	if err != nil {
		mat.Close()
		return nil, err
	}
	s.clock.sparse = s.sparse
	if s.clock.seq == 0 && s.clock.cadence.period == 0 && p.Rate > 0 && !s.sparse {
		s.clock.cadence.period = 1 / p.Rate
	}
	return s.clock.frame(mat, p.PTS, arrived), nil
}

// fill copies or unpacks a picture's pixels.
func (s *gstreamer) fill(mat *gocv.Mat, p rawPicture) error {
	if s.packed != nil {
		data, err := mat.DataPtrUint16()
		if err != nil {
			return err
		}
		return s.packed.open(data, p)
	}
	data, err := mat.DataPtrUint8()
	if err != nil {
		return err
	}
	return p.CopyTo(data)
}

// Close stops the pipeline.
func (s *gstreamer) Close() error {
	if s.first != nil {
		s.first.Close()
		s.first = nil
	}
	if s.pipeline != nil {
		s.pipeline.Close()
		s.pipeline = nil
	}
	s.clock = cameraClock{}
	return nil
}

// pipelineOptions are the keys of a gst source.
type pipelineOptions struct {
	Pipeline string `yaml:"pipeline" reaches:"program"` // as for gst-launch-1.0; an appsink is appended if there is none
}

// maxPipeline bounds a pipeline's description.
const maxPipeline = 8192

// NewGStreamer makes a source of a pipeline in the syntax of gst-launch-1.0.
func NewGStreamer(decode func(dst any) error) (pipeline.Source, error) {
	var o pipelineOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	description := strings.TrimSpace(o.Pipeline)
	switch {
	case description == "":
		return nil, errors.New("pipeline is missing: give one as for gst-launch-1.0, such as 'v4l2src ! video/x-raw,width=640,height=480'")
	case len(description) > maxPipeline:
		return nil, fmt.Errorf("pipeline has %d bytes, at most %d expected", len(description), maxPipeline)
	}
	if !strings.Contains(description, "appsink") {
		description += " ! videoconvert ! video/x-raw,format=(string){GRAY8,GRAY16_LE,BGR}" + appsink
	}
	return &gstreamer{name: "gst", description: description, advice: "try the pipeline with gst-launch-1.0 -v, with fakesink as its end"}, nil
}
