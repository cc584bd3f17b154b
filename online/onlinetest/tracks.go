package onlinetest

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"driftscope/online/exact"
)

// Set holds the parameters of simulated tracks. Lengths are in px, times in frames.
type Set struct {
	Tracks, Places int
	D              float64    // half of the mean square step along an axis
	DSpread        float64    // sd of ln D between tracks
	Noise          float64    // localisation sd
	Alpha          float64    // exponent of fractional motion; 0 means 1
	Rate           float64    // rate of a trap, 1/frame
	Turn           float64    // rotation of the trap, 1/frame
	Exposure       float64    // exposure as a fraction of a frame; above 0 the path is simulated in 20 parts per frame
	Speed          float64    // sd of the velocity of a track along each axis
	Flow           [2]float64 // common velocity of all tracks
	Fast           float64    // D of a second state
	Leave          float64    // probability per frame of leaving either state
	Still          bool       // tracks keep their first state
	Bad            float64    // factor on the localisation sd, in stretches of 20 of every 100 positions
	Missing        float64    // fraction of missing positions
	Line           bool       // y is constant
	Grid           float64    // positions are rounded to multiples of Grid
}

// Draw simulates the tracks of a set.
func (s Set) Draw(rng *rand.Rand) []exact.Track {
	out := make([]exact.Track, s.Tracks)
	var root *mat.TriDense
	if s.Alpha > 0 && s.Alpha != 1 {
		root = steps(s.Alpha, s.Places-1)
	}
	for i := range out {
		d := s.D * math.Exp(s.DSpread*rng.NormFloat64())
		path := s.path(rng, d, root)
		v := [2]float64{s.Flow[0] + s.Speed*rng.NormFloat64(), s.Flow[1] + s.Speed*rng.NormFloat64()}
		bad := rng.IntN(100)
		for k, p := range path {
			noise := s.Noise
			if s.Bad > 0 && (k+bad)%100 < 20 {
				noise *= s.Bad
			}
			at := exact.Place{Frame: k, X: 100 + p[0] + v[0]*float64(k) + noise*rng.NormFloat64(), Y: 100 + p[1] + v[1]*float64(k) + noise*rng.NormFloat64()}
			if s.Line {
				at.Y = 7
			}
			if s.Grid > 0 {
				at.X, at.Y = s.Grid*math.Round(at.X/s.Grid), s.Grid*math.Round(at.Y/s.Grid)
			}
			if k == 0 || rng.Float64() >= s.Missing {
				out[i] = append(out[i], at)
			}
		}
	}
	return out
}

// path returns the noiseless path of one object, one position per frame.
func (s Set) path(rng *rand.Rand, d float64, root *mat.TriDense) [][2]float64 {
	out := make([][2]float64, s.Places)
	switch {
	case root != nil:
		z := mat.NewVecDense(s.Places-1, nil)
		var moved mat.VecDense
		for axis := range 2 {
			for k := range s.Places - 1 {
				z.SetVec(k, rng.NormFloat64())
			}
			moved.MulVec(root.T(), z)
			for k := 1; k < s.Places; k++ {
				out[k][axis] = out[k-1][axis] + math.Sqrt(2*d)*moved.AtVec(k-1)
			}
		}
	case s.Rate > 0:
		s.trapped(rng, d, out)
	default:
		fast := rng.IntN(2) == 1 && s.Fast > 0
		const parts = 20
		var x [2]float64
		for k := range out {
			if s.Fast > 0 && !s.Still && rng.Float64() < s.Leave {
				fast = !fast
			}
			now := d
			if fast {
				now = s.Fast
			}
			var seen [2]float64
			for part := range parts {
				for axis := range x {
					x[axis] += math.Sqrt(2*now/parts) * rng.NormFloat64()
					if float64(part) >= parts*(1-s.Exposure) {
						seen[axis] += x[axis] / (parts * s.Exposure)
					}
				}
			}
			if s.Exposure == 0 {
				seen = x
			}
			out[k] = seen
		}
	}
	return out
}

// trapped computes a path in a trap, exact at parts of a frame. A rotation turns the displacement while it decays.
func (s Set) trapped(rng *rand.Rand, d float64, out [][2]float64) {
	parts := 1
	if s.Exposure > 0 {
		parts = 20
	}
	h := 1 / float64(parts)
	decay, sd := math.Exp(-s.Rate*h), math.Sqrt(d/s.Rate)
	spread := sd * math.Sqrt(-math.Expm1(-2*s.Rate*h))
	c, w := math.Cos(s.Turn*h), math.Sin(s.Turn*h)
	x := [2]float64{sd * rng.NormFloat64(), sd * rng.NormFloat64()}
	for k := range out {
		for part := range parts {
			x = [2]float64{decay*(c*x[0]+w*x[1]) + spread*rng.NormFloat64(), decay*(c*x[1]-w*x[0]) + spread*rng.NormFloat64()}
			if float64(part) >= float64(parts)*(1-s.Exposure)-1e-9 && s.Exposure > 0 {
				n := math.Round(float64(parts) * s.Exposure)
				out[k][0], out[k][1] = out[k][0]+x[0]/n, out[k][1]+x[1]/n
			}
		}
		if s.Exposure == 0 {
			out[k] = x
		}
	}
}

// steps returns the Cholesky root of the covariance of n steps of fractional motion.
func steps(alpha float64, n int) *mat.TriDense {
	c := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			l := float64(j - i)
			c.SetSym(i, j, 0.5*(math.Pow(l+1, alpha)+math.Pow(math.Abs(l-1), alpha)-2*math.Pow(l, alpha)))
		}
	}
	var root mat.Cholesky
	root.Factorize(c)
	var u mat.TriDense
	root.UTo(&u)
	return &u
}
