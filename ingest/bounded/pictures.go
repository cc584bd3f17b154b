package bounded

import (
	"slices"

	"driftscope/ingest/tiff"
)

// MaxChunk bounds the bytes of an unpacked chunk, and of all chunks kept for the next picture. MaxPacked bounds a stored chunk.
const (
	MaxChunk  = MaxUnpacked
	MaxPacked = MaxChunk + MaxChunk/8
)

// MaxTiles bounds the number of chunks per picture.
const MaxTiles = 1 << 16

// Place is the position of a picture; all values count from 0.
type Place struct{ Time, Channel, Slice int }

// Array describes how an array is stored in chunks.
type Array struct {
	Axes    Axes
	Chunk   []int // sides of a chunk
	Stride  []int // byte step per sample along each axis of an unpacked chunk
	Samples tiff.Samples
	Fill    []byte // unwritten sample, in the picture's format
	// Load returns the unpacked chunk at a grid position, valid until the next call, or nil if it was never written.
	Load func(grid []int) ([]byte, error)
}

// Pictures reads the pictures of an array. Not safe for concurrent use.
type Pictures struct {
	array         Array
	width, height int
	tiles         [2]int // chunks down and across a picture
	grid          []int
	chunkBytes    int
	kept          kept
}

// kept stores the unpacked chunks of the last picture if they also contain other pictures.
type kept struct {
	grid  []int // grid position of the first chunk
	tiles [][]byte
}

// NewPictures prepares the reading of pictures from an array of the given shape. The caller must have checked the size of a picture.
func NewPictures(a Array, shape []int) (*Pictures, error) {
	p := &Pictures{array: a, width: a.Axes.Along(X, shape), height: a.Axes.Along(Y, shape), grid: make([]int, len(shape)), chunkBytes: a.Samples.Bytes}
	for n, axis := range []int{Y, X} {
		side := a.Axes.Along(axis, a.Chunk)
		p.tiles[n] = (a.Axes.Along(axis, shape) + side - 1) / side
	}
	if p.tiles[0] > MaxTiles/p.tiles[1] {
		return nil, tiff.Unread("pictures have %dx%d chunks, at most %d in all expected: write larger chunks", p.tiles[1], p.tiles[0], MaxTiles)
	}
	for _, side := range a.Chunk {
		p.chunkBytes *= side
	}
	return p, nil
}

// Tiles returns the number of chunks per picture.
func (p *Pictures) Tiles() int { return p.tiles[0] * p.tiles[1] }

// First sets the grid to the first chunk of a picture, and returns the picture's byte offset in a chunk.
func (p *Pictures) First(at Place) (offset int) {
	clear(p.grid)
	for axis, at := range [...]int{T: at.Time, C: at.Channel, Z: at.Slice} {
		if n := p.array.Axes[axis]; n >= 0 {
			side := p.array.Chunk[n]
			p.grid[n] = at / side
			offset += at % side * p.array.Stride[n]
		}
	}
	return offset
}

// Tile returns the grid position of the picture's chunk n, valid until the next call.
func (p *Pictures) Tile(n int) (grid []int) {
	p.grid[p.array.Axes[Y]], p.grid[p.array.Axes[X]] = n/p.tiles[1], n%p.tiles[1]
	return p.grid
}

// Read reads a picture into dst and reuses its memory. Missing chunks have the fill value.
func (p *Pictures) Read(dst *tiff.Image, at Place) (missing int, err error) {
	offset := p.First(at)
	dst.Width, dst.Height, dst.Channels, dst.Depth = p.width, p.height, 1, p.array.Samples.Depth()
	dst.Pix = Resized(dst.Pix, dst.Width*dst.Height*dst.Depth.Bytes())
	if p.kept.tiles != nil && !slices.Equal(p.kept.grid, p.grid) {
		p.Forget()
	}
	if p.kept.tiles == nil && p.chunkBytes <= MaxChunk/p.Tiles() && p.shared() {
		p.kept = kept{slices.Clone(p.grid), make([][]byte, p.Tiles())}
	}
	for n := range p.Tiles() {
		plain, err := p.load(n)
		if err != nil {
			p.Forget()
			return missing, err
		}
		if plain == nil {
			missing++
		}
		p.paste(dst, plain, offset)
	}
	return missing, nil
}

// Forget drops the kept chunks, so that Read loads them again.
func (p *Pictures) Forget() { p.kept = kept{} }

// shared reports whether several pictures share a chunk.
func (p *Pictures) shared() bool {
	return p.array.Axes.Along(T, p.array.Chunk) > 1 || p.array.Axes.Along(C, p.array.Chunk) > 1 || p.array.Axes.Along(Z, p.array.Chunk) > 1
}

// load returns chunk n of the current picture.
func (p *Pictures) load(n int) ([]byte, error) {
	grid := p.Tile(n)
	if p.kept.tiles != nil && p.kept.tiles[n] != nil {
		return p.kept.tiles[n], nil
	}
	plain, err := p.array.Load(grid)
	if err == nil && plain != nil && p.kept.tiles != nil {
		plain = slices.Clone(plain)
		p.kept.tiles[n] = plain
	}
	return plain, err
}

// paste copies a picture's part of the chunk at the current grid position into dst. offset is the picture's byte offset in the chunk. A nil chunk gives the
// fill value.
func (p *Pictures) paste(dst *tiff.Image, plain []byte, offset int) {
	y, x := p.array.Axes[Y], p.array.Axes[X]
	high, wide := p.array.Chunk[y], p.array.Chunk[x]
	top, left := p.grid[y]*high, p.grid[x]*wide
	rows, columns := min(high, dst.Height-top), min(wide, dst.Width-left)
	size := dst.Depth.Bytes()
	run := tiff.Run{N: columns, To: size, From: p.array.Stride[x]}
	for row := range rows {
		to := dst.Pix[((top+row)*dst.Width+left)*size:][:columns*size]
		if plain == nil {
			fill(to, p.array.Fill)
			continue
		}
		p.array.Samples.Convert(to, plain[offset+row*p.array.Stride[y]:], run)
	}
}

// fill fills dst with copies of a sample.
func fill(dst, sample []byte) {
	for n := copy(dst, sample); n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}
