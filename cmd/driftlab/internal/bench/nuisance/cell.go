package nuisance

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"driftscope/cmd/driftlab/internal/bench"
	"driftscope/cmd/driftlab/internal/bench/film"
	"driftscope/infer/card"
	"driftscope/ingest/sim"
	"driftscope/internal/job/training"
	"driftscope/internal/kit/console"
	"driftscope/internal/kit/system"
)

// cell is one film, trained on and judged.
type cell struct {
	Scene    string  `json:"scene"`
	Nuisance string  `json:"nuisance"`
	Times    float64 `json:"times"`        // the common amount; 0 of a clean film
	Amount   float64 `json:"amount"`       // in the nuisance's own unit
	Frames   int     `json:"frames"`       // trained on
	Seed     uint64  `json:"seed"`         // of the film, of what is drawn of its nuisances, and of the training
	On       []laid  `json:"on,omitempty"` // nuisances one upon the other, in place of the one above

	LLatentCoord *float64 `json:"l_latent_coord"` // null where no model came of it, and of the trapped bead
	R2           *float64 `json:"r2"`             // the lower of both axes; of the trapped bead alone
	Clean        *float64 `json:"clean"`          // the same figure of the clean film
	Ratio        *float64 `json:"ratio"`          // L_latent over the clean film's
	Held         *float64 `json:"held"`           // R² of the coordinate that the latents hold least of, laid over the truth as the figure is
	Verdict      string   `json:"verdict"`        // what the user is told of the training
	Reason       string   `json:"reason,omitempty"`
	Seconds      float64  `json:"seconds"` // that the training took

	failed error // why there is no verdict
}

// laid is a nuisance on a film.
type laid struct {
	Kind   string  `json:"kind"`
	Amount float64 `json:"amount"`
}

// laid are the cell's nuisances.
func (k *cell) laid() []laid {
	if k.On != nil || k.Nuisance == clean {
		return k.On
	}
	return []laid{{k.Nuisance, k.Amount}}
}

// clean is the nuisance of a film without any.
const clean = "clean"

// What a user is told of a training.
const (
	good = "good"
	bad  = "bad"
)

// verdict sets what a user is told of a model that pretrain wrote.
func (k *cell) verdict(path string) error {
	data, err := system.ReadBounded(path, card.MaxFile)
	if err != nil {
		return err
	}
	f, err := card.Read(data)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if f.Card.Training.Verdict == nil {
		return fmt.Errorf("%s has no verdict, though it was just trained", path)
	}
	k.Verdict, k.Reason = f.Card.Training.Verdict.Level, f.Card.Training.Verdict.Doubted()
	return nil
}

// Where a model is off: an error of 1.4 times the clean film's, and a tenth of the spread of a bead's places, are what a figure shows at a glance.
const (
	mostTimes = 2
	leastR2   = 0.98
)

// off says whether the model is further from the truth than it may be; judged is false where there is no telling.
func (k *cell) off() (off, judged bool) {
	switch {
	case k.R2 != nil:
		return !(*k.R2 >= leastR2), true
	case k.Ratio != nil:
		return !(*k.Ratio <= mostTimes), true
	}
	return false, false
}

// figure is L_latent a coordinate, or R².
func (k *cell) figure() *float64 {
	if k.R2 != nil {
		return k.R2
	}
	return k.LLatentCoord
}

// compare sets the clean film's figure beside the cell's own.
func (k *cell) compare(other *cell) {
	k.Clean = other.figure()
	if k.LLatentCoord != nil && other.LLatentCoord != nil {
		ratio := *k.LLatentCoord / *other.LLatentCoord
		k.Ratio = &ratio
	}
}

// file names the cell in a folder; no other cell's.
func (k *cell) file() string {
	if k.On != nil {
		return fmt.Sprintf("%s-%s-%d-%d", k.Scene, k.Nuisance, k.Frames, k.Seed)
	}
	return fmt.Sprintf("%s-%s-%g-%d", k.Scene, k.Nuisance, k.Times, k.Frames)
}

