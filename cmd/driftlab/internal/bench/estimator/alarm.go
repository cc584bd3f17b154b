package estimator

import (
	"fmt"
	"io"
	"slices"

	"driftscope/online/alarm"
)

// alarmThresholds are what the evidence for a change may be held to: frames between two false alarms of one kind, at least.
var alarmThresholds = []float64{1e3, 1e4, 1e5, 1e6}

// alarmed is what an alarm at one threshold did about a change, over all runs or in one.
type alarmed struct {
	Threshold float64 `json:"alarm_frames"`
	False     int     `json:"false_alarms"` // before the change, of either kind
	Quiet     int     `json:"quiet_frames"` // that these may have come in
	Delay     int     `json:"delay"`        // frames from the change to the alarm, the median over runs; -1 where half had none
	Missed    int     `json:"missed"`       // changes that no alarm followed before the end

	on [2]bool // drift and diffusion
}

// hear takes the evidence after frame k. An alarm that has begun is over at a hundredth of its threshold, as the estimator's is.
func (r *changeRow) hear(k int, e alarm.Evidence) {
	for i := range r.Alarms {
		a := &r.Alarms[i]
		for kind, evidence := range [...]float64{e.Drift, e.Diffusion} {
			loud := evidence > a.Threshold
			switch {
			case k < changeFrame && loud && !a.on[kind]:
				a.False++
			case k >= changeFrame && loud && a.Delay == 0:
				a.Delay = k + 1 - changeFrame
			}
			a.on[kind] = loud || a.on[kind] && evidence > a.Threshold/100
		}
		if k < changeFrame {
			a.Quiet++
		}
	}
}

// alarmsOf puts the runs together.
func alarmsOf(runs []changeRow) []alarmed {
	out := make([]alarmed, len(alarmThresholds))
	for i := range out {
		out[i].Threshold = alarmThresholds[i]
		var delays []int
		for _, one := range runs {
			a := one.Alarms[i]
			out[i].False += a.False
			out[i].Quiet += a.Quiet
			if a.Delay == 0 {
				out[i].Missed++
			} else {
				delays = append(delays, a.Delay)
			}
		}
		slices.Sort(delays)
		out[i].Delay = -1
		if half := len(runs) / 2; half < len(delays) {
			out[i].Delay = delays[half]
		}
	}
	return out
}

// printAlarms writes the alarms for a person.
func printAlarms(rows []changeRow, w io.Writer) {
	fmt.Fprintf(w, "\nAlarms, about drift or diffusion: false ones before the change, in as many frames; then the frames that half of the runs' took, and changes missed within %d.\n\n",
		changeFrames[len(changeFrames)-1]-changeFrame)
	fmt.Fprintf(w, "%-22s", "alarm_frames")
	for _, threshold := range alarmThresholds {
		fmt.Fprintf(w, "  %19.0e", threshold)
	}
	fmt.Fprintln(w)
	for _, r := range rows {
		fmt.Fprintf(w, "%-22s", r.SDE)
		for _, a := range r.Alarms {
			fmt.Fprintf(w, "  %19s", fmt.Sprintf("%d/%d, %d, %d", a.False, a.Quiet, a.Delay, a.Missed))
		}
		fmt.Fprintln(w)
	}
}
