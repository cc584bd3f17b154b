package camera

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"gocv.io/x/gocv"

	"driftscope/ingest/picture"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// opencvStream reads a device or an address through OpenCV. Open and Read block in C code, which ignores the context: to
// abandon them, kill the process.
type opencvStream struct {
	name   string // for errors
	open   func() (*gocv.VideoCapture, error)
	advice string // ends errors of opening
	fps    float64
	file   bool        // the stream is a file, which ends after the frames that it announces
	over   func() bool // reports the end of the stream; nil if unknown

	capture *gocv.VideoCapture
	first   *frame.Frame // read by Open, not returned yet
	clock   cameraClock
	stamped time.Duration // the last time stamp
	step    time.Duration // step from the previous time stamp
	printed picture.Video
}

// aCamera describes a live source with time stamps.
var aCamera = pipeline.Info{Live: true, Timed: true}

// Info returns the properties that all cameras share.
func (s *opencvStream) Info() pipeline.Info { return aCamera }

// Open connects and waits for the first frame.
func (s *opencvStream) Open(ctx context.Context) (err error) {
	said := s.printed.Open(func() { s.capture, err = s.open() })
	if err != nil || !s.capture.IsOpened() {
		return fmt.Errorf("%s cannot be opened%s: %s", s.name, picture.Bracketed(said), s.advice)
	}
	if s.first, err = s.Read(ctx); err != nil {
		return fmt.Errorf("%s was opened, but no frame arrived%s: %s", s.name, picture.Bracketed(picture.Complained()), s.advice)
	}
	return nil
}

// Read returns the next frame. OpenCV gives no reason if there is none.
func (s *opencvStream) Read(ctx context.Context) (*frame.Frame, error) {
	if f := s.first; f != nil {
		s.first = nil
		return f, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	mat := gocv.NewMat()
	if !s.capture.Read(&mat) || mat.Empty() {
		mat.Close()
		if s.over != nil && s.over() {
			return nil, io.EOF
		}
		if n := s.capture.Get(gocv.VideoCaptureFrameCount); s.file && n > 0 && float64(s.clock.seq) >= n {
			return nil, io.EOF
		}
		return nil, fmt.Errorf("%s stopped sending frames: %w", s.name, pipeline.ErrNotConnected)
	}
	return s.frame(mat, time.Now())
}

// frame builds a frame and takes ownership of mat.
func (s *opencvStream) frame(mat gocv.Mat, arrived time.Time) (*frame.Frame, error) {
	mat, err := picture.DropAlpha(mat)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	if s.clock.seq == 0 && s.fps > 0 {
		s.clock.cadence.period = 1 / s.fps
	}
	f := s.clock.frame(mat, s.stamp(), arrived)
	if code, text := s.printed.Damage(); code != "" {
		f.Notice(true, code, text)
	}
	return f, nil
}

// stamp returns the time stamp of the frame read last, or a negative value if it has none. OpenCV reports a missing stamp as 0, but the first stamp of a video
// may be 0, too. FFmpeg gives no stamps to the delayed frames at the end of a stream; stamp continues there at even steps.
func (s *opencvStream) stamp() time.Duration {
	ms := s.capture.Get(gocv.VideoCapturePosMsec)
	first := s.clock.seq == 0 && (s.file || s.over != nil)
	switch {
	case 0 < ms && ms < math.MaxInt64/1e6, ms == 0 && first:
		stamp := time.Duration(ms * float64(time.Millisecond))
		s.step, s.stamped = max(stamp-s.stamped, 0), stamp
		return stamp
	case s.stamped > 0:
		s.stamped += s.step
		return s.stamped
	}
	return -1
}

// Close frees the device.
func (s *opencvStream) Close() error {
	if s.first != nil {
		s.first.Close()
		s.first = nil
	}
	var err error
	if s.capture != nil { // OpenCV requires Close even if the capture failed to open
		err = s.capture.Close()
		s.capture = nil
	}
	s.printed.Close()
	s.clock, s.printed, s.stamped, s.step = cameraClock{}, picture.Video{}, 0, 0
	return err
}

// cameraOptions are the keys of a camera source. The camera keeps its own value of every key that is not set.
type cameraOptions struct {
	Device int     `yaml:"device" reaches:"device"` // N of /dev/videoN
	Width  int     `yaml:"width"`
	Height int     `yaml:"height"`
	FPS    float64 `yaml:"fps"`
	FourCC string  `yaml:"fourcc" reaches:"nothing"` // how the camera packs pixels, for example MJPG or YUYV
}

// NewCamera makes a source of a V4L2 device: a webcam, a frame grabber.
func NewCamera(decode func(dst any) error) (pipeline.Source, error) {
	var o cameraOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	switch {
	case o.Device < 0 || o.Device > 255:
		return nil, fmt.Errorf("device is %d, expected 0 to 255, the number in /dev/video0", o.Device)
	case (o.Width == 0) != (o.Height == 0):
		return nil, errors.New("only one of width and height is given: give both or neither")
	case o.Width != 0 && picture.CheckSize(o.Width, o.Height, 1) != nil:
		return nil, picture.CheckSize(o.Width, o.Height, 1)
	case o.FPS != 0 && !(1e-3 <= o.FPS && o.FPS <= 1e6):
		return nil, fmt.Errorf("fps is %g, expected 0.001 to 1e6 frames per second", o.FPS)
	case o.FourCC != "" && (len(o.FourCC) != 4 || strings.Trim(o.FourCC, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ") != ""):
		return nil, fmt.Errorf("fourcc is %q, expected four capitals or digits, such as MJPG", o.FourCC)
	}
	return &opencvStream{
		name: fmt.Sprintf("camera %d", o.Device), open: o.open, fps: o.FPS,
		advice: "driftscope sources lists the cameras of this computer; another program may be using the camera, or you may not be in the group video",
	}, nil
}

// open opens the device and sets the options. A driver chooses the nearest value that it supports.
func (o cameraOptions) open() (*gocv.VideoCapture, error) {
	path := fmt.Sprintf("/dev/video%d", o.Device)
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	capture, err := gocv.VideoCaptureDeviceWithAPI(o.Device, gocv.VideoCaptureV4L2)
	if err != nil || !capture.IsOpened() {
		return capture, err
	}
	if o.FourCC != "" { // set first, because the supported sizes and rates depend on it
		capture.Set(gocv.VideoCaptureFOURCC, capture.ToCodec(o.FourCC))
	}
	if o.Width > 0 {
		capture.Set(gocv.VideoCaptureFrameWidth, float64(o.Width))
		capture.Set(gocv.VideoCaptureFrameHeight, float64(o.Height))
	}
	if o.FPS > 0 {
		capture.Set(gocv.VideoCaptureFPS, o.FPS)
	}
	return capture, nil
}
