package pipeline

import (
	"context"
	"slices"
	"sync"
)

// queue is a bounded first-in-first-out queue with any number of producers and one consumer. A producer either waits for room (put) or makes room (force). No
// value disappears: force returns a rejected or replaced value.
type queue[T any] struct {
	ready chan struct{} // holds a token when the consumer should check again
	space chan struct{} // holds a token when a waiting producer should check again

	mu     sync.Mutex
	items  []T
	depth  int
	closed bool
}

func newQueue[T any](depth int) *queue[T] {
	return &queue[T]{
		ready: make(chan struct{}, 1),
		space: make(chan struct{}, 1),
		items: make([]T, 0, depth+1), // force appends before it removes
		depth: depth,
	}
}

// put waits for room and appends v. If ctx ends first or the queue is closed, it returns false, and the caller still owns v.
func (q *queue[T]) put(ctx context.Context, v T) bool {
	for {
		q.mu.Lock()
		closed, fits := q.closed, len(q.items) < q.depth
		if fits && !closed {
			q.items = append(q.items, v)
			signal(q.ready)
		}
		more := closed || len(q.items) < q.depth
		q.mu.Unlock()
		if more {
			signal(q.space) // this producer may have taken the token of another waiting producer
		}
		if closed || fits {
			return !closed
		}
		select {
		case <-q.space:
		case <-ctx.Done():
			return false
		}
	}
}

// force appends v at once. If the queue was full, victim returns the index of the value to remove among all values (v is the last), and force returns that
// value and true. If the queue is closed, force returns v and true.
func (q *queue[T]) force(v T, victim func(items []T) int) (out T, dropped bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return v, true
	}
	q.items = append(q.items, v)
	signal(q.ready)
	if len(q.items) <= q.depth {
		return out, false
	}
	i := victim(q.items)
	out = q.items[i]
	q.items = slices.Delete(q.items, i, i+1)
	return out, true
}

// resize changes the depth; the queue keeps its values, even above the new depth.
func (q *queue[T]) resize(depth int) {
	q.mu.Lock()
	q.depth = depth
	q.mu.Unlock()
	signal(q.space)
}

// take removes and returns the oldest value. If the queue is empty, ok is false, and ended is true if the queue is also closed; if it is not closed, the
// consumer waits on ready.
func (q *queue[T]) take() (v T, ok, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return v, false, q.closed
	}
	v = q.items[0]
	q.items = slices.Delete(q.items, 0, 1)
	signal(q.space)
	return v, true, false
}

// close makes put and force reject values; take still returns the values in the queue.
func (q *queue[T]) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	signal(q.ready)
	signal(q.space)
}

func (q *queue[T]) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}

// signal puts a token into c if c is empty.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
