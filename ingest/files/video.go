//go:build cgo

package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"gocv.io/x/gocv"

	"driftscope/ingest/avcodec"
	"driftscope/ingest/child"
	"driftscope/ingest/format"
	"driftscope/ingest/picture"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// video returns the frames of a video file as CV_8UC3 in the order blue, green, red, even for grey videos.
type video struct {
	path    string
	clock   timing.Clock
	capture *gocv.VideoCapture
	first   *gocv.Mat // read by Open, not returned yet
	claimed uint64    // number of frames in the header; 0 if unknown
	ended   bool
	torn    bool // the last picture is incomplete and was left out
	printed picture.Video
}

// NewVideo makes a source that reads a complete file in this process, or follows a growing file in a child process.
func NewVideo(decode func(dst any) error) (pipeline.Source, error) {
	var o Growing
	c, t, err := o.times(decode(&o), "a video file")
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

// Info returns the number of frames in the header, and the codec's four letters.
func (v *video) Info() pipeline.Info {
	info := pipeline.Info{Timed: v.clock.Timed(), Frames: int(v.claimed)}
	if v.capture != nil {
		info.Compression = strings.Trim(v.capture.CodecString(), "\x00 ")
	}
	return info
}

// Open reads the first frame, and so rejects a file without frames. It uses FFmpeg only: OpenCV's other readers could take
// the name for a camera or a pattern of pictures.
func (v *video) Open(context.Context) (err error) {
	file, size, err := format.OpenFilled(v.path)
	if err != nil {
		return err
	}
	defer file.Close()
	if format.OfFile(file) != format.TS {
		return v.connect(v.path)
	}
	end, err := avcodec.WholeTransport(file, size)
	if err != nil {
		return err
	}
	if end == size {
		return v.connect(v.path)
	}
	if err := v.connect(fmt.Sprintf("subfile,,start,0,end,%d,,:%s", end, v.path)); err != nil {
		return err
	}
	v.claimed, v.torn = 0, true // the file's length gave its number of frames
	return nil
}

// tornVideo returns the error at the end of a transport stream whose writer stopped within the last picture.
func tornVideo(path string, given uint64) error {
	return &pipeline.ErrSkip{Cause: "truncated_video", Err: fmt.Errorf("%s: %d frames are whole, but the next one is cut off, because the recorder stopped while writing it", path, given)}
}

// connect opens url with FFmpeg. url is v.path unless the bytes come through a pipe.
func (v *video) connect(url string) (err error) {
	said := v.printed.Open(func() { v.capture, err = gocv.VideoCaptureFileWithAPI(url, gocv.VideoCaptureFFmpeg) })
	if err != nil || !v.capture.IsOpened() {
		v.Close()
		return fmt.Errorf("%s is cut off, or FFmpeg cannot read this kind of video%s: copy it again, or convert it to MP4, AVI or a multi-page TIFF", v.path, picture.Bracketed(said))
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
		return fmt.Errorf("no frame could be read%s: the video is damaged or empty, copy or convert it again", picture.Bracketed(picture.Complained()))
	}
	if err != nil {
		return err
	}
	v.first = &mat
	const most = 1 << 40 // a damaged header may claim any number
	if n := v.capture.Get(gocv.VideoCaptureFrameCount); n >= 1 && n <= most {
		v.claimed = uint64(math.Round(n))
	}
	v.clock.PlayAt(v.capture.Get(gocv.VideoCaptureFPS))
	v.clock.Settle()
	if bits := depth(uint32(int64(v.capture.Get(gocv.VideoCaptureCodecPixelFormat)))); bits > 8 && v.clock.Next() == 0 {
		v.clock.Warn("depth_lost", fmt.Sprintf("the video has %d bits per channel, but only the highest 8 are read: convert it to a multi-page TIFF", bits))
	}
	return nil
}

// depth returns the bits per channel from FFmpeg's four letters for the pixel format (libavcodec/raw.c), or 0 if they give no number. The number is the last
// letter, or the first for big-endian pixels. In RGB formats it counts the bits of a pixel, in others the bits of a channel.
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

// Read returns the next frame. If the file ends before the claimed number of frames, Read returns one ErrSkip,
// truncated_video, before io.EOF.
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
		return nil, &pipeline.ErrSkip{Cause: "truncated_video", Err: fmt.Errorf("%s: only %d of the %d frames in the file's header could be read: the rest is damaged or missing, copy it again", v.path, v.clock.Next(), v.claimed)}
	}
	if err == io.EOF {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.path, err)
	}
	return v.clock.Frame(mat, v.clock.Now(), frame.Meta{File: v.path})
}

// take returns the frame that Open read, or the next one. The caller owns the Mat.
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
		return gocv.Mat{}, fmt.Errorf("frames have pixels of type %s, 8 bits and 3 channels expected: convert the video", picture.TypeName(int(kind)))
	}
	return mat, nil
}

// Close frees the decoder and an unread frame.
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
