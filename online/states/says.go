package states

import (
	"fmt"
	"math"
	"strings"
)

// Says describes the law in a sentence. length is the size of one length unit of the tracks in unit.
func (l *Law) Says(length float64, unit string) string {
	says := l.sentence(length, unit)
	if l.Lag > 1 {
		says += fmt.Sprintf(" Compression smears motion over frames: D uses steps of %d frames, and switching is not tested.", l.Lag)
	}
	return says
}

// sentence describes the states.
func (l *Law) sentence(length float64, unit string) string {
	factor := length * length
	d := func(s State) string {
		if s.D.Low == 0 {
			return fmt.Sprintf("D below %.2g %s²/s", factor*s.D.High, unit)
		}
		return fmt.Sprintf("D %.3g (%.3g to %.3g) %s²/s", factor*s.D.Value, factor*s.D.Low, factor*s.D.High, unit)
	}
	if len(l.States) == 1 {
		all := "All objects diffuse alike: "
		if l.Spread.Value > 0 {
			all = fmt.Sprintf("One kind of object, with D spread by a factor of %.2g around the median: ", math.Exp(l.Spread.Value))
		}
		return all + d(l.States[0]) + "."
	}
	var parts []string
	for _, s := range l.States {
		parts = append(parts, fmt.Sprintf("%.0f %% of the time %s", 100*s.Fraction.Value, d(s)))
	}
	between := "; no evidence of switching between them."
	if l.Lag > 1 {
		between = "."
	}
	return fmt.Sprintf("%d states: %s%s", len(l.States), strings.Join(parts, ", "), between)
}
