package frame

import (
	"sync"
	"time"
)

// kept is the largest number of closed frames in a pool.
const kept = 512

// Pool reuses closed frames, so a source allocates no new ones. The zero value is ready to use. Any number of goroutines may use and close its frames.
type Pool struct {
	mu   sync.Mutex
	free []*Frame
}

// New is like the function New, but reuses a closed frame. It also reuses the memory of its events and centroid if m has none.
func (p *Pool) New(seq uint64, t time.Time, m Meta, mat Mat) *Frame {
	f := p.take()
	if m.Events == nil {
		m.Events = f.Meta.Events[:0]
	}
	if m.Centroid == nil {
		m.Centroid = f.Meta.Centroid[:0]
	}
	f.Seq, f.Time, f.Meta, f.mat, f.window, f.closed = seq, t, m, mat, whole, false
	return f
}

func (p *Pool) take() *Frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free)
	if n == 0 {
		return &Frame{home: p}
	}
	f := p.free[n-1]
	p.free = p.free[:n-1]
	return f
}

func (p *Pool) put(f *Frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < kept {
		p.free = append(p.free, f)
	}
}
