package sdevae

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
)

// The limits of rectification. With more noise than largestNoise, where its share 2r/(1+2r) of the increments passes 0.3, they say
// too little of how the latents bend; below it even uneven noise hardly bends straight latents, and the estimate of r, whose sd is
// about 0.04 on 1000 frames, stays clear of the limit where there is no noise. A gain below leastGain, over all held-out pairs, is
// taken for chance: a likelihood ratio of e².
const (
	largestNoise = 0.2 // r
	leastGain    = 2   // nats

	// A map learnt from fewer throws what lies just beyond the clip far off: on 79 pairs and 48 coefficients, R2 0.99 became 0.
	pairsPerCoefficient = 10
	cubicAxes           = 4   // dimensions up to which the map is cubic; beyond, it is quadratic
	maxSteps            = 200 // of L-BFGS
)

// Rectified says what straightening the latents was worth.
type Rectified struct {
	Gain       float64 // nats a held-out pair; 0 where the pictures' components straightened them
	Components float64 // share of the pictures' variance that these explain; 0 where the likelihood straightened them
	Inverse    float64 // rms error of the decoder's way back from the latents, in their standard deviations
}

// rectify is r followed by the map that makes the diffusion the same everywhere, learnt from the latents m (n × d) alone, and by
// another whitening; r itself where that gains nothing, where localisation noise hides the increments, or where there are
// too few pairs for as many coefficients.
func (r *reference) rectify(m []float32, pairs []Pair) (*reference, *Rectified, error) {
	d := len(r.mean)
	b := newBasis(d, bendDegree(d))
	if fewPairs(b, d, pairs) || noise(increments(m, d, pairs)) > largestNoise {
		return r, nil, nil
	}
	unit := r.unit(m)
	weights, gain := straighten(newLikelihood(b, unit.coordinates(m), pairs))
	if weights == nil {
		return r, nil, nil
	}
	return unit.bent(&polynomial{b, weights}, m, pairs, Rectified{Gain: gain})
}

// fewPairs says whether there are too few to learn a map with this basis from.
func fewPairs(b basis, d int, pairs []Pair) bool {
	return pairsPerCoefficient*coefficients(b, d) > len(pairs)
}

// bent is r, whose axes have variance 1 over m, followed by p and by another whitening.
func (r *reference) bent(p *polynomial, m []float32, pairs []Pair, worth Rectified) (*reference, *Rectified, error) {
	s := r.coordinates(m)
	white, err := whiten(narrow(p.apply(s).RawMatrix().Data), len(r.mean), pairs)
	if err != nil {
		return nil, nil, err
	}
	r.bend = white.after(p)
	z := r.bend.apply(s)
	if r.unbend, err = fitPolynomial(p.basis, z, s); err != nil {
		return nil, nil, err
	}
	var miss mat.Dense
	miss.Sub(r.unbend.apply(z), s)
	worth.Inverse = mat.Norm(&miss, 2) / mat.Norm(s, 2)
	return r, &worth, nil
}

// bendDegree is the map's in d dimensions.
func bendDegree(d int) int {
	if d > cubicAxes {
		return 2
	}
	return 3
}

// straighten gives the weights that the held-out pairs like best and their gain a pair, nil where that is not beyond chance.
func straighten(l *likelihood) (weights *mat.Dense, gain float64) {
	_, d := l.s.Dims()
	x := make([]float64, coefficients(l.basis, d))
	start := l.nll(l.held, x)
	if math.IsInf(start, 1) { // an axis stands still
		return nil, 0
	}
	kept := &keeper{likelihood: l, loss: start}
	// The line search gives up where rounding ends progress: as good an end as any.
	_, _ = optimize.Minimize(optimize.Problem{Func: l.loss, Grad: l.gradient}, x, &optimize.Settings{
		Recorder: kept, MajorIterations: maxSteps, Converger: &optimize.FunctionConverge{Absolute: 1e-6, Iterations: 5}}, &optimize.LBFGS{})
	gain = start - kept.loss
	if gain*float64(l.held.pairs) < leastGain {
		return nil, 0
	}
	return l.weights(kept.x), gain
}

// keeper is an optimize.Recorder that keeps the iterate with the lowest held-out loss.
type keeper struct {
	likelihood *likelihood
	x          []float64
	loss       float64
}

func (k *keeper) Init() error { return nil }

func (k *keeper) Record(at *optimize.Location, op optimize.Operation, _ *optimize.Stats) error {
	if op != optimize.MajorIteration {
		return nil
	}
	if loss := k.likelihood.nll(k.likelihood.held, at.X); loss < k.loss {
		k.x, k.loss = slices.Clone(at.X), loss
	}
	return nil
}

// coordinates is (m - mean) to, n × d.
func (r *reference) coordinates(m []float32) *mat.Dense {
	d := len(r.mean)
	centred := wide(m)
	for i := range centred {
		centred[i] -= r.mean[i%d]
	}
	var s mat.Dense
	s.Mul(mat.NewDense(len(m)/d, d, centred), r.to)
	return &s
}

// unit is r with every axis divided by its standard deviation over m.
func (r *reference) unit(m []float32) *reference {
	s := r.coordinates(m)
	u := &reference{mean: r.mean, to: mat.DenseCopyOf(r.to), back: mat.DenseCopyOf(r.back)}
	for i := range r.mean {
		sd := stat.StdDev(mat.Col(nil, i, s), nil)
		for j := range r.mean {
			u.to.Set(j, i, u.to.At(j, i)/sd)
			u.back.Set(i, j, u.back.At(i, j)*sd)
		}
	}
	return u
}

// after is p with r's linear map behind it.
func (r *reference) after(p *polynomial) *polynomial {
	var weights, offset mat.Dense
	weights.Mul(p.weights, r.to)
	offset.Mul(mat.NewDense(1, len(r.mean), r.mean), r.to)
	for i := range r.mean {
		weights.Set(0, i, weights.At(0, i)-offset.At(0, i))
	}
	return &polynomial{p.basis, &weights}
}

// slopes is the polynomial in s whose output l·d + i is ∂zᵢ/∂mₗ.
func (r *reference) slopes() *polynomial {
	d := len(r.mean)
	j := r.bend.jacobian()
	for k := range j.basis {
		row := mat.NewDense(d, d, j.weights.RawRowView(k))
		row.Mul(r.to, mat.DenseCopyOf(row))
	}
	return j
}

// slopesAt is ∂zᵢ/∂mₗ at row l and column i.
func (r *reference) slopesAt(s []float64) *mat.Dense {
	d := len(r.mean)
	phi := mat.NewDense(len(r.bend.basis), d, nil)
	r.bend.basis.slopes(phi, s)
	var out mat.Dense
	out.Product(r.to, phi.T(), r.bend.weights)
	return &out
}
