package message

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"driftscope/internal/flow/latent"
)

// ObjectsRecord is every object of a field in one frame: columns with one entry an object. Marks are added up: 1 predicted, not detected in this frame; 2
// merged, seen as one with another; 4 directed, it moves in a direction; 8 doubtful, doubt is above 0.05; 16 followed.
type ObjectsRecord struct {
	Header
	Seq       uint64         `json:"seq"`
	Time      time.Time      `json:"time"`                           // acquisition
	LatencyMS float64        `json:"latency_ms" unit:"ms"`           // from the frame's arrival to this
	Width     int            `json:"width_px" unit:"px"`             // of the frame as it was read
	Height    int            `json:"height_px" unit:"px"`            // the same
	PixelUM   float64        `json:"pixel_um" unit:"µm"`             // side of a pixel; 0 where not known
	ID        []uint64       `json:"id"`                             // never used again, unless they are those of a publisher of places
	X         Column         `json:"x_px" unit:"px"`                 // of the frame as it was read, whole numbers at pixels' centres
	Y         Column         `json:"y_px" unit:"px"`                 // the same
	SD        Column         `json:"sd_px" unit:"px"`                // of the place, an axis
	D         Column         `json:"diffusion_px2_s" unit:"px²/s"`   // so far; null before the second step
	Doubt     Column         `json:"doubt" unit:"1"`                 // probability of being another object than the number says
	Link      Column         `json:"p_link,omitempty" unit:"1"`      // probability that the step from its previous place is its own; null without one, or if too many objects are near to know
	Marks     []latent.Mark  `json:"marks"`                          // what is special about it
	State     []Column       `json:"state,omitempty" unit:"1"`       // a column a state of the population's law: the probability that the object is in it
	Z         []Column       `json:"z,omitempty" unit:"latent"`      // a column a latent, of a model of objects: what they look like; null where not detected
	ZSD       []Column       `json:"z_sd,omitempty" unit:"latent"`   // standard deviations of z
	Left      uint64         `json:"left_out" unit:"spots"`          // too many to be looked at
	Unsent    uint64         `json:"unsent,omitempty" unit:"places"` // of objects, earlier places and swaps, the least certain: the NATS server takes no larger message
	Earlier   *EarlierRecord `json:"earlier,omitempty"`              // places in earlier frames that are known only now
	Swaps     *SwapsRecord   `json:"swaps,omitempty"`                // pairs that may have exchanged their numbers, at most 1,000, the likeliest first
}

// SwapsRecord is pairs of objects that may have exchanged their numbers, with a probability of 0.05 or more. It follows a pair for seven frames.
type SwapsRecord struct {
	ID    []uint64 `json:"id"`
	Other []uint64 `json:"other"`
	Since []uint64 `json:"since_seq"`       // the first frame in which each would show the other
	P     Column   `json:"p_swap" unit:"1"` // probability
}

// EarlierRecord is where objects were in frames before: those that had to be seen a few times to be known as objects, and those that were not detected for a
// while, which stand on the straight way. Together with the places of every frame, but for those marked 1 or 2, these are the tracks.
type EarlierRecord struct {
	Seq    []uint64 `json:"seq"`
	ID     []uint64 `json:"id"`
	X      Column   `json:"x_px" unit:"px"`
	Y      Column   `json:"y_px" unit:"px"`
	SD     Column   `json:"sd_px" unit:"px"`
	Filled []bool   `json:"filled"` // not detected there, but before and after
}

