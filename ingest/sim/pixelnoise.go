package sim

import (
	"math"
	"math/rand/v2"
)

// pixelNoise draws what is added to one value of one channel.
type pixelNoise func(rng *rand.Rand) float64

// noises are those of the paper's noisy rows.
var noises = []struct {
	name string
	draw pixelNoise
}{
	{"normal", normalNoise},
	{"student", studentNoise},
}

// normalNoise is N(0, 4): the standard deviation is twice the range of a clean picture.
func normalNoise(rng *rand.Rand) float64 { return 2 * rng.NormFloat64() }

// studentNoise is Student's t with 3 degrees of freedom, of variance 3: ξ₀ / √((ξ₁² + ξ₂² + ξ₃²) / 3), ξ ~ N(0, 1).
func studentNoise(rng *rand.Rand) float64 {
	a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
	return rng.NormFloat64() / math.Sqrt((a*a+b*b+c*c)/3)
}

// noisy adds independent noise to every value that a renderer draws, and clips nothing, as in the published pictures. The same
// scene without noise, of the same seed, shows what lies under it.
type noisy struct {
	clean renderer
	noise pixelNoise
	rng   *rand.Rand
}

func (n *noisy) format() Format {
	f := n.clean.format()
	f.Depth = Real
	return f
}

func (n *noisy) render(dst *Picture, z []float64, age float64) bool {
	inside := n.clean.render(dst, z, age)
	for i := range dst.F32 {
		dst.F32[i] += float32(n.noise(n.rng))
	}
	return inside
}
