package sim

// Depth says what a pixel's value is.
type Depth int

const (
	// Counts are uint16 camera counts, in Picture.U16.
	Counts Depth = iota
	// Unit values are float32 within [0, 1], in Picture.F32.
	Unit
	// Real values are float32 that noise may take out of [0, 1], in Picture.F32.
	Real
)

// Format is a picture's size and pixel type.
type Format struct {
	Width, Height int
	Channels      int // 1 grey, 3 colour: blue, green, red interleaved, the pipeline's order
	Depth         Depth
}

// Values is the number of values in a picture of this format.
func (f Format) Values() int { return f.Width * f.Height * f.Channels }

// Picture is row-major pixels, top row first. Pixel (i, j) covers [i, i+1) × [j, j+1): the picture's centre is (Width/2, Height/2).
//
// Next reuses the memory of U16 or F32 where it is large enough, so a caller may lend its own.
type Picture struct {
	Format
	U16 []uint16
	F32 []float32
}

// reset gives p the format f; the values are unspecified.
func (p *Picture) reset(f Format) {
	p.Format = f
	if f.Depth == Counts {
		p.U16 = resize(p.U16, f.Values())
	} else {
		p.F32 = resize(p.F32, f.Values())
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
