package learning

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"driftscope/ingest/sim"
)

// defect selects the defect of a film.
type defect struct {
	Kind   string  // one of Names
	Amount float64 // in the kind's own unit; see Amount
	Seed   uint64  // random seed
	Frames int     // of the whole film, over which lamps drift
}

// effect changes one picture. Frames come in order, from 0.
type effect func(p *levels, frame int) error

// compression is the kind whose amount is a quality: smaller is worse.
const compression = "jpeg"

// kinds is the only list of defects.
var kinds = []struct {
	name   string
	amount float64 // a common amount
	effect func(o defect, rng *rand.Rand) effect
}{
	{"flicker", 0.05, flicker},
	{"step", 0.5, step},
	{"bleach", 1.2, bleach},
	{"uneven", 0.3, uneven},
	{"stage", 6, stage},
	{"dust", 0.5, dust},
	{"hot", 1, hot},
	{"lines", 0.1, lines},
	{compression, 40, compress},
	{"saturate", 1.5, saturate},
}

// defectNames lists the kinds.
func defectNames() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// defectAmount returns the kind's common amount, made times as strong: a quality is divided, all others are multiplied.
func defectAmount(kind string, times float64) (float64, error) {
	for _, k := range kinds {
		if k.name == kind && kind == compression {
			return k.amount / times, nil
		}
		if k.name == kind {
			return k.amount * times, nil
		}
	}
	return 0, unknown(kind)
}

func unknown(kind string) error {
	return fmt.Errorf("nuisance %q is not known: give one of %s", kind, strings.Join(defectNames(), ", "))
}

// spoiledFilm is another film with a defect. Not safe for concurrent use.
type spoiledFilm struct {
	clean  sim.Film
	effect effect
	frame  int
	grey   levels
}

// nuisanceStream is the second word of the PCG seed. A scene uses the same first word.
const nuisanceStream = 5

// Check rejects invalid options.
func (o defect) Check() error {
	switch {
	case !slices.Contains(defectNames(), o.Kind):
		return unknown(o.Kind)
	case !(o.Amount > 0) || math.IsInf(o.Amount, 0):
		return fmt.Errorf("nuisance %s: the amount is %g: give a positive number", o.Kind, o.Amount)
	case o.Kind == compression && (o.Amount < 1 || o.Amount > 100):
		return fmt.Errorf("nuisance %s: the amount is a quality of %g: give 1 to 100", o.Kind, o.Amount)
	case o.Frames < 1:
		return fmt.Errorf("nuisance %s: the film has %d frames: give how many it has, 1 or more", o.Kind, o.Frames)
	}
	return nil
}

// spoiled adds a defect to a film of one scene with 8- or 16-bit pictures: sim.Unit or sim.Counts.
func spoiled(clean sim.Film, o defect) (*spoiledFilm, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if _, many := clean.(sim.Tracked); many {
		return nil, fmt.Errorf("nuisance %s: the film is a field with tracks: give one of a single scene", o.Kind)
	}
	k := kinds[slices.Index(defectNames(), o.Kind)]
	return &spoiledFilm{clean: clean, effect: k.effect(o, rand.New(rand.NewPCG(o.Seed, nuisanceStream)))}, nil
}

// Next returns the clean film's next picture with the defect, and the clean picture's truth.
func (f *spoiledFilm) Next(dst *sim.Picture) (sim.Truth, error) {
	truth, err := f.clean.Next(dst)
	if err != nil {
		return truth, err
	}
	err = f.grey.read(dst)
	if err == nil {
		err = f.effect(&f.grey, f.frame)
	}
	if err != nil {
		return truth, fmt.Errorf("frame %d: %w", f.frame, err)
	}
	f.frame++
	f.grey.write(dst)
	return truth, nil
}
