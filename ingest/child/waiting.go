package child

import (
	"context"
	"sync"

	"driftscope/internal/flow/frame"
)

// maxWaiting is the number of frames that a child reads ahead for its parent. For a live source it keeps the newest frames.
const maxWaiting = 2

// item is the result of one Read.
type item struct {
	frame *frame.Frame
	err   error
}

// waiting holds results that were read but not requested yet. One goroutine calls put, another calls take.
type waiting struct {
	live       bool          // a new item replaces the oldest; set before the first put
	came, room chan struct{} // came signals after a put, room after a take

	mu    sync.Mutex
	items []item
	lost  uint64        // frames dropped since the last taken one
	told  []frame.Event // events of the dropped frames
}

func newWaiting() *waiting {
	return &waiting{came: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// put waits for room and adds an item, which it then owns. It returns false if ctx ended first.
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

// add adds an item if there is room, or if the source is live and the oldest item can be dropped.
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

// take waits for the oldest item, which the caller then owns. It returns false if ctx ended first.
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

// oldest removes the oldest item. If the item is a frame, oldest adds the number of frames dropped before it.
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

// maxTold bounds the number of events kept from dropped frames.
const maxTold = 16

// drop frees the oldest item and counts its frame. The events of the frame move to the next frame. The caller holds the lock.
func (w *waiting) drop() {
	w.lost++
	if i := w.pop(); i.frame != nil {
		w.lost += i.frame.Meta.Dropped
		w.told = append(w.told, i.frame.Meta.Events[:min(len(i.frame.Meta.Events), maxTold-len(w.told))]...)
		i.frame.Close()
	}
}

// pop removes the oldest item and keeps the slice's memory. The caller holds the lock.
func (w *waiting) pop() item {
	i := w.items[0]
	w.items = append(w.items[:0], w.items[1:]...)
	return i
}

// drain frees all items that are still waiting.
func (w *waiting) drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.items) > 0 {
		w.drop()
	}
}

// poke sends a signal unless one is pending.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
