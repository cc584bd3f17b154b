// Package latent defines the data after the encoder: latents, estimates, events, health, views and commands. It is pure Go and imports nothing of this project.
// All packages downstream of the camera use its types.
//
// JSON names include their units. Fields may be added but never renamed or removed, because dashboards depend on them.
package latent

import "time"

// Version is the value of the field "v" in every message. It increases only when a field changes its meaning.
const Version = 1

// Kind names a message and is the last token of its subject.
type Kind string

// The kinds of message. An Estimate is published on two subjects: as KindLatent in every frame, and as KindSDE after a refresh of its law. A Law is published
// as KindSDE.
const (
	KindLatent Kind = "latent"
	KindSDE    Kind = "sde"
	KindEvent  Kind = "event"
	KindHealth Kind = "health"
	KindView   Kind = "view"

	KindTrigger Kind = "trigger"

	KindObjects    Kind = "objects" // every frame of a field, of an Estimate
	KindTrack      Kind = "track"
	KindPopulation Kind = "population"

	KindWorker Kind = "worker" // every second, of a worker of a site rather than of a stream
)

// Message is one of *Estimate, *Law, *Event, *Trigger, *Health, *View, *Track or *Population. A sink must copy a
// message to keep it, because the runner reuses the memory.
type Message interface {
	message()
}

// Latent is the result of the encoder for one frame: the Gaussian N(Mean, diag SD²).
type Latent struct {
	Seq        uint64    `json:"seq"`            // frame number at the source, from 0; gaps are drops
	Time       time.Time `json:"time"`           // acquisition
	Trajectory uint64    `json:"trajectory"`     // increments are never formed across two of these
	Dropped    uint64    `json:"dropped_before"` // frames lost between the previous frame and this one
	Mean       []float64 `json:"z"`              // latent units: sigma is 1 per sqrt(s) on the training clip
	SD         []float64 `json:"z_sd"`           // the encoder's own standard deviation, same units
	// Centroid is the object's intensity centroid in the frame as it was read, x and y, pixels; empty where none was found.
	Centroid []float64 `json:"centroid_px,omitempty"`
	Light    float64   `json:"light"` // of the raw picture: its bright parts above its dark ones, grey values; 0 where not known

	Arrived time.Time `json:"-"` // at the host
	Place   uint64    `json:"-"` // in a durable stream of frames; 0 where none
}

// Reset makes l an empty latent of dimension d, and reuses its memory.
func (l *Latent) Reset(d int) {
	*l = Latent{Mean: Resize(l.Mean, d), SD: Resize(l.SD, d), Centroid: l.Centroid[:0]}
}

// Copy makes l a deep copy of src, and reuses l's memory.
func (l *Latent) Copy(src *Latent) {
	mean, sd, centroid := append(l.Mean[:0], src.Mean...), append(l.SD[:0], src.SD...), append(l.Centroid[:0], src.Centroid...)
	*l = *src
	l.Mean, l.SD, l.Centroid = mean, sd, centroid
}

