package floors

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"driftscope/internal/kit/system"
)

// floor bounds a figure: it is at least Least or, if Most is set, at most Most.
type floor struct {
	name, what string
	most       bool    // the floor is a ceiling: less is better
	bound      float64 // bound of value divided by reference
}

// readFloors reads lines of the form NAME >= BOUND WHAT or NAME <= BOUND WHAT.
func readFloors(path string) (all []floor, err error) {
	data, err := system.ReadBounded(path, 1<<20)
	if err != nil {
		return nil, err
	}
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var f floor
		var relation string
		_, err := fmt.Sscan(line, &f.name, &relation, &f.bound)
		if f.most = relation == "<="; err != nil || !f.most && relation != ">=" || !(f.bound > 0) {
			return nil, fmt.Errorf("%s:%d: found %q, expected NAME >= BOUND WHAT or NAME <= BOUND WHAT", path, number, line)
		}
		if slices.ContainsFunc(all, func(g floor) bool { return g.name == f.name }) {
			return nil, fmt.Errorf("%s:%d: %s already has a floor: remove one of the two", path, number, f.name)
		}
		f.what = strings.Join(strings.Fields(line)[3:], " ")
		all = append(all, f)
	}
	return all, nil
}

// best returns the best value and the best reference of all rounds, because other load on the machine only worsens both.
func (f *floor) best(samples []sample) (b sample) {
	better := math.Max
	if f.most {
		better = math.Min
	}
	b = samples[0]
	for _, s := range samples[1:] {
		b = sample{better(b.value, s.value), better(b.reference, s.reference)}
	}
	return b
}

// margin returns the ratio of the figure to its floor; below 1 the figure fails.
func (f *floor) margin(samples []sample) float64 {
	b := f.best(samples)
	if f.most {
		return f.bound * b.reference / b.value
	}
	return b.value / b.reference / f.bound
}

// again is the largest number of repetitions for a group with a figure beyond its floor. A busy moment passes, but a slower program stays slow.
const again = 4

// busy is the load by other processes, per cent of all cores, above which it may explain a failed floor.
const busy = 15

// hold measures all groups in turn, prints the table, and fails if a figure is beyond its floor.
func (p *plan) hold(ctx context.Context, b *build) error {
	begin := now()
	found := make([]taken, len(p.groups))
	for round := range p.rounds + again {
		for i, g := range p.groups {
			if round >= p.rounds && len(found[i].beyond(p.floors)) == 0 {
				continue
			}
			if err := found[i].take(ctx, b, g, p.floors); err != nil {
				return fmt.Errorf("%s: %w", g.name, err)
			}
		}
	}
	all := taken{}
	for _, t := range found {
		maps.Copy(all, t)
	}
	all.print(p.out, p.floors)
	percent := 100 * others(begin)
	fmt.Fprintf(p.out, "\n%d rounds, %.0f s; other processes had %.0f %% of the cores\n", p.rounds, time.Since(begin.at).Seconds(), percent)
	failed, hint := all.beyond(p.floors), "make compare BASE=COMMIT says since when"
	if percent > busy {
		hint = fmt.Sprintf("other processes had %.0f %% of the cores: measure again on a quiet machine", percent)
	}
	if len(failed) > 0 {
		return fmt.Errorf("beyond the floor: %s: %s", strings.Join(failed, ", "), hint)
	}
	return nil
}

// taken holds the figures of each round, by name.
type taken map[string][]sample

// take measures a group once more.
func (t *taken) take(ctx context.Context, b *build, g group, floors []floor) error {
	samples, err := g.measure(ctx, b)
	if err != nil && ctx.Err() == nil { // a busy machine may leave too little time for a measurement
		samples, err = g.measure(ctx, b)
	}
	if err != nil {
		return err
	}
	if *t == nil {
		*t = taken{}
	}
	for name, s := range samples {
		if !slices.ContainsFunc(floors, func(f floor) bool { return f.name == name }) {
			return fmt.Errorf("floors.txt has no %s: found %.4g, give it a floor", name, s.value/s.reference)
		}
		fmt.Fprintf(os.Stderr, "%-15s %10.5g / %-10.5g = %.4g\n", name, s.value, s.reference, s.value/s.reference)
		(*t)[name] = append((*t)[name], s)
	}
	return nil
}

// beyond returns the names of figures beyond their floors.
func (t taken) beyond(floors []floor) (names []string) {
	for _, f := range floors {
		if s := t[f.name]; len(s) > 0 && !(f.margin(s) >= 1) {
			names = append(names, f.name)
		}
	}
	return names
}

// print prints each figure with its floor.
func (t taken) print(w io.Writer, floors []floor) {
	fmt.Fprintf(w, "%-15s %11s %11s %9s    %-7s %7s\n", "figure", "value", "reference", "measured", "floor", "margin")
	for _, f := range floors {
		samples := t[f.name]
		if len(samples) == 0 {
			fmt.Fprintf(w, "%-15s %33s %s %-7.4g %7s  %s\n", f.name, "not measured", f.relation(), f.bound, "", f.what)
			continue
		}
		b, verdict := f.best(samples), ""
		if !(f.margin(samples) >= 1) {
			verdict = "BEYOND: "
		}
		fmt.Fprintf(w, "%-15s %11.4g %11.4g %9.4g %s %-7.4g %7.2f  %s%s\n", f.name, b.value, b.reference, b.value/b.reference, f.relation(), f.bound, f.margin(samples), verdict, f.what)
	}
}

// relation returns the sign in floors.txt.
func (f *floor) relation() string {
	if f.most {
		return "<="
	}
	return ">="
}
