package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/infer/sdevae"
	"driftscope/internal/frame"
	"driftscope/internal/latent"
	"driftscope/online"
)

// evalCmd measures a model against the truth, or against the object's intensity centroid.
type evalCmd struct {
	Model     string  `required:"" help:"The model file to judge, or embedded:molecule." placeholder:"MODEL.onnx"`
	Video     string  `required:"" help:"The recording to judge it on: a video, a folder, a TIFF, a FITS cube or sim:NAME."`
	Truth     string  `required:"" help:"truth.csv as simulate writes it, or centroid: the object's intensity centroid in pixels."`
	Align     string  `enum:"isometry,affine" default:"isometry" help:"How latents are laid over the truth: ${enum}."`
	Frames    string  `help:"Frames to judge on, A:B." placeholder:"A:B"`
	FitFrames string  `help:"Frames to fit an affine map on, A:B; the frames the model was trained on unless given." placeholder:"A:B"`
	Baseline  string  `enum:"registration," default:"" help:"registration: also judge displacements from frame to frame, beside those that phase correlation finds." placeholder:"NAME"`
	DT        float64 `name:"dt" help:"Seconds between frames, whatever the recording says." placeholder:"S"`
	FPS       float64 `name:"fps" help:"Frames a second, whatever the recording says."`
	Assets    string  `help:"A folder with the pictures that a sim:NAME draws, as simulate takes it." placeholder:"DIR" type:"path"`
}

// evaluation is what eval prints.
type evaluation struct {
	LLatent      float64   `json:"l_latent"`
	LMu          *float64  `json:"l_mu"`
	LLatentCoord float64   `json:"l_latent_coord"`
	LMuCoord     *float64  `json:"l_mu_coord"`
	LMuSeen      *float64  `json:"l_mu_seen,omitempty"` // as l_mu, at the latents in place of the truth
	CRLB         float64   `json:"crlb"`
	ReconMSE     *float64  `json:"recon_mse"`
	R2           []float64 `json:"r2"`
	N            int       `json:"n"`
	DT           float64   `json:"dt"`
	Align        string    `json:"align"`

	SmoothedCoord *float64 `json:"l_smoothed_coord,omitempty"` // L_latent a coordinate given the whole recording; see smooth

	// With a baseline alone; see compare.
	DisplacementMSE *float64 `json:"displacement_mse,omitempty"`
	RegistrationMSE *float64 `json:"registration_mse,omitempty"`
}

