package files

import (
	"errors"
	"time"

	"driftscope/ingest/follow"
	"driftscope/ingest/timing"
)

// Film has the options of every recording.
type Film struct {
	Path string  `yaml:"path" reaches:"read"` // a file, a folder or a pattern of files
	DT   float64 `yaml:"dt"`                  // seconds from frame to frame
	FPS  float64 `yaml:"fps"`                 // frames per second, instead of dt; default: the recording's own times
}

// Growing has the options of a recording that may still grow.
type Growing struct {
	Film `yaml:",inline"`

	Follow    bool          `yaml:"follow"`     // at the end, wait for more frames
	UntilIdle time.Duration `yaml:"until_idle"` // longest wait; default: forever
}

// Plane has the options of a recording of several channels or slices.
type Plane struct {
	Channel int `yaml:"channel"` // from 1; optional if the axis has one value
	Slice   int `yaml:"slice"`   // from 1; optional if the axis has one value
}

// times checks decoded options and returns the clock of the frames. failed is the error of decoding. what describes the expected path, for messages.
func (o *Film) times(failed error, what string) (timing.Clock, error) {
	switch {
	case failed != nil:
		return timing.Clock{}, failed
	case o.Path == "":
		return timing.Clock{}, errors.New("path is missing: give " + what)
	}
	return timing.NewClock(o.DT, o.FPS)
}

// times checks decoded options and returns the clock of the frames and the Tail that waits for more.
func (o *Growing) times(failed error, what string) (c timing.Clock, t follow.Tail, err error) {
	if c, err = o.Film.times(failed, what); err == nil {
		t, err = follow.NewTail(o.Follow, o.UntilIdle)
	}
	return c, t, err
}
