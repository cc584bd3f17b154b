package learning

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
	"driftscope/infer/card"
	"driftscope/ingest/sim"
	"driftscope/internal/job/training"
	"driftscope/internal/kit/console"
	"driftscope/internal/kit/system"
)

// cell is one film with its training and result.
type cell struct {
	Scene    string  `json:"scene"`
	Nuisance string  `json:"nuisance"`
	Times    float64 `json:"times"`        // common amount; 0 for a clean film
	Amount   float64 `json:"amount"`       // in the nuisance's own unit
	Frames   int     `json:"frames"`       // trained on
	Seed     uint64  `json:"seed"`         // of the film, its nuisances and the training
	On       []laid  `json:"on,omitempty"` // combined nuisances, instead of the one above

	LLatentCoord *float64 `json:"l_latent_coord"` // null without a model, and for the trapped bead
	R2           *float64 `json:"r2"`             // the lower of both axes; for the trapped bead only
	Clean        *float64 `json:"clean"`          // the same figure for the clean film
	Ratio        *float64 `json:"ratio"`          // L_latent over the clean film's
	Held         *float64 `json:"held"`           // R² of the coordinate that the latents represent worst, mapped to the truth as for the figure
	Verdict      string   `json:"verdict"`        // the training's verdict for the user
	Reason       string   `json:"reason,omitempty"`
	Seconds      float64  `json:"seconds"` // training time

	failed error // why the verdict is missing
}

// laid is a nuisance applied to a film.
type laid struct {
	Kind   string  `json:"kind"`
	Amount float64 `json:"amount"`
}

// laid returns the cell's nuisances.
func (k *cell) laid() []laid {
	if k.On != nil || k.Nuisance == clean {
		return k.On
	}
	return []laid{{k.Nuisance, k.Amount}}
}

// clean is the nuisance name of a clean film.
const clean = "clean"

// Verdicts that a training reports to the user.
const (
	good = "good"
	bad  = "bad"
)

// verdict sets the report about a model that pretrain wrote.
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

// Limits beyond which a model is off: 1.4 times the clean film's error, and a tenth of the spread of a bead's positions. A
// plot shows both at a glance.
const (
	mostTimes = 2
	leastR2   = 0.98
)

// off reports whether the model's error exceeds the limit; judged is false if that is unknown.
func (k *cell) off() (off, judged bool) {
	switch {
	case k.R2 != nil:
		return !(*k.R2 >= leastR2), true
	case k.Ratio != nil:
		return !(*k.Ratio <= mostTimes), true
	}
	return false, false
}

// figure returns L_latent per coordinate, or R².
func (k *cell) figure() *float64 {
	if k.R2 != nil {
		return k.R2
	}
	return k.LLatentCoord
}

// compare stores the clean film's figure in the cell.
func (k *cell) compare(other *cell) {
	k.Clean = other.figure()
	if k.LLatentCoord != nil && other.LLatentCoord != nil {
		ratio := *k.LLatentCoord / *other.LLatentCoord
		k.Ratio = &ratio
	}
}

// file returns the cell's unique file name in a folder.
func (k *cell) file() string {
	if k.On != nil {
		return fmt.Sprintf("%s-%s-%d-%d", k.Scene, k.Nuisance, k.Frames, k.Seed)
	}
	return fmt.Sprintf("%s-%s-%g-%d", k.Scene, k.Nuisance, k.Times, k.Frames)
}

// String names the cell for people.
func (k *cell) String() string {
	switch {
	case k.Nuisance == clean:
		return fmt.Sprintf("%s, clean, %d frames", k.Scene, k.Frames)
	case k.On != nil:
		return fmt.Sprintf("%s, %d frames, seed %d, %s", k.Scene, k.Frames, k.Seed, k.nuisances())
	}
	return fmt.Sprintf("%s, %s %g, %d frames", k.Scene, k.Nuisance, k.Amount, k.Frames)
}

// nuisances lists combined nuisances.
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

// inOwnProcess measures the cell with the same command in a separate process on one core, as paper does. Two trainings in
// parallel are faster than one after the other on both cores, and figures do not depend on the number of cores.
func (k *cell) inOwnProcess(ctx context.Context, folder string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	own := filepath.Join(folder, k.file())
	if err := os.Mkdir(own, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(own) // the outer folder removes leftovers
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
	if err != nil { // rejected: there is no model
		k.Verdict, k.Reason = bad, k.reason(err, frames)
		return nil
	}
	if err := k.verdict(o.Out); err != nil {
		return err
	}
	return k.judge(ctx, s, o.Out, frames)
}

// shoot returns the cell's film with its nuisance.
func (c *Command) shoot(ctx context.Context, k *cell) (*shot, error) {
	s, err := c.clean(ctx, k)
	if err != nil {
		return nil, err
	}
	for i, n := range k.laid() {
		if s.film, err = spoiled(s.film, defect{Kind: n.Kind, Amount: n.Amount, Seed: k.Seed + uint64(i), Frames: s.frames}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// training returns pretrain's defaults plus the scene's known settings.
func (c *Command) training(k *cell, s *shot, folder, frames string) *training.Options {
	o := training.Defaults()
	o.Source, o.Latent, o.Out, o.Seed, o.Steps, o.TrainFrames = []string{frames}, s.latent, filepath.Join(folder, "model.onnx"), k.Seed, c.Steps, s.train
	if c.Latent != "" {
		o.Latent = c.Latent
	}
	return &o
}

// reason returns an error in one line, without the temporary folder.
func (k *cell) reason(err error, frames string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(err.Error()), " "), frames, k.Scene)
}

// judge maps the model's latents to the truth. If that fails, for example because auto found another number, it records the
// reason and does not judge the model.
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
