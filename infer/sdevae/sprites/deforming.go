package sprites

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// Deforming is a single sprite whose light also changes from frame to frame (transformed component analysis, Frey and Jojic 1999):
//
//	frame ≈ background + (light + Σₖ scoreₖ modeₖ) moved so that its centroid is at the place
//
// Modes may contain shifts of the light, so the position is the centroid of the current light, weighted by its square. With the square, the many faint pixels
// of either sign around the object have almost no weight. Scores have variance 1 over the frames from which the modes were learnt.
type Deforming struct {
	Sprite *Set        // mean look and background
	light  []float64   // CHW, centred on the first pixel
	modes  [][]float64 // CHW, orthogonal; a score of 1 adds the mode itself
	noise  float64     // residual variance per pixel
}

// maxModes is the maximum number of modes. The bead of deeptrack-trap-good has 3 modes, one of which has nearly all of the energy.
const maxModes = 8

// Deform models how the light of a single sprite changes in the given frames, and checks whether the sprite covers its background. The likelihood of the
// held-out frames selects the model. The result is nil if the rigid sprite is best.
func (m *Set) Deform(ctx context.Context, c *video.Clip, frames, held []int) *Deforming {
	best, least := (*Deforming)(nil), math.Inf(1)
	tries := []*Set{m, m.Uncovered(ctx, c, frames)} // case sprites.covered: a background that a sprite hides in half of the frames or more, interpolated from its surroundings
	for k, one := range tries {
		if one == nil || ctx.Err() != nil {
			continue
		}
		d, nats := one.deformed(c, searched(c, frames), held)
		if nats < least {
			if best, least = d, nats; k == 0 && len(d.modes) == 0 {
				best = nil
			}
		}
	}
	return best
}

// deformed returns m with the best number of modes, and its nats per held-out frame. The best number is the smallest one whose nats lie within a standard error
// of the minimum.
func (m *Set) deformed(c *video.Clip, frames, held []int) (*Deforming, float64) {
	d := &Deforming{Sprite: m}
	places, _ := m.Track(c, frames)
	d.learn(d.lights(c, frames, places), m.reach(0))
	all, trained, unseen := d.modes, d.scored(c, frames), d.scored(c, held)
	tried := make([][]float64, len(all)+1)
	fewest := 0
	for k := range tried {
		d.modes = all[:k]
		tried[k] = d.nats(trained, unseen)
		if floats.Sum(tried[k]) < floats.Sum(tried[fewest]) {
			fewest = k
		}
	}
	best := tried[fewest]
	for k := range fewest {
		more := slices.Clone(tried[k])
		floats.Sub(more, best)
		if mean, sd := stat.MeanStdDev(more, nil); mean < sd/math.Sqrt(float64(len(more))) {
			fewest = k
			break
		}
	}
	d.modes = all[:fewest]
	d.nats(trained, unseen)
	return d, stat.Mean(tried[fewest], nil)
}

// lights returns the frames minus the background, in the sprite's own frame of reference: frames × CHW.
func (d *Deforming) lights(c *video.Clip, frames []int, places []float64) [][]float64 {
	f, area := d.Sprite.Residual(c, frames), d.Sprite.plane.H*d.Sprite.plane.W
	out := make([][]float64, len(frames))
	for i, left := range f.left {
		d.Sprite.shift.Set(-places[2*i], -places[2*i+1])
		out[i] = make([]float64, d.Sprite.channels*area)
		for ch, s := range left {
			clear(d.Sprite.sum)
			d.Sprite.shift.Add(d.Sprite.sum, s, 1)
			d.Sprite.plane.Inverse(out[i][ch*area:(ch+1)*area], d.Sprite.sum)
		}
	}
	return out
}

// learn sets the light and its principal modes within a window.
func (d *Deforming) learn(lights [][]float64, window []bool) {
	area, n := len(window), len(lights)
	x := mat.NewDense(n, len(lights[0]), nil)
	for i, one := range lights {
		for p, v := range one {
			if window[p%area] {
				x.Set(i, p, v)
			}
		}
	}
	d.light = numeric.Centre(x).RawVector().Data
	d.modes = principal(x, maxModes)
}

// principal returns at most `most` orthogonal principal components of centred rows. Their scores have variance 1: x = Σ √value vector mode'/|mode|.
func principal(x *mat.Dense, most int) (modes [][]float64) {
	n, size := x.Dims()
	values, vectors, ok := numeric.PrincipalRows(x)
	for k := n - 1; ok && k >= max(n-most, 1) && values[k] > 0; k-- {
		mode := mat.NewVecDense(size, nil)
		mode.MulVec(x.T(), vectors.ColView(k))
		mode.ScaleVec(1/math.Sqrt(float64(n)), mode)
		modes = append(modes, mode.RawVector().Data)
	}
	return modes
}

// LeftBehind returns the mean residual energy per held-out frame for a rigid sprite over a still picture, after subtraction of up to `most` principal pictures
// of its residual in the given frames. A changing background explains at least as much.
func (m *Set) LeftBehind(c *video.Clip, frames, held []int, most int) float64 {
	left := func(frames []int) *mat.Dense {
		places, _ := m.Track(c, frames)
		drawn := make([]float32, len(frames)*c.Size())
		m.Draw(drawn, places, len(frames))
		x := mat.NewDense(len(frames), c.Size(), nil)
		for k, v := range c.Pick(frames) {
			x.RawMatrix().Data[k] = float64(v - drawn[k])
		}
		return x
	}
	x, unseen := left(searched(c, frames)), left(held)
	mean := numeric.Centre(x)
	modes := principal(x, most)
	var sum float64
	for i := range held {
		one := unseen.RawRowView(i)
		floats.Sub(one, mean.RawVector().Data)
		sum += floats.Dot(one, one)
		for _, mode := range modes {
			score := floats.Dot(one, mode)
			sum -= score * score / floats.Dot(mode, mode)
		}
	}
	return sum / float64(len(held))
}

