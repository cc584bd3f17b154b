package preprocess

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// normaliseOptions are the keys under normalise. One of Window, Running and Film sets the grey window.
type normaliseOptions struct {
	Window  *[2]float64    `yaml:"window"`               // the frame's own counts that become 0 and full scale
	Running runningOptions `yaml:"running"`              // a running window, the default
	Film    bool           `yaml:"film"`                 // the range of each film; for a stream, the range so far
	To      string         `yaml:"to" reaches:"nothing"` // float32 in [0,1], or uint8 in 0..255
	Grey    bool           `yaml:"grey"`                 // average the channels; otherwise keep them
}

// normalise scales grey values linearly, low to 0 and high to full scale, and clips values outside.
type normalise struct {
	low, high float64
	running   *running // nil for a fixed window
	grey      bool
	to        gocv.MatType
	mean      gocv.Mat // 1x3 matrix that averages three channels
}

func newNormalise(decode func(dst any) error) (pipeline.Step, error) {
	o := normaliseOptions{Running: defaultRunning(), To: "float32"}
	if err := decode(&o); err != nil {
		return nil, err
	}
	n := &normalise{grey: o.Grey}
	switch o.To {
	case "float32":
		n.to = gocv.MatTypeCV32F
	case "uint8":
		n.to = gocv.MatTypeCV8U
	default:
		return nil, fmt.Errorf("to: found %q, expected float32 or uint8", o.To)
	}
	if err := n.setWindow(&o); err != nil {
		return nil, err
	}
	n.mean = gocv.NewMatWithSizeFromScalar(gocv.NewScalar(1./3, 0, 0, 0), 1, 3, gocv.MatTypeCV32F)
	if o.Film {
		return &filmRange{normalise: n, lowest: math.Inf(1), highest: math.Inf(-1)}, nil
	}
	return n, nil
}

func (n *normalise) setWindow(o *normaliseOptions) error {
	if o.Film {
		if o.Window != nil || o.Running != defaultRunning() {
			return errors.New("film: found together with window or running, expected only one of the three")
		}
		return nil
	}
	if o.Window == nil {
		if err := o.Running.validate(); err != nil {
			return err
		}
		n.running = &running{options: o.Running}
		return nil
	}
	if o.Running != defaultRunning() {
		return errors.New("window and running: found both, expected only one: a fixed window or a running window")
	}
	n.low, n.high = o.Window[0], o.Window[1]
	if !(n.low < n.high) || math.Abs(n.low) > math.MaxFloat32 || math.Abs(n.high) > math.MaxFloat32 {
		return fmt.Errorf("window: found %v, expected [low, high] with low < high, in the frame's own counts", *o.Window)
	}
	return nil
}

// Apply accepts uint8, uint16 and float32 pictures of 1 or 3 channels.
func (n *normalise) Apply(_ context.Context, f *frame.Frame) error {
	err := check("normalise", f, gocv.MatTypeCV8U, gocv.MatTypeCV16U, gocv.MatTypeCV32F)
	if err != nil {
		return err
	}
	if err := checkFinite("normalise", f); err != nil {
		return err
	}
	m := f.Mat()
	if n.grey && m.Channels() == 3 {
		m.ConvertTo(m, gocv.MatTypeCV32F)
		gocv.Transform(*m, m, n.mean)
	}
	if n.running != nil {
		if err := n.follow(f); err != nil {
			return err
		}
	}
	n.scale(m)
	return nil
}

// follow updates the running window from f and adds an event to f when the window moves.
func (n *normalise) follow(f *frame.Frame) error {
	low, high, err := n.running.percentiles(f.Mat())
	if err != nil {
		return complain("normalise", f, "%w", err)
	}
	known := n.running.count > 0
	if low == high && !known {
		return &pipeline.ErrSkip{
			Cause: "blank_frame",
			Err:   complain("normalise", f, "every pixel is %g, and no earlier frame has set a grey window: check the light", low),
		}
	}
	if low == high || !n.running.fold(low, high, f.Time) {
		return nil
	}
	oldLow, oldHigh := n.low, n.high
	n.low, n.high = n.running.low, n.running.high
	if !known {
		f.Notice(false, "range_set", fmt.Sprintf("the first grey window is [%.6g, %.6g]", n.low, n.high))
		return nil
	}
	f.Notice(true, "range_moved", fmt.Sprintf("the grey window moved from [%.6g, %.6g] to [%.6g, %.6g] (move %d): the light "+
		"drifts; give normalise a fixed window if the latents must not change with it", oldLow, oldHigh, n.low, n.high, n.running.moves))
	return nil
}

// scale maps [low, high] to full scale, in place. It allocates a new buffer only if the pixel type changes.
func (n *normalise) scale(m *gocv.Mat) {
	if n.to == gocv.MatTypeCV8U {
		a := 255 / (n.high - n.low)
		m.ConvertToWithParams(m, n.to, float32(a), float32(-n.low*a)) // rounds and saturates
		return
	}
	a := 1 / (n.high - n.low)
	m.ConvertToWithParams(m, n.to, float32(a), float32(-n.low*a))
	gocv.Threshold(*m, m, 1, 0, gocv.ThresholdTrunc)
	gocv.Threshold(*m, m, 0, 0, gocv.ThresholdToZero)
}

// Can reports that frames are independent of each other if the grey window is fixed.
func (n *normalise) Can() pipeline.Abilities {
	return pipeline.Abilities{Independent: n.running == nil}
}

func (n *normalise) Close() error { return n.mean.Close() }

// runningOptions are the keys under running.
type runningOptions struct {
	Low      float64       `yaml:"low_percentile"`
	High     float64       `yaml:"high_percentile"`
	HalfLife time.Duration `yaml:"half_life"` // in acquisition time
}

func defaultRunning() runningOptions {
	return runningOptions{Low: 0.1, High: 99.9, HalfLife: 10 * time.Second}
}

func (o *runningOptions) validate() error {
	if !(o.Low > 0 && o.Low < o.High && o.High < 100) {
		return fmt.Errorf("running.low_percentile and running.high_percentile: found %g and %g, expected 0 < low < high < 100:"+
			"single extreme pixels must not set the window", o.Low, o.High)
	}
	if o.HalfLife < time.Millisecond {
		return fmt.Errorf("running.half_life: found %v, expected at least 1ms of acquisition time, such as 10s", o.HalfLife)
	}
	return nil
}
