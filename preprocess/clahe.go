package preprocess

/*
#cgo CFLAGS: -std=c11 -O3 -Wall
#cgo LDFLAGS: -lm
#include "equalise.h"
*/
import "C"

import (
	"context"
	"fmt"
	"unsafe"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// claheOptions are the keys under clahe. The defaults, 0.03*256 on 8x8 tiles, equal scikit-image's equalize_adapthist(clip_limit=0.03), which the paper's code
// used.
type claheOptions struct {
	ClipLimit float64 `yaml:"clip_limit"` // highest histogram bin, in multiples of the mean bin
	Tiles     int     `yaml:"tiles"`      // tiles per side
}

// Bounds on clahe's options.
const (
	maxClipLimit = 256 // the number of bins, which means no limit
	maxTiles     = 64
)

// clahe is contrast-limited adaptive histogram equalisation (Zuiderveld 1994) in 8 bits. It has its own kernel (equalise.c), with the same results as OpenCV's.
type clahe struct {
	tiles   int
	clip    float64
	bytes   gocv.Mat // scratch for float pictures
	luts    []uint8  // scratch: one table of grey values per tile
	weights []float32
}

func newCLAHE(decode func(dst any) error) (pipeline.Step, error) {
	o := claheOptions{ClipLimit: 7.68, Tiles: 8}
	if err := decode(&o); err != nil {
		return nil, err
	}
	if !(o.ClipLimit > 0 && o.ClipLimit <= maxClipLimit) {
		return nil, fmt.Errorf("clip_limit: found %g, expected more than 0 and at most %d", o.ClipLimit, maxClipLimit)
	}
	if o.Tiles < 1 || o.Tiles > maxTiles {
		return nil, fmt.Errorf("tiles: found %d, expected 1 to %d", o.Tiles, maxTiles)
	}
	return &clahe{tiles: o.Tiles, clip: o.ClipLimit, bytes: gocv.NewMat(), luts: make([]uint8, 256*o.Tiles*o.Tiles)}, nil
}

// Apply works in place on grey uint8, or on grey float32 in [0,1], which it converts to 8 bits and back.
func (c *clahe) Apply(_ context.Context, f *frame.Frame) error {
	if err := check("clahe", f, gocv.MatTypeCV8U, gocv.MatTypeCV32F); err != nil {
		return err
	}
	m := f.Mat()
	if m.Channels() != 1 {
		return complain("clahe", f, "found colour, expected grey: put normalise with grey: true before it")
	}
	if m.Rows() < c.tiles || m.Cols() < c.tiles {
		return complain("clahe", f, "found %dx%d pixels, too few for %dx%d tiles: lower tiles", m.Cols(), m.Rows(), c.tiles, c.tiles)
	}
	if depth(m) == gocv.MatTypeCV8U {
		return c.equalise(m)
	}
	if err := checkFinite("clahe", f); err != nil {
		return err
	}
	// Not MinMaxIdx, because gocv 0.31 gives it room for one index, and OpenCV writes two, over the adjacent memory.
	if low, high, _, _ := gocv.MinMaxLoc(*m); low < 0 || high > 1 {
		return complain("clahe", f, "found values from %g to %g, expected 0 to 1: put normalise before it", low, high)
	}
	m.ConvertToWithParams(&c.bytes, gocv.MatTypeCV8U, 255, 0)
	if err := c.equalise(&c.bytes); err != nil {
		return err
	}
	c.bytes.ConvertToWithParams(m, gocv.MatTypeCV32F, 1./255, 0)
	return nil
}

// equalise works in place on contiguous bytes.
func (c *clahe) equalise(m *gocv.Mat) error {
	pixels, err := m.DataPtrUint8()
	if err != nil {
		return err
	}
	if len(c.weights) < m.Cols() {
		c.weights = make([]float32, m.Cols())
	}
	C.ds_equalise((*C.uint8_t)(unsafe.SliceData(pixels)), C.int(m.Rows()), C.int(m.Cols()), C.int(c.tiles), C.double(c.clip),
		(*C.uint8_t)(unsafe.SliceData(c.luts)), (*C.float)(unsafe.SliceData(c.weights)))
	return nil
}

// Can reports that the result for a frame does not depend on other frames.
func (c *clahe) Can() pipeline.Abilities { return pipeline.Abilities{Independent: true} }

func (c *clahe) Close() error { return c.bytes.Close() }
