package dnnl

import (
	"errors"
	"fmt"
)

// Kind names what a layer computes.
type Kind int

const (
	Conv      Kind = iota // Kernel x Kernel, stride 1, zero padding Kernel/2, with bias
	BatchNorm             // y = gamma (x - mean)/sqrt(var + 1e-5) + beta, per channel (Ioffe and Szegedy 2015)
	LeakyReLU             // y = x for x > 0, else 0.01 x
	MaxPool               // 2x2, stride 2
	Upsample              // nearest neighbour, by two
	Sigmoid               // y = 1/(1 + exp(-x))
)

func (k Kind) String() string {
	names := [...]string{"Conv", "BatchNorm", "LeakyReLU", "MaxPool", "Upsample", "Sigmoid"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return names[k]
}

// Layer is one step of a Stack. Out (channels) and Kernel (an odd width) are read for Conv only.
type Layer struct {
	Kind   Kind
	Out    int
	Kernel int
}

// Shape is the shape of one picture: channels, height, width.
type Shape struct{ C, H, W int }

// Size returns the number of values in a picture of that shape.
func (s Shape) Size() int { return s.C * s.H * s.W }

func (s Shape) String() string { return fmt.Sprintf("%dx%dx%d", s.C, s.H, s.W) }

// Moments are a BatchNorm's mean and biased variance per channel.
type Moments struct{ Mean, Var []float32 }

// Stack is a trunk compiled for up to Batch pictures. All its memory belongs to it and is reused, so a Stack is not safe for concurrent use.
type Stack struct {
	in, out  Shape
	batch    int
	params   int
	segments []Segment
	stages   []stage
	moments  []float32 // of the last Forward, all norms in order: means, then variances
	stats    []Moments // views into moments
	given    []float32 // Infer's moments, laid out as moments
	pictures int       // in the last Forward; 0 if there is nothing for Backward
	trunk    *trunk
	owner    *applyOp // the graph node that ran the last Forward
	rests    bool     // see Rest
}

// Rest says whether a graph may leave out the stack's backward pass, because its parameters are frozen. Their gradient is then 0 until Rest(false). A stack
// whose x needs a gradient still runs the pass.
func (s *Stack) Rest(rests bool) { s.rests = rests }

// Limits of New; they keep every index far inside an int32.
const (
	maxSide     = 8192
	maxChannels = 4096
	maxKernel   = 15
	maxValues   = 1 << 29 // values of one map over the whole batch
)

// Backward returns ErrNoForward if there was no Forward before it.
var ErrNoForward = errors.New("dnnl: Backward without a Forward before it: call Forward first (Infer does not count)")

// New compiles layers for pictures of shape in, at most batch at a time. The layers must form blocks as in the package comment.
func New(in Shape, layers []Layer, batch int) (*Stack, error) {
	if batch < 1 {
		return nil, fmt.Errorf("dnnl: batch is %d, expected at least 1: ask for the largest number of pictures a step will hold", batch)
	}
	stages, err := compile(in, layers, batch)
	if err != nil {
		return nil, err
	}
	s := &Stack{in: in, out: stages[len(stages)-1].out(), batch: batch, stages: stages}
	s.layout()
	if s.trunk, err = newTrunk(stages, batch); err != nil {
		return nil, fmt.Errorf("dnnl: compiling a stack of %d layers on %v: %w", len(layers), in, err)
	}
	return s, nil
}

// In returns the shape of an input picture.
func (s *Stack) In() Shape { return s.in }

// Out returns the shape of an output picture.
func (s *Stack) Out() Shape { return s.out }

// Batch returns the largest number of pictures for Forward and Infer.
func (s *Stack) Batch() int { return s.batch }

// Forward writes into y the stack's output for the first n pictures of x, in training mode:
// BatchNorm uses the mean and biased variance over these n pictures. It keeps the data that Backward needs, and no reference to its arguments.
func (s *Stack) Forward(y, x, theta []float32, n int) error {
	s.pictures, s.owner = 0, nil
	if err := s.check(y, x, theta, n); err != nil {
		return err
	}
	if err := s.trunk.forward(y, x, theta, s.moments, n); err != nil {
		return fmt.Errorf("dnnl: forward of %d pictures: %w", n, err)
	}
	s.pictures = n
	return nil
}

// Backward takes dy, the gradient by the last Forward's output. It writes the gradient by theta and, unless dx is nil, the gradient by x.
// It overwrites dtheta and dx. The gradient of a bias that a BatchNorm follows is zero, and set so exactly.
func (s *Stack) Backward(dx, dtheta, dy []float32) error {
	n := s.pictures
	if n == 0 {
		return ErrNoForward
	}
	switch {
	case dx != nil && len(dx) < n*s.in.Size():
		return tooShort("dx", len(dx), n*s.in.Size())
	case len(dtheta) < s.params:
		return tooShort("dtheta", len(dtheta), s.params)
	case len(dy) < n*s.out.Size():
		return tooShort("dy", len(dy), n*s.out.Size())
	}
	if err := s.trunk.backward(dx, dtheta, dy, n); err != nil {
		return fmt.Errorf("dnnl: backward of %d pictures: %w", n, err)
	}
	return nil
}

// Stats returns the moments of the last Forward, one entry a BatchNorm. The slices are the Stack's and change with the next Forward.
func (s *Stack) Stats() []Moments { return s.stats }

// Infer writes into y the output for the first n pictures of x in evaluation mode: BatchNorm uses the moments in stats, shaped as Stats returns them.
// Afterwards Backward returns ErrNoForward until the next Forward.
func (s *Stack) Infer(y, x, theta []float32, stats []Moments, n int) error {
	s.pictures, s.owner = 0, nil
	if err := s.check(y, x, theta, n); err != nil {
		return err
	}
	if len(stats) != len(s.stats) {
		return fmt.Errorf("dnnl: %d moments given, expected %d, one a BatchNorm: pass what Stats returned", len(stats), len(s.stats))
	}
	at := 0
	for i, m := range stats {
		c := len(s.stats[i].Mean)
		if len(m.Mean) != c || len(m.Var) != c {
			return fmt.Errorf("dnnl: moments %d have %d means and %d variances, expected %d channels: pass what Stats returned", i, len(m.Mean), len(m.Var), c)
		}
		copy(s.given[at:], m.Mean)
		copy(s.given[at+c:], m.Var)
		at += 2 * c
	}
	if err := s.trunk.infer(y, x, theta, s.given, n); err != nil {
		return fmt.Errorf("dnnl: inference on %d pictures: %w", n, err)
	}
	return nil
}

// SetThreads sets how many cores the stack uses; 0, as at the start, means all (or what OMP_NUM_THREADS says).
// For a given number of threads every result is the same bit for bit.
func (s *Stack) SetThreads(n int) {
	if s.trunk != nil {
		s.trunk.setThreads(max(n, 0))
	}
}

// Close frees the memory outside Go. The Stack must not be used afterwards; a second Close does nothing.
func (s *Stack) Close() {
	if s.trunk != nil {
		s.trunk.close()
		s.trunk = nil
	}
}

func (s *Stack) check(y, x, theta []float32, n int) error {
	switch {
	case s.trunk == nil:
		return errors.New("dnnl: the stack is closed: make a new one")
	case n < 1 || n > s.batch:
		return fmt.Errorf("dnnl: %d pictures given, expected 1 to %d: make a stack with a larger batch", n, s.batch)
	case len(x) < n*s.in.Size():
		return tooShort("x", len(x), n*s.in.Size())
	case len(y) < n*s.out.Size():
		return tooShort("y", len(y), n*s.out.Size())
	case len(theta) < s.params:
		return tooShort("theta", len(theta), s.params)
	}
	return nil
}

func tooShort(name string, have, want int) error {
	return fmt.Errorf("dnnl: %s has %d values, expected at least %d: pass a longer slice", name, have, want)
}
