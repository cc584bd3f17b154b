package learning

import (
	"fmt"
	"io"
)

// findings is the result of bench nuisance.
type findings struct {
	Seed   uint64  `json:"seed"`
	Cells  []*cell `json:"cells"`
	Cleans []*cell `json:"clean"` // the clean films

	Judged int      `json:"judged"` // judged cells, and cells without a model
	Within int      `json:"within"` // judged cells that are not off
	Silent int      `json:"silently_wrong"`
	Told   int      `json:"told"`             // the others with a report to the user
	Failed []string `json:"failed,omitempty"` // films that could not be measured, with reasons
}

func newFindings(seed uint64, cells []*cell) *findings {
	f := &findings{Seed: seed, Cells: measured(cells, false), Cleans: measured(cells, true)}
	for _, k := range f.Cells {
		off, judged := k.off()
		switch {
		case judged && !off:
			f.Within++
		case judged && k.Verdict == good:
			f.Silent++
		case k.Verdict != good:
			f.Told++
		}
	}
	f.Judged = f.Within + f.Silent + f.Told
	for _, k := range cells {
		if k.failed != nil && k.failed != errInterrupted {
			f.Failed = append(f.Failed, fmt.Sprintf("%s: %v", k, k.failed))
		}
	}
	return f
}

// share formats a fraction of the judged cells.
func (f *findings) share(n int) string {
	return fmt.Sprintf("%d of %d (%.0f %%)", n, f.Judged, 100*float64(n)/float64(max(f.Judged, 1)))
}

// print prints a Markdown table, below a summary.
func (f *findings) print(w io.Writer) {
	fmt.Fprintf(w, "Within %d times of the clean film's L_latent, or of an R² of %g: %s.\n", mostTimes, leastR2, f.share(f.Within))
	fmt.Fprintf(w, "Silently wrong, beyond that with a good verdict: %s. Reported as doubtful, bad or refused: %s.", f.share(f.Silent), f.share(f.Told))
	if n := len(f.Cells) - f.Judged; n > 0 {
		fmt.Fprintf(w, " Not judged, because they or their clean films have no figure: %d.", n)
	}
	fmt.Fprintf(w, "\n\nSeed %d.\n\n| scene | frames | nuisance | amount | L_latent a coordinate, or R² | clean | times | verdict | training, s |\n|---|---|---|---|---|---|---|---|---|\n", f.Seed)
	for _, k := range append(f.Cleans[:len(f.Cleans):len(f.Cleans)], f.Cells...) {
		verdict := k.Verdict
		if k.Reason != "" {
			verdict += ": " + k.Reason
		}
		fmt.Fprintf(w, "| %s | %d | %s | %s | %s | %s | %s | %s | %.0f |\n", k.Scene, k.Frames, k.Nuisance, number(k.Amount), orNone(k.figure()), orNone(k.Clean), orNone(k.Ratio), verdict, k.Seconds)
	}
}

// orNone formats a figure that may be missing.
func orNone(v *float64) string {
	if v == nil {
		return ""
	}
	return number(*v)
}

// number formats an amount, "" for a clean film.
func number(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%.3g", v)
}
