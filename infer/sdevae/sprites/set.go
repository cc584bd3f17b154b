package sprites

import (
	"math"
	"slices"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// Set is a background and rigid sprites that move over it and add their light (Jojic and Frey 2001, without their masks):
//
//	frame ≈ background + Σₖ templateₖ moved to placeₖ
//
// It stores spectra, one per channel, because a shift is a factor in a spectrum. Pictures wrap around. A Set belongs to one goroutine.
type Set struct {
	plane      *numeric.Plane
	channels   int
	shared     bool             // all sprites have one template (shared.go)
	covered    []bool           // filled-in pixels of the background, which stay fixed (covered.go); nil if there are none
	LowSNR     float64          // width of the initial template, px, if the sprites are invisible in single frames (low_snr.go); otherwise 0
	Background [][]complex128   // by channel
	Templates  [][][]complex128 // by sprite and channel, centred on the picture's first pixel
	shift      *numeric.Shift
	sum        []complex128
	picture    []float64
}

// The search for templates.
const (
	searchFrames  = 300       // frames from which templates are learnt,
	searchPixels  = 300 << 12 // or fewer if these have more pixels than this in total, but at least numeric.LongFilm
	searchGuesses = 4         // number of initial guesses
	aloneRounds   = 12        // rounds for each sprite alone,
	jointRounds   = 20        // and for all sprites together
	trackRounds   = 4         // rounds of locating with known templates
)

const (
	coreEdge     float64 = 0.3  // tuned sprites.coreEdge: share of the brightest pixel below which a pixel is excluded from a template in the first rounds, while positions are inexact
	templateEdge float64 = 0.05 // tuned sprites.templateEdge: the same at the end: smaller values come from other objects
)

// Residual holds some frames minus background and sprites, as spectra, and the position of each sprite.
type Residual struct {
	clip      *video.Clip
	frames    []int
	left      [][][]complex128 // by frame and channel
	place     [][][2]float64   // by sprite and frame: x and y, px
	intervals []float64        // from the previous frame, in the clip's median intervals; 0 if a trajectory begins
}

// New returns an empty set for the clip's pictures.
func New(c *video.Clip) *Set {
	p := numeric.NewPlane(c.Height, c.Width)
	return &Set{plane: p, channels: c.Channels, shift: p.NewShift(), sum: make([]complex128, p.Size()), picture: make([]float64, c.Height*c.Width)}
}

// copy returns a copy of m with its own background.
func (m *Set) copy() *Set {
	other := *m
	other.Background = make([][]complex128, len(m.Background))
	for i, s := range m.Background {
		other.Background[i] = slices.Clone(s)
	}
	return &other
}

// Spectra returns the spectrum of each channel of a picture (CHW).
func (m *Set) Spectra(picture []float32) [][]complex128 {
	out := make([][]complex128, m.channels)
	area := m.plane.H * m.plane.W
	for ch := range out {
		out[ch] = make([]complex128, m.plane.Size())
		m.plane.Forward(out[ch], picture[ch*area:(ch+1)*area])
	}
	return out
}

// Residual returns the frames minus the background, before any sprite is located.
func (m *Set) Residual(c *video.Clip, frames []int) *Residual {
	f := &Residual{clip: c, frames: frames, intervals: c.Intervals(frames)}
	for _, i := range frames {
		s := m.Spectra(c.Frame(i))
		for ch, one := range s {
			subtract(one, m.Background[ch])
		}
		f.left = append(f.left, s)
	}
	return f
}

// Energy returns the sum of squares of the residual over all frames and pixels.
func (f *Residual) Energy(m *Set) (sum float64) {
	for _, left := range f.left {
		sum += m.energy(left)
	}
	return sum
}

// locate finds the position of sprite k in every frame.
func (m *Set) locate(f *Residual, k int) {
	if m.LowSNR > 0 {
		m.locateLowSNR(f, k)
		return
	}
	for i, left := range f.left {
		f.place[k][i] = m.locateIn(left, k)
	}
}

// locateIn returns the position with the highest correlation of sprite k with a frame's residual.
func (m *Set) locateIn(left [][]complex128, k int) [2]float64 {
	clear(m.sum)
	for ch, s := range m.Templates[k] {
		m.correlate(left[ch], s)
	}
	m.plane.Inverse(m.picture, m.sum)
	return peak(m.picture, m.plane.H, m.plane.W)
}

// peak returns the position of the highest value, interpolated by the parabola through it and its neighbours.
func peak(picture []float64, h, w int) [2]float64 {
	best := 0
	for i, v := range picture {
		if v > picture[best] {
			best = i
		}
	}
	x, y := best%w, best/w
	at := func(x, y int) float64 { return picture[(y+h)%h*w+(x+w)%w] }
	peak := at(x, y)
	return [2]float64{float64(x) + vertex(at(x-1, y), peak, at(x+1, y)), float64(y) + vertex(at(x, y-1), peak, at(x, y+1))}
}

// vertex returns the offset of a parabola's maximum from the middle one of three values at distance 1. The middle value must be the highest.
func vertex(before, top, after float64) float64 {
	bend := before - 2*top + after
	if !(bend < 0) {
		return 0
	}
	return min(max(0.5*(before-after)/bend, -0.5), 0.5)
}

// updateTemplate sets the template of sprite k to the mean of the residuals around its positions, trimmed.
func (m *Set) updateTemplate(f *Residual, k int, edge float64) {
	s := m.Templates[k]
	for ch := range s {
		clear(s[ch])
	}
	scale := complex(1/float64(len(f.left)), 0)
	for i, left := range f.left {
		m.shift.Set(-f.place[k][i][0], -f.place[k][i][1])
		for ch := range s {
			m.shift.Add(s[ch], left[ch], scale)
		}
	}
	m.trim(s, edge)
}

// trim clears pixels that are fainter than edge times the brightest, and centres the template on the first pixel.
func (m *Set) trim(s [][]complex128, edge float64) {
	area := m.plane.H * m.plane.W
	light, shape := make([]float64, area), make([]float32, area*len(s))
	brightest := 0.0
	for ch, spectrum := range s {
		m.plane.Inverse(m.picture, slices.Clone(spectrum))
		for i, v := range m.picture {
			shape[ch*area+i] = float32(v)
			light[i] += math.Abs(v)
			brightest = max(brightest, light[i])
		}
	}
	var noise []bool
	if m.LowSNR > 0 {
		noise = insignificant(shape, area)
	}
	for i, v := range light {
		if v < edge*brightest || noise != nil && noise[i] {
			light[i] = 0
			for ch := range s {
				shape[ch*area+i] = 0
			}
		}
	}
	x, y := m.centre(light)
	m.shift.Set(-x, -y)
	for ch := range s {
		m.plane.Forward(m.sum, shape[ch*area:(ch+1)*area])
		clear(s[ch])
		m.shift.Add(s[ch], m.sum, 1)
	}
}

// centre returns the centre of mass of a picture that wraps around, from the directions of the means of eⁱˣ and eⁱʸ.
func (m *Set) centre(light []float64) (x, y float64) {
	var cx, sx, cy, sy float64
	for i, v := range light {
		a, b := 2*math.Pi*float64(i%m.plane.W)/float64(m.plane.W), 2*math.Pi*float64(i/m.plane.W)/float64(m.plane.H)
		cx, sx, cy, sy = cx+v*math.Cos(a), sx+v*math.Sin(a), cy+v*math.Cos(b), sy+v*math.Sin(b)
	}
	return math.Atan2(sx, cx) / (2 * math.Pi) * float64(m.plane.W), math.Atan2(sy, cy) / (2 * math.Pi) * float64(m.plane.H)
}

// add adds sprite k to all frames, times scale.
func (m *Set) add(f *Residual, k int, scale complex128) {
	for i, left := range f.left {
		m.addTo(left, k, f.place[k][i], scale)
	}
}

// addTo adds sprite k at a position to a frame's residual, times scale.
func (m *Set) addTo(left [][]complex128, k int, place [2]float64, scale complex128) {
	m.shift.Set(place[0], place[1])
	for ch, s := range m.Templates[k] {
		m.shift.Add(left[ch], s, scale)
	}
}

// updateBackground moves the mean residual of all frames to the background.
func (m *Set) updateBackground(f *Residual) {
	for ch, still := range m.Background {
		clear(m.sum)
		for _, left := range f.left {
			for j, v := range left[ch] {
				m.sum[j] += v / complex(float64(len(f.left)), 0)
			}
		}
		if m.covered != nil {
			m.uncover(m.sum)
		}
		for j, v := range m.sum {
			still[j] += v
		}
		for _, left := range f.left {
			subtract(left[ch], m.sum)
		}
	}
}

// energy returns the sum of squares of the pixels.
func (m *Set) energy(spectra [][]complex128) (sum float64) {
	for _, s := range spectra {
		for j, v := range s {
			e := real(v)*real(v) + imag(v)*imag(v)
			if x := j % m.plane.Half; x > 0 && 2*x != m.plane.W {
				e *= 2
			}
			sum += e
		}
	}
	return sum / float64(m.plane.H*m.plane.W)
}

func subtract(dst, s []complex128) {
	for i, v := range s {
		dst[i] -= v
	}
}

// correlate adds the spectrum of the correlation of a picture with a template to m.sum.
func (m *Set) correlate(picture, shape []complex128) {
	for j, v := range picture {
		s := shape[j]
		m.sum[j] += v * complex(real(s), -imag(s))
	}
}

// Unwrap shifts every coordinate by whole pictures, to within half a picture of its mean direction. So an object that leaves at one edge does not reappear at
// the other.
func (m *Set) Unwrap(places []float64) {
	d := 2 * len(m.Templates)
	for i := range d {
		side := float64(m.plane.W)
		if i%2 == 1 {
			side = float64(m.plane.H)
		}
		var along, across float64
		for k := i; k < len(places); k += d {
			sin, cos := math.Sincos(2 * math.Pi * places[k] / side)
			along, across = along+cos, across+sin
		}
		middle := math.Atan2(across, along) / (2 * math.Pi) * side
		for k := i; k < len(places); k += d {
			places[k] = middle + math.Remainder(places[k]-middle, side)
		}
	}
}

// Draw renders n pictures (n × CHW) with the sprites at the given positions (n × 2 per sprite).
func (m *Set) Draw(pictures []float32, places []float64, n int) {
	area, spectrum := m.plane.H*m.plane.W, make([]complex128, m.plane.Size())
	for i := range n {
		for ch := range m.channels {
			copy(spectrum, m.Background[ch])
			for k, s := range m.Templates {
				at := places[(i*len(m.Templates)+k)*2:]
				m.shift.Set(at[0], at[1])
				m.shift.Add(spectrum, s[ch], 1)
			}
			m.plane.Inverse(m.picture, spectrum)
			to := pictures[(i*m.channels+ch)*area:]
			for p, v := range m.picture {
				if m.shared { // overlapping light saturates
					v = min(v, 1)
				}
				to[p] = float32(v)
			}
		}
	}
}

// Remove returns a copy of the clip without the light of the sprites at the given positions.
func (m *Set) Remove(c *video.Clip, places []float64) *video.Clip {
	bare, less := *m, *c
	bare.Background = make([][]complex128, m.channels)
	for ch := range bare.Background {
		bare.Background[ch] = make([]complex128, m.plane.Size())
	}
	less.Pixels = make([]float32, len(c.Pixels))
	bare.Draw(less.Pixels, places, c.Len())
	for i, v := range c.Pixels {
		less.Pixels[i] = min(max(v-less.Pixels[i], 0), 1)
	}
	return &less
}
