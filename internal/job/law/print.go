package law

import (
	"fmt"
	"io"

	"driftscope/online/motion"
	"driftscope/online/switching"
)

// printMore writes what there is beside D.
func (f *Findings) printMore(w io.Writer) {
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

// print writes how objects switch.
func (s *Switching) print(w io.Writer) {
	told := "not told"
	if s.Told {
		told = fmt.Sprintf("%d seen", s.Switches)
		if s.Cut {
			told += ", where tracks were cut for the states above"
		}
	}
	fmt.Fprintf(w, "switching   %s, %.3g nats for it%s", told, s.Nats, left(s.Unused, "tracks"))
	if s.Told {
		for i, row := range s.Rates {
			for j, rate := range row {
				if i != j {
					fmt.Fprintf(w, "; %d to %d %.3g /s", i+1, j+1, rate)
				}
			}
		}
	}
	fmt.Fprintln(w)
}

// print writes how many tracks move how.
func (m *Motion) print(w io.Writer) {
	fmt.Fprintf(w, "motion      of %d tracks of %d places or more", m.Tracks, fewestJudged)
	for c := range motion.Classes {
		fmt.Fprintf(w, ", %d %s", m.Counts[c.String()], c)
	}
	fmt.Fprintf(w, "; α %.2f (half of them %.2f to %.2f)%s\n", m.Alpha, m.Quartiles[0], m.Quartiles[1], left(m.Unused, "tracks"))
}

// print writes the force.
func (p *Pairs) print(w io.Writer, unit string) {
	fmt.Fprintf(w, "force       %.3g nats for one between objects%s\n", p.Nats, left(p.Unused, "rows"))
	if p.Nats < switching.Evident {
		return
	}
	for i := range p.Distance {
		fmt.Fprintf(w, "            at %.3g %s %.3g (%.3g to %.3g) %s/s\n", p.Distance[i], unit, p.Force[i], p.Low[i], p.High[i], unit)
	}
}

// left says what was not used.
func left(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d %s not used, beyond the bound)", n, what)
}
