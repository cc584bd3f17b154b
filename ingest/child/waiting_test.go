package child

import (
	"context"
	"testing"
	"time"

	"driftscope/internal/flow/frame"
)

// TestWaitingTells: the events of dropped frames move to the next frame, up to the bound.
func TestWaitingTells(t *testing.T) {
	w := newWaiting()
	w.live = true
	const frames = maxWaiting + 2*maxTold
	for n := range uint64(frames) {
		f := frame.New(n, time.Unix(int64(n), 0), frame.Meta{}, frame.NewMatWithSize(2, 2, frame.MatTypeCV8UC1))
		f.Notice(false, "first", "")
		w.put(t.Context(), item{frame: f})
	}
	i, ok := w.take(context.Background())
	if !ok || i.frame.Meta.Dropped != frames-maxWaiting || len(i.frame.Meta.Events) != maxTold+1 {
		t.Errorf("a frame with %d events after %d dropped", len(i.frame.Meta.Events), i.frame.Meta.Dropped)
	}
	i.frame.Close()
	w.drain()
}
