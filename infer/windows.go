package infer

import (
	"errors"
	"fmt"
	"slices"
)

// This file computes the output shapes of operators on pictures, and their multiplications per output value. Pictures are 1 × channels × rows × columns.

// picture returns the shape of the node's first input, which must be a picture.
func (c *call) picture() ([]int, error) {
	x := c.in[0].shape
	if len(x) != 4 {
		return nil, fmt.Errorf("reads a value of %s, expected a picture of four sizes", sizes(x))
	}
	return x, nil
}

// constantOf requires that input i has this shape, if the node has the input.
func (c *call) constantOf(i int, shape ...int) error {
	if v := c.in[i]; v.constant != nil && !slices.Equal(v.shape, shape) {
		return fmt.Errorf("its constant %.80q has the shape %s, expected %s", c.node.inputs[i], sizes(v.shape), sizes(shape))
	}
	return nil
}

// ints returns an attribute's integers, or the default otherwise if the attribute is missing.
func (n *node) ints(name string, otherwise ...int64) []int64 {
	if a, given := n.attributes[name]; given {
		return a.ints
	}
	return otherwise
}

// window describes how an operator moves over rows or columns.
type window struct{ kernel, stride, dilation, before, after int64 }

// windows returns the windows over rows and columns. kernel is the kernel size from the shape of the weights, or 0.
func (c *call) windows(kernel ...int) (w [2]window, err error) {
	given := c.node.ints("kernel_shape", int64(kernel[0]), int64(kernel[1]))
	strides, dilations, pads := c.node.ints("strides", 1, 1), c.node.ints("dilations", 1, 1), c.node.ints("pads", 0, 0, 0, 0)
	if _, padded := c.node.attributes["pads"]; padded && !c.node.padsItself() {
		return w, errors.New("has both pads and auto_pad: export it with pads only")
	}
	for i := range w {
		w[i] = window{given[i], strides[i], dilations[i], pads[i], pads[i+2]}
		if w[i].kernel < 1 || kernel[i] > 0 && w[i].kernel != int64(kernel[i]) {
			return w, fmt.Errorf("attribute kernel_shape: found %d, its weights have %d", w[i].kernel, kernel[i])
		}
	}
	return w, nil
}

// reach returns the extent of a window, with its dilation.
func (w window) reach() int64 { return w.dilation*(w.kernel-1) + 1 }

// over returns the number of window positions along size values.
func (w window) over(size int, pads string, ceil bool) int {
	n := int64(size)
	if pads == "SAME_UPPER" {
		return int((n + w.stride - 1) / w.stride)
	}
	if n += w.before + w.after - w.reach(); n < 0 {
		return 0 // the caller refuses 0
	}
	if ceil {
		n += w.stride - 1
	}
	return int(n/w.stride) + 1
}

func convolve(c *call) ([][]int, error) {
	x, err := c.picture()
	if err != nil {
		return nil, err
	}
	weights, group := c.in[1].shape, int(c.node.ints("group", 1)[0])
	if len(weights) != 4 || x[1]%group != 0 || weights[0]%group != 0 || weights[1] != x[1]/group {
		return nil, fmt.Errorf("its weights have the shape %s, which does not fit %d channels in %d groups", sizes(weights), x[1], group)
	}
	if err := c.constantOf(2, weights[0]); err != nil {
		return nil, err
	}
	w, err := c.windows(weights[2], weights[3])
	if err != nil {
		return nil, err
	}
	c.products = count(weights[1:])
	pads := c.node.attributes["auto_pad"].text
	return [][]int{{x[0], weights[0], w[0].over(x[2], pads, false), w[1].over(x[3], pads, false)}}, nil
}

func convolveBack(c *call) ([][]int, error) {
	x, err := c.picture()
	if err != nil {
		return nil, err
	}
	weights := c.in[1].shape
	if len(weights) != 4 || weights[0] != x[1] {
		return nil, fmt.Errorf("its weights have the shape %s, which does not fit %d channels", sizes(weights), x[1])
	}
	if err := c.constantOf(2, weights[1]); err != nil {
		return nil, err
	}
	w, err := c.windows(weights[2], weights[3])
	if err != nil {
		return nil, err
	}
	out, more := []int{x[0], weights[1], 0, 0}, c.node.ints("output_padding", 0, 0)
	for i := range w {
		if more[i] >= w[i].stride || w[i].before >= w[i].kernel || w[i].after >= w[i].kernel {
			return nil, errors.New("has pads as large as its kernel, or an output_padding as large as its stride")
		}
		out[2+i] = int(int64(x[2+i]-1)*w[i].stride - w[i].before - w[i].after + w[i].kernel + more[i])
	}
	c.products = int64(x[1]) * w[0].kernel * w[1].kernel
	return [][]int{out}, nil
}

