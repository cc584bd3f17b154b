package child

import (
	"context"
	"sync"

	"driftscope/internal/flow/frame"
)

// maxWaiting is how many frames a child keeps for its parent; of a live source the newest.
const maxWaiting = 2

// item is what one Read gave.
type item struct {
	frame *frame.Frame
	err   error
}

// waiting holds what was read and not yet asked for. One goroutine puts and one takes.
type waiting struct {
	live       bool          // the oldest makes room for the newest; set before the first put
	came, room chan struct{} // something was put, something was taken

	mu    sync.Mutex
	items []item
	lost  uint64        // frames dropped since the last that was taken
	told  []frame.Event // and what they were to tell
}

func newWaiting() *waiting {
	return &waiting{came: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// put adds an item, which it owns, once there is room. false says that ctx ended first.
func (w *waiting) put(ctx context.Context, i item) bool {
	for !w.add(i) {
		select {
		case <-ctx.Done():
			if i.frame != nil {
				i.frame.Close()
			}
			return false
		case <-w.room:
		}
	}
	poke(w.came)
	return true
}

// add is put where there is room, or where it can be made.
func (w *waiting) add(i item) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.items) >= maxWaiting {
		if !w.live {
			return false
		}
		w.drop()
	}
	w.items = append(w.items, i)
	return true
}

// take waits for the oldest item, which the caller owns. false says that ctx ended first.
func (w *waiting) take(ctx context.Context) (item, bool) {
	for {
		if i, ok := w.oldest(); ok {
			poke(w.room)
			return i, true
		}
		select {
		case <-ctx.Done():
			return item{}, false
		case <-w.came:
		}
	}
}

// oldest removes the oldest item and, if it is a frame, adds to it how many were dropped before it.
func (w *waiting) oldest() (item, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.items) == 0 {
		return item{}, false
	}
	i := w.pop()
	if i.frame != nil {
		i.frame.Meta.Dropped += w.lost
		i.frame.Meta.Events = append(w.told, i.frame.Meta.Events...)
		w.lost, w.told = 0, nil
	}
	return i, true
}

// maxTold bounds the events that are kept of dropped frames.
const maxTold = 16

// drop frees the oldest item and counts it; its events go to the next frame. The lock is held.
func (w *waiting) drop() {
	w.lost++
	if i := w.pop(); i.frame != nil {
		w.lost += i.frame.Meta.Dropped
		w.told = append(w.told, i.frame.Meta.Events[:min(len(i.frame.Meta.Events), maxTold-len(w.told))]...)
		i.frame.Close()
	}
}

// pop keeps the slice's memory. The lock is held.
func (w *waiting) pop() item {
	i := w.items[0]
	w.items = append(w.items[:0], w.items[1:]...)
	return i
}

// drain frees all that was not taken.
func (w *waiting) drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.items) > 0 {
		w.drop()
	}
}

// poke notes that something happened, unless that is noted already.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
