package latent

import "time"

// Trigger reports that the condition of a rule begins or ends with a frame. Triggers control the microscope.
type Trigger struct {
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"` // acquisition
	Name string    `json:"name"` // the rule's
	Rule string    `json:"rule"` // its kind: zone, speed, changed, lost or sigma
	On   bool      `json:"on"`   // the condition begins; false: it ends
	// Object is the one of a field that the rule is about; 0 where there is one alone, or the one that is followed.
	Object uint64 `json:"object,omitempty"`

	Value     float64 `json:"value"`     // what was compared, in unit: of a zone how deep inside, negative outside; of changed and lost how many of their alarms are on
	Threshold float64 `json:"threshold"` // what it was compared with: 0 of a zone
	Unit      string  `json:"unit"`      // latent, px, latent/s, px/s, µm/s, latent/s^0.5 or alarms

	Filtered []float64     `json:"z_filtered"`            // the latent given all frames so far and the law
	Centroid []float64     `json:"centroid_px,omitempty"` // the object's, in the frame as it was read; empty where none was found
	Latency  time.Duration // from the frame's arrival at the host

	// The latent that is expected when the pulse arrives, Lead after Time. Forecast and ForecastSD are empty without a lead, and NaN while nothing is known.
	Lead       time.Duration
	Forecast   []float64
	ForecastSD []float64 // its standard deviation

	Arrived time.Time `json:"-"` // the frame, at the host
}
