package nuisance

import (
	"context"
	"errors"
)

// Trial is one training on a film without nuisances, but with other tuned numbers.
type Trial struct {
	Scene  string // a simulated one, or Trapped
	Frames int
	Seed   uint64
	Data   string   // the folder with deeptrack-trap-good
	Scale  []string // pretrain's --scale
	Steps  int      // of the training; 0 is pretrain's own
}

// Trapped is the scene that is the recording of a real bead, of which Frames is Short.
const (
	Trapped = trapped
	Short   = short
)

// Run films, trains and judges in a folder: L_latent a coordinate, or of the trapped bead 1 - R² of the worse axis, and what the user is told. Where no
// model came of it, missed is 1: as much as is missed by a model of nothing.
func (t *Trial) Run(ctx context.Context, folder string) (missed float64, verdict string, err error) {
	c := &Command{Data: t.Data, Steps: t.Steps, scale: t.Scale}
	if t.Scene == Trapped && t.Data == "" {
		return 0, "", errors.New("the trapped bead's recording is missing: give the folder that has deeptrack-trap-good in it")
	}
	k := &cell{Scene: t.Scene, Nuisance: clean, Frames: t.Frames, Seed: t.Seed}
	if err := c.measure(ctx, k, folder); err != nil {
		return 0, "", err
	}
	switch {
	case k.R2 != nil:
		return 1 - *k.R2, k.Verdict, nil
	case k.LLatentCoord != nil:
		return *k.LLatentCoord, k.Verdict, nil
	}
	return 1, k.Verdict, nil
}
