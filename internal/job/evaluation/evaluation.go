// Package evaluation measures a model against the truth: its latents, aligned by an isometry or an affine map, and its drift; image registration serves as a
// baseline.
package evaluation

import (
	"context"
	"fmt"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/infer/sdevae"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/job/reach"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
	"driftscope/online/drift"
	"driftscope/online/offline"
)

// Options are the flags of the command eval.
type Options struct {
	Model     string // the model to test
	Video     string // the recording to test it on
	Truth     string // a truth.csv, or centroid
	Align     string // isometry or affine
	Frames    string // A:B, test frames
	FitFrames string // A:B, frames to fit an affine map
	Baseline  string // registration, or empty
	DT        float64
	FPS       float64
	Assets    string // the folder with the pictures that a simulation draws
}

// Evaluation is the output of eval.
type Evaluation struct {
	LLatent      float64   `json:"l_latent"`
	LMu          *float64  `json:"l_mu"`
	LLatentCoord float64   `json:"l_latent_coord"`
	LMuCoord     *float64  `json:"l_mu_coord"`
	LMuSeen      *float64  `json:"l_mu_seen,omitempty"` // like l_mu, but at the latents instead of the truth
	CRLB         float64   `json:"crlb"`
	ReconMSE     *float64  `json:"recon_mse"`
	R2           []float64 `json:"r2"`
	N            int       `json:"n"`
	DT           float64   `json:"dt"`
	Align        string    `json:"align"`

	SmoothedCoord *float64 `json:"l_smoothed_coord,omitempty"` // L_latent per coordinate, of latents smoothed over the whole recording; see Smooth

	// Only with a baseline; see Compare.
	DisplacementMSE *float64 `json:"displacement_mse,omitempty"`
	RegistrationMSE *float64 `json:"registration_mse,omitempty"`
}

// Split holds the rows used to fit the map and the rows used to test it.
type Split struct{ Fitted, Judged []int }

