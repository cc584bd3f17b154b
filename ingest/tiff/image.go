package tiff

// Depth is the type of an Image's samples.
type Depth int

// The depths of pages.
const (
	Uint8 Depth = iota
	Uint16
	Float32
)

// Bytes returns the size of one sample.
func (d Depth) Bytes() int {
	switch d {
	case Uint8:
		return 1
	case Uint16:
		return 2
	}
	return 4
}

// Image is one page: Height rows of Width pixels of Channels samples, row by row without gaps, little-endian. Three channels are
// red, green and blue, in this order.
type Image struct {
	Width, Height int
	Channels      int // 1 or 3
	Depth         Depth
	Pix           []byte // Width * Height * Channels * Depth.Bytes() long
}

// shape makes img an image of unspecified pixels and reuses its memory.
func (img *Image) shape(width, height, channels int, depth Depth) {
	img.Width, img.Height, img.Channels, img.Depth = width, height, channels, depth
	img.Pix = resize(img.Pix, width*height*channels*depth.Bytes())
}