// TrackRecord tells what happens to one object: born, merged, split or ended. Its figures are those of all its steps so far.
type TrackRecord struct {
	Header
	Seq      uint64        `json:"seq"`
	Time     time.Time     `json:"time"`
	ID       uint64        `json:"id"`
	Change   latent.Change `json:"change"`
	Why      string        `json:"why,omitempty"`        // of an end
	First    uint64        `json:"first_seq"`            // the frame in which it was seen first
	Last     uint64        `json:"last_seq"`             // the same, last
	Frames   uint64        `json:"frames" unit:"frames"` // in which it was detected
	X        Number        `json:"x_px" unit:"px"`
	Y        Number        `json:"y_px" unit:"px"`
	Path     Number        `json:"path_px" unit:"px"`         // how far it went; the motion of all together is taken off here and below
	Drift    Numbers       `json:"velocity_px_s" unit:"px/s"` // mean, along x and y
	Directed bool          `json:"directed"`                  // it moved in a direction
	RangeRecord
	Shrunk     *Number       `json:"diffusion_shrunk_px2_s,omitempty" unit:"px²/s"` // by the population's law, which its own steps move from its state's
	ShrunkLow  *Number       `json:"diffusion_shrunk_px2_s_low,omitempty" unit:"px²/s"`
	ShrunkHigh *Number       `json:"diffusion_shrunk_px2_s_high,omitempty" unit:"px²/s"`
	State      Numbers       `json:"state,omitempty" unit:"1"` // probability of each state of the population's law, over its last steps
	Motion     *MotionRecord `json:"motion,omitempty"`
}

// MotionRecord is the kind of law that a track obeys: the likeliest class, the probability of each, and the anomalous exponent.
type MotionRecord struct {
	Class     string `json:"class"` // stuck, free, confined, directed or anomalous
	Stuck     Number `json:"stuck" unit:"1"`
	Free      Number `json:"free" unit:"1"`
	Confined  Number `json:"confined" unit:"1"`
	Directed  Number `json:"directed" unit:"1"`
	Anomalous Number `json:"anomalous" unit:"1"`
	Alpha     Number `json:"alpha" unit:"1"` // exponent of the mean square displacement
	AlphaLow  Number `json:"alpha_low" unit:"1"`
	AlphaHigh Number `json:"alpha_high" unit:"1"`
	Radius    Number `json:"radius_px" unit:"px"`    // of confinement; null where another class is likelier
	Speed     Number `json:"speed_px_s" unit:"px/s"` // null where it is not directed
}

// RangeRecord is a coefficient of diffusion with its 95 % interval. null before two steps.
type RangeRecord struct {
	Px     Number  `json:"diffusion_px2_s" unit:"px²/s"`
	PxLow  Number  `json:"diffusion_px2_s_low" unit:"px²/s"`
	PxHigh Number  `json:"diffusion_px2_s_high" unit:"px²/s"`
	UM     *Number `json:"diffusion_um2_s,omitempty" unit:"µm²/s"`
	UMLow  *Number `json:"diffusion_um2_s_low,omitempty" unit:"µm²/s"`
	UMHigh *Number `json:"diffusion_um2_s_high,omitempty" unit:"µm²/s"`
}

// rangeRecord returns the record of a diffusion.
func rangeRecord(px, um latent.Range) RangeRecord {
	r := RangeRecord{Px: Number(px.D), PxLow: Number(px.Low), PxHigh: Number(px.High)}
	if um != (latent.Range{}) {
		r.UM, r.UMLow, r.UMHigh = number(um.D), number(um.Low), number(um.High)
	}
	return r
}

func number(v float64) *Number { return (*Number)(&v) }

// trackRecord returns the record of t.
func trackRecord(h Header, t *latent.Track) *TrackRecord {
	r := &TrackRecord{Header: h, Seq: t.Seq, Time: t.Time.UTC(), ID: t.ID, Change: t.Change, Why: t.Why, First: t.First, Last: t.Last, Frames: t.Frames,
		X: Number(t.X), Y: Number(t.Y), Path: Number(t.Path), Drift: Numbers{t.DriftX, t.DriftY}, Directed: t.Runs, RangeRecord: rangeRecord(t.Px, t.UM), State: t.State}
	if t.Shrunk != (latent.Range{}) {
		r.Shrunk, r.ShrunkLow, r.ShrunkHigh = number(t.Shrunk.D), number(t.Shrunk.Low), number(t.Shrunk.High)
	}
	if m := t.Motion; m != nil {
		r.Motion = &MotionRecord{m.Class, Number(m.Stuck), Number(m.Free), Number(m.Confined), Number(m.Directed), Number(m.Anomalous), Number(m.Alpha.Value), Number(m.Alpha.Low), Number(m.Alpha.High),
			Number(m.Radius), Number(m.Speed)}
	}
	return r
}

