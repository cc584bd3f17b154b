package locate

import (
	"math"
	"slices"

	"driftscope/infer/locate/kernel"
)

// The background has one level per square tile. tile is the side of a tile in px, but at least tilePerSD · s for a template of sd s.
const (
	tile         = 32
	tilePerSD    = 12
	clipSDs      = 2.5 // a pixel further than this from the level belongs to a spot, sds of the noise
	levelRuns    = 3   // rounds of clipping, after a start at the median of a few pixels
	medianStride = 4   // distance between these few pixels along both axes, px
)

// background holds the background level of every tile of a picture.
type background struct {
	lanes         kernel.Lanes
	h, w          int
	rows, columns int            // number of tiles
	level         []float32      // rows × columns
	lines         kernel.Picture // rows × w: the background along the centre line of each row of tiles
	across, down  []kernel.Way   // interpolation weights of every column and row of pixels
	tiles         []kernel.Tile  // scratch for one row
	few           []float32      // scratch
}

func newBackground(lanes kernel.Lanes, h, w int, sd float64) *background {
	b := &background{lanes: lanes, h: h, w: w}
	side := min(max(tile, int(tilePerSD*sd)), max(h, w))
	b.rows, b.columns = max(1, h/side), max(1, w/side)
	b.level, b.lines, b.tiles = make([]float32, b.rows*b.columns), kernel.NewPicture(b.rows, w), make([]kernel.Tile, b.columns)
	for c := range b.tiles {
		from, to := span(c, b.columns, w)
		b.tiles[c].X0, b.tiles[c].X1 = int32(from), int32(to-(to-from)%2) // an even width; one pixel in forty hardly changes the level
	}
	b.across, b.down = ways(w, b.columns), ways(h, b.rows)
	return b
}

// update computes the levels of a picture.
func (b *background) update(picture kernel.Picture, noise Noise) {
	for r := range b.rows {
		y0, y1 := span(r, b.rows, b.h)
		for c := range b.tiles {
			b.start(&b.tiles[c], picture, y0, y1)
		}
		for range levelRuns {
			b.clip(picture, r, noise)
		}
		for c, t := range b.tiles {
			b.level[r*b.columns+c] = t.Level
		}
	}
	b.spread()
}

// span returns the start and end of tile k of n along a side, px.
func span(k, n, side int) (from, to int) { return k * side / n, (k + 1) * side / n }

// clip sets the level of each tile in row r to the mean of its pixels near the current level. A tile keeps its level if less than a tenth of its pixels are
// near.
func (b *background) clip(picture kernel.Picture, r int, noise Noise) {
	y0, y1 := span(r, b.rows, b.h)
	for c := range b.tiles {
		t := &b.tiles[c]
		t.Far = float32(clipSDs * math.Sqrt(noise.At(float64(t.Level))))
	}
	b.lanes.Near(picture, y0, y1, b.tiles)
	for c := range b.tiles {
		if t := &b.tiles[c]; t.Count > 0 && 10*int(t.Count) >= (y1-y0)*int(t.X1-t.X0) {
			t.Level += float32(t.Sum / float64(t.Count))
		}
	}
}

// start sets a tile's level to the median of a few of its pixels.
func (b *background) start(t *kernel.Tile, picture kernel.Picture, y0, y1 int) {
	b.few = b.few[:0]
	for y := y0; y < y1; y += medianStride {
		row := picture.Row(y)[t.X0:t.X1]
		for x := 0; x < len(row); x += medianStride {
			b.few = append(b.few, row[x])
		}
	}
	t.Level = b.lanes.Nth(b.few, len(b.few)/2)
}

// spread computes b.lines by linear interpolation between the centres of the tiles.
func (b *background) spread() {
	for r := range b.rows {
		level, line := b.level[r*b.columns:(r+1)*b.columns], b.lines.Row(r)
		for x := range line {
			at := b.across[x]
			line[x] = level[at.From] + at.Share*(level[at.To]-level[at.From])
		}
	}
}

// subtract writes the picture minus the background to residual.
func (b *background) subtract(residual, picture kernel.Picture) {
	b.lanes.Subtract(residual, picture, b.lines, b.down)
}

// at returns the background of pixel (x, y).
func (b *background) at(x, y int) float64 {
	way := b.down[y]
	from, to := b.lines.Pixels[int(way.From)*b.w+x], b.lines.Pixels[int(way.To)*b.w+x]
	return float64(from + way.Share*(to-from))
}

// lowest returns the lowest level of all tiles.
func (b *background) lowest() float64 { return float64(slices.Min(b.level)) }

// middle returns the centre of tile k of n along a side, px.
func middle(k, n, side int) float64 {
	from, to := span(k, n, side)
	return float64(from+to-1) / 2
}

// ways returns the Way of every pixel along a side with n tiles. Before the first tile's centre and after the last tile's centre the level is constant.
func ways(side, n int) []kernel.Way {
	all := make([]kernel.Way, side)
	for y := range all {
		k := min(y*n/side, n-1)
		if float64(y) < middle(k, n, side) {
			k--
		}
		first := int32(max(k, 0))
		all[y] = kernel.Way{From: first, To: first}
		if k >= 0 && k+1 < n {
			from := middle(k, n, side)
			all[y] = kernel.Way{From: first, To: first + 1, Share: float32((float64(y) - from) / (middle(k+1, n, side) - from))}
		}
	}
	return all
}