// reach returns the support of template k, widened by its own radius, because the changing part may lie next to the constant part.
func (m *Set) reach(k int) []bool {
	near := m.support(k)
	covered := 0
	for _, some := range near {
		if some {
			covered++
		}
	}
	h, w := m.plane.H, m.plane.W
	for range int(math.Sqrt(float64(covered) / math.Pi)) {
		wider := slices.Clone(near)
		for p, some := range near {
			if some {
				row, column := p/w, p%w
				wider[row*w+(column+1)%w], wider[row*w+(column+w-1)%w] = true, true
				wider[(row+1)%h*w+column], wider[(row+h-1)%h*w+column] = true, true
			}
		}
		near = wider
	}
	return near
}

// scored holds a deforming sprite's scores in some frames.
type scored struct {
	places []float64 // positions of the constant light
	energy []float64 // energy of each frame's deviation from the constant light, over the whole picture
	scores [][]float64
}

func (d *Deforming) scored(c *video.Clip, frames []int) (s scored) {
	s.places, _ = d.Sprite.Track(c, frames)
	for _, one := range d.lights(c, frames, s.places) {
		floats.Sub(one, d.light)
		s.energy = append(s.energy, floats.Dot(one, one))
		scores := make([]float64, len(d.modes))
		for k, mode := range d.modes {
			scores[k] = floats.Dot(one, mode) / floats.Dot(mode, mode)
		}
		s.scores = append(s.scores, scores)
	}
	return s
}

// left returns the residual energy of each frame after the light and the first modes.
func (d *Deforming) left(s scored, modes int) []float64 {
	left := slices.Clone(s.energy)
	for i := range left {
		for k, mode := range d.modes[:modes] {
			left[i] -= s.scores[i][k] * s.scores[i][k] * floats.Dot(mode, mode)
		}
	}
	return left
}

// Left returns the mean residual energy of a frame after the light and the first modes.
func (d *Deforming) Left(c *video.Clip, frames []int, modes int) float64 {
	return stat.Mean(d.left(d.scored(c, frames), modes), nil)
}

// nats returns the negative log-likelihood of each unseen frame under the modes, with the residual noise of the training frames (probabilistic principal
// components, Tipping and Bishop 1999). With P pixels, noise v, mode energy lₖ and score aₖ it is
//
//	½ (P ln v + left/v + Σₖ ln lₖ/v + aₖ²)
func (d *Deforming) nats(trained, unseen scored) []float64 {
	pixels := float64(len(d.light))
	d.noise = max(stat.Mean(d.left(trained, len(d.modes)), nil)/pixels, math.SmallestNonzeroFloat32)
	out := d.left(unseen, len(d.modes))
	for i, left := range out {
		out[i] = 0.5 * (pixels*math.Log(d.noise) + left/d.noise)
		for k, mode := range d.modes {
			out[i] += 0.5 * (math.Log(floats.Dot(mode, mode)/d.noise) + unseen.scores[i][k]*unseen.scores[i][k])
		}
	}
	return out
}

// Modes returns the number of modes.
func (d *Deforming) Modes() int { return len(d.modes) }

// Track locates the sprite in the given frames. It returns positions (frames × 2) and scores of the modes (frames × modes).
func (d *Deforming) Track(c *video.Clip, frames []int) (places, scores []float64) {
	s := d.scored(c, frames)
	light := make([]float64, len(d.light))
	for i, one := range s.scores {
		x, y := d.centroid(d.lightOf(light, one))
		places = append(places, s.places[2*i]+x, s.places[2*i+1]+y)
		scores = append(scores, one...)
	}
	return places, scores
}

// lightOf sets dst to the light at the given scores.
func (d *Deforming) lightOf(dst, scores []float64) []float64 {
	copy(dst, d.light)
	for k, mode := range d.modes {
		floats.AddScaled(dst, scores[k], mode)
	}
	return dst
}

// centroid returns the centroid of the light's square.
func (d *Deforming) centroid(light []float64) (x, y float64) {
	w, area := d.Sprite.plane.W, d.Sprite.plane.H*d.Sprite.plane.W
	var sum float64
	for p, v := range light {
		v *= v
		x += v * math.Remainder(float64(p%w), float64(w))
		y += v * math.Remainder(float64(p%area/w), float64(d.Sprite.plane.H))
		sum += v
	}
	if sum == 0 {
		return 0, 0
	}
	return x / sum, y / sum
}

// Draw renders n pictures (n × CHW) with the sprite at the given positions (n × 2) and scores (n × modes).
func (d *Deforming) Draw(pictures []float32, places, scores []float64, n int) {
	area, light, spectrum := d.Sprite.plane.H*d.Sprite.plane.W, make([]float64, len(d.light)), make([]complex128, d.Sprite.plane.Size())
	for i := range n {
		x, y := d.centroid(d.lightOf(light, scores[i*len(d.modes):(i+1)*len(d.modes)]))
		d.Sprite.shift.Set(places[2*i]-x, places[2*i+1]-y)
		for ch := range d.Sprite.channels {
			d.Sprite.plane.Forward(d.Sprite.sum, numeric.Float32s(light[ch*area:(ch+1)*area]))
			copy(spectrum, d.Sprite.Background[ch])
			d.Sprite.shift.Add(spectrum, d.Sprite.sum, 1)
			d.Sprite.plane.Inverse(d.Sprite.picture, spectrum)
			to := pictures[(i*d.Sprite.channels+ch)*area:]
			for p, v := range d.Sprite.picture {
				to[p] = float32(v)
			}
		}
	}
}
