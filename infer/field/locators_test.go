package field

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"driftscope/internal/flow/frame"
)

// TestLocatorsShareTheBudget: for pictures of half the largest size, two locators are lent at the same time and a third lane waits for one of them. The memory
// for one size is released for another size, and a picture beyond the budget is refused.
func TestLocatorsShareTheBudget(t *testing.T) {
	l, err := NewLocators(10)
	if err != nil {
		t.Fatal(err)
	}
	narrow, wide := frame.Template{SD: 1}, frame.Template{SD: 2}
	h, w := frame.Objects.Largest()/2/4096, 4096
	take := func(h, w int, template frame.Template) *locator {
		t.Helper()
		one, err := l.take(h, w, template)
		if err != nil {
			t.Fatal(err)
		}
		return one
	}
	a, b := take(h, w, narrow), take(h, w, narrow)
	var lent atomic.Bool
	done := make(chan *locator)
	go func() {
		one, err := l.take(h, w, narrow)
		if err != nil {
			t.Error(err)
		}
		lent.Store(true)
		done <- one
	}()
	if time.Sleep(20 * time.Millisecond); lent.Load() {
		t.Error("a third locator was lent beside two that have the whole budget")
	}
	l.give(a)
	if third := <-done; third != a {
		t.Error("a locator that came back was not lent again")
	}
	l.give(a)
	l.give(b)
	if c := take(64, 64, wide); l.pixels != 64*64 || len(l.free) != 0 || c == a {
		t.Errorf("%d pixels are still allocated besides a picture of 64x64", l.pixels)
	}
	if _, err := l.take(2*h+1, w, narrow); !errors.Is(err, frame.ErrTooLarge) {
		t.Errorf("found %v, expected an error for a picture that is too large", err)
	}
}
