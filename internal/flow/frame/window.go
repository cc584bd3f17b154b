package frame

// window is where the present picture lies in the frame as it was read: its top left corner, and the sides of one of its pixels, both in
// pixels of the frame.
type window struct{ x, y, width, height float64 }

// whole is the window of a picture that nothing was cut from.
var whole = window{width: 1, height: 1}

// Cut notes that the present picture begins at the column x and the row y of the one before.
func (f *Frame) Cut(x, y int) {
	f.window.x += float64(x) * f.window.width
	f.window.y += float64(y) * f.window.height
}

// Rescale notes that a pixel of the present picture is width by height pixels of the one before.
func (f *Frame) Rescale(width, height float64) {
	f.window.width *= width
	f.window.height *= height
}

// Source returns the place in the frame as it was read of (x, y) in the present picture. In both the centre of the top left pixel is (0, 0).
func (f *Frame) Source(x, y float64) (sx, sy float64) {
	return f.window.x + (x+0.5)*f.window.width - 0.5, f.window.y + (y+0.5)*f.window.height - 0.5
}
