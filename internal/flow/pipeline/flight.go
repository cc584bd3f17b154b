package pipeline

import "sync"

// The bounds on what frames take at once, in bytes of their pictures as they were read. A step takes several times as many for a moment: four
// bytes a value, and a second copy.
const (
	maxFlight  = 64 << 20 // on the lanes
	maxShallow = 64 << 20 // bytes waiting in a queue of default depth
	maxQueued  = 1 << 30  // waiting in a queue that may not lose a frame, or whose depth was asked for
)

// flight is how many bytes the lanes' frames have, so that many lanes do not take many large frames at once. The zero value is ready.
type flight struct {
	mu    sync.Mutex
	room  sync.Cond
	bytes int
}

// enter waits until a frame of size bytes has room; one that has none at all goes alone.
func (f *flight) enter(size int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.room.L = &f.mu
	for f.bytes > 0 && f.bytes+size > maxFlight {
		f.room.Wait()
	}
	f.bytes += size
}

// leave frees that room.
func (f *flight) leave(size int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bytes -= size
	f.room.Signal()
}
