package paper

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"driftscope/internal/console"
)

// allow finds what the films' pictures allow, of every run that was made. It follows from their settings, so that no file keeps it.
func (p plan) allow(ctx context.Context) error {
	if len(p) == 0 {
		return nil
	}
	console.Say("what the pictures of %d films allow", len(p))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	for _, e := range p {
		if !e.whole() {
			continue
		}
		group.Go(func() (err error) {
			if e.found.allows, err = e.allow(ctx); err != nil {
				return fmt.Errorf("%s: what its pictures allow: %w", e, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// allowed is what one frame of a row's films allows, as a mean over them, beside what was found there.
type allowed struct {
	oneFrame
	SD    float64  `json:"sd"`              // of the bound, over films
	Films []excess `json:"films,omitempty"` // of rows with noise
}

// excess is how many times what one frame of a film allows its L_latent a coordinate is.
type excess struct {
	Run   int     `json:"run"`
	Times float64 `json:"times"`
}

// mostExcess is how many times it may be.
const mostExcess = 2

// noisy says that the film's noise is the pixels', and not rounding's alone.
func (r *paperRow) noisy() bool { return r.clean != "" || r.affine }

// newAllowed is nil where a film's bound is not known.
func newAllowed(row *paperRow, found []*finding) *allowed {
	if slices.ContainsFunc(found, func(f *finding) bool { return f.allows == nil }) {
		return nil
	}
	a, ignored := new(allowed), new(float64)
	for _, q := range []quantity{
		{func(f *finding) float64 { return f.allows.Coord }, &a.Coord, &a.SD},
		{func(f *finding) float64 { return f.allows.KnownShape }, &a.KnownShape, ignored},
		{func(f *finding) float64 { return f.allows.Share }, &a.Share, ignored},
	} {
		q.summarise(found)
	}
	if row.noisy() {
		for _, f := range found {
			a.Films = append(a.Films, excess{f.Settings.Run, f.Figures.LLatentCoord / f.allows.Coord})
		}
	}
	return a
}

// allowedCells are the row's of what one frame allows, and of how many times that L_latent is, from the best film to the worst.
func (r *tableRow) allowedCells() []string {
	if r.Allowed == nil {
		return []string{"–", "–"}
	}
	bound := r.plusMinus(r.Allowed.Coord, r.Allowed.SD)
	if len(r.Allowed.Films) == 0 {
		return []string{bound, "–"}
	}
	byTimes := func(a, b excess) int { return cmp.Compare(a.Times, b.Times) }
	least, most := slices.MinFunc(r.Allowed.Films, byTimes).Times, slices.MaxFunc(r.Allowed.Films, byTimes).Times
	if r.Runs == 1 {
		return []string{bound, short(least)}
	}
	return []string{bound, short(least) + " to " + short(most)}
}

// allowedNotes say what the cells do not.
func (r *tableRow) allowedNotes() (notes []string) {
	a := r.Allowed
	if a == nil {
		return []string{fmt.Sprintf("%s: what one frame allows is not known without its pictures: give --assets.", r.Row)}
	}
	if a.Share < 1 {
		notes = append(notes, fmt.Sprintf("%s: what one frame allows is the mean over %s of the frames; in the others some latent does not change the picture.", r.Row, short(a.Share)))
	}
	if a.KnownShape > 0 {
		notes = append(notes, fmt.Sprintf("%s: if the molecule's shape were known, one frame would allow %s.", r.Row, short(a.KnownShape)))
	}
	if len(a.Films) > 0 {
		notes = append(notes, fmt.Sprintf("%s: L_latent a coordinate is more than %d times what one frame allows on %s.", r.Row, mostExcess, filmsBeyond(a.Films)))
	}
	return notes
}

// filmsBeyond names the films beyond mostExcess, each with how many times it is.
func filmsBeyond(films []excess) string {
	var names []string
	for _, f := range films {
		if !(f.Times <= mostExcess) {
			names = append(names, fmt.Sprintf("film %d (%s×)", f.Run, short(f.Times)))
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf("none of %d films", len(films))
	}
	return strings.Join(names, ", ")
}
