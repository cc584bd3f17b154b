package camera

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"driftscope/ingest/picture"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// mjpegCamera returns the pictures of a multipart response as the camera coded them. Pictures have no sequence numbers, so missing pictures are found only if
// the camera sends time stamps.
type mjpegCamera struct {
	name   string // for errors
	body   io.Closer
	cancel context.CancelFunc // ends a wait for the body
	parts  parts
	timing timing

	first  *frame.Frame      // read by Open, not returned yet
	unread *pipeline.ErrSkip // error of a first picture that cannot be decoded
	clock  cameraClock
}

// Info returns the properties that all cameras share.
func (s *mjpegCamera) Info() pipeline.Info { return aCamera }

// Open waits for the first picture. If it cannot be decoded, Read reports that, because the camera may send no other picture.
func (s *mjpegCamera) Open(ctx context.Context) (err error) {
	limited, cancel := context.WithTimeout(ctx, firstFrame)
	defer cancel()
	s.first, err = s.Read(limited)
	switch {
	case err == nil, errors.As(err, &s.unread):
		return nil
	case ctx.Err() != nil:
		return err
	case limited.Err() != nil:
		err = fmt.Errorf("%s: no picture arrived within %v", s.name, firstFrame)
	}
	return fmt.Errorf("%w: %s", err, adviceHTTP)
}

// Read returns the next picture. The end of ctx ends the wait and the connection.
func (s *mjpegCamera) Read(ctx context.Context) (*frame.Frame, error) {
	if f := s.first; f != nil {
		s.first = nil
		return f, nil
	}
	if skip := s.unread; skip != nil {
		s.unread = nil
		return nil, skip
	}
	stop := context.AfterFunc(ctx, s.cancel)
	p, err := s.parts.next()
	if !stop() || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	arrived := time.Now()
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the camera ended the connection")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", s.name, err, pipeline.ErrNotConnected)
	}
	mat, err := picture.Decode(p.jpeg)
	if err != nil {
		s.clock.seq++
		return nil, &pipeline.ErrSkip{Cause: "damaged_picture", Err: fmt.Errorf("%s: %w", s.name, err)}
	}
	stamp := time.Duration(-1)
	if p.stamp >= 0 && p.stamp < math.MaxInt64/1e9 {
		whole, part := math.Modf(p.stamp)
		stamp = time.Duration(whole)*time.Second + time.Duration(part*1e9)
		s.timing.zero = time.Unix(0, 0).UTC()
	}
	s.timing.deadline = arrived // do not wait for a time: a part contains its time or there is none
	told := s.tie(stamp, arrived)
	f := s.clock.frame(mat, stamp, arrived)
	if told != "" {
		f.Notice(false, "camera_clock", told)
	}
	return f, nil
}

// tie sets the clock at the first picture and describes the time base of the frames.
func (s *mjpegCamera) tie(stamp time.Duration, arrived time.Time) (told string) {
	if stamp < 0 {
		if s.timing.settled {
			return ""
		}
		s.timing.settled = true
		return "the camera sends no time stamps: frame times are the times of arrival"
	}
	_, told = s.timing.settle(&s.clock, stamp, arrived)
	return told
}

// Close ends the connection.
func (s *mjpegCamera) Close() error {
	if s.first != nil {
		s.first.Close()
		s.first = nil
	}
	s.body.Close() // the error of Close does not matter here
	return nil
}
