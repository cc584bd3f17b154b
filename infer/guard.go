//go:build cgo

package infer

/*
#cgo pkg-config: opencv4
#cgo CXXFLAGS: -std=c++11
#include <stdlib.h>
#include "guard.h"
*/
import "C"

import (
	"errors"
	"strings"
	"sync"
	"unsafe"
)

// maxMessage bounds the text kept from an OpenCV exception, in bytes.
const maxMessage = 300

// threads is read-locked while OpenCV runs a graph. OpenCV destroys its threads when their number changes, and the process crashes if a call still uses them.
var threads sync.RWMutex

// SetThreads sets the number of OpenCV threads per call, for the whole process. With 1, every call runs on its caller's thread. SetThreads waits for running
// graphs, but not for other calls into OpenCV, so call it before the first frame.
func SetThreads(n int) {
	threads.Lock()
	defer threads.Unlock()
	C.ds_threads(C.int(n))
}

// network is one ONNX graph that is ready to run. It uses our own binding, because an OpenCV exception in gocv's Net ends the process and gocv's ForwardLayers
// leaks the names and the list of outputs at every call. A network belongs to one goroutine.
type network struct {
	c       *C.ds_net
	buffers buffers // in C's memory
}

// runner is a graph ready to run. It belongs to one goroutine.
type runner interface {
	memory() *buffers
	forward() error // computes the outputs from the inputs
	close()
}

// buffers are a graph's inputs and outputs.
type buffers struct {
	input   []float32   // row-major; write here before the call of forward
	scalar  *float32    // the second input; nil if the graph has none
	outputs [][]float32 // overwritten by forward
}

func (n *network) memory() *buffers { return &n.buffers }

// openNetwork reads onnx and runs it once on zeros, so a graph that OpenCV cannot run is refused here and not later. scalar names the graph's second input, a
// single value; it is empty if there is none. checkStructure and checkOperators must have accepted the graph, or a larger graph that contains it.
func openNetwork(onnx []byte, shape []int, scalar string, outputs ...string) (*network, error) {
	if len(onnx) == 0 {
		return nil, errors.New("the ONNX graph is empty")
	}
	dims, size := make([]C.int, len(shape)), 1
	for i, n := range shape {
		dims[i] = C.int(n)
		size *= n
	}
	names := make([]*C.char, len(outputs))
	for i, name := range outputs {
		names[i] = C.CString(name)
		defer C.free(unsafe.Pointer(names[i]))
	}
	var second, failure *C.char
	if scalar != "" {
		second = C.CString(scalar)
		defer C.free(unsafe.Pointer(second))
	}
	threads.RLock()
	c := C.ds_net_open(unsafe.Pointer(&onnx[0]), C.size_t(len(onnx)), &dims[0], C.int(len(dims)), second, &names[0], C.int(len(names)), &failure)
	threads.RUnlock()
	if c == nil {
		return nil, openCVError(failure)
	}
	n := &network{c, buffers{input: unsafe.Slice((*float32)(C.ds_net_input(c)), size), scalar: (*float32)(C.ds_net_scalar(c))}}
	n.readOutputs()
	return n, nil
}

// readOutputs points n.outputs at C's memory.
func (n *network) readOutputs() {
	n.buffers.outputs = make([][]float32, int(C.ds_net_outputs(n.c)))
	for i := range n.buffers.outputs {
		var length C.size_t
		p := C.ds_net_output(n.c, C.int(i), &length)
		n.buffers.outputs[i] = unsafe.Slice((*float32)(p), int(length))
	}
}

// forward runs n.input through the graph into n.outputs.
func (n *network) forward() error {
	threads.RLock()
	defer threads.RUnlock()
	if failure := C.ds_net_forward(n.c); failure != nil {
		return openCVError(failure)
	}
	return nil
}

func (n *network) close() {
	C.ds_net_close(n.c)
	*n = network{}
}

// openCVError frees the C text and returns an error of one line.
func openCVError(text *C.char) error {
	defer C.free(unsafe.Pointer(text))
	line := strings.Join(strings.Fields(C.GoString(text)), " ")
	if len(line) > maxMessage {
		line = line[:maxMessage] + "..."
	}
	return errors.New("OpenCV: " + line)
}
