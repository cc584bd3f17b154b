package timing

import (
	"fmt"
	"math"
	"time"

	"driftscope/ingest/picture"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// The bounds on the time from one frame to the next, and on a time in frames.csv, in seconds. A time fits in a time.Duration.
const (
	minInterval = 1e-9
	maxInterval = 3600
	MaxTime     = 9e9
)

// Clock gives the frames of a recording their numbers and times, and refuses frames of another size or type than the first.
type Clock struct {
	interval float64 // seconds from frame to frame; 0 is unknown, or not the same for all
	timed    bool
	warnings []frame.Event // for the first frame

	next                uint64 // number of the next frame, skipped ones counted
	rows, columns, kind int    // of the first frame; 0 before it
}

// NewClock takes the options dt and fps, of which at most one may be given; 0 is not given.
func NewClock(dt, fps float64) (Clock, error) {
	switch {
	case dt == 0 && fps == 0:
		return Clock{}, nil
	case dt != 0 && fps != 0:
		return Clock{}, fmt.Errorf("dt is %g and fps is %g: give one of them", dt, fps)
	case fps != 0 && !(1/maxInterval <= fps && fps <= 1/minInterval):
		return Clock{}, fmt.Errorf("fps is %g, expected %g to %g frames a second: give the camera's rate", fps, 1/float64(maxInterval), 1/minInterval)
	case fps != 0:
		return Clock{interval: 1 / fps, timed: true}, nil
	case !(minInterval <= dt && dt <= maxInterval):
		return Clock{}, fmt.Errorf("dt is %g, expected %g to %d seconds: give the time from one frame to the next", dt, minInterval, maxInterval)
	}
	return Clock{interval: dt, timed: true}, nil
}

// OwnTimes is a Clock for frames that bring their times.
func OwnTimes() Clock { return Clock{timed: true} }

// PlayAt takes a video's own rate where the person gave none.
func (c *Clock) PlayAt(fps float64) {
	if c.timed || !(1/maxInterval <= fps && fps <= 1/minInterval) {
		return
	}
	c.interval, c.timed = 1/fps, true
	c.Warn("container_frame_rate", fmt.Sprintf("time steps come from the file's %.6g frames per second, which may be the playback speed: give --fps or --dt if the camera was faster or slower", fps))
}

// Described takes the interval of a file's description where the person gave none.
func (c *Clock) Described(interval float64) {
	if c.timed || !(minInterval <= interval && interval <= maxInterval) {
		return
	}
	c.interval, c.timed = interval, true
	c.Warn("described_interval", fmt.Sprintf("time steps are the %.6g s of the file's description, which may be the requested interval: give --dt or --fps if the camera was faster or slower", interval))
}

// Measured takes an interval that the file's maker measured, and says whether it is one.
func (c *Clock) Measured(interval float64) bool {
	if !(minInterval <= interval && interval <= maxInterval) {
		return false
	}
	c.interval, c.timed = interval, true
	return true
}

// Own notes that frames bring their times; where an interval was given, that still wins.
func (c *Clock) Own() { c.timed = true }

// Even says whether an interval is known, so that Now is the next frame's time.
func (c *Clock) Even() bool { return c.interval > 0 }

// At is the time of frame n where frames come at even steps, in seconds.
func (c *Clock) At(n int) float64 { return float64(n) * c.interval }

// Next is the number of the next frame.
func (c *Clock) Next() uint64 { return c.next }

// Renumber has the next frame be number n.
func (c *Clock) Renumber(n uint64) { c.next = n }

// Refit lets the next frame be of any size and type: frames of another maker begin with it.
func (c *Clock) Refit() { c.rows = 0 }

// Settle is called when everything that may know the times was asked.
func (c *Clock) Settle() {
	if c.timed {
		return
	}
	c.interval = 1
	c.Warn("no_frame_interval", "the source states no frame interval, so 1 s is assumed: give --dt or --fps, or a frames.csv with columns file,t,trajectory beside the pictures")
}

// Warn has the next frame carry a warning.
func (c *Clock) Warn(code, text string) {
	c.warnings = append(c.warnings, frame.Event{Warn: true, Code: code, Text: text})
}

// Timed says whether the frames' times are known, be it from a video's own rate; good after Open.
func (c *Clock) Timed() bool { return c.timed }

// Now is the time of the next frame where frames come at even steps, in seconds.
func (c *Clock) Now() float64 { return float64(c.next) * c.interval }

// Frame makes the next frame from mat, which it owns from now on, taken t seconds after the epoch. A mat that is not like the
// first is closed and skipped.
func (c *Clock) Frame(mat frame.Mat, t float64, m frame.Meta) (*frame.Frame, error) {
	return c.FrameAt(mat, time.Unix(0, 0).UTC().Add(Duration(t)), m)
}

// FrameAt is Frame for a time that is known exactly.
func (c *Clock) FrameAt(mat frame.Mat, at time.Time, m frame.Meta) (*frame.Frame, error) {
	if c.rows == 0 {
		c.rows, c.columns, c.kind = mat.Rows(), mat.Cols(), int(mat.Type())
	}
	if mat.Rows() != c.rows || mat.Cols() != c.columns {
		err := fmt.Errorf("%s: frame %d is %dx%d pixels, %dx%d expected as in the first: keep pictures of one size together", m.File, c.next, mat.Cols(), mat.Rows(), c.columns, c.rows)
		mat.Close()
		return nil, c.Skip("size_changed", err)
	}
	if kind := int(mat.Type()); kind != c.kind {
		mat.Close()
		return nil, c.Skip("type_changed", fmt.Errorf("%s: frame %d holds %s, %s expected as in the first: keep pictures of one type together", m.File, c.next, picture.TypeName(kind), picture.TypeName(c.kind)))
	}
	m.Arrived, m.Events, c.warnings = time.Now(), c.warnings, nil
	f := frame.New(c.next, at, m, mat)
	c.next++
	return f, nil
}

// Skip passes over the next frame, which keeps its number and its time.
func (c *Clock) Skip(cause string, err error) error {
	c.next++
	return &pipeline.ErrSkip{Cause: cause, Err: err}
}

// Duration is s seconds, to the nanosecond.
func Duration(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }
