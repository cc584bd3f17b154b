//go:build cgo

package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"gocv.io/x/gocv"

	"driftscope/ingest/child"
	"driftscope/ingest/follow"
	"driftscope/ingest/format"
	"driftscope/ingest/mpegts"
	"driftscope/ingest/picture"
	"driftscope/ingest/printed"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// videoOptions are the keys of a video source.
type videoOptions struct {
	Path string  `yaml:"path" reaches:"read"`
	DT   float64 `yaml:"dt"`  // seconds from frame to frame
	FPS  float64 `yaml:"fps"` // frames a second, in place of dt; default: the file's own, with a warning

	Follow    bool          `yaml:"follow"`     // wait for more where the file ends
	UntilIdle time.Duration `yaml:"until_idle"` // how long, at most; default: for ever
}

// video gives the frames of a video file, CV_8UC3 in the order blue, green, red, also where they are grey.
type video struct {
	path    string
	clock   timing.Clock
	capture *gocv.VideoCapture
	first   *gocv.Mat // read by Open and not yet given
	claimed uint64    // frames that the file says it holds; 0 is unknown
	ended   bool
	torn    bool // its last picture is cut, and was left out
	printed printed.Video
}

// NewVideo makes a source that reads a file in this process, or follows it in one of its own.
func NewVideo(decode func(dst any) error) (pipeline.Source, error) {
	var o videoOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.Path == "" {
		return nil, errors.New("path is missing: give a video file")
	}
	c, err := timing.NewClock(o.DT, o.FPS)
	if err != nil {
		return nil, err
	}
	t, err := follow.NewTail(o.Follow, o.UntilIdle)
	if err != nil {
		return nil, err
	}
	if !o.Follow {
		return &video{path: o.Path, clock: c}, nil
	}
	return child.Apart("video", func(decode func(dst any) error) (pipeline.Source, error) {
		return &growingVideo{video: video{path: o.Path, clock: c}, tail: t}, decode(&o)
	})(decode)
}

// Info gives the number of frames that the file claims, and the codec's four letters.
func (v *video) Info() pipeline.Info {
	info := pipeline.Info{Timed: v.clock.Timed(), Frames: int(v.claimed)}
	if v.capture != nil {
		info.Compression = strings.Trim(v.capture.CodecString(), "\x00 ")
	}
	return info
}

// Open reads the first frame, so that a file without one is refused here. FFmpeg alone is asked: OpenCV's other readers would
// take the name for a camera or for a pattern of pictures.
func (v *video) Open(context.Context) (err error) {
	file, size, err := format.OpenFilled(v.path)
	if err != nil {
		return err
	}
	defer file.Close()
	if format.OfFile(file) != format.TS {
		return v.connect(v.path)
	}
	end, err := mpegts.Whole(file, size)
	if err != nil {
		return err
	}
	if end == size {
		return v.connect(v.path)
	}
	if err := v.connect(fmt.Sprintf("subfile,,start,0,end,%d,,:%s", end, v.path)); err != nil {
		return err
	}
	v.claimed, v.torn = 0, true // what it holds was found by its length
	return nil
}

// tornVideo is told at the end of a transport stream within whose last picture its writer stopped.
func tornVideo(path string, given uint64) error {
	return &pipeline.ErrSkip{Cause: "truncated_video", Err: fmt.Errorf("%s: %d frames are whole, the one behind them is cut: its recorder was stopped within it", path, given)}
}

// connect has FFmpeg open url, which is v.path unless the bytes come another way.
func (v *video) connect(url string) (err error) {
	said := v.printed.Open(func() { v.capture, err = gocv.VideoCaptureFileWithAPI(url, gocv.VideoCaptureFFmpeg) })
	if err != nil || !v.capture.IsOpened() {
		v.Close()
		return fmt.Errorf("%s is torn, or no video that FFmpeg reads%s: copy it again, or convert it to MP4, AVI or a multi-page TIFF", v.path, printed.Bracketed(said))
	}
	if err := v.start(); err != nil {
		v.Close()
		return fmt.Errorf("%s: %w", v.path, err)
	}
	return nil
}

func (v *video) start() error {
	width, height := v.capture.Get(gocv.VideoCaptureFrameWidth), v.capture.Get(gocv.VideoCaptureFrameHeight)
	if err := picture.CheckSize(int(width), int(height), 3); err != nil {
		return err
	}
	mat, err := v.grab()
	if err == io.EOF {
		return fmt.Errorf("no frame could be read%s: the video is damaged or empty, copy or convert it again", printed.Bracketed(printed.Complained()))
	}
	if err != nil {
		return err
	}
	v.first = &mat
	const most = 1 << 40 // a damaged header may claim anything
	if n := v.capture.Get(gocv.VideoCaptureFrameCount); n >= 1 && n <= most {
		v.claimed = uint64(math.Round(n))
	}
	v.clock.PlayAt(v.capture.Get(gocv.VideoCaptureFPS))
	v.clock.Settle()
	if bits := depth(uint32(int64(v.capture.Get(gocv.VideoCaptureCodecPixelFormat)))); bits > 8 && v.clock.Next() == 0 {
		v.clock.Warn("depth_lost", fmt.Sprintf("the video has %d bits a channel, of which the highest 8 are read: convert it to a multi-page TIFF", bits))
	}
	return nil
}

// depth is how many bits a channel has by FFmpeg's four letters for its pixels (libavcodec/raw.c), 0 where they do not say. One is a number:
// the last, or where the highest byte comes first the first. With red it counts a pixel's bits, else a channel's.
func depth(format uint32) int {
	letters := binary.LittleEndian.AppendUint32(nil, format)
	number := letters[3]
	if number >= 'A' {
		number = letters[0]
	}
	switch red := bytes.IndexByte(letters, 'R') >= 0; {
	case red && (number == 48 || number == 64):
		return 16
	case !red && 8 < number && number <= 16:
		return int(number)
	}
	return 0
}

// Read returns the next frame. A file that ends before the frames it claims gives one ErrSkip, truncated_video, before io.EOF.
func (v *video) Read(ctx context.Context) (*frame.Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	mat, err := v.take()
	if err == io.EOF && v.torn && !v.ended {
		v.ended = true
		return nil, tornVideo(v.path, v.clock.Next())
	}
	if err == io.EOF && v.clock.Next() < v.claimed && !v.ended {
		v.ended = true
		return nil, &pipeline.ErrSkip{Cause: "truncated_video", Err: fmt.Errorf("%s: %d frames could be read of the %d that the file claims: the rest is damaged or missing, copy it again", v.path, v.clock.Next(), v.claimed)}
	}
	if err == io.EOF {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.path, err)
	}
	return v.clock.Frame(mat, v.clock.Now(), frame.Meta{File: v.path})
}

// take returns the frame that Open kept, or the next one. The caller owns the Mat.
func (v *video) take() (gocv.Mat, error) {
	if v.first != nil {
		mat := *v.first
		v.first = nil
		return mat, nil
	}
	if v.ended {
		return gocv.Mat{}, io.EOF
	}
	return v.grab()
}

// grab decodes the next frame. The caller owns the Mat.
func (v *video) grab() (gocv.Mat, error) {
	mat := gocv.NewMat()
	if !v.capture.Read(&mat) || mat.Empty() {
		mat.Close()
		return gocv.Mat{}, io.EOF
	}
	if code, text := v.printed.Damage(); code != "" {
		v.clock.Warn(code, text)
	}
	if mat.Type() != gocv.MatTypeCV8UC3 {
		kind := mat.Type()
		mat.Close()
		return gocv.Mat{}, fmt.Errorf("frames hold %s, 8-bit pixels of 3 channels expected: convert the video", picture.TypeName(int(kind)))
	}
	return mat, nil
}

// Close frees the decoder and a frame that was not read.
func (v *video) Close() error {
	if v.first != nil {
		v.first.Close()
		v.first = nil
	}
	v.printed.Close()
	if v.capture == nil {
		return nil
	}
	err := v.capture.Close()
	v.capture = nil
	return err
}
