package estimator

import (
	"fmt"
	"io"
	"slices"

	"driftscope/online"
)

// alarmThresholds are thresholds for the evidence of a change: the least mean number of frames between two false alarms of
// one kind.
var alarmThresholds = []float64{1e3, 1e4, 1e5, 1e6}

// alarmed is the result of an alarm at one threshold, for one change, over all runs or in one.
type alarmed struct {
	Threshold float64 `json:"alarm_frames"`
	False     int     `json:"false_alarms"` // before the change, both kinds
	Quiet     int     `json:"quiet_frames"` // frames in which false alarms were possible
	Delay     int     `json:"delay"`        // median frames from the change to the alarm; -1 if at least half had none
	Missed    int     `json:"missed"`       // changes without an alarm before the end

	on [2]bool // drift and diffusion
}

// hear takes the evidence after frame k. As in the estimator, an alarm ends at a hundredth of its threshold.
func (r *changeRow) hear(k int, e online.Evidence) {
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

// alarmsOf summarises the runs.
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

// printAlarms prints the alarms.
func printAlarms(rows []changeRow, w io.Writer) {
	fmt.Fprintf(w, "\nAlarms about drift or diffusion: false alarms before the change, in the same number of frames; then the median of frames until an alarm, and the changes missed within %d frames.\n\n",
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
