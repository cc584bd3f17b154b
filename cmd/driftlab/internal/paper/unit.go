package paper

import (
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"driftscope/infer/sdevae/gauge"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
	"driftscope/ingest/sim"
	"driftscope/internal/job/evaluation"
	"driftscope/online/offline"
)

// unitError returns L_latent per coordinate if every position is exact and only the unit is uncertain. It whitens the true latents by their own increments, as
// for a model, and aligns them with the truth by an isometry. N pairs determine σ to 1/√(2N), so latents of variance v have an error of about v/2N.
func (e *experiment) unitError() (float64, error) {
	walk, err := sim.NewWalk(e.Row, e.Seed)
	if err != nil {
		return 0, err
	}
	clip, d := &video.Clip{}, walk.Dim()
	truth := mat.NewDense(e.Frames, d, nil)
	for i := range e.Frames {
		t := walk.Next()
		truth.SetRow(i, t.Z)
		clip.Times, clip.Trajectory = append(clip.Times, t.T), append(clip.Trajectory, t.Trajectory)
	}
	z := numeric.Float32s(truth.RawMatrix().Data)
	unit, err := gauge.Whiten(z, d, clip.Pairs(clip.MaxGap()))
	if err != nil {
		return 0, err
	}
	a, err := evaluation.Lay("isometry", unit.Affine(z), truth, clip.Frames())
	if err != nil {
		return 0, err
	}
	return stat.Mean(offline.MeanSquares(a.Laid, truth), nil), nil
}
