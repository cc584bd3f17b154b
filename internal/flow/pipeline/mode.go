package pipeline

import (
	"context"
	"errors"
	"fmt"

	"driftscope/internal/flow/frame"
)

// Mode decides whether frames are dropped or wait if tracking is slower than the source.
type Mode string

// The default is Latest for a live source, and Lossless for a source that waits.
const (
	OwnMode  Mode = ""
	Latest   Mode = "latest"   // the oldest waiting frame is dropped and counted
	Lossless Mode = "lossless" // a source waits; a live one cannot, and fails the run once the queue is full
)

// ErrMode refuses mode Latest for a source that waits.
var ErrMode = errors.New("mode: latest is for live sources, and this source waits: leave mode out")

// Default depth of the queue of frames.
const (
	shallow = 2
	deep    = 256 // for a live source that may not lose a frame
)

// settle decides the mode and the queue's depth, once the source is open.
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

// fit bounds the queue for frames of size bytes.
func (r *runner) fit(size int) {
	if size == r.size || size == 0 {
		return
	}
	r.size = size
	r.frames.resize(max(min(r.depth, r.room/size), 1))
}

// oldest chooses the frame that has waited longest, and counts it as lost before its successor.
func oldest(frames []*frame.Frame) int {
	frames[1].Meta.Dropped += frames[0].Meta.Dropped + 1
	return 0
}

// newest chooses the newest frame.
func newest(frames []*frame.Frame) int { return len(frames) - 1 }

// noRoom loses f from a full queue that may not lose a frame, and returns why the run ends.
func (r *runner) noRoom(track context.Context, f *frame.Frame) error {
	waiting, seq := r.frames.len(), f.Seq
	r.lose(track, framesLost(errNoRoom, seq, 1))
	f.Close()
	return fmt.Errorf("mode lossless: frame %d came while %d waited, and the queue is full: tracking is slower than the source: use a smaller roi or a lower frame rate, a longer queue for a short burst, or mode latest", seq, waiting)
}
