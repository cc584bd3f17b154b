package evaluation

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"

	"gocv.io/x/gocv"
	"gonum.org/v1/gonum/mat"

	"driftscope/internal/flow/frame"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
	"driftscope/online/offline"
)

// registration is the only baseline.
const registration = "registration"

// Compare adds two mean squared errors of the displacement between consecutive frames of a film, summed over coordinates. One is for the model's aligned
// latents. The other is for image registration of the raw frames, whose affine map to the true displacements is fitted on the same frames.
func (e *Evaluation) Compare(ctx context.Context, seen *Encoded, truth *Truth, split Split, a *Alignment) error {
	moved, err := register(ctx, seen)
	if err != nil {
		return err
	}
	learnt, pairs := seen.Pairs(split.Fitted), seen.Pairs(split.Judged)
	if len(pairs) == 0 {
		return console.Usage(fmt.Errorf("--baseline: %s has no two consecutive frames of one trajectory", seen.recording.Arg))
	}
	registered, err := offline.Affine(PickRows(moved, learnt), Displaced(truth.Z, learnt))
	if err != nil {
		return console.Usage(fmt.Errorf("--baseline: mapping the registration to the truth, on %d pairs of frames: %w", len(learnt), err))
	}
	want := Displaced(truth.Z, pairs)
	ours := Sum(offline.MeanSquares(Displaced(a.Laid, pairs), want))
	theirs := Sum(offline.MeanSquares(registered.Apply(PickRows(moved, pairs)), want))
	e.DisplacementMSE, e.RegistrationMSE = &ours, &theirs
	return nil
}

// Pairs lists the rows whose frame directly follows the frame of the previous row in the same trajectory. rows is in ascending order.
func (e *Encoded) Pairs(rows []int) []int {
	var later []int
	for k := 1; k < len(rows); k++ {
		if i := rows[k]; rows[k-1] == i-1 && e.Trajectory[i] == e.Trajectory[i-1] {
			later = append(later, i)
		}
	}
	return later
}

// Displaced returns the distance of each row from the previous one.
func Displaced(z *mat.Dense, rows []int) *mat.Dense {
	out := PickRows(z, rows)
	for k, i := range rows {
		to := out.RawRowView(k)
		for j, from := range z.RawRowView(i - 1) {
			to[j] -= from
		}
	}
	return out
}

// register returns the displacement of each frame from the previous one, in pixels to the right and down.
func register(ctx context.Context, seen *Encoded) (*mat.Dense, error) {
	rec := seen.recording
	r := &registrar{last: gocv.NewMat(), window: gocv.NewMat()}
	defer r.close()
	out, n := mat.NewDense(len(seen.Seq), 2, nil), 0
	_, err := rec.Each(ctx, nil, func(f *frame.Frame) error {
		x, y, err := r.follow(f)
		if n < len(seen.Seq) {
			out.SetRow(n, []float64{x, y})
		}
		n++
		return rec.Naming(err)
	})
	if err == nil && n != len(seen.Seq) {
		err = fmt.Errorf("%s had %d frames, then %d: it changed while it was read", rec.Arg, len(seen.Seq), n)
	}
	return out, err
}

// registrar applies OpenCV's phase correlation (Kuglin and Hines 1975) to whole frames, after it subtracts their mean, smooths them and applies a
// Hann window. The peak is refined to the centroid of 5×5 pixels.
type registrar struct {
	last   gocv.Mat // the previous frame, empty at first
	window gocv.Mat
}

// follow returns the displacement since the previous frame, 0 for the first. It borrows f.
func (r *registrar) follow(f *frame.Frame) (x, y float64, err error) {
	g, err := recording.Grey(f)
	if err != nil {
		return 0, 0, err
	}
	first := r.last.Empty()
	if !first && (r.last.Rows() != g.Height || r.last.Cols() != g.Width) {
		return 0, 0, fmt.Errorf("frame %d is %dx%d, the previous one %dx%d: give frames of one size", f.Seq, g.Width, g.Height, r.last.Cols(), r.last.Rows())
	}
	now := gocv.NewMatWithSize(g.Height, g.Width, gocv.MatTypeCV32FC1)
	if err := smooth(&g, &now); err != nil {
		now.Close()
		return 0, 0, fmt.Errorf("frame %d: %w", f.Seq, err)
	}
	if first {
		r.window.Close()
		r.window, err = hann(g.Width, g.Height)
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

// smooth writes the picture minus its mean to dst, which has its size and 32-bit pixels, and smooths it like the centre search.
func smooth(g *recording.GreyFrame, dst *gocv.Mat) error {
	const sd = 3 // pixels; the paper's supplement
	data, err := dst.DataPtrFloat32()
	if err != nil {
		return err
	}
	var mean float64
	for _, v := range g.Pixels {
		mean += float64(v) / float64(len(g.Pixels))
	}
	for i, v := range g.Pixels {
		data[i] = v - float32(mean)
	}
	if !gocv.CheckRange(*dst) {
		return errors.New("the picture contains values that are not finite numbers: leave the frame out")
	}
	gocv.GaussianBlur(*dst, dst, image.Point{}, sd, sd, gocv.BorderReflect)
	return nil
}

// hann returns sin(π(x+½)/w) sin(π(y+½)/h), the square root of a Hann window, which OpenCV uses for phase correlation.
func hann(width, height int) (gocv.Mat, error) {
	m := gocv.NewMatWithSize(height, width, gocv.MatTypeCV32FC1)
	data, err := m.DataPtrFloat32()
	along := func(k, n int) float64 { return math.Sin(math.Pi * (float64(k) + 0.5) / float64(n)) }
	for i := range data {
		data[i] = float32(along(i%width, width) * along(i/width, height))
	}
	return m, err
}
