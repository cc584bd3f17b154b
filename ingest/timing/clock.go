package timing

import (
	"fmt"
	"math"
	"time"

	"driftscope/ingest/picture"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// Bounds on the frame interval and on a time in frames.csv, in seconds. A time fits in a time.Duration.
const (
	minInterval = 1e-9
	maxInterval = 3600
	MaxTime     = 9e9
)

// Clock numbers and times the frames of a recording, and rejects frames of another size or type than the first.
type Clock struct {
	interval float64 // seconds per frame; 0 if unknown or not constant
	timed    bool
	warnings []frame.Event // for the first frame

	next                uint64 // number of the next frame, including skipped ones
	rows, columns, kind int    // of the first frame; 0 before
}

// NewClock returns a Clock from the options dt and fps. At most one of them may be set; 0 means not set.
func NewClock(dt, fps float64) (Clock, error) {
	switch {
	case dt == 0 && fps == 0:
		return Clock{}, nil
	case dt != 0 && fps != 0:
		return Clock{}, fmt.Errorf("dt is %g and fps is %g: give one of them", dt, fps)
	case fps != 0 && !(1/maxInterval <= fps && fps <= 1/minInterval):
		return Clock{}, fmt.Errorf("fps is %g, expected %g to %g frames per second: give the camera's rate", fps, 1/float64(maxInterval), 1/minInterval)
	case fps != 0:
		return Clock{interval: 1 / fps, timed: true}, nil
	case !(minInterval <= dt && dt <= maxInterval):
		return Clock{}, fmt.Errorf("dt is %g, expected %g to %d seconds: give the time from one frame to the next", dt, minInterval, maxInterval)
	}
	return Clock{interval: dt, timed: true}, nil
}

// OwnTimes returns a Clock for frames with their own times.
func OwnTimes() Clock { return Clock{timed: true} }

// PlayAt sets the interval from a video's own rate if the user gave none, with a warning.
func (c *Clock) PlayAt(fps float64) {
	if c.timed || !(1/maxInterval <= fps && fps <= 1/minInterval) {
		return
	}
	c.interval, c.timed = 1/fps, true
	c.Warn("container_frame_rate", fmt.Sprintf("time steps come from the file's %.6g frames per second, which may be the playback speed: give --fps or --dt if the camera was faster or slower", fps))
}

// Described sets the interval from a file's description if the user gave none, with a warning.
func (c *Clock) Described(interval float64) {
	if c.timed || !(minInterval <= interval && interval <= maxInterval) {
		return
	}
	c.interval, c.timed = interval, true
	c.Warn("described_interval", fmt.Sprintf("time steps are %.6g s, from the file's description, which may be the requested interval: give --dt or --fps if the camera was faster or slower", interval))
}

// Measured sets the interval that the recording program measured, if the user gave none, and reports whether the interval is valid.
func (c *Clock) Measured(interval float64) bool {
	if !(minInterval <= interval && interval <= maxInterval) {
		return false
	}
	c.interval, c.timed = interval, true
	return true
}

// Own declares that frames have their own times. An interval from the user still takes precedence.
func (c *Clock) Own() { c.timed = true }

// Even reports whether an interval is known, so that Now is the next frame's time.
func (c *Clock) Even() bool { return c.interval > 0 }

// At returns the time of frame n at even steps, in seconds.
func (c *Clock) At(n int) float64 { return float64(n) * c.interval }

// Next returns the number of the next frame.
func (c *Clock) Next() uint64 { return c.next }

// Renumber sets the number of the next frame.
func (c *Clock) Renumber(n uint64) { c.next = n }

// Refit accepts any size and type for the next frame. It is called when the next frame comes from another publisher.
func (c *Clock) Refit() { c.rows = 0 }

// Settle ends the search for times. Call it after all other sources of times were tried. Without any, it assumes 1 s with a warning.
func (c *Clock) Settle() {
	if c.timed {
		return
	}
	c.interval = 1
	c.Warn("no_frame_interval", "the source states no frame interval, so 1 s is assumed: give --dt or --fps, or a frames.csv with columns file,t,trajectory beside the pictures")
}

// Warn adds a warning to the next frame.
func (c *Clock) Warn(code, text string) {
	c.warnings = append(c.warnings, frame.Event{Warn: true, Code: code, Text: text})
}

// Timed reports whether the frames' times are known, even if only from a video's own rate. Valid after Open.
func (c *Clock) Timed() bool { return c.timed }

// Now returns the time of the next frame at even steps, in seconds.
func (c *Clock) Now() float64 { return float64(c.next) * c.interval }

// Frame makes the next frame from mat, taken t seconds after the epoch, and takes ownership of mat. If mat differs from the first in size or type, Frame closes
// it and returns a skip.
func (c *Clock) Frame(mat frame.Mat, t float64, m frame.Meta) (*frame.Frame, error) {
	return c.FrameAt(mat, time.Unix(0, 0).UTC().Add(Duration(t)), m)
}

// FrameAt is like Frame, for a time that is known to the nanosecond.
func (c *Clock) FrameAt(mat frame.Mat, at time.Time, m frame.Meta) (*frame.Frame, error) {
	if c.rows == 0 {
		c.rows, c.columns, c.kind = mat.Rows(), mat.Cols(), int(mat.Type())
	}
	if mat.Rows() != c.rows || mat.Cols() != c.columns {
		err := fmt.Errorf("%s: frame %d has %dx%d pixels, but the first had %dx%d: keep pictures of different sizes apart", m.File, c.next, mat.Cols(), mat.Rows(), c.columns, c.rows)
		mat.Close()
		return nil, c.Skip("size_changed", err)
	}
	if kind := int(mat.Type()); kind != c.kind {
		mat.Close()
		return nil, c.Skip("type_changed", fmt.Errorf("%s: frame %d has %s, but the first had %s: keep pictures of different types apart", m.File, c.next, picture.TypeName(kind), picture.TypeName(c.kind)))
	}
	m.Arrived, m.Events, c.warnings = time.Now(), c.warnings, nil
	f := frame.New(c.next, at, m, mat)
	c.next++
	return f, nil
}

// Skip counts the next frame as skipped and returns the *pipeline.ErrSkip for it. The frame keeps its number and its time.
func (c *Clock) Skip(cause string, err error) error {
	c.next++
	return &pipeline.ErrSkip{Cause: cause, Err: err}
}

// Duration converts seconds to a duration, rounded to nanoseconds.
func Duration(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }
