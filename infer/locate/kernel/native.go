//go:build cgo

package kernel

/*
#cgo CFLAGS: -std=c11 -O3 -Wall
#cgo noescape ds_nth
#cgo nocallback ds_nth
#cgo noescape ds_near
#cgo nocallback ds_near
#cgo noescape ds_subtract
#cgo nocallback ds_subtract
#cgo noescape ds_roughen
#cgo nocallback ds_roughen
#cgo noescape ds_sweep
#cgo nocallback ds_sweep
#cgo noescape ds_shape
#cgo nocallback ds_shape
#cgo noescape ds_move
#cgo nocallback ds_move
#cgo noescape ds_sum
#cgo nocallback ds_sum
#cgo noescape ds_overlap
#cgo nocallback ds_overlap
#include "kernels.h"
*/
import "C"

import (
	"slices"
	"unsafe"

	"driftscope/internal/kit/numbers"
)

// Widest returns the widest vectors that the processor supports and for which the loops are compiled.
func Widest() Lanes { return Lanes(C.ds_widest()) }

// Nth returns the number that sorting v would put at index n. It may reorder v.
func (k Lanes) Nth(v []float32, n int) float32 {
	_ = v[n]
	if k == 0 {
		return numbers.Nth(v, n)
	}
	return float32(C.ds_nth(C.int(k), pointer(v), C.int(len(v)), C.int(n)))
}

// Near sets Sum and Count of the tiles in the rows [y0, y1).
func (k Lanes) Near(p Picture, y0, y1 int, tiles []Tile) {
	p.checkTiles(y0, y1, tiles)
	if k == 0 {
		plainNear(p, y0, y1, tiles)
		return
	}
	C.ds_near(C.int(k), pointer(p.Pixels), C.int(p.Width), C.int(y0), C.int(y1), (*C.ds_tile)(unsafe.Pointer(unsafe.SliceData(tiles))), C.int(len(tiles)))
}

// Subtract sets each row of out to the row of in minus the interpolation between the two lines of the row's way.
func (k Lanes) Subtract(out, in, lines Picture, ways []Way) {
	in.checkWays(out, lines, ways)
	if k == 0 {
		plainSubtract(out, in, lines, ways)
		return
	}
	C.ds_subtract(C.int(k), pointer(in.Pixels), C.int(in.Width), C.int(in.Height), pointer(lines.Pixels), (*C.ds_way)(unsafe.Pointer(unsafe.SliceData(ways))), pointer(out.Pixels))
}

// Roughen appends the Rough of every stride-th row and column, from (1, 1), without the outermost pixels.
func (k Lanes) Roughen(rough []Rough, p Picture, stride int) []Rough {
	p.check(Area{})
	if k == 0 || p.Width < 3 || p.Height < 3 {
		return plainRoughen(rough, p, stride)
	}
	from, n := len(rough), ((p.Width-3)/stride+1)*((p.Height-3)/stride+1)
	rough = slices.Grow(rough, n)[:from+n]
	C.ds_roughen(pointer(p.Pixels), C.int(p.Width), C.int(p.Height), C.int(stride), (*C.ds_rough)(unsafe.Pointer(unsafe.SliceData(rough[from:]))))
	return rough
}

// Sweep filters areas of f.In, in row order, into f.Out along both axes. It returns the indices of the pixels that reach least and are the maximum of the 3 x 3
// pixels around them. The result is valid until the next call. Of equal pixels only the last is a maximum, and the picture's outermost pixels never are.
func (k Lanes) Sweep(f *Filter, areas []Area, least float32) []int32 {
	f.check(areas)
	if k == 0 {
		return f.plain(areas, least)
	}
	n := C.ds_sweep(C.int(k), f.c(), (*C.ds_area)(unsafe.Pointer(unsafe.SliceData(areas))), C.int(len(areas)), C.float(least), (*C.int)(unsafe.SliceData(f.found)))
	return f.found[:n]
}

// Shape sets the factors of a patch.
func (k Lanes) Shape(f *Field, p *Patch) {
	f.check(p)
	if k == 0 {
		f.plainShape(p)
		return
	}
	C.ds_shape(C.int(k), f.c(), p.c())
}

// Move adds a times the template of the patch from, whose factors must be set, to the residual. It then sets the factors of the patch to, and adds b times its
// template.
func (k Lanes) Move(f *Field, from *Patch, a float32, to *Patch, b float32) {
	f.check(from)
	f.check(to)
	if k == 0 {
		f.plainLight(from, a)
		f.plainShape(to)
		f.plainLight(to, b)
		return
	}
	C.ds_move(C.int(k), f.c(), from.c(), C.float(a), to.c(), C.float(b))
}

// Sum sets the factors of a patch, and computes the moments over it up to order 2 or 4.
func (k Lanes) Sum(m *Moments, f *Field, p *Patch, order int) {
	f.check(p)
	if k == 0 {
		f.plainSum(m, p, order)
		return
	}
	C.ds_sum(C.int(k), f.c(), p.c(), C.int(order), (*C.ds_moments)(unsafe.Pointer(m)))
}

// Overlap computes the products of two patches. The factors of both must be set.
func (k Lanes) Overlap(products *Products, f *Field, p, q *Patch) {
	f.check(p)
	f.check(q)
	if k == 0 {
		f.plainOverlap(products, p, q)
		return
	}
	C.ds_overlap(C.int(k), f.c(), p.c(), q.c(), (*C.double)(unsafe.Pointer(products)))
}

func (a Area) c() C.ds_area {
	return C.ds_area{C.ptrdiff_t(a.X0), C.ptrdiff_t(a.Y0), C.ptrdiff_t(a.X1), C.ptrdiff_t(a.Y1)}
}

func (f *Filter) c() C.ds_filter {
	return C.ds_filter{
		in: pointer(f.In.Pixels), taps: pointer(f.taps), out: pointer(f.Out.Pixels), line: pointer(f.line),
		width: C.int(f.In.Width), height: C.int(f.In.Height), reach: C.int(len(f.taps) - 1),
	}
}

func (f *Field) c() C.ds_field {
	return C.ds_field{
		residual: pointer(f.Residual.Pixels), picture: pointer(f.Picture), width: C.int(f.Residual.Width),
		read: C.float(f.Read), gain: C.float(f.Gain), floor: C.float(f.Floor), narrow: C.float(f.Narrow),
	}
}

func (p *Patch) c() C.ds_patch {
	return C.ds_patch{area: p.Area.c(), fromx: C.float(p.FromX), fromy: C.float(p.FromY), tx: pointer(p.TX[:]), ty: pointer(p.TY[:])}
}

func pointer(v []float32) *C.float { return (*C.float)(unsafe.SliceData(v)) }