// Evaluate measures the model.
func (c *Options) Evaluate(ctx context.Context) (*Evaluation, error) {
	if c.FitFrames != "" && c.Align != "affine" {
		return nil, console.Usage(fmt.Errorf("--fit-frames %s: needs --align affine, but --align is %s: change --align or leave --fit-frames out", c.FitFrames, c.Align))
	}
	frames, err := recording.ParseSpan("--frames", c.Frames)
	if err != nil {
		return nil, err
	}
	model, err := reach.OpenSceneModel(c.Model)
	if err != nil {
		return nil, console.Usage(err)
	}
	if why := model.Card.Training.Verdict.Doubted(); why != "" {
		console.Warn("%s: its verdict is %s: %s", c.Model, model.Card.Training.Verdict.Level, why)
	}
	fit, err := recording.ParseSpan("--fit-frames", c.fitFrames(&model.Card))
	if err != nil {
		return nil, err
	}
	rec, err := recording.Open(c.Video, c.DT, c.FPS, c.Assets, recording.Whole)
	if err != nil {
		return nil, err
	}
	seen, err := EncodeAll(ctx, model, rec)
	if err != nil {
		return nil, err
	}
	if n := len(Films(seen.Trajectory)); n > 1 && recording.MovesWithFilm(model.Card.Preprocess) {
		console.Warn("%s has %d trajectories, but %s centres each separately, so one map does not fit all: test them one by one, with --frames inside one, and --fit-frames with --align affine", c.Video, n, c.Model)
	}
	truth, err := c.ReadTruth(ctx, rec, seen)
	if err != nil {
		return nil, err
	}
	split := Split{Fitted: seen.Rows(fit), Judged: seen.Rows(frames)}
	if c.Align == "isometry" {
		split.Fitted = split.Judged
	} else if overlap(frames, fit) {
		return nil, console.Usage(fmt.Errorf("test frames %s and fit frames %s overlap: an affine map needs separate frames, such as --fit-frames 0:50 --frames 50:100", frames, fit))
	}
	if len(split.Judged) < 2 || len(split.Fitted) < 2 {
		return nil, console.Usage(fmt.Errorf("%s has %d frames: %d for the test and %d for the fit, at least 2 of each are needed", c.Video, len(seen.Seq), len(split.Judged), len(split.Fitted)))
	}
	alignment, err := Lay(c.Align, seen.Z, truth.Z, split.Fitted)
	if err != nil {
		return nil, console.Usage(err)
	}
	result, err := Judge(model, seen, truth, split.Judged, alignment)
	if err != nil {
		return nil, err
	}
	if err := result.Smooth(seen, truth, split); err != nil {
		return nil, err
	}
	if c.Baseline == registration {
		if err := result.Compare(ctx, seen, truth, split, alignment); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// fitFrames returns the span of frames that fits an affine map.
func (c *Options) fitFrames(k *card.Card) string {
	if c.FitFrames != "" {
		return c.FitFrames
	}
	return k.Training.Frames
}

// Judge measures the error of the test latents after their alignment to the truth, and the error of the learnt drift. It evaluates the drift at the true
// positions, as in the paper, and at the latents, where the latents' own error adds to it.
func Judge(model *infer.Model, seen *Encoded, truth *Truth, judged []int, a *Alignment) (*Evaluation, error) {
	got, want := PickRows(a.Laid, judged), PickRows(truth.Z, judged)
	_, k := want.Dims()
	e := &Evaluation{N: len(judged), DT: seen.dt(), Align: a.how, R2: offline.R2(got, want)}
	e.LLatent = Sum(offline.MeanSquares(got, want))
	e.LLatentCoord = e.LLatent / float64(k)
	for i, s := range model.Card.Sigma {
		along := a.To.Linear.RawRowView(i) // has length 1 under an isometry
		e.CRLB += s * s * floats.Dot(along, along) / model.Card.Seconds
	}
	if truth.Mu != nil && model.Card.Drift != nil {
		places, err := a.places(seen.Z, truth.Z)
		if err != nil {
			return nil, err
		}
		off := func(z *mat.Dense) float64 {
			drift := a.To.Turn(DriftAt(sdevae.DriftOf(&model.Card), PickRows(z, judged)))
			return Sum(offline.MeanSquares(drift, PickRows(truth.Mu, judged)))
		}
		total, seenAt := off(places), off(seen.Z)
		coord := total / float64(k)
		e.LMu, e.LMuCoord, e.LMuSeen = &total, &coord, &seenAt
	}
	if seen.Reconstruction != nil {
		var total float64
		for _, i := range judged {
			total += seen.Reconstruction[i] / float64(len(judged))
		}
		e.ReconMSE = &total
	}
	return e, nil
}

// Smooth adds the error of the latents smoothed over the whole recording with their own law. The smoothed latents get their own alignment.
func (e *Evaluation) Smooth(seen *Encoded, truth *Truth, split Split) error {
	_, d := seen.Z.Dims()
	z, err := offline.Smooth(seen.Path(seen.Z), offline.Config{Dim: d})
	if err != nil {
		return err
	}
	a, err := Lay(e.Align, z, truth.Z, split.Fitted)
	if err != nil {
		return err
	}
	off := offline.MeanSquares(PickRows(a.Laid, split.Judged), PickRows(truth.Z, split.Judged))
	coord := Sum(off) / float64(len(off))
	e.SmoothedCoord = &coord
	return nil
}

// DriftAt returns the drift at n latents.
func DriftAt(network *drift.Network, z *mat.Dense) *mat.Dense {
	n, d := z.Dims()
	out, scratch := mat.NewDense(n, d, nil), new(drift.Scratch)
	for i := range n {
		network.Drift(out.RawRowView(i), z.RawRowView(i), scratch)
	}
	return out
}

// Encoded is a recording as encoded by the model.
type Encoded struct {
	recording      *recording.Recording
	Seq            []uint64
	Times          []float64
	Trajectory     []uint64
	Z              *mat.Dense
	Reconstruction []float64 // mean squared error per pixel, one value per frame; nil without a decoder
}

// EncodeAll runs the model over a whole recording, not only its test frames, because a model's clock starts with the first frame.
func EncodeAll(ctx context.Context, model *infer.Model, rec *recording.Recording) (*Encoded, error) {
	encoder, err := model.NewEncoder()
	if err != nil {
		return nil, err
	}
	defer encoder.Close()
	e := &Encoded{recording: rec}
	var z latent.Latent
	var rows []float64
	in := model.Card.Input
	picture := make([]float32, in.Channels*in.Height*in.Width)
	_, err = rec.Each(ctx, model.Card.Preprocess, func(f *frame.Frame) error {
		if err := encoder.Encode(ctx, &z, f); err != nil {
			return err
		}
		e.Seq, e.Times, e.Trajectory = append(e.Seq, f.Seq), append(e.Times, recording.Seconds(f)), append(e.Trajectory, f.Meta.Trajectory)
		rows = append(rows, z.Mean...)
		if !model.HasDecoder() {
			return nil
		}
		if err := encoder.Decode(picture, z.Mean); err != nil {
			return err
		}
		pixels, _, err := recording.Planes(f)
		e.Reconstruction = append(e.Reconstruction, MeanSquare(pixels, picture))
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(e.Seq) == 0 {
		return nil, fmt.Errorf("%s has no readable frame", rec.Arg)
	}
	e.Z = mat.NewDense(len(e.Seq), model.Card.Latent, rows)
	return e, nil
}

// Path returns z, one row per frame, as latents for the tracker.
func (e *Encoded) Path(z *mat.Dense) []latent.Latent {
	n, d := z.Dims()
	path := make([]latent.Latent, n)
	for i := range path {
		path[i] = latent.Latent{Seq: e.Seq[i], Time: time.Unix(0, int64(e.Times[i]*1e9)), Trajectory: e.Trajectory[i],
			Mean: z.RawRowView(i), SD: make([]float64, d)}
	}
	return path
}

// Rows lists the rows of the frames inside a span.
func (e *Encoded) Rows(s recording.Span) []int {
	var rows []int
	for i, k := range e.Seq {
		if s.Holds(k) {
			rows = append(rows, i)
		}
	}
	return rows
}

// dt returns the mean step between the first and the last frame, in seconds.
func (e *Encoded) dt() float64 {
	n := len(e.Times)
	return (e.Times[n-1] - e.Times[0]) / float64(max(n-1, 1))
}

// PickRows returns the matrix of these rows of m.
func PickRows(m *mat.Dense, rows []int) *mat.Dense {
	_, k := m.Dims()
	out := mat.NewDense(len(rows), k, nil)
	for i, r := range rows {
		out.SetRow(i, m.RawRowView(r))
	}
	return out
}

func overlap(a, b recording.Span) bool { return a.From < b.To && b.From < a.To }

// MeanSquare returns the mean squared difference of two pictures' pixels.
func MeanSquare(a, b []float32) float64 {
	var total float64
	for i, v := range a {
		d := float64(v - b[i])
		total += d * d
	}
	return total / float64(len(a))
}

// Sum adds up v.
func Sum(v []float64) float64 {
	var total float64
	for _, x := range v {
		total += x
	}
	return total
}
