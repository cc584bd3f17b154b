package camera

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gocv.io/x/gocv"

	"driftscope/ingest/avcodec"
	"driftscope/ingest/picture"
	"driftscope/ingest/rtsp"
	"driftscope/ingest/tiff"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// rtspCamera returns the pictures of a network camera: MJPEG as the camera coded it, other videos as CV_8UC3. It drops torn pictures and pictures that depend
// on lost ones, and counts them in Dropped of the next frame.
type rtspCamera struct {
	name   string // for errors
	url    string
	udp    bool
	ca     string
	advice string // ends errors of opening
	timing timing

	stream  *rtsp.Stream
	first   *rtsp.Unit       // read by Open
	decoder *avcodec.Decoder // nil for MJPEG
	sets    []byte           // parameter sets not yet passed to the decoder
	waiting bool             // for a key frame
	refresh refresh
	lost    []time.Duration // stamps of lost pictures not reported yet
	problem error           // error of the last lost picture
	failed  int             // consecutive pictures that failed to decode
	clock   cameraClock
	ready   []*frame.Frame // decoded, not returned yet
	deep    bool           // the warning about more than 8 bits was given
	said    picture.Video
}

// hopeless is the number of consecutive decoding failures that stops the source. The decoder never receives a picture with a
// lost packet, and the next key frame ends a series of failures. A longer series means an unsupported coding. At 2 frames per
// second or more the source fails before stall_after, 5 s, is over.
const hopeless = 10

// Info returns the properties that all cameras share.
func (s *rtspCamera) Info() pipeline.Info { return aCamera }

// Open connects and waits until the camera sends. It does not wait for a picture, because a reopened source may have to wait long for the next key frame.
func (s *rtspCamera) Open(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%s cannot be opened: %w: %s", s.name, err, s.advice)
	}
	limited, cancel := context.WithTimeout(ctx, firstFrame)
	defer cancel()
	unit, err := s.stream.Next(limited)
	switch {
	case err == nil:
		s.first = &unit
		s.timing.begin(time.Now())
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("no complete picture arrived within %v", firstFrame)
		if why := s.stream.Refused(); why != nil {
			err = fmt.Errorf("%w (%w)", err, why)
		}
		if s.udp {
			err = fmt.Errorf("%w over UDP, which a firewall may block: leave transport out", err)
		}
	}
	return fmt.Errorf("%s is open: %w: %s", s.name, err, s.advice)
}

func (s *rtspCamera) connect(ctx context.Context) error {
	trust, err := trusting(s.ca)
	if err != nil {
		return err
	}
	if s.stream, err = rtsp.Open(ctx, rtsp.Options{URL: s.url, UDP: s.udp, TLS: trust}); err != nil {
		return err
	}
	s.waiting = true
	kind := avcodec.H264
	switch s.stream.Codec() {
	case rtsp.MJPEG:
		return nil
	case rtsp.H265:
		kind = avcodec.H265
	}
	s.sets = s.stream.ParameterSets()
	s.said.Open(func() { s.decoder, err = avcodec.Open(kind, tiff.MaxBytes/3) })
	return err
}

// Read returns the next frame.
func (s *rtspCamera) Read(ctx context.Context) (*frame.Frame, error) {
	for len(s.ready) == 0 {
		unit, err := s.next(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", s.name, err, pipeline.ErrNotConnected)
		}
		if err := s.take(unit); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		if s.failed >= hopeless && len(s.ready) == 0 {
			return nil, fmt.Errorf("%s: none of the last %d pictures could be decoded; the last one failed with: %w: %w", s.name, s.failed, s.problem, pipeline.ErrNotConnected)
		}
	}
	f := s.ready[0]
	s.ready = append(s.ready[:0], s.ready[1:]...)
	return f, nil
}

func (s *rtspCamera) next(ctx context.Context) (rtsp.Unit, error) {
	if u := s.first; u != nil {
		s.first = nil
		return *u, nil
	}
	u, err := s.stream.Next(ctx)
	if err != nil && s.problem != nil {
		err = fmt.Errorf("%w; the last picture: %w", err, s.problem)
	}
	return u, err
}

