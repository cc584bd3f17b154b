package pipeline

import "sync"

// The limits on all frames together, in bytes of raw pictures. A step briefly needs several times as much: four bytes per value, and a second copy.
const (
	maxFlight  = 64 << 20 // bytes on the lanes
	maxShallow = 64 << 20 // bytes waiting in a queue of default depth
	maxQueued  = 1 << 30  // bytes waiting in a queue that may not lose a frame, or has a configured depth
)

// flight limits the bytes of the frames on the lanes, because many lanes could hold many large frames at once. The zero value is ready to use.
type flight struct {
	mu    sync.Mutex
	room  sync.Cond
	bytes int
}

// enter waits until there is room for a frame of size bytes. A frame above the limit waits until no other frame is on a lane.
func (f *flight) enter(size int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.room.L = &f.mu
	for f.bytes > 0 && f.bytes+size > maxFlight {
		f.room.Wait()
	}
	f.bytes += size
}

// leave frees the room of a frame of size bytes.
func (f *flight) leave(size int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bytes -= size
	f.room.Signal()
}
