package sim

import (
	"math"
	"math/rand/v2"
)

// pixelNoise is noise added independently to each value of each channel.
type pixelNoise struct {
	name        string
	draw        func(rng *rand.Rand) float64
	information float64 // Fisher information about the mean
}

// noises are the kinds of noise in the paper's noisy experiments. The information of N(m, s²) is 1/s². For Student's t with ν degrees of freedom it is
// (ν+1)/(ν+3) (Lange, Little and Taylor, J. Am. Stat. Assoc. 84, 1989).
var noises = []pixelNoise{
	{"normal", normalNoise, 1.0 / 4},
	{"student", studentNoise, 4.0 / 6},
}

// normalNoise draws N(0, 4): the standard deviation is twice the range of a clean picture.
func normalNoise(rng *rand.Rand) float64 { return 2 * rng.NormFloat64() }

// studentNoise draws Student's t with 3 degrees of freedom and variance 3: ξ₀ / √((ξ₁² + ξ₂² + ξ₃²) / 3), ξ ~ N(0, 1).
func studentNoise(rng *rand.Rand) float64 {
	a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
	return rng.NormFloat64() / math.Sqrt((a*a+b*b+c*c)/3)
}

// noisy adds independent noise to every value of a renderer without clipping, as in the published pictures. The same scene without noise and with the same seed
// shows the clean picture.
type noisy struct {
	clean renderer
	noise *pixelNoise
	rng   *rand.Rand
	still Picture // used by expect
}

func (n *noisy) format() Format {
	f := n.clean.format()
	f.Depth = Real
	return f
}

func (n *noisy) render(dst *Picture, z []float64, age float64) bool {
	inside := n.clean.render(dst, z, age)
	for i := range dst.F32 {
		dst.F32[i] += float32(n.noise.draw(n.rng))
	}
	return inside
}

// A noise table holds 2048 values: 11 bits of a random word choose a cell, the other 21 choose within it.
const (
	cellBits    = 11
	cutBits     = 32 - cellBits
	noiseValues = 1 << cellBits
)

// NoiseTable draws from a distribution on the integers first .. first + noiseValues - 1 by the alias method (Walker 1977, built as by Vose 1991). Each cell has
// two values: its own value below the cut, and its alias above. Cut and alias are packed into one word, so a table takes 8 KiB. Probabilities are exact to
// 2⁻³².
type NoiseTable struct {
	first uint16
	cells [noiseValues]uint32 // cut << cellBits | alias
}

// newNoiseTable returns the table that draws first + i with probability p[i]. p has noiseValues entries and sums to 1 up to
// rounding. first is at least 0, and first + noiseValues at most 65536.
func newNoiseTable(first int, p []float64) *NoiseTable {
	t := &NoiseTable{first: uint16(first)}
	share := make([]float64, noiseValues) // in cells
	var small, large []int
	total := 0.0
	for _, v := range p {
		total += v
	}
	for i, v := range p {
		share[i] = v / total * noiseValues
		if share[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		low, high := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t.cells[low] = uint32(share[low]*(1<<cutBits))<<cellBits | uint32(high)
		share[high] -= 1 - share[low]
		if share[high] < 1 {
			large = large[:len(large)-1]
			small = append(small, high)
		}
	}
	for _, i := range append(small, large...) { // a cell that is full up to rounding is its own alias
		t.cells[i] = uint32(i)
	}
	return t
}

// draw maps 32 random bits to a value.
func (t *NoiseTable) draw(bits uint32) uint16 {
	value := bits >> cutBits
	cell := t.cells[value]
	if bits&(1<<cutBits-1) >= cell>>cellBits {
		value = cell & (noiseValues - 1)
	}
	return t.first + uint16(value)
}

// PoissonTable returns the table of a Poisson law with a mean up to MostPoisson.
func PoissonTable(mean float64) *NoiseTable {
	p := make([]float64, noiseValues)
	for n := range p {
		factorial, _ := math.Lgamma(float64(n) + 1) // log of n!
		p[n] = math.Exp(float64(n)*math.Log(mean) - mean - factorial)
	}
	return newNoiseTable(0, p)
}

// MostPoisson is the largest mean of a PoissonTable. The table's last value is then 33 standard deviations above the mean.
const MostPoisson = 1000

// Fill draws every value, two per random word.
func (t *NoiseTable) Fill(dst []uint16, bits *rand.PCG) {
	for len(dst) >= 2 {
		word := bits.Uint64()
		dst[0], dst[1] = t.draw(uint32(word)), t.draw(uint32(word>>32))
		dst = dst[2:]
	}
	if len(dst) > 0 {
		dst[0] = t.draw(uint32(bits.Uint64()))
	}
}
