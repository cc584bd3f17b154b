package maps

import "fmt"

// Says describes the traps, the vortices and the flow, one sentence each.
func (l *Law) Says() (says []string) {
	for _, p := range l.Traps {
		low, high := p.Interval()
		says = append(says, fmt.Sprintf("a trap at %.0f, %.0f px, stiffness %.2g (%.2g to %.2g) /s", p.X, p.Y, p.Rate, low, high))
	}
	for _, p := range l.Vortices {
		low, high := p.Interval()
		says = append(says, fmt.Sprintf("a vortex at %.0f, %.0f px, %.2g (%.2g to %.2g) rad/s", p.X, p.Y, p.Rate, low, high))
	}
	if f := l.Flow; f != nil {
		says = append(says, fmt.Sprintf("a flow of %.2g, %.2g px/s ± %.1g", f.X, f.Y, f.SD))
	}
	return says
}
