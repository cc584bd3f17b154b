package ingest

import (
	"fmt"
	"time"

	"gocv.io/x/gocv"

	"driftscope/internal/frame"
	"driftscope/internal/pipeline"
)

// The bounds on the time from one frame to the next, and on a time in frames.csv, in seconds. A time fits in a time.Duration.
const (
	minInterval = 1e-9
	maxInterval = 3600
	maxTime     = 9e9
)

// clock gives the frames of a recording their numbers and times, and watches that they stay of one size and type.
type clock struct {
	interval float64 // seconds from frame to frame; 0 is unknown
	timed    bool
	warnings []frame.Event // for the first frame

	next                uint64 // number of the next frame, skipped ones counted
	rows, columns, kind int    // of the first frame; 0 before it
}

// newClock takes the options dt and fps, of which at most one may be given; 0 is not given.
func newClock(dt, fps float64) (clock, error) {
	switch {
	case dt == 0 && fps == 0:
		return clock{}, nil
	case dt != 0 && fps != 0:
		return clock{}, fmt.Errorf("dt is %g and fps is %g: give one of them", dt, fps)
	case fps != 0 && !(1/maxInterval <= fps && fps <= 1/minInterval):
		return clock{}, fmt.Errorf("fps is %g, expected %g to %g frames a second: give the camera's rate", fps, 1/float64(maxInterval), 1/minInterval)
	case fps != 0:
		return clock{interval: 1 / fps, timed: true}, nil
	case !(minInterval <= dt && dt <= maxInterval):
		return clock{}, fmt.Errorf("dt is %g, expected %g to %d seconds: give the time from one frame to the next", dt, minInterval, maxInterval)
	}
	return clock{interval: dt, timed: true}, nil
}

// playAt takes a video's own rate where the person gave none.
func (c *clock) playAt(fps float64) {
	if c.timed || !(1/maxInterval <= fps && fps <= 1/minInterval) {
		return
	}
	c.interval, c.timed = 1/fps, true
	c.warn("container_frame_rate", fmt.Sprintf("time steps come from the file's %.6g frames a second, which may be the speed of playback: give --fps or --dt if the camera was faster or slower", fps))
}

// settle is called when everything that may know the times was asked.
func (c *clock) settle() {
	if c.timed {
		return
	}
	c.interval = 1
	c.warn("no_frame_interval", "nothing says how long a frame lasts, so it is taken to be 1 s: give --dt or --fps, or a frames.csv with columns file,t,trajectory beside the pictures")
}

func (c *clock) warn(code, text string) {
	c.warnings = append(c.warnings, frame.Event{Warn: true, Code: code, Text: text})
}

// Timed says whether the frames' times are known, be it from a video's own rate; good after Open.
func (c *clock) Timed() bool { return c.timed }

// now is the time of the next frame where frames come at even steps, in seconds.
func (c *clock) now() float64 { return float64(c.next) * c.interval }

// frame makes the next frame from mat, which it owns from now on, taken t seconds after the epoch. A mat that is not like the
// first is closed and skipped.
func (c *clock) frame(mat gocv.Mat, t float64, m frame.Meta) (*frame.Frame, error) {
	return c.frameAt(mat, time.Unix(0, 0).UTC().Add(sinceStart(t)), m)
}

// frameAt is frame for a time that is known exactly.
func (c *clock) frameAt(mat gocv.Mat, at time.Time, m frame.Meta) (*frame.Frame, error) {
	if c.rows == 0 {
		c.rows, c.columns, c.kind = mat.Rows(), mat.Cols(), int(mat.Type())
	}
	if mat.Rows() != c.rows || mat.Cols() != c.columns {
		err := fmt.Errorf("%s: frame %d is %dx%d pixels, %dx%d expected as in the first: keep pictures of one size together", m.File, c.next, mat.Cols(), mat.Rows(), c.columns, c.rows)
		mat.Close()
		return nil, c.skip("size_changed", err)
	}
	if kind := int(mat.Type()); kind != c.kind {
		mat.Close()
		return nil, c.skip("type_changed", fmt.Errorf("%s: frame %d holds %s, %s expected as in the first: keep pictures of one type together", m.File, c.next, pixels(kind), pixels(c.kind)))
	}
	m.Arrived, m.Events, c.warnings = time.Now(), c.warnings, nil
	f := frame.New(c.next, at, m, mat)
	c.next++
	return f, nil
}

// skip passes over the next frame, which keeps its number and its time.
func (c *clock) skip(cause string, err error) error {
	c.next++
	return &pipeline.ErrSkip{Cause: cause, Err: err}
}

// pixels names a Mat type for people.
func pixels(kind int) string {
	depth := [8]string{"8-bit", "signed 8-bit", "16-bit", "signed 16-bit", "signed 32-bit", "float32", "float64", "float16"}[kind&7]
	return fmt.Sprintf("%s pixels of %d channels", depth, kind>>3+1)
}
