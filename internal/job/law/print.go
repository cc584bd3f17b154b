package law

import (
	"fmt"
	"io"

	"driftscope/online/exact"
)

// printMore writes the findings besides D and the states.
func (f *Findings) printMore(w io.Writer) {
	if f.Exponent != nil {
		fmt.Fprintf(w, "exponent    %.3f (%.3f to %.3f) of the mean square displacement\n", f.Exponent.Mean, f.Exponent.Interval[0], f.Exponent.Interval[1])
	}
	if f.Trap != nil {
		fmt.Fprintf(w, "trap        rate %.4g (%.4g to %.4g) /s, springs %.3g (%.3g to %.3g) to 1, rotation %.4g (%.4g to %.4g) /s\n", f.Trap.Rate.Mean, f.Trap.Rate.Interval[0], f.Trap.Rate.Interval[1],
			f.Trap.Ratio.Mean, f.Trap.Ratio.Interval[0], f.Trap.Ratio.Interval[1], f.Trap.Rotation.Mean, f.Trap.Rotation.Interval[0], f.Trap.Rotation.Interval[1])
	}
	if f.Switching != nil {
		f.Switching.print(w)
	}
	if f.Motion != nil {
		f.Motion.print(w)
	}
	if f.Map != nil {
		for _, says := range f.Map.Says {
			fmt.Fprintf(w, "map         %s\n", says)
		}
	}
	if f.Pairs != nil {
		f.Pairs.print(w, f.Unit)
	}
}

// print writes how often objects switch.
func (s *Switching) print(w io.Writer) {
	fmt.Fprintf(w, "switching   %d detected, %.3g nats of evidence", s.Switches, s.Nats)
	for i, row := range s.Rates {
		for j, rate := range row {
			if i != j {
				fmt.Fprintf(w, "; %d to %d %.3g /s", i+1, j+1, rate)
			}
		}
	}
	fmt.Fprintln(w)
}

// print writes the number of tracks per kind of motion.
func (m *Motion) print(w io.Writer) {
	fmt.Fprintf(w, "motion      of %d tracks", m.Tracks)
	for c := range exact.Classes {
		fmt.Fprintf(w, ", %d %s", m.Counts[c.String()], c)
	}
	fmt.Fprintf(w, "; α %.2f (half of them %.2f to %.2f)%s\n", m.Alpha, m.Quartiles[0], m.Quartiles[1], left(m.Unused, "tracks"))
}

// print writes the force.
func (p *Pairs) print(w io.Writer, unit string) {
	fmt.Fprintf(w, "force       %.3g nats of evidence for a force between objects%s\n", p.Nats, left(p.Unused, "rows"))
	if p.Nats < evident {
		return
	}
	for i := range p.Distance {
		fmt.Fprintf(w, "            at %.3g %s %.3g (%.3g to %.3g) %s/s\n", p.Distance[i], unit, p.Force[i], p.Low[i], p.High[i], unit)
	}
}

// left describes n unused items; "" if n is 0.
func left(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d %s not used, beyond the limit)", n, what)
}
