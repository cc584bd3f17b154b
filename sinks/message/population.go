package message

import (
	"fmt"
	"slices"
	"time"

	"driftscope/internal/flow/latent"
)

// PopulationRecord summarises all objects of a field, at regular intervals and at the end.
type PopulationRecord struct {
	Header
	Seq       uint64    `json:"seq"`
	Time      time.Time `json:"time"`
	Count     int       `json:"count" unit:"objects"`
	Spots     int       `json:"spots" unit:"spots"` // found in this frame
	PerPixel  Number    `json:"density_px" unit:"1/px²"`
	PerUM     *Number   `json:"density_um,omitempty" unit:"1/µm²"`
	Births    uint64    `json:"births" unit:"objects"` // since the start
	Deaths    uint64    `json:"deaths" unit:"objects"`
	Unjudged  uint64    `json:"unjudged,omitempty" unit:"objects"`     // ended without motion, shrunk diffusion and state: the processor time for them was spent
	Unweighed uint64    `json:"unweighed,omitempty" unit:"increments"` // that did not count for a change of the law: a frame had too many
	Wrong     *Number   `json:"links_wrong,omitempty" unit:"1"`        // expected share of wrong steps in the last frames; null before the first
	Unlinked  *Number   `json:"links_unknown,omitempty" unit:"1"`      // share of the steps for which it is unknown
	Faster    *Number   `json:"links_wrong_faster,omitempty" unit:"1"` // links_wrong at twice the frame rate; null if unknown
	Slower    *Number   `json:"links_wrong_slower,omitempty" unit:"1"` // at half of it
	Directed  int       `json:"directed" unit:"objects"`               // that move in a direction now
	Detected  Number    `json:"detected" unit:"1"`                     // share of an object's frames in which it is detected
	Template  Number    `json:"template_px" unit:"px"`                 // sd of an object's light
	Tracks    uint64    `json:"tracks" unit:"objects"`                 // that the diffusion rests on
	Steps     uint64    `json:"steps" unit:"increments"`
	RangeRecord
	Noise    Number  `json:"noise_px" unit:"px"`               // sd of a place, by the steps
	Edges    Numbers `json:"spectrum_px2_s" unit:"px²/s"`      // lower ends of the bins of the spectrum of D
	Spectrum Numbers `json:"spectrum" unit:"1"`                // share of the steps whose object has such a D
	Common   Numbers `json:"common_velocity_px_s" unit:"px/s"` // of all objects together, along x and y: the stage's, or a flow's
	CommonSD Number  `json:"common_velocity_sd_px_s" unit:"px/s"`
	Shift    Numbers `json:"common_shift_px" unit:"px"` // where that has taken them since the start

	Law    *LawRecord   `json:"law,omitempty"`
	Pairs  *PairsRecord `json:"pairs,omitempty"`
	MapSeq *uint64      `json:"map_seq,omitempty"` // of the frame up to which the map was learnt; none before there is one
	Map    *MapRecord   `json:"map,omitempty"`     // where it is another than before, every ten seconds, and at the end
}

// LawRecord describes the laws of the objects of a field. States are ordered by rising D; each quantity is a column, with 95 % intervals.
type LawRecord struct {
	Seq        uint64  `json:"seq"`    // of the frame up to which it was learnt
	Tracks     uint64  `json:"tracks"` // pieces of tracks that it rests on
	Steps      uint64  `json:"steps" unit:"increments"`
	D          Numbers `json:"state_px2_s" unit:"px²/s"`
	DLow       Numbers `json:"state_px2_s_low" unit:"px²/s"`
	DHigh      Numbers `json:"state_px2_s_high" unit:"px²/s"`
	UM         Numbers `json:"state_um2_s,omitempty" unit:"µm²/s"`
	UMLow      Numbers `json:"state_um2_s_low,omitempty" unit:"µm²/s"`
	UMHigh     Numbers `json:"state_um2_s_high,omitempty" unit:"µm²/s"`
	Share      Numbers `json:"share" unit:"1"` // of the objects' time
	ShareLow   Numbers `json:"share_low" unit:"1"`
	ShareHigh  Numbers `json:"share_high" unit:"1"`
	Spread     Number  `json:"spread" unit:"1"` // sd of ln D from object to object within a state; 0 where none is told
	SpreadLow  Number  `json:"spread_low" unit:"1"`
	SpreadHigh Number  `json:"spread_high" unit:"1"`
	Rates      Numbers `json:"switching_s,omitempty" unit:"1/s"` // from each state to each, a row a state
	Nats       Number  `json:"switching_nats" unit:"nats"`       // evidence that objects switch
	Says       string  `json:"says"`                             // the law in a sentence

	Cameras []string `json:"cameras,omitempty"`                 // streams whose laws this one is made of; none where it is a camera's own
	Differ  *Number  `json:"cameras_differ,omitempty" unit:"1"` // sd of ln D from camera to camera; 0 where that is not evident
}

// PairsRecord is the force between two objects as a function of their distance, with its 95 % interval.
type PairsRecord struct {
	Distance Points `json:"distance_px" unit:"px"`
	Force    Points `json:"force_px_s" unit:"px/s"` // velocity that one has by the other, above zero where it drives it away
	Low      Points `json:"force_px_s_low" unit:"px/s"`
	High     Points `json:"force_px_s_high" unit:"px/s"`
	Count    Points `json:"pairs" unit:"pairs"` // that a value rests on
	Nats     Number `json:"nats" unit:"nats"`   // evidence for a force
}

