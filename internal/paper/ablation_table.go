package paper

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"driftscope/infer/sdevae/tuned"
)

// ablationTable has a line a constant: how much more is missed of each film, in the geometric mean over seeds, by half and by twice a number, or
// without a case.
func ablationTable(films, runs []*ablationRun) string {
	var names []string
	for _, f := range films {
		if !slices.Contains(names, f.Film) {
			names = append(names, f.Film)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Sensitivity of the tuned numbers\n\n| name | value | %s |\n|---|---|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	for _, k := range tuned.All() {
		value := fmt.Sprintf("%g", k.Ships)
		if k.Case {
			value = "case"
		}
		fmt.Fprintf(&b, "| `%s` | %s |", k.Name, value)
		for _, film := range names {
			fmt.Fprintf(&b, " %s |", ablationCell(k, film, films, runs))
		}
		b.WriteByte('\n')
	}
	b.WriteString("\nHow many times as much is missed of the film: by half, by twice the number; without the case. What is missed is L_latent a coordinate, of the trapped bead 1 - R² of the worse axis; " +
		"geometric means over seeds, their number in brackets. A dash: the training never asks for it, so nothing changes. Empty: not measured.\n\n")
	for _, f := range films {
		if f.found != nil {
			fmt.Fprintf(&b, "%s, %d frames, seed %d, nothing changed: %.3g missed, %s, %.0f s (`%s`, commit %.7s, %d cores, %s).\n\n", f.Film, f.Frames, f.Seed, f.found.Missed, f.found.Verdict, f.found.Seconds,
				f.found.Origin.Command, f.found.Origin.Commit, f.found.Origin.Cores, f.found.Origin.Date.Format("2006-01-02"))
		}
	}
	return b.String()
}

func ablationCell(k *tuned.Constant, film string, films, runs []*ablationRun) string {
	var words []string
	asked := false
	for _, change := range changesOf(k) {
		var ratios []float64
		for _, base := range films {
			if base.Film != film || base.found == nil {
				continue
			}
			asked = asked || slices.Contains(base.found.Asked, k.Name)
			for _, r := range runs {
				if r.Film == film && r.Seed == base.Seed && r.Change == change && r.found != nil {
					ratios = append(ratios, r.found.Missed/base.found.Missed)
				}
			}
		}
		if len(ratios) > 0 {
			words = append(words, fmt.Sprintf("%.3g (%d)", stat.GeometricMean(ratios, nil), len(ratios)))
		}
	}
	measured := slices.ContainsFunc(films, func(f *ablationRun) bool { return f.Film == film && f.found != nil })
	if len(words) == 0 && measured && !asked {
		return "–"
	}
	return strings.Join(words, ", ")
}
