package onlinetest

import (
	"math"
	"math/rand/v2"
)

// Pairs simulates objects in a square with periodic edges, dx_i = Σ_j f(r_ij) r̂_ij dt + √2D dW.
type Pairs struct {
	Seed     uint64
	Objects  int
	Side     float64                 // side of the square, px
	D        float64                 // px²/s; each object has exp(Spread·N(0, 1)) times this
	Spread   float64                 // sd of ln D between objects
	Noise    float64                 // localisation sd along an axis, px
	Frame    float64                 // frame interval, s
	Exposed  float64                 // fraction of the frame over which a position is averaged
	Parts    int                     // simulation steps per frame
	Force    func(r float64) float64 // px/s; nil for no force
	Cutoff   float64                 // distance beyond which Force is zero, px
	Diameter float64                 // diameter of hard discs, px; 0 if objects pass through each other
}

// SoftForce returns a repulsion at distance r, px: 30 px/s at contact, falling by 1/e every 3 px. At D = 5 px²/s two touching objects have an energy of 18
// kT.
func SoftForce(r float64) float64 { return 30 * math.Exp(-r/3) }

// PairsShot is one frame. An object that crosses an edge returns at the opposite edge under a new number.
type PairsShot struct {
	T    float64
	ID   []uint64
	X, Y []float64
}

// pairsState is a running film.
type pairsState struct {
	film       *Pairs
	rng        *rand.Rand
	x, y       []float64
	fx, fy, sd []float64
	mx, my     []float64 // means over the exposure
	id         []uint64
	next       uint64
	pairs      [][2]int32
}

// Run passes n frames of a film to show. A frame is valid until the next. The first is settle s after the start.
func (f *Pairs) Run(n int, settle float64, show func(*PairsShot)) {
	s := f.begin()
	for range int(settle / f.Frame) {
		s.advance()
	}
	shot := &PairsShot{ID: make([]uint64, f.Objects), X: make([]float64, f.Objects), Y: make([]float64, f.Objects)}
	for frame := range n {
		s.advance()
		shot.T = float64(frame) * f.Frame
		for i := range s.x {
			shot.ID[i] = s.id[i]
			shot.X[i], shot.Y[i] = s.mx[i]+f.Noise*s.rng.NormFloat64(), s.my[i]+f.Noise*s.rng.NormFloat64()
		}
		show(shot)
	}
}

// begin puts the objects at random positions, hard discs without overlap.
func (f *Pairs) begin() *pairsState {
	s := &pairsState{film: f, rng: rand.New(rand.NewPCG(f.Seed, 1))}
	for len(s.x) < f.Objects {
		x, y := f.Side*s.rng.Float64(), f.Side*s.rng.Float64()
		if !s.room(x, y) {
			continue
		}
		s.x, s.y, s.id = append(s.x, x), append(s.y, y), append(s.id, s.next)
		s.sd = append(s.sd, math.Sqrt(2*f.D*math.Exp(f.Spread*s.rng.NormFloat64())*f.Frame/float64(f.Parts)))
		s.next++
	}
	s.fx, s.fy = make([]float64, f.Objects), make([]float64, f.Objects)
	s.mx, s.my = make([]float64, f.Objects), make([]float64, f.Objects)
	return s
}

// room reports whether a hard disc fits.
func (s *pairsState) room(x, y float64) bool {
	for i := range s.x {
		if dx, dy := s.between(x-s.x[i], y-s.y[i]); s.film.Diameter > 0 && math.Hypot(dx, dy) < s.film.Diameter {
			return false
		}
	}
	return true
}

// between returns the vector to the nearest periodic image.
func (s *pairsState) between(dx, dy float64) (float64, float64) {
	return dx - s.film.Side*math.Round(dx/s.film.Side), dy - s.film.Side*math.Round(dy/s.film.Side)
}

// advance moves all objects by a frame. The exposure is the last part of the frame.
func (s *pairsState) advance() {
	s.neighbours()
	dt := s.film.Frame / float64(s.film.Parts)
	clear(s.mx)
	clear(s.my)
	exposed := max(1, int(s.film.Exposed*float64(s.film.Parts)))
	for part := range s.film.Parts {
		s.act(dt)
		for i := range s.x {
			s.x[i] += s.fx[i] + s.sd[i]*s.rng.NormFloat64()
			s.y[i] += s.fy[i] + s.sd[i]*s.rng.NormFloat64()
		}
		s.collide()
		if part >= s.film.Parts-exposed {
			for i := range s.x {
				s.mx[i] += s.x[i] / float64(exposed)
				s.my[i] += s.y[i] / float64(exposed)
			}
		}
	}
	for i := range s.x {
		s.wrap(i)
	}
}

// wrap gives an object that crossed an edge a new number.
func (s *pairsState) wrap(i int) {
	wx, wy := s.film.Side*math.Floor(s.mx[i]/s.film.Side), s.film.Side*math.Floor(s.my[i]/s.film.Side)
	if wx == 0 && wy == 0 {
		return
	}
	s.x[i], s.y[i], s.mx[i], s.my[i] = s.x[i]-wx, s.y[i]-wy, s.mx[i]-wx, s.my[i]-wy
	s.id[i] = s.next
	s.next++
}

// neighbours lists the pairs that may interact within a frame. Here, six standard deviations of a step plus the displacement by the force are at most 4 px.
func (s *pairsState) neighbours() {
	const skin = 4
	s.pairs = s.pairs[:0]
	reach := max(s.film.Cutoff, s.film.Diameter) + skin
	if s.film.Force == nil && s.film.Diameter == 0 {
		return
	}
	for i := range s.x {
		for j := range i {
			if dx, dy := s.between(s.x[i]-s.x[j], s.y[i]-s.y[j]); dx*dx+dy*dy < reach*reach {
				s.pairs = append(s.pairs, [2]int32{int32(i), int32(j)})
			}
		}
	}
}

// act computes the displacement of each object by the force in dt s, px.
func (s *pairsState) act(dt float64) {
	clear(s.fx)
	clear(s.fy)
	if s.film.Force == nil {
		return
	}
	for _, p := range s.pairs {
		dx, dy := s.between(s.x[p[0]]-s.x[p[1]], s.y[p[0]]-s.y[p[1]])
		r := math.Hypot(dx, dy)
		if r >= s.film.Cutoff || r == 0 {
			continue
		}
		f := s.film.Force(r) * dt / r
		s.fx[p[0]] += f * dx
		s.fy[p[0]] += f * dy
		s.fx[p[1]] -= f * dx
		s.fy[p[1]] -= f * dy
	}
}

// collide moves overlapping hard discs apart until they touch (Heyes and Melrose, Journal of Non-Newtonian Fluid Mechanics 46, 1, 1993).
func (s *pairsState) collide() {
	if s.film.Diameter == 0 {
		return
	}
	for _, p := range s.pairs {
		dx, dy := s.between(s.x[p[0]]-s.x[p[1]], s.y[p[0]]-s.y[p[1]])
		if r := math.Hypot(dx, dy); r < s.film.Diameter && r > 0 {
			by := (s.film.Diameter - r) / (2 * r)
			s.x[p[0]] += by * dx
			s.y[p[0]] += by * dy
			s.x[p[1]] -= by * dx
			s.y[p[1]] -= by * dy
		}
	}
}