// Resize returns a slice of length n, and reuses the memory of s if possible. The values are unspecified.
func Resize(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

// Activity reports whether a latent dimension moves by diffusion.
type Activity string

// A dimension is undecided while its interval straddles the threshold.
const (
	Active    Activity = "active"
	Inactive  Activity = "inactive"
	Undecided Activity = "undecided"
)

// SDE is the present estimate of the law of motion: dz = μ(z) dt + σ dW with σ diagonal. Intervals are 95 % intervals. Every slice has one entry per latent
// dimension.
type SDE struct {
	Revision      uint64     `json:"revision"`           // grows by one at every refresh of the figures or of the drift
	Transitions   uint64     `json:"transitions"`        // increments the law rests on
	Seconds       float64    `json:"observed_s"`         // their total time T
	Sigma         []float64  `json:"sigma"`              // σ, latent/s^½
	SigmaLow      []float64  `json:"sigma_low"`          // lower 95 % limit
	SigmaHigh     []float64  `json:"sigma_high"`         // upper 95 % limit
	Diffusion     []float64  `json:"diffusion"`          // σ²/2, latent²/s
	Noise         []float64  `json:"noise_sd"`           // sd of the localisation noise found in the latents, latent
	Activity      []Activity `json:"activity"`           // which dimensions move
	ActiveCount   int        `json:"active_count"`       // how many are Active
	CRLB          float64    `json:"drift_crlb"`         // Cramér-Rao bound on the drift's summed squared error, Σσ²/T, (latent/s)²
	DriftRevision uint64     `json:"drift_revision"`     // which drift weights Drift comes from; 0 is the model's own
	Held          uint64     `json:"frames_held"`        // frames not learnt from, because they were unlike the others
	DriftFrame    uint64     `json:"drift_frame"`        // Seq of the frame from which on the drift's weights were used
	DriftChanges  uint64     `json:"drift_changes"`      // changes of the drift found so far; what came before the last is forgotten
	TooFew        bool       `json:"too_few_dimensions"` // something drives the latents that they do not show
	Units         Units
	Field         *Field `json:"drift_field"` // the drift of DriftRevision, nil before the first; never written once it is here
}

// Field is the drift on a grid in a plane, or along a line if only one dimension moves. Every list has one entry per point.
type Field struct {
	Axes   []int       `json:"axes"`     // the one or two latent dimensions shown; the others are at their mean
	Z      [][]float64 `json:"z"`        // the points, along the axes, latent
	Drift  [][]float64 `json:"drift"`    // along the axes, latent/s
	SD     [][]float64 `json:"drift_sd"` // its standard error
	Scarce []bool      `json:"scarce"`   // fewer than ten latents were seen nearby: what stands there is mostly expectation
}

// Copy makes s a deep copy of src, reusing s's memory.
func (s *SDE) Copy(src *SDE) {
	old := *s
	*s = *src
	s.Sigma = append(old.Sigma[:0], src.Sigma...)
	s.SigmaLow = append(old.SigmaLow[:0], src.SigmaLow...)
	s.SigmaHigh = append(old.SigmaHigh[:0], src.SigmaHigh...)
	s.Diffusion = append(old.Diffusion[:0], src.Diffusion...)
	s.Noise = append(old.Noise[:0], src.Noise...)
	s.Activity = append(old.Activity[:0], src.Activity...)
	s.Units = old.Units
	s.Units.Copy(&src.Units)
}

// Estimate is one frame's latent, the drift at that latent, and the law as estimated up to that frame.
type Estimate struct {
	Latent  Latent
	Drift   []float64     // μ at Latent.Mean, latent/s
	SDE     SDE           // law; sinks publish it when SDE.Revision has changed
	Latency time.Duration // time from the frame's arrival at the host to the end of Update

	Filtered   []float64 // mean of the latent given all frames so far and the law, latent
	FilteredSD []float64 // its standard deviation
	NIS        float64   // squared distance of Latent.Mean from its forecast, in units of their covariance: χ² with d degrees of freedom; 0 without a forecast
	Horizons   []float64 // horizons of the forecasts, s
	Forecast   []float64 // mean of the latent at each horizon, d numbers per horizon; NaN if the horizon is too far
	ForecastSD []float64 // standard deviation of Forecast, without the measurement noise

	Lead    float64   // time from the acquisition to the arrival of a pulse triggered by this frame, s; 0 without a lead
	Ahead   []float64 // mean of the latent at that time; empty without a lead, NaN if unknown
	AheadSD []float64 // its standard deviation

	Alarms []string // codes of the active alarms

	Objects *Objects // objects of a field, nil for a scene; in a field Latent belongs to the followed object, or is empty
}

// Copy makes e a deep copy of src, reusing e's memory.
func (e *Estimate) Copy(src *Estimate) {
	e.Latent.Copy(&src.Latent)
	e.Drift = append(e.Drift[:0], src.Drift...)
	e.SDE.Copy(&src.SDE)
	e.Latency = src.Latency
	e.Filtered = append(e.Filtered[:0], src.Filtered...)
	e.FilteredSD = append(e.FilteredSD[:0], src.FilteredSD...)
	e.NIS = src.NIS
	e.Horizons = append(e.Horizons[:0], src.Horizons...)
	e.Forecast = append(e.Forecast[:0], src.Forecast...)
	e.ForecastSD = append(e.ForecastSD[:0], src.ForecastSD...)
	e.Lead = src.Lead
	e.Ahead = append(e.Ahead[:0], src.Ahead...)
	e.AheadSD = append(e.AheadSD[:0], src.AheadSD...)
	e.Alarms = append(e.Alarms[:0], src.Alarms...)
	switch {
	case src.Objects == nil:
		e.Objects = nil
	case e.Objects == nil:
		e.Objects = &Objects{}
		e.Objects.copy(src.Objects)
	default:
		e.Objects.copy(src.Objects)
	}
}

// Law is the law of motion from a complete recording, published after its last frame. It never changes after publication.
type Law struct {
	Seq  uint64    // number of the last frame
	Time time.Time // acquisition time of the last frame
	SDE  SDE
}

// Level is the importance of an event.
type Level string

// Info needs no action. Warning needs action soon, Error now.
const (
	Info    Level = "info"
	Warning Level = "warning"
	Error   Level = "error"
)

// The codes of alarms. An alarm begins and ends with an Event of its code.
const (
	DriftChanged     = "drift_changed"
	DiffusionChanged = "diffusion_changed"
	UnlikeTraining   = "unlike_training"
	ObjectLost       = "object_lost"
	Bleached         = "bleached"
	TooFewDimensions = "too_few_dimensions"
	NoObjects        = "no_objects"
	TooManyObjects   = "too_many_objects"
	LinksUncertain   = "links_uncertain"

	PopulationDiffusionChanged = "population_diffusion_changed"
	PopulationMixtureChanged   = "population_mixture_changed"
)

// Event is something that happened once: drops, a moved grey window, a cut trajectory, a source that ended.
type Event struct {
	Seq   uint64    `json:"seq"` // the frame it belongs to, or the last one seen
	Time  time.Time `json:"time"`
	Level Level     `json:"level"`
	Code  string    `json:"code"` // stable, lower_snake_case: dashboards match on it
	Text  string    `json:"text"` // for people: what happened and what to do
	Count uint64    `json:"count"`
}

// Health is the state of one stream, published once a second and at the end.
type Health struct {
	Time      time.Time         `json:"time"`
	State     string            `json:"state"`             // "starting", "tracking", "source_lost" or "stopped"
	Problem   string            `json:"problem,omitempty"` // why it stopped; none where it came to its end, or was told to stop
	UptimeS   float64           `json:"uptime_s" unit:"s"`
	Frames    uint64            `json:"frames_in" unit:"frames"`      // read from the source
	Tracked   uint64            `json:"frames_tracked" unit:"frames"` // encoded and estimated
	Dropped   map[string]uint64 `json:"frames_dropped" unit:"frames"` // by cause; messages for those that begin with sink_, of sink_NAME_cut those that were delivered without a part
	Alarms    map[string]uint64 `json:"alarms" unit:"alarms"`         // begun, by code
	Published uint64            `json:"published" unit:"messages"`    // messages accepted by sinks
	FPS       float64           `json:"fps" unit:"1/s"`               // tracked, over the last interval
	Queue     int               `json:"queue" unit:"frames"`          // frames waiting
	Stages    []Stage           `json:"stages"`
}

// Stage gives the time per frame of one stage, over the run so far.
type Stage struct {
	Name    string  `json:"name"`
	P50MS   float64 `json:"p50_ms" unit:"ms"`
	P95MS   float64 `json:"p95_ms" unit:"ms"`
	P99MS   float64 `json:"p99_ms" unit:"ms"`
	Count   uint64  `json:"count"`              // times that were taken
	TotalMS float64 `json:"total_ms" unit:"ms"` // their sum, to a thirtieth
}

// View contains pictures for display: the encoder's input and its reconstruction, as JPEG, and the position of the input in the whole picture. Views are made
// at a limited rate.
type View struct {
	Seq            uint64    `json:"seq"`
	Time           time.Time `json:"time"`
	Preview        []byte    `json:"preview_jpeg"`
	Reconstruction []byte    `json:"reconstruction_jpeg,omitempty"` // empty where the model has no decoder
	Region         *Region   `json:"region,omitempty"`              // what the command roi moves; missing where nothing is cut out
	Whole          []byte    `json:"whole_jpeg,omitempty"`          // what the region is cut out of, small; not in every view
}

// Region is the part of the whole picture that the encoder gets, in pixels of the whole picture.
type Region struct {
	X           int `json:"x_px" unit:"px"` // of its upper left corner
	Y           int `json:"y_px" unit:"px"`
	Width       int `json:"width_px" unit:"px"`
	Height      int `json:"height_px" unit:"px"`
	WholeWidth  int `json:"whole_width_px" unit:"px"`
	WholeHeight int `json:"whole_height_px" unit:"px"`
}

func (*Estimate) message() {}
func (*Law) message()      {}
func (*Event) message()    {}
func (*Trigger) message()  {}
func (*Health) message()   {}
func (*View) message()     {}
