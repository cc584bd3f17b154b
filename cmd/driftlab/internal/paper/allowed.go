package paper

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"driftscope/internal/kit/console"
)

// allow computes the bound for the film of every finished run. The bound follows from the run's settings, so it is not stored in a file.
func (p plan) allow(ctx context.Context) error {
	if len(p) == 0 {
		return nil
	}
	console.Say("computing the bounds of %d films", len(p))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	for _, e := range p {
		if !e.whole() {
			continue
		}
		group.Go(func() (err error) {
			if e.found.allows, err = e.allow(ctx); err == nil && !e.row.affine {
				e.found.unit, err = e.unitError()
			}
			if err != nil {
				return fmt.Errorf("%s: the bound of its pictures: %w", e, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// allowed holds the bound from one frame as a mean over a row's films, and the errors relative to this bound.
type allowed struct {
	oneFrame
	SD     float64  `json:"sd"`              // standard deviation of the bound over films
	Films  []excess `json:"films,omitempty"` // ratios to the bound, for rows with noise
	Unit   float64  `json:"unit"`            // L_latent per coordinate of exact positions in the unit of their own increments; 0 under an affine map
	UnitSD float64  `json:"unit_sd"`
	Both   []excess `json:"both"` // ratios to the sum of the bound and the unit's error
}

// excess is the ratio of a film's L_latent per coordinate to the bound from one frame.
type excess struct {
	Run   int     `json:"run"`
	Times float64 `json:"times"`
}

// mostExcess is the largest ratio that gets no note.
const mostExcess = 2

// noisy reports whether the film has pixel noise in addition to rounding.
func (r *paperRow) noisy() bool { return r.clean != "" || r.affine }

// newAllowed summarises the bounds of a row's films. It returns nil if a film's bound is unknown.
func newAllowed(row *paperRow, found []*finding) *allowed {
	if slices.ContainsFunc(found, func(f *finding) bool { return f.allows == nil }) {
		return nil
	}
	a, ignored := new(allowed), new(float64)
	for _, q := range []quantity{
		{func(f *finding) float64 { return f.allows.Coord }, &a.Coord, &a.SD},
		{func(f *finding) float64 { return f.allows.KnownShape }, &a.KnownShape, ignored},
		{func(f *finding) float64 { return f.allows.Share }, &a.Share, ignored},
		{func(f *finding) float64 { return f.unit }, &a.Unit, &a.UnitSD},
	} {
		q.summarise(found)
	}
	for _, f := range found {
		a.Both = append(a.Both, excess{f.Settings.Run, f.Figures.LLatentCoord / (f.allows.Coord + f.unit)})
	}
	if row.noisy() {
		for _, f := range found {
			a.Films = append(a.Films, excess{f.Settings.Run, f.Figures.LLatentCoord / f.allows.Coord})
		}
	}
	return a
}

// allowedCells returns a row's cells for the bound from one frame: the bound, the ratios of L_latent to it from the best to the worst film, the unit's error,
// and the ratios to the sum of both.
func (r *tableRow) allowedCells() []string {
	if r.Allowed == nil {
		return []string{"–", "–", "–", "–"}
	}
	unit := "–"
	if r.Allowed.Unit > 0 {
		unit = r.plusMinus(r.Allowed.Unit, r.Allowed.UnitSD)
	}
	return []string{r.plusMinus(r.Allowed.Coord, r.Allowed.SD), timesText(r.Allowed.Films), unit, timesText(r.Allowed.Both)}
}

// timesText formats the smallest and the largest ratio.
func timesText(films []excess) string {
	if len(films) == 0 {
		return "–"
	}
	byTimes := func(a, b excess) int { return cmp.Compare(a.Times, b.Times) }
	least, most := slices.MinFunc(films, byTimes).Times, slices.MaxFunc(films, byTimes).Times
	if len(films) == 1 {
		return short(least)
	}
	return short(least) + " to " + short(most)
}

// allowedNotes returns the notes on these cells.
func (r *tableRow) allowedNotes() (notes []string) {
	a := r.Allowed
	if a == nil {
		return []string{fmt.Sprintf("%s: what one frame allows is not known without its pictures: give --assets.", r.Row)}
	}
	if a.Share < 1 {
		notes = append(notes, fmt.Sprintf("%s: one frame allows is the mean over %s of the frames; in the others a latent does not change the picture.", r.Row, short(a.Share)))
	}
	if a.KnownShape > 0 {
		notes = append(notes, fmt.Sprintf("%s: with the molecule's shape known, one frame would allow %s.", r.Row, short(a.KnownShape)))
	}
	if len(a.Films) > 0 {
		notes = append(notes, fmt.Sprintf("%s: more than %d times what one frame allows on %s.", r.Row, mostExcess, filmsBeyond(a.Films)))
	}
	return notes
}

// filmsBeyond names the films above mostExcess, with their ratios.
func filmsBeyond(films []excess) string {
	var names []string
	for _, f := range films {
		if !(f.Times <= mostExcess) {
			names = append(names, fmt.Sprintf("%d (%s×)", f.Run, short(f.Times)))
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf("none of %d films", len(films))
	}
	return "films " + strings.Join(names, ", ")
}
