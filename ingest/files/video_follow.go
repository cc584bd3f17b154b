//go:build cgo

package files

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"driftscope/ingest/avcodec"
	"driftscope/ingest/follow"
	"driftscope/ingest/format"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// growingVideo returns the frames of a growing MKV or MPEG-TS file. FFmpeg reads the file through a pipe as it grows, so it
// neither searches for the end of the file nor gives up during a pause. growingVideo runs in a child process, because nothing
// interrupts FFmpeg's wait for bytes.
type growingVideo struct {
	video video
	tail  follow.Tail

	packets bool // the file is a transport stream
	file    *os.File
	pipe    *os.File      // read by FFmpeg
	fed     chan struct{} // closed when feeding has ended
	stop    func()
	torn    bool // the last picture is incomplete; valid once fed is closed
	cut     bool // the torn picture was reported

	resumed at // last restart of FFmpeg
}

// at is the number of a frame and the time at which FFmpeg was restarted there.
type at struct {
	frame uint64
	time  time.Time
}

// pauseOfFFmpeg is shorter than the 30 s without a frame after which FFmpeg gives up. If FFmpeg gives up sooner than this, twice at the same frame, the file is
// damaged.
const pauseOfFFmpeg = 20 * time.Second

// Info leaves the number of frames unknown.
func (v *growingVideo) Info() pipeline.Info {
	info := v.video.Info()
	info.Frames = 0
	return info
}

// Open waits until the file has a video's first bytes and FFmpeg has identified its streams.
func (v *growingVideo) Open(ctx context.Context) (err error) {
	if v.file, _, err = format.Open(v.video.path); err != nil {
		return err
	}
	v.tail.Alive()
	found := format.OfFile(v.file)
	for ; found == ""; found = format.OfFile(v.file) {
		if err := v.tail.Wait(ctx); err == io.EOF {
			return fmt.Errorf("%s contains no start of a video after %v: start the recording first, or give a longer until_idle", v.video.path, v.tail.UntilIdle())
		} else if err != nil {
			return err
		}
	}
	v.packets = found == format.TS
	if !slices.Contains([]string{format.MKV, format.TS, format.MPEG}, found) {
		return fmt.Errorf("%s is an %s, which can be read only when it is complete: leave follow out, or record to MKV, TIFF or a folder of pictures", v.video.path, found)
	}
	return v.begin(ctx)
}

// begin starts FFmpeg at the first byte of the file.
func (v *growingVideo) begin(ctx context.Context) error {
	far, err := v.startFeeding(ctx)
	if err == nil {
		err = v.video.connect(fmt.Sprintf("pipe:%d", far))
	}
	v.video.claimed = 0 // the header of a growing file lacks the final number
	return err
}

// startFeeding copies the file into a pipe until the file or ctx ends. It returns the descriptor that FFmpeg reads.
func (v *growingVideo) startFeeding(ctx context.Context) (descriptor uintptr, err error) {
	far, near, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	v.pipe, v.fed = far, make(chan struct{})
	v.stop = func() {
		cancel()
		near.Close()
	}
	go func() {
		defer near.Close() // closed last, because the reader of the pipe then checks whether everything was fed
		defer close(v.fed)
		v.feed(ctx, near)
	}()
	return far.Fd(), nil // Fd makes the descriptor blocking
}

// feed copies existing and new bytes. For a transport stream it holds back an incomplete last picture.
func (v *growingVideo) feed(ctx context.Context, to io.Writer) {
	whole := avcodec.NewTransportWriter(to)
	if v.packets {
		to = whole
	}
	for {
		n, err := io.Copy(to, v.file)
		if n > 0 {
			v.tail.Alive()
		}
		if err != nil {
			return
		}
		if v.tail.Wait(ctx) != nil {
			break
		}
	}
	v.torn, _ = whole.End() // fails if FFmpeg has exited
}

// Read returns the next frame once it is whole. It waits in FFmpeg, which sees the end of its input when ctx ends.
func (v *growingVideo) Read(ctx context.Context) (*frame.Frame, error) {
	for {
		forget := context.AfterFunc(ctx, v.stop)
		f, err := v.video.Read(ctx)
		forget()
		switch {
		case ctx.Err() != nil:
			if f != nil {
				f.Close()
			}
			return nil, ctx.Err()
		case err == io.EOF && v.ended() && v.torn && !v.cut:
			v.cut = true
			return nil, tornVideo(v.video.path, v.video.clock.Next())
		case err != io.EOF || v.ended():
			return f, err
		}
		if err := v.again(ctx); err != nil {
			return nil, err
		}
	}
}

// ended reports that the whole file was fed.
func (v *growingVideo) ended() bool {
	select {
	case <-v.fed:
		return true
	default:
		return false
	}
}

// again restarts FFmpeg if it gave up, which it does 30 s after a request for a frame, and skips the frames already returned.
// If the restart gives no frame and there was no pause, the file is damaged.
func (v *growingVideo) again(ctx context.Context) (err error) {
	given := v.video.clock.Next()
	if !v.resumed.time.IsZero() && given == v.resumed.frame && time.Since(v.resumed.time) < pauseOfFFmpeg {
		return fmt.Errorf("%s is damaged after frame %d, because FFmpeg stops there although the file continues: track the frames up to there without follow, or record again", v.video.path, given)
	}
	v.Close()
	if v.file, _, err = format.Open(v.video.path); err != nil {
		return err
	}
	if err := v.begin(ctx); err != nil {
		return err
	}
	for range given {
		mat, err := v.video.take()
		if err != nil {
			return fmt.Errorf("%s: the first %d frames cannot be read again: %w", v.video.path, given, err)
		}
		mat.Close()
	}
	v.resumed = at{given, time.Now()}
	return nil
}

// Close stops the feeding and the decoder. FFmpeg then sees the end of its input.
func (v *growingVideo) Close() error {
	if v.stop != nil {
		v.stop()
		<-v.fed
		v.pipe.Close()
		v.stop = nil
	}
	if v.file != nil {
		v.file.Close()
		v.file = nil
	}
	return v.video.Close()
}
