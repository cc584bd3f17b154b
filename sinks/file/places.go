package file

import (
	"math"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// node is the position of one object in one frame. Unknown numbers are NaN.
type node struct {
	frame, particle    uint64
	at                 int64 // acquisition time of the frame, nanoseconds since 1970; 0 if unknown
	x, y, sd           float64
	xLocated, yLocated float64 // the detection if located, otherwise x and y
	d, doubt, light    float64
	link               float64 // probability of the link to the previous position; NaN if unknown
	marks              latent.Mark
	located, filled    bool
	state              []float64 // probability of each state
	z, zSD             []float64
}

// recalled is the number of frames for which places.each remembers the time. Objects that are not detected for longer have ended.
const recalled = 1 << 12

// places reads the positions in messages. The zero value is ready to use.
type places struct {
	latents  int    // number of latents in the last message
	homeless uint64 // number of frames of a scene without a position
	frames   [recalled]struct {
		seq uint64
		at  int64
	}
	node node // reused
}

// each calls add for every position that becomes known with an estimate, earlier frames first. add must not keep the node. The object of a scene has the number
// of its trajectory.
func (p *places) each(e *latent.Estimate, add func(*node) error) error {
	l, o, none := &e.Latent, e.Objects, math.NaN()
	slot := &p.frames[l.Seq%recalled]
	slot.seq, slot.at = l.Seq, l.Time.UnixNano()
	n := &p.node
	if o == nil {
		if p.latents = len(l.Mean); len(l.Centroid) < 2 {
			p.homeless++
			return nil
		}
		x, y := l.Centroid[0], l.Centroid[1]
		*n = node{frame: l.Seq, particle: l.Trajectory, at: slot.at, x: x, y: y, sd: none, xLocated: x, yLocated: y, d: none, doubt: none, link: none, light: l.Light,
			located: true, z: l.Mean, zSD: l.SD}
		return add(n)
	}
	p.latents = o.Latents
	for i := range o.Earlier {
		at := &o.Earlier[i]
		*n = node{frame: at.Seq, particle: at.ID, x: at.X, y: at.Y, sd: at.SD, xLocated: at.X, yLocated: at.Y, d: none, doubt: none, link: none, light: none, filled: at.Filled}
		if slot := &p.frames[at.Seq%recalled]; slot.seq == at.Seq {
			n.at = slot.at
		}
		if err := add(n); err != nil {
			return err
		}
	}
	for i := range o.ID {
		if !o.Here(i) {
			continue // the position is written once the object is detected again
		}
		*n = node{frame: l.Seq, particle: o.ID[i], at: slot.at, x: o.X[i], y: o.Y[i], sd: o.SD[i], xLocated: message.At(o.LocX, i), yLocated: message.At(o.LocY, i),
			d: o.D[i], doubt: o.Doubt[i], link: message.At(o.Link, i), light: none, marks: o.Marks[i], z: o.Z[o.Latents*i:][:o.Latents], zSD: o.ZSD[o.Latents*i:][:o.Latents]}
		if n.located = !math.IsNaN(n.xLocated) && !math.IsNaN(n.yLocated); !n.located {
			n.xLocated, n.yLocated = n.x, n.y
		}
		if len(o.State) >= o.States*(i+1) {
			n.state = o.State[o.States*i:][:o.States]
		}
		if err := add(n); err != nil {
			return err
		}
	}
	return nil
}

// seconds returns the time of a node in seconds since 1970.
func (n *node) seconds() float64 { return float64(n.at) / float64(time.Second) }
