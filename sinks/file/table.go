package file

import (
	"math"
	"strconv"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// form is the type of a column.
type form int

const (
	isWhole form = iota
	isFlag
	isNumber
	isInstant
	isText
)

// column is one column of a table. It has the name of the message's field; a list has one column per entry, such as z_0, z_1.
type column struct {
	name string
	form form
}

// cell is one value. whole is used for integers, flags and nanoseconds since 1970.
type cell struct {
	whole  uint64
	number float64
	text   string
}

// shape determines the columns of a table.
type shape struct{ dims, horizons int }

// table is a row, with the columns of all rows of a file. It reuses its memory.
type table struct {
	shape   shape
	columns []column
	cells   []cell
	naming  bool
}

// begin empties the row. If the shape is new, filling the row names the columns.
func (t *table) begin(s shape) {
	if t.naming = t.columns == nil || s != t.shape; t.naming {
		t.shape, t.columns = s, t.columns[:0]
	}
	t.cells = t.cells[:0]
}

func (t *table) add(name string, f form, c cell) {
	if t.naming {
		t.columns = append(t.columns, column{name, f})
	}
	t.cells = append(t.cells, c)
}

func (t *table) whole(name string, v uint64)   { t.add(name, isWhole, cell{whole: v}) }
func (t *table) number(name string, v float64) { t.add(name, isNumber, cell{number: v}) }
func (t *table) text(name, v string)           { t.add(name, isText, cell{text: v}) }
func (t *table) instant(name string, v time.Time) {
	t.add(name, isInstant, cell{whole: uint64(v.UnixNano())})
}

func (t *table) flag(name string, v bool) {
	c := cell{}
	if v {
		c.whole = 1
	}
	t.add(name, isFlag, c)
}

// numbers adds n columns. Missing entries of v are NaN.
func (t *table) numbers(name string, v []float64, n int) {
	for i := range n {
		t.number(t.entry(name, i), message.At(v, i))
	}
}

// entry returns the column name of entry i.
func (t *table) entry(name string, i int) string {
	if !t.naming {
		return ""
	}
	return name + "_" + strconv.Itoa(i)
}

// latent writes one frame: the fields of a LatentRecord.
func (t *table) latent(e *latent.Estimate) {
	l := &e.Latent
	d, ahead := len(l.Mean), len(e.Horizons)
	t.begin(shape{d, ahead})
	t.whole("seq", l.Seq)
	t.instant("time", l.Time)
	t.whole("trajectory", l.Trajectory)
	t.whole("dropped_before", l.Dropped)
	t.numbers("z", l.Mean, d)
	t.numbers("z_sd", l.SD, d)
	t.numbers("drift", e.Drift, d)
	t.number("latency_ms", message.Milliseconds(e.Latency))
	t.numbers("centroid_px", l.Centroid, 2)
	t.numbers("z_filtered", e.Filtered, d)
	t.numbers("z_filtered_sd", e.FilteredSD, d)
	t.number("nis", e.NIS)
	t.number("light", l.Light)
	t.numbers("forecast_s", e.Horizons, ahead)
	for h := range ahead {
		t.numbers(t.entry("forecast", h), e.Forecast[min(h*d, len(e.Forecast)):], d)
	}
	for h := range ahead {
		t.numbers(t.entry("forecast_sd", h), e.ForecastSD[min(h*d, len(e.ForecastSD)):], d)
	}
}

// sde writes the law of d dimensions at a frame: the fields of an SDERecord except the drift field, which has its own table.
func (t *table) sde(seq uint64, at time.Time, s *latent.SDE, d int) {
	t.begin(shape{d, 0})
	t.whole("seq", seq)
	t.instant("time", at)
	t.whole("revision", s.Revision)
	t.whole("transitions", s.Transitions)
	t.number("observed_s", s.Seconds)
	t.numbers("sigma", s.Sigma, d)
	t.numbers("sigma_low", s.SigmaLow, d)
	t.numbers("sigma_high", s.SigmaHigh, d)
	t.numbers("diffusion", s.Diffusion, d)
	t.numbers("noise_sd", s.Noise, d)
	for i := range d {
		activity := ""
		if i < len(s.Activity) {
			activity = string(s.Activity[i])
		}
		t.text(t.entry("activity", i), activity)
	}
	t.whole("active_count", uint64(s.ActiveCount))
	t.number("drift_crlb", s.CRLB)
	t.whole("drift_revision", s.DriftRevision)
	t.whole("frames_held", s.Held)
	t.whole("drift_frame", s.DriftFrame)
	t.whole("drift_changes", s.DriftChanges)
	t.flag("too_few_dimensions", s.TooFew)
	t.units(&s.Units, d)
}

// units writes the diffusion in px and µm. Unknown values are NaN.
func (t *table) units(u *latent.Units, d int) {
	unknown := latent.Spread{D: math.NaN(), Low: math.NaN(), High: math.NaN(), X: math.NaN(), Y: math.NaN()}
	px, um := unknown, unknown
	if u.Calibration == latent.Calibrated {
		px = u.Px
		if u.UM != (latent.Spread{}) {
			um = u.UM
		}
	}
	t.text("calibration", string(u.Calibration))
	t.numbers("calibration_r2", u.R2, 2)
	t.numbers("pixels_per_latent_x", u.PixelsPerLatentX, d)
	t.numbers("pixels_per_latent_y", u.PixelsPerLatentY, d)
	for _, s := range []struct {
		name, along string
		spread      latent.Spread
	}{{"diffusion_px2_s", "diffusion_xy_px2_s", px}, {"diffusion_um2_s", "diffusion_xy_um2_s", um}} {
		t.number(s.name, s.spread.D)
		t.number(s.name+"_low", s.spread.Low)
		t.number(s.name+"_high", s.spread.High)
		t.number(t.entry(s.along, 0), s.spread.X)
		t.number(t.entry(s.along, 1), s.spread.Y)
	}
}

// event writes an event.
func (t *table) event(e *latent.Event) {
	t.begin(shape{})
	t.whole("seq", e.Seq)
	t.instant("time", e.Time)
	t.text("level", string(e.Level))
	t.text("code", e.Code)
	t.text("text", e.Text)
	t.whole("count", e.Count)
}

// trigger writes a trigger: the fields of a TriggerRecord.
func (t *table) trigger(m *latent.Trigger) {
	d := len(m.Filtered)
	t.begin(shape{d, 0})
	t.whole("seq", m.Seq)
	t.instant("time", m.Time)
	t.text("name", m.Name)
	t.text("rule", m.Rule)
	t.flag("on", m.On)
	t.whole("object", m.Object)
	t.number("value", m.Value)
	t.number("threshold", m.Threshold)
	t.text("unit", m.Unit)
	t.numbers("z_filtered", m.Filtered, d)
	t.numbers("centroid_px", m.Centroid, 2)
	t.number("latency_ms", message.Milliseconds(m.Latency))
	t.number("lead_ms", message.Milliseconds(m.Lead))
	t.numbers("z_forecast", m.Forecast, d)
	t.numbers("z_forecast_sd", m.ForecastSD, d)
}