// appendObjects writes the JSON of an ObjectsRecord without allocating. It rounds a place to a ten-thousandth of a
// pixel, all else to five digits. unsent is the number of places left out.
func appendObjects(dst []byte, h Header, e *latent.Estimate, unsent int) []byte {
	o := e.Objects
	whole := func(name string, v uint64) {
		dst = append(dst, name...)
		dst = strconv.AppendUint(dst, v, 10)
	}
	dst = appendHeader(dst, h)
	whole(`,"seq":`, e.Latent.Seq)
	dst = append(dst, `,"time":"`...)
	dst = e.Latent.Time.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, `","latency_ms":`...)
	dst = appendNumber(dst, Milliseconds(e.Latency))
	whole(`,"width_px":`, uint64(o.Width))
	whole(`,"height_px":`, uint64(o.Height))
	dst = append(dst, `,"pixel_um":`...)
	dst = appendNumber(dst, o.PixelUM)
	dst = appendWholes(append(dst, `,"id":`...), o.ID)
	dst = appendPlaces(append(dst, `,"x_px":`...), o.X)
	dst = appendPlaces(append(dst, `,"y_px":`...), o.Y)
	dst = appendShort(append(dst, `,"sd_px":`...), o.SD)
	dst = appendShort(append(dst, `,"diffusion_px2_s":`...), o.D)
	dst = appendShort(append(dst, `,"doubt":`...), o.Doubt)
	if len(o.Link) > 0 { // a table of tracks has none
		dst = appendShort(append(dst, `,"p_link":`...), o.Link)
	}
	dst = appendWholes(append(dst, `,"marks":`...), o.Marks)
	if o.States > 0 {
		dst = appendLatents(append(dst, `,"state":`...), o.State, o.States)
	}
	if o.Latents > 0 {
		dst = appendLatents(append(dst, `,"z":`...), o.Z, o.Latents)
		dst = appendLatents(append(dst, `,"z_sd":`...), o.ZSD, o.Latents)
	}
	whole(`,"left_out":`, o.Left)
	if unsent > 0 {
		whole(`,"unsent":`, uint64(unsent))
	}
	if len(o.Earlier) > 0 {
		dst = appendEarlier(append(dst, `,"earlier":`...), o.Earlier)
	}
	if len(o.Swaps) > 0 {
		dst = appendSwaps(append(dst, `,"swaps":`...), o.Swaps)
	}
	return append(dst, '}')
}

// appendSwaps writes the JSON of a SwapsRecord.
func appendSwaps(dst []byte, pairs []latent.Swap) []byte {
	dst = appendEach(dst, `{"id":`, pairs, func(dst []byte, p *latent.Swap) []byte { return strconv.AppendUint(dst, p.ID, 10) })
	dst = appendEach(dst, `,"other":`, pairs, func(dst []byte, p *latent.Swap) []byte { return strconv.AppendUint(dst, p.With, 10) })
	dst = appendEach(dst, `,"since_seq":`, pairs, func(dst []byte, p *latent.Swap) []byte { return strconv.AppendUint(dst, p.Since, 10) })
	dst = appendEach(dst, `,"p_swap":`, pairs, func(dst []byte, p *latent.Swap) []byte { return appendFinite(dst, p.P, 'g', 5) })
	return append(dst, '}')
}

// appendEach writes a column with one entry per row.
func appendEach[T any](dst []byte, name string, rows []T, each func([]byte, *T) []byte) []byte {
	dst = append(dst, name...)
	open := byte('[')
	for i := range rows {
		dst = each(append(dst, open), &rows[i])
		open = ','
	}
	return append(dst, ']')
}

