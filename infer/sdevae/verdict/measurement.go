package verdict

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

const (
	agreement     float64 = 0.9 // tuned share.agreement: R² below which a third of the motion is missing (√0.1): two measurements then disagree
	framesPerTerm         = 5   // tuned frames.perTerm: frames per regression term, at least: overfitting then costs a fifth of the remaining R²
)

const ridge = 1e-6 // ridge of standardised columns, against equal latents

// noMeasurement is the message for a film without a measurable object.
var noMeasurement = Finding{Level: Good, Reason: "no independent measurement exists: the film shows no single object whose place can be measured"}

// agreement judges R² of a regression of the measured position on the latents, affine or quadratic, fitted on the training frames and evaluated on the held-out
// frames.
func (c *Case) agreement() Finding {
	if c.Measured == nil {
		return noMeasurement
	}
	var r2 [2]Share
	for i := range r2 {
		place := make([]float64, c.Clip.Len())
		for k := range place {
			place[k] = c.Measured[2*k+i]
		}
		if !(c.measuredNoise(place) <= numeric.SmallShare) {
			return noMeasurement
		}
		r2[i] = c.explained(place, 1)
		if quadratic := c.explained(place, 2); quadratic.Value > r2[i].Value {
			r2[i] = quadratic
		}
	}
	at := fmt.Sprintf("R² = %.3f ± %.1g of x, %.3f ± %.1g of y", r2[0].Value, r2[0].Error, r2[1].Value, r2[1].Error)
	try := "crop closer to the object, leave --keep-light out, or try more latents"
	worse := 0
	if r2[1].Value < r2[0].Value {
		worse = 1
	}
	name := []string{"x", "y"}[worse]
	switch {
	case r2[worse].High < numeric.Majority:
		return Finding{Bad, "the latents do not explain the object's " + name + ", compared with its centroid: " + at, try}
	case !(r2[worse].Value >= agreement):
		return Finding{Doubt, "the latents explain the object's " + name + " only in part, compared with its centroid: " + at, try}
	}
	return Finding{Level: Good, Reason: "the latents explain the object's position, compared with its centroid: " + at}
}

// measuredNoise returns the share of noise in a measurement's variance, from R = -mean DD₊ of its steps. If the measurement jumps between objects, this also
// counts as noise.
func (c *Case) measuredNoise(place []float64) float64 {
	lagged, n := 0.0, 0.0
	pairs := c.all()
	for k, p := range pairs[1:] {
		if f := p.First; pairs[k].First == f-1 {
			lagged += (place[f] - place[f-1]) * (place[f+1] - place[f])
			n++
		}
	}
	return max(0, -lagged/n) / stat.Variance(place, nil)
}

// explained returns R² of a polynomial of the latents on held-out frames, relative to the mean of the other frames. The result is unknown (infinite limits) if
// there are too few frames for the fit.
func (c *Case) explained(place []float64, degree int) Share {
	held := video.FramesOf(c.Held)
	rest, basis := without(c.Clip.Len(), held), numeric.NewBasis(c.Dim, degree)
	if len(held) == 0 || framesPerTerm*len(basis) > len(rest) {
		return Share{Value: math.Inf(-1), Low: math.Inf(-1), High: math.Inf(1), Error: math.Inf(1)}
	}
	weights, mean := fit(basis.Design(c.standardised(rest)), pick(place, rest))
	var told mat.VecDense
	told.MulVec(basis.Design(c.standardised(held)), weights)
	var missed, moved []float64
	for k, v := range pick(place, held) {
		missed, moved = append(missed, square(v-mean-told.AtVec(k))), append(moved, square(v-mean))
	}
	left := shareOf(missed, moved, blocksOf(held, false))
	return Share{Value: 1 - left.Value, Low: 1 - left.High, High: 1 - left.Low, Error: left.Error}
}

// fit returns the regression of values minus their mean on a design, with a small ridge.
func fit(design *mat.Dense, values []float64) (weights *mat.VecDense, mean float64) {
	rows, terms := design.Dims()
	mean = stat.Mean(values, nil)
	target := mat.NewVecDense(rows, slices.Clone(values))
	for k := range rows {
		target.SetVec(k, values[k]-mean)
	}
	var gram mat.SymDense
	gram.SymOuterK(1, design.T())
	for i := range terms {
		gram.SetSym(i, i, gram.At(i, i)+ridge*float64(rows))
	}
	var root mat.Cholesky
	weights = mat.NewVecDense(terms, nil)
	if root.Factorize(&gram) {
		weights.MulVec(design.T(), target)
		_ = root.SolveVecTo(weights, weights) // the error only warns of bad conditioning; the held-out frames judge the result
	}
	return weights, mean
}

// standardised returns the latents of some frames, in units of their sd over the clip.
func (c *Case) standardised(frames []int) *mat.Dense {
	out := mat.NewDense(len(frames), c.Dim, nil)
	for i := range c.Dim {
		axis := c.axis(c.Z, i)
		mean, sd := stat.MeanStdDev(axis, nil)
		for k, f := range frames {
			out.Set(k, i, (axis[f]-mean)/max(sd, math.SmallestNonzeroFloat64))
		}
	}
	return out
}

func pick(values []float64, at []int) []float64 {
	out := make([]float64, len(at))
	for k, i := range at {
		out[k] = values[i]
	}
	return out
}

// without lists the frames from 0 to n-1 that are not in held. held must be sorted.
func without(n int, held []int) (rest []int) {
	for f := range n {
		if len(held) > 0 && held[0] == f {
			held = held[1:]
			continue
		}
		rest = append(rest, f)
	}
	return rest
}

func square(x float64) float64 { return x * x }