func pool(c *call) ([][]int, error) {
	x, err := c.picture()
	if err != nil {
		return nil, err
	}
	w, err := c.windows(0, 0)
	if err != nil {
		return nil, err
	}
	pads, ceil := c.node.attributes["auto_pad"].text, c.node.ints("ceil_mode", 0)[0] == 1
	out := slices.Clone(x)
	for i := range w {
		if w[i].before >= w[i].kernel || w[i].after >= w[i].kernel {
			return nil, errors.New("attribute pads: found padding as large as the kernel, expected less")
		}
		out[2+i] = w[i].over(x[2+i], pads, ceil)
	}
	c.products = w[0].kernel * w[1].kernel
	return [][]int{out}, nil
}

func poolAll(c *call) ([][]int, error) {
	x, err := c.picture()
	if err != nil {
		return nil, err
	}
	c.products = int64(x[2]) * int64(x[3])
	return [][]int{{x[0], x[1], 1, 1}}, nil
}

func normalise(c *call) ([][]int, error) {
	x := c.in[0].shape
	if len(x) != 2 && len(x) != 4 || len(x) == 2 && c.node.op != "BatchNormalization" {
		return nil, fmt.Errorf("reads a value of %s, expected a picture of four sizes", sizes(x))
	}
	for i := range c.in[1:] {
		if err := c.constantOf(i+1, x[1]); err != nil {
			return nil, err
		}
	}
	c.products = 4
	return [][]int{x}, c.node.wants("epsilon")
}

// wants returns an error if the node lacks an attribute that OpenCV requires.
func (n *node) wants(name string) error {
	if _, given := n.attributes[name]; !given {
		return fmt.Errorf("has no attribute %s", name)
	}
	return nil
}

// pad extends the rows and columns of a picture.
func pad(c *call) ([][]int, error) {
	x, err := c.picture()
	if err != nil {
		return nil, err
	}
	if err := c.constantOf(2); err != nil {
		return nil, err
	}
	pads, err := c.list("pads", 1)
	if err != nil || len(pads) != 8 {
		return nil, first(err, errors.New("attribute pads: expected eight numbers"))
	}
	out := slices.Clone(x)
	for i := range x {
		before, after := pads[i], pads[i+4]
		most := int64(maxAttribute)
		if c.node.attributes["mode"].text == "reflect" {
			most = int64(x[i]) - 1
		}
		if before < 0 || after < 0 || max(before, after) > most || i < 2 && before+after > 0 {
			return nil, fmt.Errorf("pads: found %d and %d, expected 0 to %d, and only for rows and columns", before, after, most)
		}
		out[i] += int(before + after)
	}
	return [][]int{out}, nil
}

// resize checks a Resize of a picture's rows and columns, given as scales or as sizes.
func resize(c *call) ([][]int, error) {
	x, err := c.picture()
	if err != nil {
		return nil, err
	}
	if err := c.node.wants("mode"); err != nil {
		return nil, err
	}
	scales, shape := c.in[2], c.in[3]
	if roi := c.in[1]; roi.constant != nil && count(roi.shape) > 0 && len(c.node.inputs) > 2 {
		return nil, errors.New("has a region of its own: export it without roi")
	}
	if len(c.node.inputs) == 2 { // opset 10 and earlier, without roi
		scales = c.in[1]
	}
	if shape.constant == nil {
		return scaled(x, scales.constant)
	}
	if scales.constant != nil && count(scales.shape) > 0 {
		return nil, errors.New("has both scales and sizes")
	}
	to := shape.constant.integers
	if len(shape.shape) != 1 || len(to) != 4 || to[0] != int64(x[0]) || to[1] != int64(x[1]) || slices.Max(to) > maxDim {
		return nil, fmt.Errorf("its sizes are %d, expected four sizes of one picture with %d channels", to, x[1])
	}
	c.products = 4
	return [][]int{{x[0], x[1], int(to[2]), int(to[3])}}, nil
}

func upsample(c *call) ([][]int, error) {
	x, err := c.picture()
	if err != nil {
		return nil, err
	}
	c.products = 4
	if err := c.node.wants("mode"); err != nil {
		return nil, err
	}
	return scaled(x, c.in[1].constant)
}

// scaled multiplies a picture's rows and columns by scales.
func scaled(x []int, scales *constant) ([][]int, error) {
	if scales == nil || len(scales.shape) != 1 || len(scales.floats) != 4 || scales.floats[0] != 1 || scales.floats[1] != 1 {
		return nil, errors.New("expected four scales, the first two equal to 1")
	}
	out := slices.Clone(x)
	for i := 2; i < 4; i++ {
		scale := scales.floats[i]
		if !(scale >= 1.0/maxAttribute && scale <= maxAttribute) {
			return nil, fmt.Errorf("found the scale %g, expected at most %d and at least its reciprocal", scale, maxAttribute)
		}
		out[i] = int(float32(x[i]) * scale)
	}
	return [][]int{out}, nil
}

// padsItself reports whether only the attribute pads sets the padding.
func (n *node) padsItself() bool {
	a, given := n.attributes["auto_pad"]
	return !given || a.text == "NOTSET"
}
