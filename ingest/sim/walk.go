package sim

import (
	"fmt"
	"strings"
)

// Walk is a scene's path without its pictures. Not safe for concurrent use.
type Walk struct{ path *path }

// NewWalk begins the path that New takes for the same name and seed. It errors where the name is not known.
func NewWalk(name string, seed uint64) (*Walk, error) {
	k, known := find(name)
	if !known {
		return nil, fmt.Errorf("scene %q is not known: give one of %s", name, strings.Join(Names(), ", "))
	}
	return &Walk{newPath(&k.law, k.length, seed)}, nil
}

// Dim is the number of coordinates of Truth.Z.
func (w *Walk) Dim() int { return w.path.law.Dim() }

// Next moves on to the next frame, the first one first. It has no end.
func (w *Walk) Next() Truth {
	p := w.path
	p.next()
	return Truth{T: float64(p.frame) * p.law.DT, Trajectory: p.trajectory, Z: p.z, Mu: p.mu, Inside: true}
}
