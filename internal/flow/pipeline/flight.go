package pipeline

import "sync"

// The bounds on all frames together, in bytes of their raw pictures. A step briefly needs several times as much: four bytes a value, and a second
// copy.
const (
	maxFlight  = 64 << 20 // on the lanes
	maxShallow = 64 << 20 // bytes waiting in a queue of default depth
	maxQueued  = 1 << 30  // waiting in a queue that may not lose a frame, or has a configured depth
)

// flight counts the bytes of the frames on the lanes, so that many lanes do not hold many large frames at once. The zero value is ready.
type flight struct {
	mu    sync.Mutex
	room  sync.Cond
	bytes int
}

// enter waits until a frame of size bytes has room; a frame above the bound goes alone.
func (f *flight) enter(size int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.room.L = &f.mu
	for f.bytes > 0 && f.bytes+size > maxFlight {
		f.room.Wait()
	}
	f.bytes += size
}

// leave frees the room of a frame.
func (f *flight) leave(size int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bytes -= size
	f.room.Signal()
}
