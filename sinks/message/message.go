package message

import (
	"time"

	"driftscope/internal/flow/latent"
)

// Record is a message in its transmitted form: one of *LatentRecord, *SDERecord, *EventRecord, *TriggerRecord, *HealthRecord, *ViewRecord, *ObjectsRecord,
// *TrackRecord, *PopulationRecord, *WorkerRecord. Fields are added, never renamed or removed. Times are UTC, RFC 3339 with nanoseconds; a number that is not
// finite is null.
type Record interface{ header() *Header }

// Header starts every record.
type Header struct {
	V      int         `json:"v"` // latent.Version
	Kind   latent.Kind `json:"kind"`
	Stream string      `json:"stream"`
	Epoch  uint64      `json:"epoch,omitempty"` // of the lease under which a worker runs the stream; later is greater
}

func (h *Header) header() *Header { return h }

// EpochOf returns the epoch of the lease under which r was made, 0 without one.
func EpochOf(r Record) uint64 { return r.header().Epoch }

// LatentRecord is one frame's latent and the drift at that latent, published in every frame.
type LatentRecord struct {
	Header
	Seq        uint64    `json:"seq"`
	Time       time.Time `json:"time"` // acquisition
	Trajectory uint64    `json:"trajectory"`
	Dropped    uint64    `json:"dropped_before" unit:"frames"`
	Z          Numbers   `json:"z" unit:"latent"`
	SD         Numbers   `json:"z_sd" unit:"latent"`
	Drift      Numbers   `json:"drift" unit:"latent/s"` // latent/s
	LatencyMS  float64   `json:"latency_ms" unit:"ms"`  // from the frame's arrival to its estimate
	Centroid   Numbers   `json:"centroid_px,omitempty" unit:"px"`
	Filtered   Numbers   `json:"z_filtered" unit:"latent"` // the latent given all frames so far and the law
	FilteredSD Numbers   `json:"z_filtered_sd" unit:"latent"`
	NIS        Number    `json:"nis" unit:"1"`                        // z's squared distance from its forecast in units of their covariance, χ² with one degree of freedom a dimension; 0 without a forecast
	Light      Number    `json:"light" unit:"grey values"`            // of the raw picture, grey values; 0 where not known
	Horizons   Numbers   `json:"forecast_s,omitempty" unit:"s"`       // how far ahead
	Forecast   Table     `json:"forecast,omitempty" unit:"latent"`    // the latent then: one horizon after the other, one number a latent dimension
	ForecastSD Table     `json:"forecast_sd,omitempty" unit:"latent"` // the same
}

// SDERecord is the law of motion, published after every refresh. latent.SDE explains the fields.
type SDERecord struct {
	Header
	Seq           uint64            `json:"seq"`
	Time          time.Time         `json:"time"`
	Revision      uint64            `json:"revision"`
	Transitions   uint64            `json:"transitions" unit:"increments"`
	Seconds       Number            `json:"observed_s" unit:"s"`
	Sigma         Numbers           `json:"sigma" unit:"latent/s^0.5"`
	SigmaLow      Numbers           `json:"sigma_low" unit:"latent/s^0.5"`
	SigmaHigh     Numbers           `json:"sigma_high" unit:"latent/s^0.5"`
	Diffusion     Numbers           `json:"diffusion" unit:"latent²/s"`
	Noise         Numbers           `json:"noise_sd" unit:"latent"`
	Activity      []latent.Activity `json:"activity"`
	ActiveCount   int               `json:"active_count"`
	CRLB          Number            `json:"drift_crlb" unit:"(latent/s)²"`
	DriftRevision uint64            `json:"drift_revision"`
	Held          uint64            `json:"frames_held" unit:"frames"`
	DriftFrame    uint64            `json:"drift_frame"`
	DriftChanges  uint64            `json:"drift_changes"`
	TooFew        bool              `json:"too_few_dimensions"`
	UnitsRecord
	Field *FieldRecord `json:"drift_field,omitempty"` // where it is new to this sink
}

// FieldRecord is the drift on a grid in a plane or along a line. latent.Field explains the fields.
type FieldRecord struct {
	Axes   []int     `json:"axes"`
	Z      []Numbers `json:"z" unit:"latent"`
	Drift  []Numbers `json:"drift" unit:"latent/s"`
	SD     []Numbers `json:"drift_sd" unit:"latent/s"`
	Scarce []bool    `json:"scarce"`
}

