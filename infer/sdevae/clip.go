package sdevae

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
	Pixels                  []float32 // frame after frame, each CHW (RGB where coloured), in [0,1]
	Times                   []float64 // acquisition, seconds, one a frame
	Trajectory              []uint64  // no pair is formed across two of these
}

// Pair is two consecutive frames of one trajectory: numbers First and First+1, DT seconds apart.
type Pair struct {
	First int
	DT    float64
}

// Len is the number of frames.
func (c *Clip) Len() int { return len(c.Times) }

// frames lists them all.
func (c *Clip) frames() []int {
	all := make([]int, c.Len())
	for i := range all {
		all[i] = i
	}
	return all
}

// Size is the number of floats a frame.
func (c *Clip) Size() int { return c.Channels * c.Height * c.Width }

// Frame lends the pixels of frame i.
func (c *Clip) Frame(i int) []float32 { return c.Pixels[i*c.Size() : (i+1)*c.Size()] }

// pick copies frames, one after another.
func (c *Clip) pick(frames []int) []float32 {
	x := make([]float32, len(frames)*c.Size())
	for i, f := range frames {
		copy(x[i*c.Size():], c.Frame(f))
	}
	return x
}

// Pairs lists the consecutive pairs that are one step apart: same trajectory, 0 < Δt ≤ maxGap.
func (c *Clip) Pairs(maxGap float64) []Pair {
	var pairs []Pair
	for i := range c.Len() - 1 {
		dt := c.Times[i+1] - c.Times[i]
		if c.Trajectory[i] == c.Trajectory[i+1] && dt > 0 && dt <= maxGap {
			pairs = append(pairs, Pair{i, dt})
		}
	}
	return pairs
}

// DT is the median frame interval within trajectories, seconds; 0 where there is no pair.
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

// MaxGap is the longest step that still counts as one: three median intervals.
func (c *Clip) MaxGap() float64 { return 3 * c.DT() }

// Energy is the mean over frames of |x - mean picture|², summed over pixels: how much there is to explain.
func (c *Clip) Energy() float64 {
	mean := make([]float64, c.Size())
	for i := range c.Len() {
		for p, v := range c.Frame(i) {
			mean[p] += float64(v) / float64(c.Len())
		}
	}
	var sum float64
	for i := range c.Len() {
		for p, v := range c.Frame(i) {
			d := float64(v) - mean[p]
			sum += d * d
		}
	}
	return sum / float64(c.Len())
}

// noisePairs is how many pairs of frames tell the noise.
const noisePairs = 50

// Noise is the part of Energy that is noise of the pixels, independent from frame to frame: by the median difference between
// consecutive frames, in which what moves is a small part; or, where that makes it most of Energy, all that does not last, if that is
// more. The median is a normal's, and of three parts in a thousand that move it tells nothing.
func (c *Clip) Noise() float64 {
	energy, noise := c.Energy(), c.flicker()
	if noise > energy/2 {
		noise = energy - c.lasting()
	}
	return min(noise, energy)
}

// flicker is the noise as normal noise would have it of which consecutive frames differ so much in the median.
func (c *Clip) flicker() float64 {
	var differences []float64
	for _, p := range spread(c.Pairs(c.MaxGap()), noisePairs) {
		second := c.Frame(p.First + 1)
		for i, v := range c.Frame(p.First) {
			differences = append(differences, math.Abs(float64(v-second[i])))
		}
	}
	if len(differences) == 0 {
		return 0
	}
	slices.Sort(differences)
	sd := differences[len(differences)/2] / (0.6745 * math.Sqrt2) // a normal's median absolute deviation is 0.6745 sd
	return sd * sd * float64(c.Size())
}

// lasting is the covariance of consecutive frames, summed over pixels, to which white noise of whatever distribution adds nothing: what
// moves, less what it moves within a frame. It is at least the standard error that the noise leaves it.
func (c *Clip) lasting() float64 {
	mean := average(c.Pixels, c.Len(), c.Size())
	variance, pairs := make([]float64, c.Size()), c.Pairs(c.MaxGap())
	n, sum, white := float64(len(pairs)), 0.0, 0.0
	for _, p := range pairs {
		second := c.Frame(p.First + 1)
		for i, v := range c.Frame(p.First) {
			a, b := float64(v-mean[i]), float64(second[i]-mean[i])
			sum += a*b/n + a*a/(n*n) // and the mean's own error
			variance[i] += a * a / n
		}
	}
	for _, v := range variance {
		white += v * v / n
	}
	return max(sum, math.Sqrt(white))
}

// Digest is the SHA-256 of shape, times, cuts and pixels, in hexadecimal.
func (c *Clip) Digest() string {
	h := sha256.New()
	for _, v := range []any{[]int64{int64(c.Channels), int64(c.Height), int64(c.Width)}, c.Times, c.Trajectory, c.Pixels} {
		binary.Write(h, binary.LittleEndian, v) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// minFrames is what training needs at least: below it nothing can be held out.
const minFrames = 20

// rounding is how far averages over areas of values in [0,1] may leave it: their float32 weights add up to 1 but for some last bits.
const rounding = 1e-6

// Check says why a clip cannot be trained on: too short, no pairs, static, or not pictures in [0,1].
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

// split parts the pairs into those trained on and those held out: whole blocks of consecutive pairs are held out, one in ten,
// and the pairs that share a frame with a held-out block are left out of both.
func split(pairs []Pair) (train, held []Pair) {
	const parts = 10
	block := max(len(pairs)/(parts*4), 2)
	isHeld := func(k int) bool { return k >= 0 && k < len(pairs) && (k/block)%parts == parts/2 }
	for k, p := range pairs {
		switch {
		case isHeld(k):
			held = append(held, p)
		case isHeld(k-1) || isHeld(k+1):
		default:
			train = append(train, p)
		}
	}
	return train, held
}
