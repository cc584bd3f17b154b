package dnnl

import (
	"fmt"
	"hash"
	"hash/fnv"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Apply adds the stack to a Gorgonia graph. x has the pictures, (n, C*H*W) or (n, C, H, W), and theta is the vector of parameters, both float32. The result has
// the same rank as x. It is differentiable with respect to theta and, if the graph computes x, to x. If x is an input of the graph, its gradient is not
// computed, to save time.
//
// The operation owns the memory of values and gradients and reuses it in the next run, so it allocates nothing during a run. The stack remembers only one
// forward pass, so use it once, in one graph. A graph that uses it twice fails in the backward pass.
func (s *Stack) Apply(x, theta *gorgonia.Node) (*gorgonia.Node, error) {
	rows, err := s.rows(x.Shape())
	if err != nil {
		return nil, err
	}
	if !theta.Shape().Eq(tensor.Shape{s.params}) {
		return nil, fmt.Errorf("dnnl: theta has shape %v, expected (%d): pass all parameters as one vector", theta.Shape(), s.params)
	}
	if x.Dtype() != tensor.Float32 || theta.Dtype() != tensor.Float32 {
		return nil, fmt.Errorf("dnnl: x is %v and theta is %v, expected float32: convert them", x.Dtype(), theta.Dtype())
	}
	op := &applyOp{stack: s, in: x.Shape().Clone(), inner: x.Op() != nil}
	op.out = tensor.Shape{rows, s.out.Size()}
	if len(op.in) == 4 {
		op.out = tensor.Shape{rows, s.out.C, s.out.H, s.out.W}
	}
	op.y = tensor.New(tensor.WithShape(op.out...), tensor.Of(tensor.Float32))
	return gorgonia.ApplyOp(op, x, theta)
}

// rows returns the number of pictures in a node of the given shape.
func (s *Stack) rows(shape tensor.Shape) (int, error) {
	flat := len(shape) == 2 && shape[1] == s.in.Size()
	cubic := len(shape) == 4 && shape[1] == s.in.C && shape[2] == s.in.H && shape[3] == s.in.W
	if !flat && !cubic {
		return 0, fmt.Errorf("dnnl: x has shape %v, expected (n, %d) or (n, %d, %d, %d): reshape it", shape, s.in.Size(), s.in.C, s.in.H, s.in.W)
	}
	if shape[0] < 1 || shape[0] > s.batch {
		return 0, fmt.Errorf("dnnl: x has %d pictures, expected 1 to %d: make a stack with a larger batch", shape[0], s.batch)
	}
	return shape[0], nil
}

// applyOp is the operation y = stack(x, theta).
type applyOp struct {
	pure
	stack   *Stack
	in, out tensor.Shape
	inner   bool // the graph computes x, so x needs a gradient
	y       *tensor.Dense
}

func (op *applyOp) Arity() int { return 2 }

func (op *applyOp) Type() hm.Type {
	return hm.NewFnType(tensors(len(op.in)), tensors(1), tensors(len(op.out)))
}

func (op *applyOp) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) { return op.out.Clone(), nil }

func (op *applyOp) Do(inputs ...gorgonia.Value) (gorgonia.Value, error) {
	x, err := contents("x", inputs[0], op.in.TotalSize())
	if err != nil {
		return nil, err
	}
	theta, err := contents("theta", inputs[1], op.stack.params)
	if err != nil {
		return nil, err
	}
	if err := op.stack.Forward(op.y.Data().([]float32), x, theta, op.in[0]); err != nil {
		return nil, err
	}
	op.stack.owner = op
	return op.y, nil
}

func (op *applyOp) DiffWRT(int) []bool { return []bool{op.inner, true} }

// SymDiff returns a node that runs Backward and yields dtheta and, if x needs a gradient, a second node that yields the dx of that run. The first node depends
// on y, so it always runs after Forward, even if dy does not need y. The second depends on the first.
func (op *applyOp) SymDiff(inputs gorgonia.Nodes, y, dy *gorgonia.Node) (gorgonia.Nodes, error) {
	back := &backwardOp{apply: op, dtheta: tensor.New(tensor.WithShape(op.stack.params), tensor.Of(tensor.Float32))}
	if op.inner {
		back.dx = tensor.New(tensor.WithShape(op.in...), tensor.Of(tensor.Float32))
	}
	dtheta, err := gorgonia.ApplyOp(back, y, dy)
	if err != nil || !op.inner {
		return gorgonia.Nodes{nil, dtheta}, err
	}
	dx, err := gorgonia.ApplyOp(&inputGradientOp{back: back}, dtheta)
	return gorgonia.Nodes{dx, dtheta}, err
}

