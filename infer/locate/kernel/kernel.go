// Package kernel has the inner loops for locating spots, over the pixels of float32 pictures: levels of a background, separable filters of any width, maxima,
// and the sums for fitting spots. The loops are in C, compiled for vectors of 16, 8 and 4 floats (kernels.h, kernels_lanes.h). plain.go has the same loops in
// Go, as a reference for tests and for builds without cgo.
package kernel

// Lanes is the number of floats per vector: Widest(), or a smaller one of 8 and 4. All of these give the same bits. 0 means the loops in Go.
type Lanes int

// Picture is Height rows of Width pixels.
type Picture struct {
	Pixels        []float32
	Width, Height int
}

// NewPicture returns a black picture.
func NewPicture(height, width int) Picture {
	return Picture{make([]float32, height*width), width, height}
}

// Row returns row y.
func (p Picture) Row(y int) []float32 { return p.Pixels[y*p.Width : (y+1)*p.Width] }

// Area is a part of a picture: the columns [X0, X1) and rows [Y0, Y1).
type Area struct{ X0, Y0, X1, Y1 int }

// Empty reports whether an area has no pixel.
func (a Area) Empty() bool { return a.X0 >= a.X1 || a.Y0 >= a.Y1 }

// check panics if an area leaves the picture, because C does not check bounds.
func (p Picture) check(a Area) {
	if a.X0 < 0 || a.X0 > a.X1 || a.X1 > p.Width || a.Y0 < 0 || a.Y0 > a.Y1 || a.Y1 > p.Height || len(p.Pixels) < p.Width*p.Height {
		panic("kernel: an area beyond the picture")
	}
}

// Tile is the range of columns [X0, X1). Count is the number of pixels v with |v - Level| <= Far, and Sum is the sum of v - Level over these pixels.
type Tile struct {
	X0, X1     int32
	Level, Far float32
	Sum        float64
	Count      int32
}

// checkTiles panics if a tile leaves the picture.
func (p Picture) checkTiles(y0, y1 int, tiles []Tile) {
	for i := range tiles {
		p.check(Area{int(tiles[i].X0), y0, int(tiles[i].X1), y1})
	}
}

// Way holds the two lines between which a row or column lies, and its distance from the first as a fraction of the distance between them.
type Way struct {
	From, To int32
	Share    float32
}

// checkWays panics if the sizes of the pictures differ or a way refers to a missing line.
func (p Picture) checkWays(out, lines Picture, ways []Way) {
	if p.Width != out.Width || p.Height != out.Height || p.Width != lines.Width || p.Height != len(ways) {
		panic("kernel: pictures of two sizes")
	}
	all := Area{X1: p.Width, Y1: p.Height}
	p.check(all)
	out.check(all)
	for _, w := range ways {
		lines.check(Area{Y0: int(min(w.From, w.To)), Y1: int(max(w.From, w.To)) + 1})
	}
}

// Rough holds the mean of 3 x 3 pixels, and the absolute value of the mask (1 -2 1)' (1 -2 1) applied to them.
type Rough struct{ Mean, High float32 }

// MostReach is the largest reach of a filter to each side, px.
const MostReach = 128

// Filter holds a picture and the result of a symmetric separable filter. Beyond its edges the picture is mirrored without repeating its outermost pixels.
type Filter struct {
	In, Out    Picture
	taps, line []float32 // taps from the centre outwards; line is scratch
	found      []int32   // maxima; no two touch
}

// NewFilter returns a filter with at most MostReach + 1 taps, from the centre outwards. The picture's sides must be longer.
func NewFilter(in Picture, taps []float32) *Filter {
	if reach := len(taps) - 1; reach < 0 || reach > MostReach || in.Width <= reach || in.Height <= reach {
		panic("kernel: a filter without a middle, of too many taps, or wider than its picture")
	}
	return &Filter{
		In: in, Out: NewPicture(in.Height, in.Width), taps: taps, line: make([]float32, in.Width+2*len(taps)),
		found: make([]int32, ((in.Width+1)/2)*((in.Height+1)/2)+1),
	}
}

// check panics if an area leaves the picture.
func (f *Filter) check(areas []Area) {
	for _, a := range areas {
		f.In.check(a)
	}
}

// Field holds the data of a fit of spots. The variance of a pixel is max(Read + Gain (picture - residual), Floor).
type Field struct {
	Residual          Picture
	Picture           []float32
	Read, Gain, Floor float32
	Narrow            float32 // 1 / sd of the template, px⁻¹
}

// MostPatch is the side of the largest patch, px.
const MostPatch = 196

// Patch is the area of a spot's template, exp(-u²/2) exp(-v²/2), with its factors along both axes; u = (FromX + x - X0) Narrow, v likewise.
type Patch struct {
	Area
	FromX, FromY float32
	TX, TY       [MostPatch]float32
}

// check panics if a patch leaves the picture or is too large for its factors.
func (f *Field) check(p *Patch) {
	f.Residual.check(p.Area)
	if p.X1-p.X0 > MostPatch || p.Y1-p.Y0 > MostPatch || len(f.Picture) < len(f.Residual.Pixels) {
		panic("kernel: a patch larger than the largest, or a field of two sizes")
	}
}

// Moments are sums over a patch, where w is 1/variance, T the template and r the residual.
type Moments struct {
	Square [5][5]float64 // Square[p][q] = Σ w T² uᵖ vᵠ, p + q <= order
	Single [3][3]float64 // Single[p][q] = Σ w T r uᵖ vᵠ, p + q <= order/2
}

// Products are sums of w T S a b over the overlap of the patches of two templates T and S, for a in 1, u, v of the first template and b in 1, u, v of the
// second.
type Products [3][3]float64