// Run prints one JSON object on standard output.
func (c *evalCmd) Run(ctx context.Context) error {
	if c.FitFrames != "" && c.Align != "affine" {
		return usage(fmt.Errorf("--fit-frames %s: is of --align affine, and this is %s: add that or leave --fit-frames out", c.FitFrames, c.Align))
	}
	frames, err := parseSpan("--frames", c.Frames)
	if err != nil {
		return err
	}
	model, err := openModel(c.Model)
	if err != nil {
		return usage(err)
	}
	fit, err := parseSpan("--fit-frames", c.fitFrames(&model.Card))
	if err != nil {
		return err
	}
	rec, err := openRecording(c.Video, c.DT, c.FPS, c.Assets, span{0, math.MaxUint64})
	if err != nil {
		return err
	}
	seen, err := encodeAll(ctx, model, rec)
	if err != nil {
		return err
	}
	if n := len(films(seen.trajectory)); n > 1 && movesWithFilm(model.Card.Preprocess) {
		warn("%s has %d trajectories, and %s sees each around a centre of its own, where one map is laid over all: judge them one by one, with --frames inside one, and --fit-frames with --align affine", c.Video, n, c.Model)
	}
	truth, err := c.readTruth(ctx, rec, seen)
	if err != nil {
		return err
	}
	judged, fitted := seen.rows(frames), seen.rows(fit)
	if c.Align == "isometry" {
		fitted = judged
	} else if overlap(frames, fit) {
		return usage(fmt.Errorf("frames %s are judged and %s fitted on: an affine map is never judged on frames it was fitted on; give --frames or --fit-frames apart", frames, fit))
	}
	if len(judged) < 2 || len(fitted) < 2 {
		return usage(fmt.Errorf("%s has %d frames: %d to judge on and %d to fit on, at least 2 of each are needed", c.Video, len(seen.seq), len(judged), len(fitted)))
	}
	alignment, err := lay(c.Align, seen.z, truth.z, fitted)
	if err != nil {
		return usage(err)
	}
	result, err := judge(model, seen, truth, judged, alignment)
	if err != nil {
		return err
	}
	if err := result.smooth(seen, truth, judged, fitted); err != nil {
		return err
	}
	if c.Baseline == registration {
		if err := result.compare(ctx, rec, seen, truth, judged, fitted, alignment); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

// fitFrames is the span that an affine map is fitted on.
func (c *evalCmd) fitFrames(k *card.Card) string {
	if c.FitFrames != "" {
		return c.FitFrames
	}
	return k.Training.Frames
}

// judge measures how far the judged latents, laid over the truth, are from it, and how far the learnt drift is from the true one: at the places
// of the truth, as the paper has it, and at the latents, whose own distance counts once more there.
func judge(model *infer.Model, seen *encoded, truth *truth, judged []int, a *alignment) (*evaluation, error) {
	got, want := pickRows(a.laid, judged), pickRows(truth.z, judged)
	_, k := want.Dims()
	e := &evaluation{N: len(judged), DT: seen.dt(), Align: a.how, R2: online.R2(got, want)}
	e.LLatent = sum(online.MeanSquares(got, want))
	e.LLatentCoord = e.LLatent / float64(k)
	for i, s := range model.Card.Sigma {
		along := a.to.Linear.RawRowView(i) // of length 1 under an isometry
		e.CRLB += s * s * floats.Dot(along, along) / model.Card.Seconds
	}
	if truth.mu != nil && model.Card.Drift != nil {
		places, err := a.places(seen.z, truth.z)
		if err != nil {
			return nil, err
		}
		off := func(z *mat.Dense) float64 {
			drift := a.to.Turn(driftAt(sdevae.DriftOf(&model.Card), pickRows(z, judged)))
			return sum(online.MeanSquares(drift, pickRows(truth.mu, judged)))
		}
		total, seenAt := off(places), off(seen.z)
		coord := total / float64(k)
		e.LMu, e.LMuCoord, e.LMuSeen = &total, &coord, &seenAt
	}
	if seen.reconstruction != nil {
		var total float64
		for _, i := range judged {
			total += seen.reconstruction[i] / float64(len(judged))
		}
		e.ReconMSE = &total
	}
	return e, nil
}

// smooth adds how far from the truth the latents are that the whole recording gives under the law found in it, laid over it anew.
func (e *evaluation) smooth(seen *encoded, truth *truth, judged, fitted []int) error {
	_, d := seen.z.Dims()
	z, err := online.Smooth(seen.path(seen.z), online.Config{Dim: d})
	if err != nil {
		return err
	}
	a, err := lay(e.Align, z, truth.z, fitted)
	if err != nil {
		return err
	}
	off := online.MeanSquares(pickRows(a.laid, judged), pickRows(truth.z, judged))
	coord := sum(off) / float64(len(off))
	e.SmoothedCoord = &coord
	return nil
}

// driftAt is the drift at n latents.
func driftAt(network *online.Network, z *mat.Dense) *mat.Dense {
	n, d := z.Dims()
	out, scratch := mat.NewDense(n, d, nil), new(online.Scratch)
	for i := range n {
		network.Drift(out.RawRowView(i), z.RawRowView(i), scratch)
	}
	return out
}

// encoded is a recording as the model sees it.
type encoded struct {
	seq            []uint64
	times          []float64
	trajectory     []uint64
	z              *mat.Dense
	reconstruction []float64 // mean squared error a pixel, one a frame; nil without a decoder
}

// encodeAll runs the model over a whole recording, whatever is judged of it: a model's clock starts with the first frame.
func encodeAll(ctx context.Context, model *infer.Model, rec *recording) (*encoded, error) {
	encoder, err := model.NewEncoder()
	if err != nil {
		return nil, err
	}
	defer encoder.Close()
	e := &encoded{}
	var z latent.Latent
	var rows []float64
	in := model.Card.Input
	picture := make([]float32, in.Channels*in.Height*in.Width)
	_, err = rec.each(ctx, model.Card.Preprocess, func(f *frame.Frame) error {
		if err := encoder.Encode(ctx, &z, f); err != nil {
			return err
		}
		e.seq, e.times, e.trajectory = append(e.seq, f.Seq), append(e.times, seconds(f)), append(e.trajectory, f.Meta.Trajectory)
		rows = append(rows, z.Mean...)
		if !model.HasDecoder() {
			return nil
		}
		if err := encoder.Decode(picture, z.Mean); err != nil {
			return err
		}
		pixels, _, err := planes(f)
		e.reconstruction = append(e.reconstruction, meanSquare(pixels, picture))
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(e.seq) == 0 {
		return nil, fmt.Errorf("%s gave no frame", rec.arg)
	}
	e.z = mat.NewDense(len(e.seq), model.Card.Latent, rows)
	return e, nil
}

// path is z, one row a frame, as the tracker would have it.
func (e *encoded) path(z *mat.Dense) []latent.Latent {
	n, d := z.Dims()
	path := make([]latent.Latent, n)
	for i := range path {
		path[i] = latent.Latent{Seq: e.seq[i], Time: time.Unix(0, int64(e.times[i]*1e9)), Trajectory: e.trajectory[i],
			Mean: z.RawRowView(i), SD: make([]float64, d)}
	}
	return path
}

// rows lists the frames inside a span.
func (e *encoded) rows(s span) []int {
	var rows []int
	for i, k := range e.seq {
		if s.holds(k) {
			rows = append(rows, i)
		}
	}
	return rows
}

// dt is the mean step between the first and the last frame, in seconds.
func (e *encoded) dt() float64 {
	n := len(e.times)
	return (e.times[n-1] - e.times[0]) / float64(max(n-1, 1))
}

func pickRows(m *mat.Dense, rows []int) *mat.Dense {
	_, k := m.Dims()
	out := mat.NewDense(len(rows), k, nil)
	for i, r := range rows {
		out.SetRow(i, m.RawRowView(r))
	}
	return out
}

func overlap(a, b span) bool { return a.from < b.to && b.from < a.to }

func meanSquare(a, b []float32) float64 {
	var total float64
	for i, v := range a {
		d := float64(v - b[i])
		total += d * d
	}
	return total / float64(len(a))
}

func sum(v []float64) float64 {
	var total float64
	for _, x := range v {
		total += x
	}
	return total
}
