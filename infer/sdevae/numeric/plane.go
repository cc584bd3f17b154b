package numeric

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"
)

// Plane transforms real pictures of h × w to half their spectrum, h × (w/2+1), and back. It is not safe for concurrent use.
type Plane struct {
	H, W, Half int
	row        *fourier.FFT
	column     *fourier.CmplxFFT
	line       []complex128
	real       []float64
}

// NewPlane prepares the transforms for pictures of h × w.
func NewPlane(h, w int) *Plane {
	return &Plane{H: h, W: w, Half: w/2 + 1, row: fourier.NewFFT(w), column: fourier.NewCmplxFFT(h), line: make([]complex128, h), real: make([]float64, w)}
}

// Size returns the number of coefficients of a spectrum.
func (p *Plane) Size() int { return p.H * p.Half }

// Forward sets dst to the spectrum of picture.
func (p *Plane) Forward(dst []complex128, picture []float32) {
	for y := range p.H {
		Copy(p.real, picture[y*p.W:(y+1)*p.W])
		p.row.Coefficients(dst[y*p.Half:(y+1)*p.Half], p.real)
	}
	for x := range p.Half {
		p.turn(dst, x, p.column.Coefficients)
	}
}

// Inverse sets picture to the picture of the spectrum. It overwrites the spectrum.
func (p *Plane) Inverse(picture []float64, spectrum []complex128) {
	for x := range p.Half {
		p.turn(spectrum, x, p.column.Sequence)
	}
	scale := 1 / float64(p.H*p.W)
	for y := range p.H {
		line := p.row.Sequence(picture[y*p.W:(y+1)*p.W], spectrum[y*p.Half:(y+1)*p.Half])
		for i := range line {
			line[i] *= scale
		}
	}
}

// turn transforms a column in place.
func (p *Plane) turn(s []complex128, x int, transform func(dst, src []complex128) []complex128) {
	for y := range p.H {
		p.line[y] = s[y*p.Half+x]
	}
	transform(p.line, p.line)
	for y := range p.H {
		s[y*p.Half+x] = p.line[y]
	}
}

// Shift moves pictures by multiplying their spectra with a factor. The pictures wrap around at the edges.
type Shift struct {
	h, w         int
	down, across []complex128
}

// NewShift returns a Shift. Call Set before its use.
func (p *Plane) NewShift() *Shift {
	return &Shift{p.H, p.W, make([]complex128, p.H), make([]complex128, p.Half)}
}

// Set sets the shift to x pixels to the right and y down.
func (s *Shift) Set(x, y float64) {
	for i := range s.down {
		k := i
		if 2*i > s.h {
			k -= s.h
		}
		s.down[i] = wave(k, s.h, y)
	}
	for i := range s.across {
		s.across[i] = wave(i, s.w, x)
	}
}

// wave returns the factor for k waves per side. For an even side, the highest frequency has no sign, so its factor is real.
func wave(k, side int, by float64) complex128 {
	v := cmplx.Rect(1, -2*math.Pi*float64(k)*by/float64(side))
	if 2*k == side {
		return complex(real(v), 0)
	}
	return v
}

// Add moves the spectrum, multiplies it by scale and adds it to sum.
func (s *Shift) Add(sum, spectrum []complex128, scale complex128) {
	half := len(s.across)
	for y, down := range s.down {
		down *= scale
		from, to := spectrum[y*half:(y+1)*half], sum[y*half:(y+1)*half]
		for x, across := range s.across {
			to[x] += from[x] * down * across
		}
	}
}

// Wiener filters a picture with white noise of the given variance per pixel (Wiener 1949). It multiplies every frequency by 1 - noise/power, or by 0 if that is
// negative. The power is the mean over the ring of frequencies of equal magnitude.
func (p *Plane) Wiener(picture []float32, variance float64) {
	spectrum := make([]complex128, p.Size())
	p.Forward(spectrum, picture)
	ring := func(i int) int {
		y := i / p.Half
		return int(math.Round(math.Hypot(float64(min(y, p.H-y)), float64(i%p.Half))))
	}
	power, count := make([]float64, p.H+p.W), make([]float64, p.H+p.W)
	for i, v := range spectrum {
		power[ring(i)] += real(v)*real(v) + imag(v)*imag(v)
		count[ring(i)]++
	}
	white := variance * float64(p.H*p.W)
	for i := range spectrum {
		r := ring(i)
		spectrum[i] *= complex(max(0, 1-white*count[r]/max(power[r], math.SmallestNonzeroFloat64)), 0)
	}
	clean := make([]float64, len(picture))
	p.Inverse(clean, spectrum)
	copy(picture, Float32s(clean))
}