// MapRecord describes the motion of objects by position: columns with one entry per cell.
type MapRecord struct {
	X      Points   `json:"x_px" unit:"px"` // the cell's middle
	Y      Points   `json:"y_px" unit:"px"`
	Width  Points   `json:"width_px" unit:"px"` // its side
	DriftX Points   `json:"drift_x_px_s" unit:"px/s"`
	DriftY Points   `json:"drift_y_px_s" unit:"px/s"`
	SD     Points   `json:"drift_sd_px_s" unit:"px/s"` // standard error, an axis
	D      Points   `json:"diffusion_px2_s" unit:"px²/s"`
	DSD    Points   `json:"diffusion_sd_px2_s" unit:"px²/s"`
	Steps  Points   `json:"steps" unit:"increments"`
	Says   []string `json:"says"` // traps and flows, a sentence each
}

// populationRecord returns the record of p. It shares p's slices.
func populationRecord(h Header, p *latent.Population) *PopulationRecord {
	r := &PopulationRecord{Header: h, Seq: p.Seq, Time: p.Time.UTC(), Count: p.Count, Spots: p.Spots, PerPixel: Number(p.PerPixel), Births: p.Births, Deaths: p.Deaths, Unjudged: p.Unjudged, Unweighed: p.Unweighed,
		Directed: p.DirectedN, Detected: Number(p.Detected), Template: Number(p.Template), Tracks: p.Tracks, Steps: p.Steps, RangeRecord: rangeRecord(p.Px, p.UM),
		Noise: Number(p.Noise), Edges: p.Edges, Spectrum: p.Spectrum, Common: Numbers{p.CommonX, p.CommonY}, CommonSD: Number(p.CommonSD), Shift: Numbers{p.ShiftX, p.ShiftY}}
	r.Wrong, r.Unlinked, r.Faster, r.Slower = number(p.Wrong), number(p.Unlinked), number(p.Faster), number(p.Slower)
	if p.PerUM > 0 {
		r.PerUM = number(p.PerUM)
	}
	if p.Law != nil {
		r.Law = lawRecord(p.Law)
	}
	if q := p.Pairs; q != nil {
		r.Pairs = &PairsRecord{q.Distance, q.Force, q.Low, q.High, q.Count, Number(q.Nats)}
	}
	r.MapSeq = p.MapSeq
	if m := p.Map; m != nil {
		r.Map = &MapRecord{m.X, m.Y, m.Width, m.VX, m.VY, m.SD, m.D, m.DSD, m.Steps, m.Says}
	}
	return r
}

// lawRecord returns the record of l.
func lawRecord(l *latent.PopulationLaw) *LawRecord {
	r := &LawRecord{Seq: l.Seq, Tracks: l.Tracks, Steps: l.Steps, Spread: Number(l.Spread.Value), SpreadLow: Number(l.Spread.Low), SpreadHigh: Number(l.Spread.High), Rates: l.Rates, Nats: Number(l.Nats), Says: l.Says}
	for i := range l.States {
		s := &l.States[i]
		r.D, r.DLow, r.DHigh = append(r.D, s.Px.D), append(r.DLow, s.Px.Low), append(r.DHigh, s.Px.High)
		r.Share, r.ShareLow, r.ShareHigh = append(r.Share, s.Share.Value), append(r.ShareLow, s.Share.Low), append(r.ShareHigh, s.Share.High)
		if s.UM != (latent.Range{}) {
			r.UM, r.UMLow, r.UMHigh = append(r.UM, s.UM.D), append(r.UMLow, s.UM.Low), append(r.UMHigh, s.UM.High)
		}
	}
	return r
}

// checkPopulation refuses inconsistent lists.
func checkPopulation(r *PopulationRecord) error {
	if err := sameLength(len(r.Edges), len(r.Spectrum)); err != nil {
		return err
	}
	if l := r.Law; l != nil {
		if len(l.Cameras) > MaxCameras || slices.ContainsFunc(l.Cameras, func(name string) bool { return len(name) > maxText }) {
			return fmt.Errorf("a law of %d cameras, expected at most %d, and names of at most %d bytes", len(l.Cameras), MaxCameras, maxText)
		}
		k := len(l.D)
		if len(l.Says) > maxText || k > MaxLatent || len(l.Rates) > k*k {
			return fmt.Errorf("a law of %d states, %d rates and a sentence of %d bytes, expected at most %d, a rate from each to each, and %d", k, len(l.Rates), len(l.Says), MaxLatent, maxText)
		}
		if err := sameLength(k, len(l.DLow), len(l.DHigh), len(l.UM), len(l.UMLow), len(l.UMHigh), len(l.Share), len(l.ShareLow), len(l.ShareHigh)); err != nil {
			return err
		}
	}
	if p := r.Pairs; p != nil {
		if err := columnsOf(len(p.Distance), len(p.Force), len(p.Low), len(p.High), len(p.Count)); err != nil {
			return fmt.Errorf("pairs: %w", err)
		}
	}
	if m := r.Map; m != nil {
		for _, text := range m.Says {
			if len(text) > maxText {
				return fmt.Errorf("map: a sentence of %d bytes, expected at most %d", len(text), maxText)
			}
		}
		if err := columnsOf(len(m.X), len(m.Y), len(m.Width), len(m.DriftX), len(m.DriftY), len(m.SD), len(m.D), len(m.DSD), len(m.Steps)); err != nil {
			return fmt.Errorf("map: %w", err)
		}
	}
	return nil
}

// columnsOf requires columns of equal length.
func columnsOf(lengths ...int) error {
	if n := slices.Max(lengths); n > MaxField || n != slices.Min(lengths) {
		return fmt.Errorf("columns of %v entries, expected the same number in each, at most %d", lengths, MaxField)
	}
	return nil
}
