package dnnl

import (
	"errors"
	"fmt"
)

// Kind is the kind of a layer.
type Kind int

const (
	Conv      Kind = iota // Kernel x Kernel, stride 1, zero padding Kernel/2, with bias
	BatchNorm             // y = gamma (x - mean)/sqrt(var + 1e-5) + beta, per channel (Ioffe and Szegedy 2015)
	LeakyReLU             // y = x for x > 0, otherwise 0.01 x
	MaxPool               // 2x2, stride 2
	Upsample              // nearest neighbour, by a factor of two
	Sigmoid               // y = 1/(1 + exp(-x))
)

func (k Kind) String() string {
	names := [...]string{"Conv", "BatchNorm", "LeakyReLU", "MaxPool", "Upsample", "Sigmoid"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return names[k]
}

// Layer is one layer of a Stack. Out (channels) and Kernel (an odd width) are used only for Conv.
type Layer struct {
	Kind   Kind
	Out    int
	Kernel int
}

// Shape is the shape of one picture: channels, height, width.
type Shape struct{ C, H, W int }

// Size returns the number of values in a picture of shape s.
func (s Shape) Size() int { return s.C * s.H * s.W }

func (s Shape) String() string { return fmt.Sprintf("%dx%dx%d", s.C, s.H, s.W) }

// Moments holds a BatchNorm's mean and biased variance per channel.
type Moments struct{ Mean, Var []float32 }

// Stack is a trunk compiled for up to Batch pictures. It owns and reuses its memory, so it is not safe for concurrent use.
type Stack struct {
	in, out  Shape
	batch    int
	params   int
	segments []Segment
	stages   []stage
	moments  []float32 // moments of the last Forward, for each BatchNorm in order: means, then variances
	stats    []Moments // views into moments
	given    []float32 // moments passed to Infer, in the layout of moments
	pictures int       // number of pictures in the last Forward; 0 if Backward is not possible
	trunk    *trunk
	owner    *applyOp // the graph node that ran the last Forward
	rests    bool     // see Rest
}

// Rest(true) lets a graph skip the stack's backward pass, because its parameters are frozen. Their gradient is then 0 until Rest(false). If x needs a gradient,
// the stack still runs the pass.
func (s *Stack) Rest(rests bool) { s.rests = rests }

// Limits of New. They keep every index far below the limit of an int32.
const (
	maxSide     = 8192
	maxChannels = 4096
	maxKernel   = 15
	maxValues   = 1 << 29 // values of one layer's maps over the whole batch
)

// ErrNoForward reports a call of Backward without a call of Forward before it.
var ErrNoForward = errors.New("dnnl: Backward without a Forward before it: call Forward first (Infer does not count)")

// New compiles layers for pictures of shape in, with at most batch pictures at a time. The layers must form blocks as in the package comment.
func New(in Shape, layers []Layer, batch int) (*Stack, error) {
	if batch < 1 {
		return nil, fmt.Errorf("dnnl: batch is %d, expected at least 1: give the largest number of pictures per step", batch)
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

// Batch returns the largest number of pictures per call of Forward and Infer.
func (s *Stack) Batch() int { return s.batch }

// Forward writes to y the stack's output for the first n pictures of x, in training mode: BatchNorm uses the mean and biased variance over these n pictures. It
// stores the data that Backward needs, but keeps no reference to its arguments.
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

// Backward takes dy, the gradient with respect to the output of the last Forward. It overwrites dtheta with the gradient with respect to theta and, unless dx
// is nil, dx with the gradient with respect to x. The gradient of a bias before a BatchNorm is set to exactly zero.
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

// Stats returns the moments of the last Forward, one entry per BatchNorm. The Stack owns the slices, and the next Forward changes them.
func (s *Stack) Stats() []Moments { return s.stats }

// Infer writes to y the output for the first n pictures of x, in evaluation mode: BatchNorm uses the moments in stats, in the form of Stats. After Infer,
// Backward returns ErrNoForward until the next Forward.
func (s *Stack) Infer(y, x, theta []float32, stats []Moments, n int) error {
	s.pictures, s.owner = 0, nil
	if err := s.check(y, x, theta, n); err != nil {
		return err
	}
	if len(stats) != len(s.stats) {
		return fmt.Errorf("dnnl: %d moments given, expected %d, one per BatchNorm: pass the result of Stats", len(stats), len(s.stats))
	}
	at := 0
	for i, m := range stats {
		c := len(s.stats[i].Mean)
		if len(m.Mean) != c || len(m.Var) != c {
			return fmt.Errorf("dnnl: moments %d have %d means and %d variances, expected %d channels: pass the result of Stats", i, len(m.Mean), len(m.Var), c)
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

// SetThreads sets the number of cores that the stack uses. The default 0 means all cores, or OMP_NUM_THREADS. For a given number of threads every result is the
// same to the bit.
func (s *Stack) SetThreads(n int) {
	if s.trunk != nil {
		s.trunk.setThreads(max(n, 0))
	}
}

// Close frees the memory outside Go. Do not use the Stack after Close; a second Close does nothing.
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
