package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// SDE is the law of motion dz = μ(z) dt + diag(σ) dW. Times are in seconds; each scene defines the unit of z.
type SDE struct {
	Drift      func(dst, z []float64) // writes μ(z) into dst; dst and z have Dim entries and do not overlap
	Sigma      []float64              // σ, one entry per coordinate
	X0         []float64              // start of every trajectory; if nil, the start is drawn from Stationary
	DT         float64                // time step, s
	Stationary *Gaussian              // stationary law; nil if there is none or it is not normal
	Shows      func(dst, z []float64) // writes the values to draw into dst, Dim entries; if nil, z itself is drawn
}

// Gaussian is a normal law with independent coordinates.
type Gaussian struct{ Mean, SD []float64 }

// Dim returns the number of coordinates of z.
func (s *SDE) Dim() int { return len(s.Sigma) }

// extent is the box of a path's shown values: lo ≤ z ≤ hi in every coordinate.
type extent struct{ lo, hi []float64 }

// path walks an SDE by Euler-Maruyama,
//
//	z ← z + μ(z) Δt + σ √Δt ξ,   ξ ~ N(0, I),
//
// and restarts every length frames (0: never). The first call of next returns a new path's first frame.
type path struct {
	law    *SDE
	length int
	rng    *rand.Rand

	frame      int     // from 0
	trajectory uint64  // grows by one at every restart
	age        float64 // s since the trajectory's start
	z, mu      []float64
	shown      []float64 // shown values of z; z itself if the law has no Shows
}

func newPath(law *SDE, length int, seed uint64) *path {
	p := &path{
		law: law, length: length, rng: rand.New(rand.NewPCG(seed, pathStream)),
		frame: -1, z: make([]float64, law.Dim()), mu: make([]float64, law.Dim()),
	}
	p.shown = p.z
	if law.Shows != nil {
		p.shown = make([]float64, law.Dim())
	}
	return p
}

// next advances to the next frame.
func (p *path) next() {
	p.frame++
	step := p.frame
	if p.length > 0 {
		p.trajectory = uint64(p.frame / p.length)
		step = p.frame % p.length
	}
	p.age = float64(step) * p.law.DT
	if step == 0 {
		p.start()
	} else {
		p.step()
	}
	p.law.Drift(p.mu, p.z)
	if p.law.Shows != nil {
		p.law.Shows(p.shown, p.z)
	}
}

func (p *path) start() {
	if p.law.X0 != nil {
		copy(p.z, p.law.X0)
		return
	}
	for i := range p.z {
		p.z[i] = p.law.Stationary.Mean[i] + p.law.Stationary.SD[i]*p.rng.NormFloat64()
	}
}

func (p *path) step() {
	root := math.Sqrt(p.law.DT)
	for i := range p.z {
		p.z[i] += p.mu[i]*p.law.DT + p.law.Sigma[i]*root*p.rng.NormFloat64()
	}
}

// extent walks the first frames of the path and returns the box of their shown values: O(frames) time, no memory. Afterwards the path is at its end. A new path
// with the same seed repeats it.
func (p *path) extent(frames int) extent {
	p.next()
	e := extent{lo: append([]float64(nil), p.shown...), hi: append([]float64(nil), p.shown...)}
	for range frames - 1 {
		p.next()
		for i, z := range p.shown {
			e.lo[i] = min(e.lo[i], z)
			e.hi[i] = max(e.hi[i], z)
		}
	}
	return e
}

// spread is half the range of an endless picture, in standard deviations of the stationary law. A coordinate is beyond 4.5 standard deviations for 7e-6 of the
// time.
const spread = 4.5

// extent returns the box mean ± spread sd.
func (g *Gaussian) extent() extent {
	e := extent{lo: make([]float64, len(g.Mean)), hi: make([]float64, len(g.Mean))}
	for i := range g.Mean {
		e.lo[i] = g.Mean[i] - spread*g.SD[i]
		e.hi[i] = g.Mean[i] + spread*g.SD[i]
	}
	return e
}

// Walk is the path of a scene without its pictures. Not safe for concurrent use.
type Walk struct{ path *path }

// NewWalk starts the path that New uses for the same name and seed. It returns an error for an unknown name.
func NewWalk(name string, seed uint64) (*Walk, error) {
	k, known := find(name)
	if !known {
		return nil, fmt.Errorf("scene %q is not known: give one of %s", name, strings.Join(Names(), ", "))
	}
	return &Walk{newPath(&k.law, k.length, seed)}, nil
}

// Dim returns the number of coordinates of Truth.Z.
func (w *Walk) Dim() int { return w.path.law.Dim() }

// Next returns the truth of the next frame, starting with the first. It never ends.
func (w *Walk) Next() Truth {
	p := w.path
	p.next()
	return Truth{T: float64(p.frame) * p.law.DT, Trajectory: p.trajectory, Z: p.z, Mu: p.mu, Inside: true}
}
