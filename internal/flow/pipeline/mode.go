package pipeline

import (
	"context"
	"errors"
	"fmt"

	"driftscope/internal/flow/frame"
)

// Mode decides whether frames are dropped or wait when tracking is slower than the source.
type Mode string

// OwnMode means Latest for a live source, and Lossless for a source that waits.
const (
	OwnMode  Mode = ""
	Latest   Mode = "latest"   // the oldest waiting frame is dropped and counted
	Lossless Mode = "lossless" // the source waits; a live source cannot wait, and the run fails once the queue is full
)

// ErrMode refuses mode Latest for a source that waits.
var ErrMode = errors.New("mode: latest is only for live sources, but this source can wait: leave mode out")

// Default depth of the queue of frames.
const (
	shallow = 2
	deep    = 256 // for a live source in mode Lossless
)

// settle decides the mode and the depth of the queue after the source has been opened.
func (r *runner) settle() error {
	info := r.stages.Source.Info()
	live := info.Live
	mode := r.o.Mode
	switch {
	case mode == Latest && !live:
		return ErrMode
	case mode == OwnMode && live:
		mode = Latest
	}
	r.public = info.Public
	r.waits.Store(!live)
	r.latest.Store(mode == Latest)
	r.depth, r.room = shallow, maxShallow
	if live && mode == Lossless {
		r.depth, r.room = deep, maxQueued
	}
	if r.o.Queue > 0 {
		r.depth, r.room = r.o.Queue, maxQueued
	}
	r.frames.resize(r.depth)
	return nil
}

// fit limits the depth of the queue for frames of size bytes.
func (r *runner) fit(size int) {
	if size == r.size || size == 0 {
		return
	}
	r.size = size
	r.frames.resize(max(min(r.depth, r.room/size), 1))
}

// oldest chooses the frame that has waited longest, and counts it as lost in the next frame.
func oldest(frames []*frame.Frame) int {
	frames[1].Meta.Dropped += frames[0].Meta.Dropped + 1
	return 0
}

// newest chooses the last frame that arrived.
func newest(frames []*frame.Frame) int { return len(frames) - 1 }

// noRoom counts f as lost after mode lossless found its queue full, and returns the error that ends the run.
func (r *runner) noRoom(track context.Context, f *frame.Frame) error {
	waiting, seq := r.frames.len(), f.Seq
	r.lose(track, framesLost(errNoRoom, seq, 1))
	f.Close()
	return fmt.Errorf("mode lossless: frame %d arrived while the queue was full, with %d frames waiting: tracking is slower than the source: use a smaller roi or a lower frame rate, a longer queue for a short burst, or mode latest", seq, waiting)
}
