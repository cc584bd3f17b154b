package frame

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestBudget: the largest picture of each Work meets both limits, one more row is refused, and no size overflows.
func TestBudget(t *testing.T) {
	const most = 1 << 62
	for _, w := range []Work{Objects, Centroids, Training} {
		n := w.Largest()
		if n*w.Bytes > MostMemory-standing || time.Duration(n*w.Nanoseconds) > MostTime {
			t.Errorf("%s: %d pixels cost %d bytes and %d ns", w.What, n, n*w.Bytes, n*w.Nanoseconds)
		}
		if err := w.Check(1024, n/1024); err != nil {
			t.Error(err)
		}
		for _, size := range [][2]int{{1024, n/1024 + 1}, {n/1024 + 1, 1024}, {most, most}, {most, 1}, {1, most}} {
			if err := w.Check(size[0], size[1]); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), w.What) {
				t.Errorf("%dx%d: %v", size[0], size[1], err)
			}
		}
	}
}
