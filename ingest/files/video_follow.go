//go:build cgo

package files

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"driftscope/ingest/follow"
	"driftscope/ingest/format"
	"driftscope/ingest/mpegts"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// growingVideo gives the frames of an MKV or MPEG-TS that is still being written. FFmpeg reads a pipe, through which the file is passed
// on as it grows: it neither looks for the end of the file, which is not there, nor gives up a pause. It works in a child process, for
// while it waits for bytes nothing stops it.
type growingVideo struct {
	video video
	tail  follow.Tail

	packets bool // it is a transport stream
	file    *os.File
	pipe    *os.File      // the end that FFmpeg reads
	fed     chan struct{} // closed when the passing on has ended
	stop    func()
	torn    bool // the last picture was not whole; good once fed is closed
	cut     bool // and that was told

	resumed at // where FFmpeg was begun anew last
}

// at is a frame's number and when it was reached.
type at struct {
	frame uint64
	time  time.Time
}

// pauseOfFFmpeg is less than the half minute without a frame after which FFmpeg gives up. Where it gives up sooner, and twice at the same
// frame, the recorder does not pause: the file is damaged.
const pauseOfFFmpeg = 20 * time.Second

// Info does not know the number of frames.
func (v *growingVideo) Info() pipeline.Info {
	info := v.video.Info()
	info.Frames = 0
	return info
}

// Open waits until the file has begun, and until FFmpeg knows what is in it.
func (v *growingVideo) Open(ctx context.Context) (err error) {
	if v.file, _, err = format.Open(v.video.path); err != nil {
		return err
	}
	v.tail.Alive()
	found := format.OfFile(v.file)
	for ; found == ""; found = format.OfFile(v.file) {
		if err := v.tail.Wait(ctx); err == io.EOF {
			return fmt.Errorf("%s does not begin like a video after %v: start the recording first, or give a longer until_idle", v.video.path, v.tail.UntilIdle())
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

// begin has FFmpeg read the file from its first byte.
func (v *growingVideo) begin(ctx context.Context) error {
	far, err := v.startFeeding(ctx)
	if err == nil {
		err = v.video.connect(fmt.Sprintf("pipe:%d", far))
	}
	v.video.claimed = 0 // the header does not know the end
	return err
}

// startFeeding passes the file on through a pipe, of which it returns the descriptor that FFmpeg reads, until it has ended or ctx has.
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
		defer near.Close() // last: who sees the end of the pipe asks whether all was fed
		defer close(v.fed)
		v.feed(ctx, near)
	}()
	return far.Fd(), nil // which makes it a blocking one
}

// feed copies what is there and what comes; of a transport stream all but a last picture that is not whole.
func (v *growingVideo) feed(ctx context.Context, to io.Writer) {
	whole := mpegts.NewWriter(to)
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
	v.torn, _ = whole.End() // FFmpeg has gone where it fails
}

// Read returns the next frame once it is whole. It waits in FFmpeg, which sees the end of its file when ctx ends.
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

// ended says that all of the file was passed on.
func (v *growingVideo) ended() bool {
	select {
	case <-v.fed:
		return true
	default:
		return false
	}
}

// again begins anew where FFmpeg has given up, as it does 30 s after it was asked for a frame, and passes over those that were given. Where
// that brought no frame and was no pause, the file is damaged.
func (v *growingVideo) again(ctx context.Context) (err error) {
	given := v.video.clock.Next()
	if !v.resumed.time.IsZero() && given == v.resumed.frame && time.Since(v.resumed.time) < pauseOfFFmpeg {
		return fmt.Errorf("%s is damaged behind its frame %d: FFmpeg reads no further, although the file goes on: track what is whole without follow, or record anew", v.video.path, given)
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
			return fmt.Errorf("%s: its %d frames cannot be read again: %w", v.video.path, given, err)
		}
		mat.Close()
	}
	v.resumed = at{given, time.Now()}
	return nil
}

// Close ends the passing on, so that FFmpeg sees the end of its file.
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
