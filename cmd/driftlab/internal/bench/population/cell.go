package population

// Cell is one measurement on one kind of population. Figures without meaning for it are nil.
type Cell struct {
	Study   string  `json:"study"`
	Of      string  `json:"of"`            // the measured quantity
	Law     string  `json:"law,omitempty"` // the objects' law, if the study has several
	Tracks  int     `json:"tracks"`
	Frames  int     `json:"frames"`               // per track
	R       float64 `json:"r"`                    // noise over motion of the slowest, σ²/DΔt; 0 if it differs between tracks
	Exposed float64 `json:"exposed"`              // fraction of a frame
	Ratio   float64 `json:"ratio,omitempty"`      // ratio of D between neighbouring states
	States  int     `json:"states,omitempty"`     // true number
	Rate    float64 `json:"rate_per_s,omitempty"` // rate of a trap, 1/frame
	Runs    int     `json:"runs"`

	Coverage *float64 `json:"coverage,omitempty"`       // fraction of the 95 % intervals that contain the truth
	Error    *float64 `json:"relative_error,omitempty"` // rms, relative to the truth
	Bias     *float64 `json:"bias,omitempty"`           // mean error relative to the truth
	Bound    float64  `json:"bound,omitempty"`          // the Cramér-Rao bound of the error
	Right    *float64 `json:"right,omitempty"`          // fraction correct of counted states

	Told    *float64 `json:"told,omitempty"`           // fraction of populations whose evidence for a force is above ln 20; of a map's traps and vortices, the reported ones
	False   *float64 `json:"false,omitempty"`          // false reports: laws, and traps and vortices per population
	RMS     *float64 `json:"rms_px_per_s,omitempty"`   // error of a drift or of a force
	InSE    *float64 `json:"error_in_se,omitempty"`    // rms of errors relative to their standard errors
	Beside  *float64 `json:"error_over_fit,omitempty"` // rms relative to a fit of the whole recording
	Instead string   `json:"instead,omitempty"`        // most frequent wrong report
}

// share returns the fraction of true values.
func share(are []bool) *float64 {
	n := 0.0
	for _, is := range are {
		if is {
			n++
		}
	}
	return new(n / float64(len(are)))
}
