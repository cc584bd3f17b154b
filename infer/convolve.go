//go:build cgo

package infer

/*
#cgo CFLAGS: -O3 -Wall
#include "convolve.h"
*/
import "C"

import "unsafe"

// widest returns the number of floats per vector in the widest kernel that this processor can run.
func widest() int { return int(C.ds_lanes()) }

// packed reorders a convolution's weights (outputs × inputs × rows × columns) for convolve.h. Groups of `lanes` outputs lie side by side for each position in
// the kernel and each input. Zeros fill the last group.
func packed(weights []float32, out, in, kernel, lanes int) []float32 {
	area := kernel * kernel
	to := make([]float32, filled(out, lanes)*in*area)
	for o := range out {
		group := to[o/lanes*lanes*in*area:]
		for i := range in {
			for k := range area {
				group[(k*in+i)*lanes+o%lanes] = weights[(o*in+i)*area+k]
			}
		}
	}
	return to
}

// filled rounds n up to a multiple of size.
func filled(n, size int) int { return (n + size - 1) / size * size }

// mapSize returns the number of floats in a map. As in convolve.h, rows are rounded up to a multiple of 2 and columns to a multiple of 8.
func mapSize(channels, rows, cols, border int) int {
	return (filled(rows, 2) + 2*border) * (filled(cols, 8) + 2*border) * channels
}

// maps holds one encoder's feature maps between the layers of a trunk. It belongs to one goroutine.
type maps struct {
	trunk  *trunk
	layers [][]float32 // the input of each layer, then the output of the last
}

func (t *trunk) maps() *maps {
	m := &maps{trunk: t}
	for _, l := range t.layers {
		m.layers = append(m.layers, make([]float32, mapSize(l.in, l.rows, l.cols, l.kernel/2)))
	}
	out := t.output()
	m.layers = append(m.layers, make([]float32, mapSize(out[1], out[2], out[3], 0)))
	return m
}

// forward runs the trunk on picture and writes features. Both are channels × rows × columns, with the sizes of the first layer's input and of t.output.
func (m *maps) forward(picture, features []float32) {
	t, first, out := m.trunk, &m.trunk.layers[0], m.trunk.output()
	C.ds_enter(pointer(picture), C.int(first.in), C.int(first.rows), C.int(first.cols), C.int(first.kernel/2), pointer(m.layers[0]))
	for i := range t.layers {
		l := &t.layers[i]
		C.ds_convolve(C.int(t.lanes), C.ds_layer{
			rows: C.int(l.rows), cols: C.int(l.cols), in: C.int(l.in), out: C.int(l.out), kernel: C.int(l.kernel), pool: C.int(l.pool),
			border: C.int(t.border(i + 1)), slope: C.float(l.slope),
		}, pointer(l.weights), pointer(l.bias), pointer(m.layers[i]), pointer(m.layers[i+1]))
	}
	C.ds_leave(pointer(m.layers[len(t.layers)]), C.int(out[1]), C.int(out[2]), C.int(out[3]), pointer(features))
}

func pointer(v []float32) *C.float { return (*C.float)(unsafe.SliceData(v)) }