// String names the cell to people.
func (k *cell) String() string {
	switch {
	case k.Nuisance == clean:
		return fmt.Sprintf("%s, clean, %d frames", k.Scene, k.Frames)
	case k.On != nil:
		return fmt.Sprintf("%s, %d frames, seed %d, %s", k.Scene, k.Frames, k.Seed, k.nuisances())
	}
	return fmt.Sprintf("%s, %s %g, %d frames", k.Scene, k.Nuisance, k.Amount, k.Frames)
}

// nuisances lists what is laid on one upon the other.
func (k *cell) nuisances() string {
	if len(k.On) == 0 {
		return clean
	}
	var all []string
	for _, n := range k.On {
		all = append(all, fmt.Sprintf("%s %.3g", n.Kind, n.Amount))
	}
	return strings.Join(all, " and ")
}

// inOwnProcess measures the cell by the same command in a process of its own, on one core, as paper makes its runs: two trainings beside each other are
// faster than one after the other on both cores, and figures do not depend on the number of cores.
func (k *cell) inOwnProcess(ctx context.Context, folder string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	own := filepath.Join(folder, k.file())
	if err := os.Mkdir(own, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(own) // what stays goes with the folder
	child := bench.Contender{Program: self, Args: append(slices.Clone(os.Args[1:]), "--make", own), Threads: 1}
	return child.Run(ctx, k)
}

// measure films the cell, trains on the film and judges the model, all in a folder.
func (c *Command) measure(ctx context.Context, k *cell, folder string) error {
	s, err := c.shoot(ctx, k)
	if err != nil {
		return err
	}
	frames := filepath.Join(folder, "film")
	if err := sim.Record(ctx, s.film, frames); err != nil {
		return err
	}
	o := c.training(k, s, folder, frames)
	begun := time.Now()
	err = o.Learn(ctx)
	k.Seconds = time.Since(begun).Seconds()
	if ctx.Err() != nil || console.Status(err) == 2 {
		return err
	}
	if err != nil { // refused: there is no model
		k.Verdict, k.Reason = bad, k.reason(err, frames)
		return nil
	}
	if err := k.verdict(o.Out); err != nil {
		return err
	}
	return k.judge(ctx, s, o.Out, frames)
}

// shoot is the cell's film, with the nuisance on it.
func (c *Command) shoot(ctx context.Context, k *cell) (*shot, error) {
	s, err := c.clean(ctx, k)
	if err != nil {
		return nil, err
	}
	for i, n := range k.laid() {
		if s.film, err = film.New(s.film, film.Options{Kind: n.Kind, Amount: n.Amount, Seed: k.Seed + uint64(i), Frames: s.frames}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// training is pretrain's defaults but for what the scene is known to have.
func (c *Command) training(k *cell, s *shot, folder, frames string) *training.Options {
	o := training.Defaults()
	o.Source, o.Latent, o.Out, o.Seed, o.Steps, o.TrainFrames = []string{frames}, s.latent, filepath.Join(folder, "model.onnx"), k.Seed, c.Steps, s.train
	if c.Latent != "" {
		o.Latent = c.Latent
	}
	return &o
}

// reason is what an error says, in one line, without the folder that is gone by then.
func (k *cell) reason(err error, frames string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(err.Error()), " "), frames, k.Scene)
}

// judge lays the model's latents over the truth. Where they cannot be, as where auto found another number, the reason is told and the model not judged.
func (k *cell) judge(ctx context.Context, s *shot, model, frames string) error {
	o := s.judged
	o.Model, o.Video, o.Truth = model, frames, filepath.Join(frames, "truth.csv")
	found, err := o.Evaluate(ctx)
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		k.Reason = k.reason(err, frames)
		return nil
	}
	figure, dst := found.LLatentCoord, &k.LLatentCoord
	if k.Scene == trapped {
		figure, dst = slices.Min(found.R2), &k.R2
	}
	if math.IsNaN(figure) || math.IsInf(figure, 0) {
		k.Reason = "the model's latents are not finite"
		return nil
	}
	held := slices.Min(found.R2)
	*dst, k.Held = &figure, &held
	return nil
}
