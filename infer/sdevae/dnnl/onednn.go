//go:build !nodnnl

package dnnl

// #cgo CXXFLAGS: -std=c++17 -O3 -fopenmp -Wall -Wno-psabi
// #cgo LDFLAGS: -ldnnl -fopenmp
// #include "trunk.h"
import "C"

import (
	"errors"
	"unsafe"
)

// trunk is a stack compiled by oneDNN. See trunk.h.
type trunk struct{ c *C.trunk }

func newTrunk(stages []stage, batch int) (*trunk, error) {
	list := make([]C.trunk_stage, len(stages))
	for i := range stages {
		s := &stages[i]
		list[i] = C.trunk_stage{
			channels_in: C.int(s.in.C), channels_out: C.int(s.channels), height: C.int(s.in.H), width: C.int(s.in.W),
			kernel: C.int(s.kernel), upsample: flag(s.upsample), norm: flag(s.norm), leaky: flag(s.leaky), squash: flag(s.squash), pool: flag(s.pool),
			weight: C.int(s.weight), bias: C.int(s.bias), gamma: C.int(s.gamma), beta: C.int(s.beta), moments: C.int(s.moments),
		}
	}
	var message [256]C.char
	t := C.trunk_new(&list[0], C.int(len(list)), C.int(batch), &message[0], C.size_t(len(message)))
	if t == nil {
		return nil, errors.New("oneDNN: " + C.GoString(&message[0]) + ": check the memory left and the installed oneDNN, or build with -tags nodnnl")
	}
	return &trunk{t}, nil
}

func (t *trunk) forward(y, x, theta, moments []float32, n int) error {
	return t.result(C.trunk_forward(t.c, floats(y), floats(x), floats(theta), floats(moments), C.int(n)))
}

func (t *trunk) infer(y, x, theta, moments []float32, n int) error {
	return t.result(C.trunk_infer(t.c, floats(y), floats(x), floats(theta), floats(moments), C.int(n)))
}

func (t *trunk) backward(dx, dtheta, dy []float32, n int) error {
	return t.result(C.trunk_backward(t.c, floats(dx), floats(dtheta), floats(dy), C.int(n)))
}

func (t *trunk) setThreads(n int) { C.trunk_set_threads(t.c, C.int(n)) }

func (t *trunk) close() { C.trunk_free(t.c) }

func (t *trunk) result(failed C.int) error {
	if failed == 0 {
		return nil
	}
	return errors.New("oneDNN: " + C.GoString(C.trunk_error(t.c)) + ": check the memory left and the installed oneDNN, or build with -tags nodnnl")
}

// floats returns a slice's memory for one call to C.
func floats(s []float32) *C.float { return (*C.float)(unsafe.Pointer(unsafe.SliceData(s))) }

func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}