// fieldRecord returns the record of f. It shares f's points.
func fieldRecord(f *latent.Field) *FieldRecord {
	r := &FieldRecord{Axes: f.Axes, Scarce: f.Scarce}
	for k := range f.Z {
		r.Z, r.Drift, r.SD = append(r.Z, f.Z[k]), append(r.Drift, f.Drift[k]), append(r.SD, f.SD[k])
	}
	return r
}

// EventRecord is something that happened once.
type EventRecord struct {
	Header
	latent.Event
}

// TriggerRecord reports that a rule's condition begins or ends with a frame. latent.Trigger explains the fields.
type TriggerRecord struct {
	Header
	Seq       uint64    `json:"seq"`
	Time      time.Time `json:"time"`
	Name      string    `json:"name"`
	Rule      string    `json:"rule"`
	On        bool      `json:"on"`
	Object    uint64    `json:"object,omitempty"` // the one of a field that the rule is about
	Value     Number    `json:"value"`
	Threshold Number    `json:"threshold"`
	Unit      string    `json:"unit"`
	Filtered  Numbers   `json:"z_filtered" unit:"latent"`
	Centroid  Numbers   `json:"centroid_px,omitempty" unit:"px"`
	LatencyMS float64   `json:"latency_ms" unit:"ms"` // from the frame's arrival to this

	LeadMS     float64 `json:"lead_ms,omitempty" unit:"ms"`           // from the acquisition to when a pulse arrives, as online.lead says
	Forecast   Numbers `json:"z_forecast,omitempty" unit:"latent"`    // the latent then
	ForecastSD Numbers `json:"z_forecast_sd,omitempty" unit:"latent"` // its standard deviation
}

// HealthRecord is the state of the stream. For an experiment, frames are the records of its cameras.
type HealthRecord struct {
	Header
	latent.Health
	Cameras []CameraRecord `json:"cameras,omitempty"` // of an experiment: the streams whose laws it is made of
}

// CameraRecord describes a stream of an experiment: whether its law counts, and when its last message arrived.
type CameraRecord struct {
	Stream   string     `json:"stream"`
	Heard    *time.Time `json:"heard,omitempty"`    // when its last record came, by the clock of the health's time; missing where none has
	Out      string     `json:"left_out,omitempty"` // why its law does not count; missing where it does
	Silences uint64     `json:"silences"`           // how often it has fallen silent
}

// ViewRecord contains pictures, in base64 in JSON.
type ViewRecord struct {
	Header
	latent.View
}

// fill makes r the record of s for frame seq. It shares the slices of s.
func (r *SDERecord) fill(h Header, seq uint64, at time.Time, s *latent.SDE) {
	*r = SDERecord{
		Header: h, Seq: seq, Time: at.UTC(),
		Revision: s.Revision, Transitions: s.Transitions, Seconds: Number(s.Seconds),
		Sigma: s.Sigma, SigmaLow: s.SigmaLow, SigmaHigh: s.SigmaHigh, Diffusion: s.Diffusion, Noise: s.Noise,
		Activity: s.Activity, ActiveCount: s.ActiveCount, CRLB: Number(s.CRLB), DriftRevision: s.DriftRevision, Held: s.Held,
		DriftFrame: s.DriftFrame, DriftChanges: s.DriftChanges, TooFew: s.TooFew, UnitsRecord: unitsRecord(&s.Units),
	}
}

// triggerRecord returns the record of t. It shares t's slices.
func triggerRecord(h Header, t *latent.Trigger) *TriggerRecord {
	return &TriggerRecord{
		Header: h, Seq: t.Seq, Time: t.Time.UTC(), Name: t.Name, Rule: t.Rule, On: t.On, Object: t.Object,
		Value: Number(t.Value), Threshold: Number(t.Threshold), Unit: t.Unit,
		Filtered: t.Filtered, Centroid: t.Centroid, LatencyMS: Milliseconds(t.Latency),
		LeadMS: Milliseconds(t.Lead), Forecast: t.Forecast, ForecastSD: t.ForecastSD,
	}
}

// Milliseconds converts a latency for records and tables.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
