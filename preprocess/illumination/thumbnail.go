package illumination

import "fmt"

// A thumbnail has Side x Side boxes: Side/2 rows of boxes over the frame's even rows, then Side/2 over its odd rows. They determine three numbers per frame
// with an error of a thirtieth of a box's noise, in a tenth of a millisecond.
const (
	Side = 32
	Size = Side * Side
)

// Thumbnail computes thumbnails of frames of one shape. Use it from one goroutine.
type Thumbnail struct {
	rows, columns, channels int
	box                     []int // column of the box to which each value of a row belongs
	counts                  [Size]float32
}

// NewThumbnail accepts frames of the given rows, columns and interleaved channels, at least Side rows and columns.
func NewThumbnail(rows, columns, channels int) (*Thumbnail, error) {
	if rows < Side || columns < Side || channels < 1 {
		return nil, fmt.Errorf("found %dx%d pixels, expected at least %dx%d to separate the lamp from motion: leave the step out", columns, rows, Side, Side)
	}
	t := &Thumbnail{rows: rows, columns: columns, channels: channels, box: make([]int, columns*channels)}
	for i := range t.box {
		t.box[i] = i / channels * Side / columns
	}
	for r := range rows {
		to := t.counts[t.row(r):]
		for _, b := range t.box {
			to[b]++
		}
	}
	return t, nil
}

// row returns the index of the first box of a frame's row.
func (t *Thumbnail) row(r int) int {
	field, height := r%2, (t.rows+1-r%2)/2
	return (field*Side/2 + r/2*(Side/2)/height) * Side
}

// Of computes the Size boxes of dst from a frame's interleaved pixels.
func (t *Thumbnail) Of(dst, pixels []float32) {
	clear(dst)
	width := t.columns * t.channels
	for r := range t.rows {
		to := dst[t.row(r):]
		for i, v := range pixels[r*width : (r+1)*width] {
			to[t.box[i]] += v
		}
	}
	for i, n := range t.counts {
		dst[i] /= n
	}
}
