package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"

	"gocv.io/x/gocv"
	"gonum.org/v1/gonum/mat"

	"driftscope/internal/frame"
	"driftscope/online"
)

// registration is the only baseline.
const registration = "registration"

// compare adds the mean squared errors, summed over coordinates, of the displacement between consecutive frames of a film: of the model's
// latents as they are laid over the truth, and of image registration on the raw frames, in pixels, whose affine map to the truth's
// displacements is fitted on the same frames.
func (e *evaluation) compare(ctx context.Context, rec *recording, seen *encoded, truth *truth, judged, fitted []int, a *alignment) error {
	moved, err := register(ctx, rec, seen)
	if err != nil {
		return err
	}
	learnt, pairs := seen.pairs(fitted), seen.pairs(judged)
	if len(pairs) == 0 {
		return usage(fmt.Errorf("--baseline: %s has no two consecutive frames of one trajectory to judge on", rec.arg))
	}
	registered, err := online.Affine(pickRows(moved, learnt), displaced(truth.z, learnt))
	if err != nil {
		return usage(fmt.Errorf("--baseline: laying what registration finds over the truth, on %d pairs of frames: %w", len(learnt), err))
	}
	want := displaced(truth.z, pairs)
	ours := sum(online.MeanSquares(displaced(a.laid, pairs), want))
	theirs := sum(online.MeanSquares(registered.Apply(pickRows(moved, pairs)), want))
	e.DisplacementMSE, e.RegistrationMSE = &ours, &theirs
	return nil
}

// pairs lists those of the rows whose frame goes on from the row before in one trajectory. rows increase.
func (e *encoded) pairs(rows []int) []int {
	var later []int
	for k := 1; k < len(rows); k++ {
		if i := rows[k]; rows[k-1] == i-1 && e.trajectory[i] == e.trajectory[i-1] {
			later = append(later, i)
		}
	}
	return later
}

// displaced is how far each of the rows lies from the row before it.
func displaced(z *mat.Dense, rows []int) *mat.Dense {
	out := pickRows(z, rows)
	for k, i := range rows {
		to := out.RawRowView(k)
		for j, from := range z.RawRowView(i - 1) {
			to[j] -= from
		}
	}
	return out
}

// register gives the displacement from the frame before to each of seen, in pixels to the right and down.
func register(ctx context.Context, rec *recording, seen *encoded) (*mat.Dense, error) {
	r := &registrar{last: gocv.NewMat(), window: gocv.NewMat()}
	defer r.close()
	out, n := mat.NewDense(len(seen.seq), 2, nil), 0
	_, err := rec.each(ctx, nil, func(f *frame.Frame) error {
		x, y, err := r.follow(f)
		if n < len(seen.seq) {
			out.SetRow(n, []float64{x, y})
		}
		n++
		return rec.naming(err)
	})
	if err == nil && n != len(seen.seq) {
		err = fmt.Errorf("%s gave %d frames, then %d: it changed while it was read", rec.arg, len(seen.seq), n)
	}
	return out, err
}

// registrar is OpenCV's phase correlation (Kuglin and Hines 1975) of whole frames less their mean, smoothed, under a Hann window, its
// peak refined to the centroid of 5×5 pixels.
type registrar struct {
	last   gocv.Mat // the frame before, empty at the first
	window gocv.Mat
}

// follow gives the displacement since the frame before, 0 at the first. It borrows f.
func (r *registrar) follow(f *frame.Frame) (x, y float64, err error) {
	g, err := grey(f)
	if err != nil {
		return 0, 0, err
	}
	first := r.last.Empty()
	if !first && (r.last.Rows() != g.height || r.last.Cols() != g.width) {
		return 0, 0, fmt.Errorf("frame %d is %dx%d, the one before %dx%d: give frames of one size", f.Seq, g.width, g.height, r.last.Cols(), r.last.Rows())
	}
	now := gocv.NewMatWithSize(g.height, g.width, gocv.MatTypeCV32FC1)
	if err := g.smooth(&now); err != nil {
		now.Close()
		return 0, 0, fmt.Errorf("frame %d: %w", f.Seq, err)
	}
	if first {
		r.window.Close()
		r.window, err = hann(g.width, g.height)
	} else {
		shift, _ := gocv.PhaseCorrelate(r.last, now, r.window)
		x, y = float64(shift.X), float64(shift.Y)
	}
	r.last.Close()
	r.last = now
	return x, y, err
}

func (r *registrar) close() {
	r.last.Close()
	r.window.Close()
}

// smooth writes the picture less its mean to dst, which has its size and 32-bit pixels, and smooths it as the centre search does.
func (g *greyFrame) smooth(dst *gocv.Mat) error {
	const sd = 3 // pixels; the paper's supplement
	data, err := dst.DataPtrFloat32()
	if err != nil {
		return err
	}
	var mean float64
	for _, v := range g.pixels {
		mean += float64(v) / float64(len(g.pixels))
	}
	for i, v := range g.pixels {
		data[i] = v - float32(mean)
	}
	if !gocv.CheckRange(*dst) {
		return errors.New("the picture holds values that are not finite numbers: leave the frame out")
	}
	gocv.GaussianBlur(*dst, dst, image.Point{}, sd, sd, gocv.BorderReflect)
	return nil
}

// hann is sin(π(x+½)/w) sin(π(y+½)/h), the root of a Hann window, as OpenCV gives it for phase correlation.
func hann(width, height int) (gocv.Mat, error) {
	m := gocv.NewMatWithSize(height, width, gocv.MatTypeCV32FC1)
	data, err := m.DataPtrFloat32()
	along := func(k, n int) float64 { return math.Sin(math.Pi * (float64(k) + 0.5) / float64(n)) }
	for i := range data {
		data[i] = float32(along(i%width, width) * along(i/width, height))
	}
	return m, err
}
