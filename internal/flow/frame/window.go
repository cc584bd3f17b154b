package frame

// window is the position of the present picture in the original frame: its top left corner and the size of one of its pixels, both in pixels of the original
// frame.
type window struct{ x, y, width, height float64 }

// whole is the window of an uncut picture.
var whole = window{width: 1, height: 1}

// Cut records that the present picture begins at column x and row y of the previous one.
func (f *Frame) Cut(x, y int) {
	f.window.x += float64(x) * f.window.width
	f.window.y += float64(y) * f.window.height
}

// Rescale records that a pixel of the present picture is width by height pixels of the previous one.
func (f *Frame) Rescale(width, height float64) {
	f.window.width *= width
	f.window.height *= height
}

// Source returns the position in the original frame of (x, y) in the present picture. In both, (0, 0) is the centre of the top left pixel.
func (f *Frame) Source(x, y float64) (sx, sy float64) {
	return f.window.x + (x+0.5)*f.window.width - 0.5, f.window.y + (y+0.5)*f.window.height - 0.5
}
