package law

import (
	"fmt"
	"io"
	"strings"

	"driftscope/online/states"
	"driftscope/sinks/message"
)

// Findings is the result of the command. Lengths are in Unit, times in s.
type Findings struct {
	Says       string   `json:"says"`              // one sentence
	Kind       string   `json:"kind,omitempty"`    // free, trapped, directed, fractional, late or switching
	Remarks    []string `json:"remarks,omitempty"` // defects of the tracks
	Unit       string   `json:"unit"`              // px or µm
	Tracks     int      `json:"tracks"`
	Steps      int      `json:"steps"`
	Single     int      `json:"single_places"` // tracks of one position, which have no step
	Undetected int      `json:"undetected"`    // rows without a detection, left out
	Unused     int      `json:"tracks_unused"` // beyond MaxTracks
	Cuts       int      `json:"links_cut"`     // cuts of tracks by --certain
	Drift      Velocity `json:"drift"`         // common to all objects, subtracted
	D          Mean     `json:"d"`
	Spread     *Mean    `json:"spread,omitempty"` // sd of ln D from object to object within a state
	Noise      float64  `json:"noise_sd"`         // of a position along an axis
	States     []State  `json:"states"`
	Spectrum   []Share  `json:"spectrum"`

	Nats      map[string]float64 `json:"nats,omitempty"`      // gain of each kind over free diffusion; of switching over all others
	Exponent  *Mean              `json:"exponent,omitempty"`  // of the population; not for trapped, directed and late objects
	Trap      *Trap              `json:"trap,omitempty"`      // if objects are trapped
	Switching *Switching         `json:"switching,omitempty"` // if objects switch between states
	Motion    *Motion            `json:"motion,omitempty"`    // if tracks are long enough
	Map       *message.MapRecord `json:"map,omitempty"`       // if there are enough steps; px
	Outside   int                `json:"map_outside"`         // steps outside the map
	Pairs     *Pairs             `json:"pairs,omitempty"`     // with --interactions
}

// Mean is a number with its 95 % interval.
type Mean struct {
	Mean     float64    `json:"mean"`
	Interval [2]float64 `json:"interval"`
}

// State is one state of the objects.
type State struct {
	D                float64    `json:"d"`
	Interval         [2]float64 `json:"interval"` // of D, 95 %
	Fraction         float64    `json:"fraction"` // of the objects' time
	FractionInterval [2]float64 `json:"fraction_interval"`
	Alpha            *float64   `json:"alpha,omitempty"` // exponent, if objects switch; 0 if they are immobile
}

// Share is a part of the spectrum.
type Share struct {
	D     float64 `json:"d"`
	Share float64 `json:"share"`
}

func meanOf(i states.Interval) Mean { return Mean{i.Value, [2]float64{i.Low, i.High}} }

// tell copies a law and its spectrum into the findings.
func (f *Findings) tell(l *states.Law, spectrum []states.Bin) {
	f.Tracks, f.Steps, f.D, f.Noise = l.Tracks, l.Steps, meanOf(l.D), l.Noise
	if l.Spread.Value > 0 {
		spread := meanOf(l.Spread)
		f.Spread = &spread
	}
	for _, s := range l.States {
		f.States = append(f.States, State{s.D.Value, [2]float64{s.D.Low, s.D.High}, s.Fraction.Value, [2]float64{s.Fraction.Low, s.Fraction.High}, nil})
	}
	for _, b := range spectrum {
		f.Spectrum = append(f.Spectrum, Share(b))
	}
}

// print writes the findings as text.
func (f *Findings) print(w io.Writer) {
	fmt.Fprintln(w, f.Says)
	for _, r := range f.Remarks {
		if !strings.Contains(f.Says, r) {
			fmt.Fprintln(w, r)
		}
	}
	if f.Steps == 0 {
		return
	}
	fmt.Fprintf(w, "\n%d tracks, %d steps", f.Tracks, f.Steps)
	for _, left := range []struct {
		n    int
		what string
	}{{f.Single, "tracks of one position, which have no step"}, {f.Undetected, "rows without a detection left out"}, {f.Unused, "tracks not used, beyond the limit"}, {f.Cuts, "steps left out, less certain than --certain"}, {f.Outside, "steps outside of the map"}} {
		if left.n > 0 {
			fmt.Fprintf(w, "; %d %s", left.n, left.what)
		}
	}
	fmt.Fprintf(w, "\nmean D      %.4g %s²/s, 95 %% interval %.4g to %.4g\n", f.D.Mean, f.Unit, f.D.Interval[0], f.D.Interval[1])
	fmt.Fprintf(w, "noise       %.3g %s per axis of a position\n", f.Noise, f.Unit)
	fmt.Fprintf(w, "drift       %.3g, %.3g %s/s ± %.2g, shared by all objects, subtracted\n", f.Drift.X, f.Drift.Y, f.Unit, f.Drift.SD)
	for i, s := range f.States {
		fmt.Fprintf(w, "state %d     D %.4g (%.4g to %.4g), %.1f %% of the time (%.1f to %.1f)\n", i+1, s.D, s.Interval[0], s.Interval[1], 100*s.Fraction, 100*s.FractionInterval[0], 100*s.FractionInterval[1])
	}
	if f.Spread != nil {
		fmt.Fprintf(w, "spread      of ln D within a state %.2f (%.2f to %.2f): objects differ\n", f.Spread.Mean, f.Spread.Interval[0], f.Spread.Interval[1])
	}
	f.printMore(w)
	f.draw(w)
}

// draw prints the spectrum, four bins per line.
func (f *Findings) draw(w io.Writer) {
	if len(f.Spectrum) == 0 {
		return
	}
	const together, wide = 4, 60
	most := 0.0
	var lines []Share
	for i := 0; i+together <= len(f.Spectrum); i += together {
		line := Share{D: f.Spectrum[i].D}
		for _, b := range f.Spectrum[i : i+together] {
			line.Share += b.Share
		}
		lines, most = append(lines, line), max(most, line.Share)
	}
	fmt.Fprintf(w, "\nspectrum, D from %s²/s: share of the time\n", f.Unit)
	for _, l := range lines {
		fmt.Fprintf(w, "%10.3g %5.1f %% %s\n", l.D, 100*l.Share, strings.Repeat("█", int(wide*l.Share/most+0.5)))
	}
}
