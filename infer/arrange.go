package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// This file computes the output shapes of operators that accept any value, not only pictures.

// first returns err, or the error otherwise if err is nil.
func first(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

func same(c *call) ([][]int, error) { return [][]int{c.in[0].shape}, nil }

// along returns the node's axis attribute, or otherwise if it is missing. A negative axis counts from the end.
func (c *call) along(otherwise int64, rank int) (int, error) {
	return place(c.node.ints("axis", otherwise)[0], rank)
}

// place converts a possibly negative axis to an index from 0.
func place(axis int64, rank int) (int, error) {
	at := axis
	if at < 0 {
		at += int64(rank)
	}
	if at < 0 || at >= int64(rank) {
		return 0, fmt.Errorf("axis: found %d, which a value with %d dimensions does not have", axis, rank)
	}
	return int(at), nil
}

// list returns a list of integers from the attribute name, or from the input that replaces this attribute in later versions of ONNX. It returns nil if the node
// has neither.
func (c *call) list(name string, input int) ([]int64, error) {
	a, given := c.node.attributes[name]
	v := c.in[input].constant
	switch {
	case given && v != nil:
		return nil, fmt.Errorf("%s is given both as an attribute and as an input", name)
	case given:
		return a.ints, nil
	case v == nil:
		return nil, nil
	case len(v.shape) != 1 || v.shape[0] > maxRead:
		return nil, fmt.Errorf("its %s has the shape %s, expected a list of at most %d numbers", name, sizes(v.shape), maxRead)
	}
	return v.integers, nil
}

// axes returns the node's axes as indices from 0. Each axis may occur only once.
func (c *call) axes(input int, rank int) (at []int, err error) {
	given := c.node.attributes["axes"].ints
	if input > 0 {
		given, err = c.list("axes", input)
	}
	for _, axis := range given {
		i, wrong := place(axis, rank)
		if wrong != nil || slices.Contains(at, i) {
			return nil, first(wrong, fmt.Errorf("axes: found %d, expected each once", given))
		}
		at = append(at, i)
	}
	return at, err
}

// elementwise requires that one shape can be broadcast to the other. If neither value is a constant, both need the same number of dimensions. OpenCV 4.6 writes
// beyond its memory if a constant has more dimensions than the value to which it is added, and fails if both values must be broadcast.
func elementwise(c *call) ([][]int, error) {
	x, y := c.in[0], c.in[1]
	computed := x.constant == nil && y.constant == nil
	switch {
	case computed && len(x.shape) != len(y.shape):
	case x.constant == nil && fits(y.shape, x.shape):
		return [][]int{x.shape}, nil
	case y.constant == nil && fits(x.shape, y.shape):
		return [][]int{y.shape}, nil
	}
	return nil, fmt.Errorf("reads values of shapes %s and %s, expected one that can be broadcast to the other", sizes(x.shape), sizes(y.shape))
}

// fits reports whether a value of shape a can be broadcast to shape b. From the last dimension backwards, a's size must equal b's or be 1.
func fits(a, b []int) bool {
	if len(a) > len(b) {
		return false
	}
	b = b[len(b)-len(a):]
	for i := range a {
		if a[i] != 1 && a[i] != b[i] {
			return false
		}
	}
	return true
}

// clip requires its bounds as attributes, because OpenCV 4.6 does not read them from inputs.
func clip(c *call) ([][]int, error) {
	low, high := c.node.attributes["min"], c.node.attributes["max"]
	if low.form == 0 || high.form == 0 || low.float > high.float {
		return nil, errors.New("expected the attributes min and max, with min at most max")
	}
	return same(c)
}

func power(c *call) ([][]int, error) {
	if e := c.in[1]; count(e.shape) != 1 || len(e.constant.floats) != 1 || notFinite(float64(e.constant.floats[0])) {
		return nil, errors.New("expected an exponent that is one finite number")
	}
	return same(c)
}

// slope checks the slopes of a PRelu: one per channel.
func slope(c *call) ([][]int, error) {
	x, s := c.in[0].shape, c.in[1].shape
	if len(x) < 2 || len(s) == 0 || count(s) != int64(x[1]) || s[0] != x[1] {
		return nil, fmt.Errorf("its slope has the shape %s, expected one number per channel", sizes(s))
	}
	return same(c)
}

func alongAxis(c *call) ([][]int, error) {
	_, err := c.along(-1, len(c.in[0].shape))
	c.products = 4
	return [][]int{c.in[0].shape}, err
}

// gemm checks the shapes of x W' + b.
func gemm(c *call) ([][]int, error) {
	x, w := c.in[0].shape, c.in[1].shape
	if len(x) != 2 || len(w) != 2 || w[1] != x[1] || c.node.ints("transB", 0)[0] != 1 {
		return nil, fmt.Errorf("reads a value of shape %s and weights of shape %s, expected rows x inputs, and outputs x inputs with transB = 1", sizes(x), sizes(w))
	}
	if b := c.in[2]; b.constant != nil && (count(b.shape) != int64(w[0]) || len(b.shape) < 1 || len(b.shape) > 2 || b.shape[len(b.shape)-1] != w[0]) {
		return nil, fmt.Errorf("its bias has the shape %s, expected %d", sizes(b.shape), w[0])
	}
	c.products = int64(x[1])
	return [][]int{{x[0], w[0]}}, nil
}

func matMul(c *call) ([][]int, error) {
	x, y := c.in[0].shape, c.in[1].shape
	fit := c.in[0].constant == nil && len(x) >= 2 && (len(y) == len(x) || len(y) == 2 && c.in[1].constant != nil)
	if !fit || x[len(x)-1] != y[len(y)-2] || len(y) > 2 && !slices.Equal(x[:len(x)-2], y[:len(y)-2]) {
		return nil, fmt.Errorf("reads values of shapes %s and %s, which cannot be multiplied", sizes(x), sizes(y))
	}
	out := slices.Clone(x)
	out[len(out)-1] = y[len(y)-1]
	c.products = int64(x[len(x)-1])
	return [][]int{out}, nil
}

func reduced(c *call) ([][]int, error) {
	x := c.in[0].shape
	at, err := c.axes(0, len(x))
	if err != nil || len(at) == 0 {
		return nil, first(err, errors.New("attribute axes: expected at least one"))
	}
	keep := c.node.ints("keepdims", 1)[0] == 1
	var out []int
	for i, n := range x {
		switch {
		case !slices.Contains(at, i):
			out = append(out, n)
		case keep:
			out = append(out, 1)
		}
	}
	c.products = count(x)
	return [][]int{out}, nil
}

func concatenate(c *call) ([][]int, error) {
	out := slices.Clone(c.in[0].shape)
	if _, given := c.node.attributes["axis"]; !given {
		return nil, errors.New("has no attribute axis")
	}
	at, err := c.along(0, len(out))
	if err != nil {
		return nil, err
	}
	for _, v := range c.in[1:] {
		if len(v.shape) != len(out) {
			return nil, fmt.Errorf("joins values of %d and %d dimensions", len(out), len(v.shape))
		}
		for i, n := range v.shape {
			if i != at && n != out[i] {
				return nil, fmt.Errorf("joins a value of shape %s to one of shape %s along axis %d", sizes(v.shape), sizes(c.in[0].shape), at)
			}
		}
		if out[at] += v.shape[at]; out[at] > maxDim {
			return nil, tooMuch(out)
		}
	}
	return [][]int{out}, nil
}

func flatten(c *call) ([][]int, error) {
	x := c.in[0].shape
	if len(x) < 2 {
		return nil, fmt.Errorf("reads a value of shape %s, expected at least two dimensions", sizes(x))
	}
	return [][]int{{x[0], int(count(x[1:]))}}, nil
}

func reshape(c *call) ([][]int, error) {
	x := c.in[0].shape
	to, err := c.list("shape", 1)
	if err != nil || len(to) == 0 || len(to) > maxRank {
		return nil, first(err, fmt.Errorf("its shape has %d dimensions, expected 1 to %d", len(to), maxRank))
	}
	out, open, size := make([]int, len(to)), -1, int64(1)
	for i, n := range to {
		switch {
		case n == -1 && open < 0:
			open = i
			continue
		case n == 0 && i < len(x):
			n = int64(x[i])
		case n < 1 || n > maxDim:
			return nil, fmt.Errorf("its shape is %d, expected sizes of 1 to %d and at most one -1", to, maxDim)
		}
		out[i] = int(n)
		if size *= n; size > maxElements {
			return nil, tooMuch(x)
		}
	}
	if open >= 0 {
		out[open] = int(count(x) / size)
		size *= int64(out[open])
	}
	if size != count(x) {
		return nil, fmt.Errorf("its shape is %d, which does not fit a value of shape %s", to, sizes(x))
	}
	return [][]int{out}, nil
}

func squeeze(c *call) ([][]int, error) {
	x := c.in[0].shape
	at, err := c.axes(0, len(x))
	if err != nil || len(at) == 0 {
		return nil, first(err, errors.New("attribute axes: expected at least one"))
	}
	var out []int
	for i, n := range x {
		if !slices.Contains(at, i) {
			out = append(out, n)
		} else if n != 1 {
			return nil, fmt.Errorf("removes axis %d of a value of shape %s, expected an axis of size 1", i, sizes(x))
		}
	}
	return [][]int{out}, nil
}

func unsqueeze(c *call) ([][]int, error) {
	x := c.in[0].shape
	given, err := c.list("axes", 1)
	if err != nil || len(given) != 1 || len(x)+1 > maxRank {
		return nil, first(err, fmt.Errorf("axes: found %d, expected one axis and an output of at most %d dimensions", given, maxRank))
	}
	rank := len(x) + len(given)
	at, err := c.axes(1, rank)
	if err != nil {
		return nil, err
	}
	var out []int
	for i := range rank {
		if slices.Contains(at, i) {
			out = append(out, 1)
		} else {
			out, x = append(out, x[0]), x[1:]
		}
	}
	return [][]int{out}, nil
}

func transpose(c *call) ([][]int, error) {
	x, perm := c.in[0].shape, c.node.attributes["perm"].ints
	out, seen := make([]int, len(x)), map[int64]bool{}
	if len(perm) != len(x) {
		return nil, fmt.Errorf("attribute perm: found %d, expected one number for each dimension of the shape %s", perm, sizes(x))
	}
	for i, from := range perm {
		if from >= int64(len(x)) || seen[from] {
			return nil, fmt.Errorf("attribute perm: found %d, expected each of 0 to %d once", perm, len(x)-1)
		}
		out[i], seen[from] = x[from], true
	}
	return [][]int{out}, nil
}

func split(c *call) ([][]int, error) {
	x := c.in[0].shape
	at, err := c.along(0, len(x))
	if err != nil {
		return nil, err
	}
	parts := c.node.attributes["split"].ints
	if parts == nil && x[at]%len(c.node.outputs) == 0 {
		parts = slices.Repeat([]int64{int64(x[at] / len(c.node.outputs))}, len(c.node.outputs))
	}
	var out [][]int
	left := int64(x[at])
	for _, n := range parts {
		if n < 1 || n > left {
			return nil, fmt.Errorf("split: found the parts %d, which do not fit a value of shape %s along axis %d", parts, sizes(x), at)
		}
		left -= n
		part := slices.Clone(x)
		part[at] = int(n)
		out = append(out, part)
	}
	if left != 0 || len(out) != len(c.node.outputs) {
		return nil, fmt.Errorf("split: found the parts %d for %d outputs of a value of shape %s along axis %d", parts, len(c.node.outputs), sizes(x), at)
	}
	return out, nil
}

// slice extracts part of a value. Along each axis it runs from a start to an end in steps of at least 1.
func slice(c *call) ([][]int, error) {
	x := c.in[0].shape
	var lists [4][]int64
	for i, name := range []string{"starts", "ends", "axes", "steps"} {
		list, err := c.list(name, i+1)
		if err != nil {
			return nil, err
		}
		lists[i] = list
	}
	starts, ends, steps := lists[0], lists[1], lists[3]
	at, err := c.axes(3, len(x))
	if lists[2] == nil {
		for i := range starts {
			at = append(at, i)
		}
	}
	if steps == nil {
		steps = slices.Repeat([]int64{1}, len(starts))
	}
	n := len(starts)
	if err != nil || n == 0 || n > len(x) || len(ends) != n || len(at) != n || len(steps) != n {
		return nil, first(err, fmt.Errorf("found %d starts, %d ends, %d axes and %d steps, expected equal numbers", n, len(ends), len(at), len(steps)))
	}
	out := slices.Clone(x)
	for i, axis := range at {
		size := int64(x[axis])
		from, to := bounded(starts[i], size), bounded(ends[i], size)
		if steps[i] < 1 || steps[i] > math.MaxInt32 || from >= to {
			return nil, fmt.Errorf("slices from %d to %d in steps of %d, which selects nothing or is not supported for the %d values along axis %d", starts[i], ends[i], steps[i], size, axis)
		}
		out[axis] = int((to - from + steps[i] - 1) / steps[i])
	}
	return [][]int{out}, nil
}

// bounded returns the index at, limited to [0, size]. A negative index counts from the end.
func bounded(at, size int64) int64 {
	if at < 0 {
		at += size
	}
	return min(max(at, 0), size)
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
