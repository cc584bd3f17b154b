//go:build !cgo

package kernel

import "driftscope/internal/kit/numbers"

// Widest returns 0, because this build has no loops in C.
func Widest() Lanes { return 0 }

// Nth returns the number that sorting v would put at index n. It may reorder v.
func (Lanes) Nth(v []float32, n int) float32 { return numbers.Nth(v, n) }

// Near sets Sum and Count of the tiles in the rows [y0, y1).
func (Lanes) Near(p Picture, y0, y1 int, tiles []Tile) { plainNear(p, y0, y1, tiles) }

// Subtract sets each row of out to the row of in minus the interpolation between the two lines of the row's way.
func (Lanes) Subtract(out, in, lines Picture, ways []Way) { plainSubtract(out, in, lines, ways) }

// Roughen appends the Rough of every stride-th row and column, from (1, 1), without the outermost pixels.
func (Lanes) Roughen(rough []Rough, p Picture, stride int) []Rough {
	return plainRoughen(rough, p, stride)
}

// Sweep filters areas of f.In into f.Out, and returns the indices of the maxima there.
func (Lanes) Sweep(f *Filter, areas []Area, least float32) []int32 { return f.plain(areas, least) }

// Shape sets the factors of a patch.
func (Lanes) Shape(f *Field, p *Patch) { f.plainShape(p) }

// Move adds a times the template of the patch from to the residual. It then sets the factors of the patch to, and adds b times its template.
func (Lanes) Move(f *Field, from *Patch, a float32, to *Patch, b float32) {
	f.plainLight(from, a)
	f.plainShape(to)
	f.plainLight(to, b)
}

// Sum sets the factors of a patch, and computes the moments over it up to order 2 or 4.
func (Lanes) Sum(m *Moments, f *Field, p *Patch, order int) { f.plainSum(m, p, order) }

// Overlap computes the products of two patches. The factors of both must be set.
func (Lanes) Overlap(products *Products, f *Field, p, q *Patch) { f.plainOverlap(products, p, q) }
