package paper

import (
	"context"
	"errors"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"driftscope/ingest/sim"
	"driftscope/internal/job/evaluation"
)

// oneFrame is the bound of a film's pictures: the Cramér-Rao bound of a latent from one frame, per coordinate, in the unit of L_latent. It assumes a known
// renderer and known noise. It is a mean over frames.
type oneFrame struct {
	Coord      float64 `json:"coord"`                 // for a changing shape: with a known distribution of the shape, but an unknown shape
	KnownShape float64 `json:"known_shape,omitempty"` // with a known shape
	Share      float64 `json:"share"`                 // share of the frames with a bound; in the other frames a latent does not change the picture
}

// boundFrames is the number of frames over which the bound is averaged, evenly spread over the judged frames.
const boundFrames = 100

// allow computes the bound of the pictures by simulating the training film again. It returns nil if the pictures of the scene are missing.
func (e *experiment) allow(ctx context.Context) (*oneFrame, error) {
	scene, err := e.scene()
	if err != nil {
		return nil, err
	}
	if scene.Pictures() != e.Pictures {
		return nil, nil
	}
	chosen, err := e.spread(boundFrames)
	if err != nil {
		return nil, err
	}
	var picture sim.Picture
	b := &bounds{of: scene}
	for k := 0; ; k++ {
		truth, err := scene.Next(&picture)
		if errors.Is(err, io.EOF) {
			return b.mean()
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		if chosen[k] {
			b.add(truth.Z, scene.Strides())
		}
	}
}

// spread chooses up to n evenly spaced frames from the frames on which L_latent is measured.
func (e *experiment) spread(n int) (chosen map[int]bool, err error) {
	walk, err := sim.NewWalk(e.Row, e.Seed)
	if err != nil {
		return nil, err
	}
	judged, trajectory := make([]int, e.Frames), make([]uint64, e.Frames)
	for i := range judged {
		judged[i], trajectory[i] = i, walk.Next().Trajectory
	}
	if e.row.affine {
		_, judged = halves(evaluation.Films(trajectory))
	}
	n = min(n, len(judged))
	chosen = make(map[int]bool, n)
	for i := range n {
		chosen[judged[i*len(judged)/n]] = true
	}
	return chosen, nil
}

// expecting is a scene that can compute the distribution of a frame's values, such as sim.Scene.
type expecting interface {
	Expect(dst, z, shape []float64) (mean []float64, inside bool)
	Information(dst, mean []float64) []float64
	Shape() (now, sd []float64)
}

// bounds sums the bounds of frames.
type bounds struct {
	of           expecting
	here, beside []float64   // means of the values
	holds        []float64   // Fisher information of each value about its mean
	slopes       [][]float64 // derivatives of each value with respect to the coordinates of z and then of shape
	frames       int
	allowing     int // frames with a bound
	sum          oneFrame
}

func (b *bounds) mean() (*oneFrame, error) {
	if b.allowing == 0 {
		return nil, fmt.Errorf("in none of %d frames does every latent change the picture, so there is no bound", b.frames)
	}
	n := float64(b.allowing)
	return &oneFrame{Coord: b.sum.Coord / n, KnownShape: b.sum.KnownShape / n, Share: n / float64(b.frames)}, nil
}

// add adds the bound of the frame at z, if there is one. With J the Fisher information of z and shape, P the inverse prior variances of
// the shape, and d coordinates of z, the bound is
//
//	tr[(J + P)⁻¹]_zz / d,
//
// the mean squared error of the best linear estimate near the truth (van Trees, "Detection, Estimation, and Modulation Theory" I, 1968, section 2.4; his bound
// averages J first and is smaller). Without a shape it is tr J⁻¹ / d.
func (b *bounds) add(z, strides []float64) {
	shape, sd := b.of.Shape()
	info := b.information(z, shape, append(steps(strides), steps(sd)...))
	d := len(z)
	b.frames++
	known, exists := errorIn(info.SliceSym(0, d), d)
	if !exists {
		return
	}
	unknown := known
	if len(shape) > 0 {
		for i, s := range sd {
			info.SetSym(d+i, d+i, info.At(d+i, d+i)+1/(s*s))
		}
		if unknown, exists = errorIn(info, d); !exists {
			return
		}
		b.sum.KnownShape += known
	}
	b.sum.Coord += unknown
	b.allowing++
}

// stepOf is the step of the finite differences to either side, as a fraction of the stride: about 1/40 of a pixel for a centre in the paper's pictures.
const stepOf = 0.01

func steps(strides []float64) []float64 {
	steps := make([]float64, len(strides))
	for i, s := range strides {
		steps[i] = stepOf * s
	}
	return steps
}

// information returns the Fisher information Σ_k ∇m_k ∇m_k' I_k over values with mean m and information I. It computes the gradient by finite differences with
// the given steps.
func (b *bounds) information(z, shape, step []float64) *mat.SymDense {
	b.here, _ = b.of.Expect(b.here, z, shape)
	b.holds = b.of.Information(b.holds, b.here)
	at := append(append([]float64{}, z...), shape...)
	b.slopes = b.slopes[:0]
	for i := range at {
		b.slopes = append(b.slopes, b.slope(at, len(z), i, step[i]))
	}
	info := mat.NewSymDense(len(at), nil)
	for i, si := range b.slopes {
		for j, sj := range b.slopes[:i+1] {
			sum := 0.0
			for k, v := range b.holds {
				sum += si[k] * sj[k] * v
			}
			info.SetSym(i, j, sum)
		}
	}
	return info
}

// slope returns the derivative of every mean with respect to coordinate i. At the picture's edge, beyond which nothing moves, the difference is one-sided,
// towards the inside.
func (b *bounds) slope(at []float64, d, i int, step float64) []float64 {
	slope := make([]float64, len(b.here))
	centre, width := at[i], 0.0
	for _, side := range []float64{-1, 1} {
		at[i] = centre + side*step
		var inside bool
		means := b.here
		if b.beside, inside = b.of.Expect(b.beside, at[:d], at[d:]); inside {
			means, width = b.beside, width+step
		}
		for k, m := range means {
			slope[k] += side * m
		}
	}
	at[i] = centre
	for k := range slope {
		slope[k] /= max(width, step) // the slope is 0 beyond both sides
	}
	return slope
}

// errorIn returns the mean of the first d variances of an estimate with this information. exists is false if a coordinate has no information beyond rounding.
func errorIn(info mat.Symmetric, d int) (mean float64, exists bool) {
	var c mat.Cholesky
	var inverse mat.SymDense
	if !c.Factorize(info) || c.InverseTo(&inverse) != nil {
		return 0, false
	}
	for i := range d {
		mean += inverse.At(i, i) / float64(d)
	}
	return mean, true
}
