package zarr

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"driftscope/ingest/tiff"
)

// keptBytes bounds the unpacked chunks that are kept for the next frame, where one chunk holds several.
const keptBytes = maxChunk

// Place is one picture of an Image; all count from 0.
type Place struct{ Time, Channel, Slice int }

// State is what can be known of a picture without reading it. Two that differ say that something was written.
type State struct {
	Present  int // chunks that are there, be it in part
	bytes    int64
	modified time.Time // of the file that was written last
}

// kept are the unpacked chunks of the last frame.
type kept struct {
	grid  []int // of the first
	tiles [][]byte
}

// turn sets the grid to the first chunk of a picture, and returns where in a chunk the picture begins, in bytes.
func (i *Image) turn(p Place) (offset int) {
	clear(i.grid)
	for axis, at := range map[int]int{axisT: p.Time, axisC: p.Channel, axisZ: p.Slice} {
		if n := i.axis[axis]; n >= 0 {
			side := i.array.chunk[n]
			i.grid[n] = at / side
			offset += at % side * i.array.stride[n]
		}
	}
	return offset
}

// tile sets the grid to a picture's chunk of that number.
func (i *Image) tile(n int) {
	i.grid[i.axis[axisY]], i.grid[i.axis[axisX]] = n/i.tiles[1], n%i.tiles[1]
}

// State says what of a picture is there.
func (i *Image) State(p Place) (s State, err error) {
	i.turn(p)
	for n := range i.Tiles() {
		i.tile(n)
		at, err := i.chunks.locate(i.grid)
		if err == nil {
			err = i.chunks.present(&at)
		}
		switch {
		case errors.Is(err, errMissing):
			continue
		case err != nil:
			return s, err
		}
		s.Present++
		s.bytes += at.state.size
		if at.state.modified.After(s.modified) {
			s.modified = at.state.modified
		}
	}
	return s, nil
}

// Read reads a picture. What missing chunks would have has the fill value; doubtful says that a chunk could still lack its end, where a writer gives
// files their length before their content.
func (i *Image) Read(dst *tiff.Image, p Place) (missing int, doubtful bool, err error) {
	offset := i.turn(p)
	i.shape(dst)
	if i.kept.tiles != nil && !slices.Equal(i.kept.grid, i.grid) {
		i.kept = kept{}
	}
	keep := i.kept.tiles == nil && i.array.bytes() <= keptBytes/i.Tiles() && i.shared()
	if keep {
		i.kept = kept{slices.Clone(i.grid), make([][]byte, i.Tiles())}
	}
	for n := range i.Tiles() {
		i.tile(n)
		plain, unsure, err := i.load(n)
		switch {
		case errors.Is(err, errMissing):
			missing++
		case err != nil:
			i.Forget()
			return missing, false, err
		}
		doubtful = doubtful || unsure
		i.paste(dst, plain, offset)
	}
	if missing > 0 || doubtful {
		i.Forget()
	}
	return missing, doubtful, nil
}

// Forget reads chunks again that the next picture shares with the last one.
func (i *Image) Forget() { i.kept = kept{} }

// shared says that a chunk is of several pictures.
func (i *Image) shared() bool {
	for _, axis := range []int{axisT, axisC, axisZ} {
		if n := i.axis[axis]; n >= 0 && i.array.chunk[n] > 1 {
			return true
		}
	}
	return false
}

// load gives chunk n of the current picture, unpacked.
func (i *Image) load(n int) (plain []byte, doubtful bool, err error) {
	if i.kept.tiles != nil && i.kept.tiles[n] != nil {
		return i.kept.tiles[n], false, nil
	}
	at, err := i.chunks.locate(i.grid)
	if err == nil {
		plain, err = i.chunks.read(&at)
	}
	if err != nil {
		return nil, false, err
	}
	if i.kept.tiles != nil {
		i.kept.tiles[n] = slices.Clone(plain)
	}
	return plain, i.chunks.doubtful(), nil
}

// shape makes dst a picture of unspecified pixels, reusing its memory.
func (i *Image) shape(dst *tiff.Image) {
	dst.Width, dst.Height, dst.Channels, dst.Depth = i.Width, i.Height, 1, i.array.samples.depth()
	dst.Pix = resized(dst.Pix, dst.Width*dst.Height*dst.Depth.Bytes())
}

// paste puts the chunk of the grid where it belongs, from byte offset on; of a missing one, nil, the fill value.
func (i *Image) paste(dst *tiff.Image, plain []byte, offset int) {
	y, x := i.axis[axisY], i.axis[axisX]
	high, wide := i.array.chunk[y], i.array.chunk[x]
	top, left := i.grid[y]*high, i.grid[x]*wide
	rows, columns := min(high, dst.Height-top), min(wide, dst.Width-left)
	size := dst.Depth.Bytes()
	for row := range rows {
		to := dst.Pix[((top+row)*dst.Width+left)*size:][:columns*size]
		if plain == nil {
			fill(to, i.array.filled)
			continue
		}
		i.array.samples.row(to, plain[offset+row*i.array.stride[y]:], i.array.stride[x])
	}
}

func fill(dst, sample []byte) {
	for n := copy(dst, sample); n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// blank says that every pixel has the fill value, as those have that nobody wrote.
func (i *Image) blank(picture *tiff.Image) bool {
	size := len(i.array.filled)
	return bytes.Equal(picture.Pix[:size], i.array.filled) && bytes.Equal(picture.Pix[size:], picture.Pix[:len(picture.Pix)-size])
}
