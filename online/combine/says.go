package combine

import (
	"fmt"
	"math"
	"strings"
)

// switching is the ln likelihood ratio at which objects count as switching: odds of twenty to one, as for one camera.
var switching = math.Log(20)

// told is the largest number of states that the sentence lists.
const told = 12

// Says describes the law in a sentence.
func (l *Law) Says() string {
	var text strings.Builder
	if l.Cameras == 1 {
		text.WriteString("1 camera: ")
	} else {
		fmt.Fprintf(&text, "%d cameras: ", l.Cameras)
	}
	if len(l.States) == 1 {
		if l.Spread.Value > 0 {
			fmt.Fprintf(&text, "one kind of object, with D spread by %.0f %%: ", 100*math.Expm1(l.Spread.Value))
		} else {
			text.WriteString("all objects diffuse alike: ")
		}
		text.WriteString(amount(l.States[0].D))
	} else {
		var parts []string
		for i, s := range l.States {
			part := fmt.Sprintf("%.0f %% of the time %s", 100*s.Share.Value, amount(s.D))
			if l.Seen[i] < l.Cameras {
				part += fmt.Sprintf(" (seen by %d)", l.Seen[i])
			}
			if parts = append(parts, part); i+1 == told && i+1 < len(l.States) {
				parts = append(parts, fmt.Sprintf("and %d more", len(l.States)-told))
				break
			}
		}
		fmt.Fprintf(&text, "%d states: %s", len(l.States), strings.Join(parts, ", "))
		switch {
		case l.Rates == nil:
		case l.Nats > switching:
			text.WriteString("; objects switch between them")
		default:
			text.WriteString("; no evidence of switching between them")
		}
	}
	if l.Differ > 0 {
		fmt.Fprintf(&text, "; cameras differ by %.2g %%", 100*math.Expm1(l.Differ))
	}
	return text.String() + "."
}

// amount returns a D with its interval as text.
func amount(d Interval) string {
	if d.Low == 0 {
		return fmt.Sprintf("D below %.2g µm²/s", d.High)
	}
	return fmt.Sprintf("D %.3g (%.3g to %.3g) µm²/s", d.Value, d.Low, d.High)
}
