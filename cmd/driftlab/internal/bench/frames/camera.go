package frames

import (
	"context"
	"time"

	"gocv.io/x/gocv"

	"driftscope/ingest/sim"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// camera shows a molecule on a path: a frame every period, stamped with the end of its exposure, a flash, and readable some
// time later. It draws ahead.
type camera struct {
	painter *sim.Painter
	path    path
	period  time.Duration
	readout time.Duration
	seq     uint64
	begun   time.Time
	frames  frame.Pool
}

// Info says that the camera is live and that times are exposure times.
func (*camera) Info() pipeline.Info { return pipeline.Info{Live: true, Timed: true} }

// Open starts the clock.
func (c *camera) Open(context.Context) error {
	c.begun = time.Now()
	return nil
}

// Close does nothing.
func (*camera) Close() error { return nil }

// Read returns the next frame once it is exposed. If this process oversleeps, the frame ages by that: a camera does not wait.
func (c *camera) Read(ctx context.Context) (*frame.Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	exposed := time.Duration(c.seq) * c.period
	z, inside := c.path.at(exposed)
	if !inside {
		<-ctx.Done() // the run ends by its number of frames
		return nil, ctx.Err()
	}
	format := c.painter.Format()
	mat := gocv.NewMatWithSize(format.Height, format.Width, gocv.MatTypeCV16UC1)
	pixels, err := mat.DataPtrUint16()
	if err != nil {
		mat.Close()
		return nil, err
	}
	c.painter.Draw(&sim.Picture{U16: pixels}, z[:])
	at := c.begun.Add(exposed)
	arrives := at.Add(c.readout)
	time.Sleep(time.Until(arrives))
	f := c.frames.New(c.seq, at, frame.Meta{Arrived: arrives}, mat)
	c.seq++
	return f, nil
}
