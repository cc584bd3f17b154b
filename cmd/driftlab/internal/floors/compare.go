package floors

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// compare measures both builds in alternation, this checkout first in every other round, and prints the ratios. It reports figures that the base lacks.
func (p *plan) compare(ctx context.Context, here, base *build) error {
	fmt.Fprintf(p.out, "%-15s %11s %11s   %s\n", "figure", "base", "here", "here over base, 95 % interval")
	for _, g := range p.groups {
		var ours, theirs taken
		var err, lacks error
		for round := range p.rounds {
			for turn := range 2 {
				if (round+turn)%2 == 0 {
					err = ours.take(ctx, here, g, p.floors)
				} else if lacks == nil {
					lacks = theirs.take(ctx, base, g, p.floors)
				}
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err != nil {
					return fmt.Errorf("%s: %w", g.name, err)
				}
			}
		}
		if lacks != nil {
			fmt.Fprintf(p.out, "%-15s the base lacks it: %s\n", g.name, lacks)
			continue
		}
		for _, f := range p.floors {
			if len(ours[f.name]) == 0 {
				continue
			}
			if len(theirs[f.name]) != len(ours[f.name]) {
				fmt.Fprintf(p.out, "%-15s the base lacks it\n", f.name)
				continue
			}
			better := "more is better"
			if f.most {
				better = "less is better"
			}
			ratio, low, high := interval(ours[f.name], theirs[f.name])
			fmt.Fprintf(p.out, "%-15s %11.4g %11.4g %7.3f  %.3f to %.3f  %s; %s\n", f.name, f.best(theirs[f.name]).value, f.best(ours[f.name]).value, ratio, low, high, better, f.what)
		}
	}
	return nil
}

// interval returns the geometric mean of the rounds' ratios and its 95 % interval, by Student's t for their logarithms.
func interval(ours, theirs []sample) (ratio, low, high float64) {
	logs := make([]float64, len(ours))
	for i := range ours {
		logs[i] = math.Log(ours[i].value / theirs[i].value)
	}
	mean, sd := stat.MeanStdDev(logs, nil)
	n := float64(len(logs))
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975) * sd / math.Sqrt(n)
	return math.Exp(mean), math.Exp(mean - half), math.Exp(mean + half)
}