// appendEarlier writes the JSON of an EarlierRecord.
func appendEarlier(dst []byte, places []latent.Place) []byte {
	dst = appendEach(dst, `{"seq":`, places, func(dst []byte, p *latent.Place) []byte { return strconv.AppendUint(dst, p.Seq, 10) })
	dst = appendEach(dst, `,"id":`, places, func(dst []byte, p *latent.Place) []byte { return strconv.AppendUint(dst, p.ID, 10) })
	dst = appendEach(dst, `,"x_px":`, places, func(dst []byte, p *latent.Place) []byte { return appendFinite(dst, p.X, 'f', 4) })
	dst = appendEach(dst, `,"y_px":`, places, func(dst []byte, p *latent.Place) []byte { return appendFinite(dst, p.Y, 'f', 4) })
	dst = appendEach(dst, `,"sd_px":`, places, func(dst []byte, p *latent.Place) []byte { return appendFinite(dst, p.SD, 'g', 5) })
	dst = appendEach(dst, `,"filled":`, places, func(dst []byte, p *latent.Place) []byte { return strconv.AppendBool(dst, p.Filled) })
	return append(dst, '}')
}

func appendWholes[T ~uint16 | ~uint64](dst []byte, v []T) []byte {
	dst = append(dst, '[')
	for i, n := range v {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(n), 10)
	}
	return append(dst, ']')
}

func appendPlaces(dst []byte, v []float64) []byte { return appendColumn(dst, v, 'f', 4) }
func appendShort(dst []byte, v []float64) []byte  { return appendColumn(dst, v, 'g', 5) }

func appendColumn(dst []byte, v []float64, form byte, digits int) []byte {
	dst = append(dst, '[')
	for i, n := range v {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendFinite(dst, n, form, digits)
	}
	return append(dst, ']')
}

// appendLatents writes d numbers per object as d columns.
func appendLatents(dst []byte, v []float64, d int) []byte {
	open := byte('[')
	for k := range d {
		dst = append(dst, open)
		open = ','
		inner := byte('[')
		for i := k; i < len(v); i += d {
			dst = appendFinite(append(dst, inner), v[i], 'g', 5)
			inner = ','
		}
		if inner == '[' {
			dst = append(dst, inner)
		}
		dst = append(dst, ']')
	}
	return append(dst, ']')
}

func appendFinite(dst []byte, v float64, form byte, digits int) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, v, form, digits, 64)
}

// checkObjects refuses columns of different lengths or numbers.
func checkObjects(r *ObjectsRecord) error {
	n := len(r.ID)
	if e := r.Earlier; e != nil {
		if err := sameObjects(len(e.Seq), len(e.ID), len(e.X), len(e.Y), len(e.SD), len(e.Filled)); err != nil {
			return err
		}
	}
	if p := r.Swaps; p != nil {
		if err := sameObjects(len(p.ID), len(p.Other), len(p.Since), len(p.P)); err != nil {
			return err
		}
	}
	columns := slices.Concat(r.Z, r.ZSD, r.State)
	if r.Link != nil { // earlier versions have none
		columns = append(columns, r.Link)
	}
	for _, column := range columns {
		if err := sameObjects(n, len(column)); err != nil {
			return err
		}
	}
	if len(r.Z) != len(r.ZSD) || len(r.Z) > MaxLatent || len(r.State) > MaxLatent {
		return fmt.Errorf("%d columns z, %d z_sd and %d state, expected as many of the first two, at most %d of each", len(r.Z), len(r.ZSD), len(r.State), MaxLatent)
	}
	return sameObjects(n, len(r.X), len(r.Y), len(r.SD), len(r.D), len(r.Doubt), len(r.Marks))
}

// sameObjects requires columns of one length.
func sameObjects(lengths ...int) error {
	if n := slices.Max(lengths); n > MaxObjects || n != slices.Min(lengths) {
		return fmt.Errorf("columns of %v entries, expected one entry an object in each, at most %d", lengths, MaxObjects)
	}
	return nil
}