func (op *applyOp) String() string        { return fmt.Sprintf("Stack[%p]", op) }
func (op *applyOp) WriteHash(h hash.Hash) { fmt.Fprint(h, op.String()) }
func (op *applyOp) Hashcode() uint32      { return hashcode(op) }

// backwardOp is the operation dtheta = Backward(dy). It keeps dx for inputGradientOp.
type backwardOp struct {
	pure
	apply      *applyOp
	dtheta, dx *tensor.Dense // dx is nil if x needs no gradient
}

func (op *backwardOp) Arity() int { return 2 }

func (op *backwardOp) Type() hm.Type {
	rank := len(op.apply.out)
	return hm.NewFnType(tensors(rank), tensors(rank), tensors(1))
}

func (op *backwardOp) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) {
	return op.dtheta.Shape().Clone(), nil
}

func (op *backwardOp) Do(inputs ...gorgonia.Value) (gorgonia.Value, error) {
	stack := op.apply.stack
	if stack.owner != op.apply {
		return nil, fmt.Errorf("dnnl: the stack ran forward elsewhere before this node's backward pass: make one stack for each place that uses it")
	}
	dy, err := contents("dy", inputs[1], op.apply.out.TotalSize())
	if err != nil {
		return nil, err
	}
	if stack.rests && op.dx == nil {
		clear(op.dtheta.Data().([]float32))
		return op.dtheta, nil
	}
	var dx []float32
	if op.dx != nil {
		dx = op.dx.Data().([]float32)
	}
	return op.dtheta, stack.Backward(dx, op.dtheta.Data().([]float32), dy)
}

func (op *backwardOp) String() string        { return fmt.Sprintf("StackBackward[%p]", op) }
func (op *backwardOp) WriteHash(h hash.Hash) { fmt.Fprint(h, op.String()) }
func (op *backwardOp) Hashcode() uint32      { return hashcode(op) }

// inputGradientOp returns backwardOp's dx.
type inputGradientOp struct {
	pure
	back *backwardOp
}

func (op *inputGradientOp) Arity() int { return 1 }

func (op *inputGradientOp) Type() hm.Type {
	return hm.NewFnType(tensors(1), tensors(len(op.back.apply.in)))
}

func (op *inputGradientOp) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) {
	return op.back.apply.in.Clone(), nil
}

func (op *inputGradientOp) Do(...gorgonia.Value) (gorgonia.Value, error) { return op.back.dx, nil }

func (op *inputGradientOp) String() string        { return fmt.Sprintf("StackInputGradient[%p]", op) }
func (op *inputGradientOp) WriteHash(h hash.Hash) { fmt.Fprint(h, op.String()) }
func (op *inputGradientOp) Hashcode() uint32      { return hashcode(op) }

// pure implements the properties that Gorgonia's compiler asks for, for all three operations. They own their results, so Gorgonia must not allocate results,
// and they do not overwrite an input.
type pure struct{}

func (pure) ReturnsPtr() bool     { return true }
func (pure) CallsExtern() bool    { return false }
func (pure) OverwritesInput() int { return -1 }

func tensors(rank int) hm.Type { return gorgonia.TensorType{Dims: rank, Of: tensor.Float32} }

func hashcode(op gorgonia.Op) uint32 {
	h := fnv.New32a()
	op.WriteHash(h)
	return h.Sum32()
}

// contents returns the values of a tensor in row-major order. It copies only views and transposes.
func contents(name string, v gorgonia.Value, size int) ([]float32, error) {
	t, ok := v.(*tensor.Dense)
	if !ok || t.Dtype() != tensor.Float32 || t.Shape().TotalSize() != size {
		return nil, fmt.Errorf("dnnl: %s is a %v of shape %v, expected %d float32 values: check the node that feeds the stack", name, v.Dtype(), v.Shape(), size)
	}
	if t.RequiresIterator() {
		t = t.Materialize().(*tensor.Dense)
	}
	if t.DataOrder().IsColMajor() {
		return nil, fmt.Errorf("dnnl: %s is stored by columns, expected by rows: make it without tensor.AsFortran", name)
	}
	return t.Data().([]float32), nil
}