// take decodes a unit and appends the resulting frames to ready.
func (s *rtspCamera) take(u rtsp.Unit) error {
	s.timing.zero = u.Zero
	s.lost = append(s.lost, u.Lost...)
	if s.decoder == nil {
		mat, err := picture.Decode(u.Data)
		if err != nil {
			s.lose(u.Stamp, err)
			return nil
		}
		return s.give(mat, u.Stamp, u.Arrived)
	}
	if u.Gap && !s.waiting { // pictures still in the decoder were sent before the gap
		s.decoder.Send(nil, 0)
		if err := s.receive(u); err != nil {
			return err
		}
		s.waiting = true
	}
	if s.waiting && !u.Key {
		s.lose(u.Stamp, nil)
		return nil
	}
	if s.waiting {
		s.decoder.Flush()
		s.waiting, s.refresh = false, begun(u)
	} else {
		s.refresh.next(u)
	}
	data := u.Data
	if len(s.sets) > 0 {
		data, s.sets = append(s.sets, data...), nil
	}
	if err := s.decoder.Send(data, u.Stamp); err != nil {
		s.torn(u.Stamp, err)
		return nil
	}
	return s.receive(u)
}

// lose records a lost picture.
func (s *rtspCamera) lose(stamp time.Duration, why error) {
	if n := len(s.lost); n == 0 || s.lost[n-1] != stamp {
		s.lost = append(s.lost, stamp)
	}
	if why != nil {
		s.problem = why
		s.failed++
	}
}

// torn records a picture that could not be decoded. The next pictures depend on it.
func (s *rtspCamera) torn(stamp time.Duration, why error) {
	if said := picture.Complained(); said != "" {
		why = fmt.Errorf("%w (%s)", why, said)
	}
	s.lose(stamp, why)
	s.waiting = true
}

// receive takes the pictures that the decoder returns after a unit.
func (s *rtspCamera) receive(u rtsp.Unit) error {
	for {
		p, err := s.decoder.Receive()
		if errors.Is(err, avcodec.ErrMore) {
			return nil
		}
		if err != nil {
			s.torn(u.Stamp, err)
			return nil
		}
		if !s.refresh.whole(p.Stamp) {
			s.lose(p.Stamp, nil)
			continue
		}
		if !p.Whole {
			s.torn(p.Stamp, errors.New("FFmpeg reports that it is damaged"))
			continue
		}
		if err := s.show(p, u.Arrived); err != nil {
			return err
		}
	}
}

// show copies a picture out of the decoder's memory.
func (s *rtspCamera) show(p avcodec.Picture, arrived time.Time) error {
	if err := picture.CheckSize(p.Width, p.Height, 3); err != nil {
		return err
	}
	mat := gocv.NewMatWithSize(p.Height, p.Width, gocv.MatTypeCV8UC3)
	data, err := mat.DataPtrUint8()
	if err == nil {
		err = p.CopyTo(data)
	}
	if err != nil {
		mat.Close()
		return err
	}
	if err := s.give(mat, p.Stamp, arrived); err != nil || p.Bits <= 8 || s.deep || len(s.ready) == 0 {
		return err
	}
	s.deep = true
	s.ready[0].Notice(true, "depth_lost", fmt.Sprintf("the camera sends %d bits per channel, but only the highest 8 are read", p.Bits))
	return nil
}

// give numbers and times a picture, and takes ownership of it. Before the clock is settled it drops the picture.
func (s *rtspCamera) give(mat gocv.Mat, stamp time.Duration, arrived time.Time) error {
	settled, told := s.timing.settle(&s.clock, stamp, arrived)
	if !settled {
		s.lost, s.problem, s.failed = nil, nil, 0
		return mat.Close()
	}
	s.clock.lost = s.before(stamp)
	f := s.clock.frame(mat, stamp, arrived)
	s.problem, s.failed = nil, 0
	if told != "" {
		f.Notice(false, "camera_clock", told)
	}
	s.ready = append(s.ready, f)
	return nil
}

// before removes the lost pictures with an earlier stamp from the list and returns their number. It leaves out a lost picture that precedes a frame already
// returned, as reordering can cause, because the gap in the stamps has counted it, and losses before the first frame.
func (s *rtspCamera) before(stamp time.Duration) (n uint64) {
	later := s.lost[:0]
	for _, l := range s.lost {
		switch {
		case l > stamp:
			later = append(later, l)
		case s.clock.seq > 0 && (l > s.clock.stamp || s.clock.cadence.period == 0):
			n++
		}
	}
	s.lost = later
	return n
}

// Close ends the connection.
func (s *rtspCamera) Close() error {
	for _, f := range s.ready {
		f.Close()
	}
	if s.stream != nil {
		s.stream.Close()
	}
	if s.decoder != nil {
		s.decoder.Close()
	}
	s.said.Close()
	s.stream, s.decoder, s.first, s.ready, s.sets, s.problem, s.failed = nil, nil, nil, nil, nil, nil, 0
	s.waiting, s.refresh, s.deep, s.lost, s.clock, s.said = false, refresh{}, false, nil, cameraClock{}, picture.Video{}
	s.timing = timing{reports: s.timing.reports}
	return nil
}
