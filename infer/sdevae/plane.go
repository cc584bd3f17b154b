package sdevae

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"
)

// plane transforms real pictures of h × w to half their spectrum, h × (w/2+1), and back. Not safe for concurrent use.
type plane struct {
	h, w, half int
	row        *fourier.FFT
	column     *fourier.CmplxFFT
	line       []complex128
	real       []float64
}

func newPlane(h, w int) *plane {
	return &plane{h: h, w: w, half: w/2 + 1, row: fourier.NewFFT(w), column: fourier.NewCmplxFFT(h), line: make([]complex128, h), real: make([]float64, w)}
}

// size is how many coefficients a spectrum has.
func (p *plane) size() int { return p.h * p.half }

// forward sets dst to the spectrum of picture.
func (p *plane) forward(dst []complex128, picture []float32) {
	for y := range p.h {
		copyFloats(p.real, picture[y*p.w:(y+1)*p.w])
		p.row.Coefficients(dst[y*p.half:(y+1)*p.half], p.real)
	}
	for x := range p.half {
		p.turn(dst, x, p.column.Coefficients)
	}
}

// back sets picture to what the spectrum is of, and spoils the spectrum.
func (p *plane) back(picture []float64, spectrum []complex128) {
	for x := range p.half {
		p.turn(spectrum, x, p.column.Sequence)
	}
	scale := 1 / float64(p.h*p.w)
	for y := range p.h {
		line := p.row.Sequence(picture[y*p.w:(y+1)*p.w], spectrum[y*p.half:(y+1)*p.half])
		for i := range line {
			line[i] *= scale
		}
	}
}

// turn transforms a column in place.
func (p *plane) turn(s []complex128, x int, transform func(dst, src []complex128) []complex128) {
	for y := range p.h {
		p.line[y] = s[y*p.half+x]
	}
	transform(p.line, p.line)
	for y := range p.h {
		s[y*p.half+x] = p.line[y]
	}
}

// shift is what a spectrum is multiplied by, row by column, when its picture moves, around the edges.
type shift struct {
	h, w         int
	down, across []complex128
}

func (p *plane) newShift() *shift {
	return &shift{p.h, p.w, make([]complex128, p.h), make([]complex128, p.half)}
}

// by sets the shift to x pixels to the right and y down.
func (s *shift) by(x, y float64) {
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

// wave is the factor of k waves a side. The highest of an even side has no direction: what is drawn stays real.
func wave(k, side int, by float64) complex128 {
	v := cmplx.Rect(1, -2*math.Pi*float64(k)*by/float64(side))
	if 2*k == side {
		return complex(real(v), 0)
	}
	return v
}

// accumulate adds the spectrum, moved and times scale, to sum.
func (s *shift) accumulate(sum, spectrum []complex128, scale complex128) {
	half := len(s.across)
	for y, down := range s.down {
		down *= scale
		from, to := spectrum[y*half:(y+1)*half], sum[y*half:(y+1)*half]
		for x, across := range s.across {
			to[x] += from[x] * down * across
		}
	}
}

// denoise keeps of every frequency of the picture the share by which it stands out of white noise of such a variance a pixel (Wiener 1949),
// judged by the ring of frequencies that are as high.
func (p *plane) denoise(picture []float32, variance float64) {
	spectrum := make([]complex128, p.size())
	p.forward(spectrum, picture)
	ring := func(i int) int {
		y := i / p.half
		return int(math.Round(math.Hypot(float64(min(y, p.h-y)), float64(i%p.half))))
	}
	power, count := make([]float64, p.h+p.w), make([]float64, p.h+p.w)
	for i, v := range spectrum {
		power[ring(i)] += real(v)*real(v) + imag(v)*imag(v)
		count[ring(i)]++
	}
	white := variance * float64(p.h*p.w)
	for i := range spectrum {
		r := ring(i)
		spectrum[i] *= complex(max(0, 1-white*count[r]/max(power[r], math.SmallestNonzeroFloat64)), 0)
	}
	clean := make([]float64, len(picture))
	p.back(clean, spectrum)
	copy(picture, narrow(clean))
}
