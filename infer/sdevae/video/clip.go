package video

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Clip is a video ready for training: preprocessed frames in memory with their times.
type Clip struct {
	Channels, Height, Width int
	Pixels                  []float32 // frame by frame, each CHW (RGB if coloured), in [0,1]
	Times                   []float64 // acquisition time of each frame, seconds
	Trajectory              []uint64  // trajectory of each frame; pairs lie within one trajectory
}

// Len returns the number of frames.
func (c *Clip) Len() int { return len(c.Times) }

// Frames lists the numbers of all frames.
func (c *Clip) Frames() []int {
	all := make([]int, c.Len())
	for i := range all {
		all[i] = i
	}
	return all
}

// Size returns the number of floats per frame.
func (c *Clip) Size() int { return c.Channels * c.Height * c.Width }

// Frame returns the pixels of frame i, without a copy.
func (c *Clip) Frame(i int) []float32 { return c.Pixels[i*c.Size() : (i+1)*c.Size()] }

// Pick returns a copy of the given frames, one after another.
func (c *Clip) Pick(frames []int) []float32 {
	x := make([]float32, len(frames)*c.Size())
	for i, f := range frames {
		copy(x[i*c.Size():], c.Frame(f))
	}
	return x
}

// DT returns the median frame interval within trajectories, seconds, or 0 if there is no pair.
func (c *Clip) DT() float64 {
	var steps []float64
	for _, p := range c.Pairs(math.Inf(1)) {
		steps = append(steps, p.DT)
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return steps[len(steps)/2]
}

const maxGap float64 = 3 // tuned video.maxGap: longest step that counts as one, in median intervals

// MaxGap returns the longest interval that still counts as one step, seconds.
func (c *Clip) MaxGap() float64 { return maxGap * c.DT() }

// Digest returns the SHA-256 of shape, times, cuts and pixels, in hexadecimal.
func (c *Clip) Digest() string {
	h := sha256.New()
	for _, v := range []any{[]int64{int64(c.Channels), int64(c.Height), int64(c.Width)}, c.Times, c.Trajectory, c.Pixels} {
		binary.Write(h, binary.LittleEndian, v) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// minFrames is the minimum number of frames for a training. With fewer frames, none could be held out.
const minFrames = 20

// rounding is the largest allowed distance of a pixel from [0,1]. Averages over areas can leave this range slightly, because their float32 weights add up to 1
// only approximately.
const rounding = 1e-6

// Check returns an error if a clip cannot be used for training, because it is too short, static, without pairs, or has pixels outside [0,1].
func (c *Clip) Check() error {
	switch {
	case c.Len() < minFrames:
		return fmt.Errorf("the clip has %d frames, training needs at least %d: give a longer recording", c.Len(), minFrames)
	case len(c.Pixels) != c.Len()*c.Size() || len(c.Trajectory) != c.Len():
		return fmt.Errorf("the clip has %d pixels and %d trajectory numbers for %d frames of %d", len(c.Pixels), len(c.Trajectory), c.Len(), c.Size())
	case len(c.Pairs(c.MaxGap())) < minFrames/2:
		return fmt.Errorf("the clip has %d pairs of consecutive frames, training needs at least %d: check its times and trajectories",
			len(c.Pairs(c.MaxGap())), minFrames/2)
	}
	for i, v := range c.Pixels {
		if !(v >= -rounding && v <= 1+rounding) {
			return fmt.Errorf("frame %d has a pixel of %g, expected values in [0,1]: normalise it first", i/c.Size(), v)
		}
	}
	if c.Energy() < 1e-9 {
		return errors.New("the clip is static, every frame is the same picture: give a recording in which something moves")
	}
	return nil
}

// Intervals returns each frame's distance from the previous given frame in median intervals, or 0 if a trajectory begins.
func (c *Clip) Intervals(frames []int) []float64 {
	since := make([]float64, len(frames))
	if len(frames) < 2 {
		return since
	}
	step := c.DT()
	for k, i := range frames {
		if k > 0 && c.Trajectory[i] == c.Trajectory[frames[k-1]] {
			since[k] = max(1, math.Round((c.Times[i]-c.Times[frames[k-1]])/step))
		}
	}
	return since
}

// Ages returns each frame's time since its trajectory began, in seconds, or 0 if the camera's clock was set back to before the beginning.
func (c *Clip) Ages() []float64 {
	out, begin := make([]float64, c.Len()), 0.0
	for i, t := range c.Times {
		if i == 0 || c.Trajectory[i] != c.Trajectory[i-1] {
			begin = t
		}
		out[i] = max(t-begin, 0)
	}
	return out
}

// Span returns T, the duration of the clip's longest trajectory in seconds.
func (c *Clip) Span() float64 { return slices.Max(c.Ages()) }
