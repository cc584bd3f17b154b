package population

// Cell is one thing that was measured of one kind of population. A figure that has no meaning there is nil.
type Cell struct {
	Study   string  `json:"study"`
	Of      string  `json:"of"`            // what the figures are of
	Law     string  `json:"law,omitempty"` // of the objects, where the study has several
	Tracks  int     `json:"tracks"`
	Frames  int     `json:"frames"`                   // of each
	R       float64 `json:"r"`                        // noise over motion of the slowest, σ²/DΔt; 0 where each track has its own
	Exposed float64 `json:"exposed"`                  // share of a frame
	Ratio   float64 `json:"ratio,omitempty"`          // of D from state to state
	States  int     `json:"states,omitempty"`         // that there are
	Rate    float64 `json:"rate_per_s,omitempty"`     // at which a state is left, 1/s
	Known   bool    `json:"noise_is_known,omitempty"` // to the judge
	Runs    int     `json:"runs"`

	Coverage *float64 `json:"coverage,omitempty"`       // share of the 95 % intervals that hold the truth
	Error    *float64 `json:"relative_error,omitempty"` // rms, over the truth
	Bias     *float64 `json:"bias,omitempty"`           // mean error over the truth
	Bound    float64  `json:"bound,omitempty"`          // the Cramér-Rao bound of the error
	Right    *float64 `json:"right,omitempty"`          // share that is right: of states counted, of states told at 0.9 and more, of classes, of models named

	Told    *float64 `json:"told,omitempty"`           // share of populations whose evidence for switches or a force is above ln 20; of a map's traps and vortices, those told
	False   *float64 `json:"false,omitempty"`          // told and not there: switches over the true ones, traps and vortices a population
	Missed  *float64 `json:"missed,omitempty"`         // switches that are not told, over the true ones
	Median  *float64 `json:"median_frames,omitempty"`  // how far the time of a switch is off
	Off     *float64 `json:"absolute_error,omitempty"` // mean
	RMS     *float64 `json:"rms_px_per_s,omitempty"`   // of the error of a drift or of a force
	InSE    *float64 `json:"error_in_se,omitempty"`    // rms of errors in their standard errors
	Beside  *float64 `json:"error_over_fit,omitempty"` // rms, over that of a fit of the whole recording
	Instead string   `json:"instead,omitempty"`        // what is told most often in place of the truth
	Wrongly *float64 `json:"share_instead,omitempty"`  // how often
}

// share is the part of n things that are so.
func share(are []bool) *float64 {
	n := 0.0
	for _, is := range are {
		if is {
			n++
		}
	}
	return new(n / float64(len(are)))
}
