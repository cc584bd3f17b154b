package bounded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"driftscope/ingest/tiff"
)

// film returns an array of 16-bit numbers with axes t, z, y and x, in chunks of the given sides, and a counter of loaded chunks. A sample is 1000 t + 100 z +
// 10 y + x.
func film(t *testing.T, chunk []int) (p *Pictures, loaded *int) {
	t.Helper()
	shape := []int{5, 2, 7, 6}
	stride, step := make([]int, 4), 2
	for i := 3; i >= 0; i-- {
		stride[i] = step
		step *= chunk[i]
	}
	loaded = new(int)
	load := func(grid []int) ([]byte, error) {
		*loaded++
		if grid[0] == 4/chunk[0] && grid[3] == 0 {
			return nil, nil // the left chunks of the last times were never written
		}
		plain := make([]byte, step)
		for n := range step / 2 {
			v, rest := 0, 2*n
			for i, weight := range []int{1000, 100, 10, 1} {
				v += weight * (grid[i]*chunk[i] + rest/stride[i])
				rest %= stride[i]
			}
			binary.LittleEndian.PutUint16(plain[2*n:], uint16(v))
		}
		return plain, nil
	}
	p, err := NewPictures(Array{Axes: Axes{T: 0, C: -1, Z: 1, Y: 2, X: 3}, Chunk: chunk, Stride: stride, Samples: tiff.Samples{Kind: tiff.Unsigned, Bytes: 2}, Fill: []byte{9, 0}, Load: load}, shape)
	if err != nil {
		t.Fatal(err)
	}
	return p, loaded
}

// TestRead: every pixel of every picture is at its position, for all sizes of chunks. Missing chunks are counted and have the fill value.
func TestRead(t *testing.T) {
	for _, chunk := range [][]int{{1, 1, 7, 6}, {1, 1, 4, 4}, {2, 1, 7, 6}, {3, 2, 3, 5}, {5, 2, 7, 6}, {1, 2, 100, 2}} {
		p, _ := film(t, chunk)
		var picture tiff.Image
		for n := range 10 {
			at := Place{Time: n / 2, Slice: n % 2}
			missing, err := p.Read(&picture, at)
			if err != nil || picture.Width != 6 || picture.Height != 7 || picture.Channels != 1 || picture.Depth != tiff.Uint16 {
				t.Fatalf("chunks of %v: %+v, %v", chunk, picture, err)
			}
			unwritten := at.Time/chunk[0] == 4/chunk[0]
			if down := (7 + chunk[2] - 1) / chunk[2]; unwritten && missing != down || !unwritten && missing != 0 {
				t.Fatalf("chunks of %v, %+v: %d of %d missing", chunk, at, missing, p.Tiles())
			}
			for i := range 7 * 6 {
				y, x := i/6, i%6
				want := 1000*at.Time + 100*at.Slice + 10*y + x
				if unwritten && x < chunk[3] {
					want = 9
				}
				if got := int(binary.LittleEndian.Uint16(picture.Pix[2*i:])); got != want {
					t.Fatalf("chunks of %v, %+v: pixel %d, %d is %d, %d expected", chunk, at, y, x, got, want)
				}
			}
		}
	}
}

// TestKept: a chunk of several pictures is loaded once for consecutive pictures, and again after Forget or after another chunk.
func TestKept(t *testing.T) {
	p, loaded := film(t, []int{2, 2, 7, 6})
	var picture tiff.Image
	for _, step := range []struct {
		time, slice, loaded int
		forget              bool
	}{{0, 0, 1, false}, {0, 1, 1, false}, {1, 0, 1, false}, {2, 0, 2, false}, {0, 0, 3, false}, {1, 1, 3, true}, {1, 1, 4, false}} {
		if _, err := p.Read(&picture, Place{Time: step.time, Slice: step.slice}); err != nil || *loaded != step.loaded {
			t.Errorf("time %d, slice %d: %d chunks loaded, %d expected (%v)", step.time, step.slice, *loaded, step.loaded, err)
		}
		if step.forget {
			p.Forget()
		}
	}
	alone, loaded := film(t, []int{1, 1, 7, 6})
	for n := range 3 {
		if _, err := alone.Read(&picture, Place{}); err != nil || *loaded != n+1 {
			t.Errorf("%d loaded after %d pictures of a chunk of their own (%v)", *loaded, n+1, err)
		}
	}
}

// TestFailed: the error of a chunk is returned, and the chunk is not kept.
func TestFailed(t *testing.T) {
	p, _ := film(t, []int{5, 2, 7, 3})
	whole, torn := p.array.Load, errors.New("torn")
	p.array.Load = func(grid []int) ([]byte, error) {
		if grid[3] == 1 {
			return nil, fmt.Errorf("chunk %v: %w", grid, torn)
		}
		return whole(grid)
	}
	var picture tiff.Image
	if _, err := p.Read(&picture, Place{}); !errors.Is(err, torn) || p.kept.tiles != nil {
		t.Errorf("%v, kept %d", err, len(p.kept.tiles))
	}
}

// TestGrid: the chunks of a picture are numbered along x first, starting at the first chunk of the picture.
func TestGrid(t *testing.T) {
	p, _ := film(t, []int{2, 1, 4, 4})
	if offset := p.First(Place{Time: 3, Slice: 1}); offset != 4*4*2 || p.Tiles() != 4 {
		t.Errorf("offset %d, %d tiles", offset, p.Tiles())
	}
	for n, want := range [][]int{{1, 1, 0, 0}, {1, 1, 0, 1}, {1, 1, 1, 0}, {1, 1, 1, 1}} {
		if got := p.Tile(n); !slices.Equal(got, want) {
			t.Errorf("tile %d is %v, %v expected", n, got, want)
		}
	}
}

// TestTiles: a picture of too many chunks gives an error.
func TestTiles(t *testing.T) {
	_, err := NewPictures(Array{Axes: Axes{-1, -1, -1, 0, 1}, Chunk: []int{1, 1}, Stride: []int{1, 1}, Samples: tiff.Samples{Kind: tiff.Unsigned, Bytes: 1}}, []int{300, 300})
	if err == nil || !strings.Contains(err.Error(), "pictures have 300x300 chunks, at most 65536 in all expected") {
		t.Errorf("%v", err)
	}
}
