package frame

import (
	"testing"
	"time"
)

// Source maps a position back through all cuts and changes of size, in the order in which they were made.
func TestSource(t *testing.T) {
	f := New(0, time.Time{}, Meta{}, NewMat())
	defer f.Close()
	expect := func(x, y, wantX, wantY float64) {
		t.Helper()
		if sx, sy := f.Source(x, y); sx != wantX || sy != wantY {
			t.Errorf("(%g, %g) came from (%g, %g), expected (%g, %g)", x, y, sx, sy, wantX, wantY)
		}
	}
	expect(3, 4, 3, 4)
	f.Cut(10, 20)
	expect(3, 4, 13, 24)
	f.Rescale(2, 4) // the centre of the first pixel is now between two columns and in the middle of four rows
	expect(0, 0, 10.5, 21.5)
	expect(1, 1, 12.5, 25.5)
	f.Cut(1, 1)
	expect(0, 0, 12.5, 25.5)
	f.Rescale(0.5, 0.25)
	expect(0, 0, 12, 24)
}
