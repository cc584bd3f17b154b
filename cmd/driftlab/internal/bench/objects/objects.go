package objects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"driftscope/cmd/driftlab/internal/bench"
	"driftscope/ingest/sim/field"
	"driftscope/internal/job/evaluation/tracking"
	"driftscope/internal/kit/console"
	"driftscope/online/tracks"
)

// Command measures fields of every requested scenario, size, density and SNR.
type Command struct {
	Scenario []string  `default:"vesicle,receptor,directed" help:"Scenarios, from the list above." placeholder:"NAME"`
	Density  []int     `default:"100,500" help:"Objects per picture, at any size." placeholder:"N"`
	SNR      []float64 `name:"snr" default:"2,4" help:"(peak - background) / root of the peak." placeholder:"SNR"`
	Size     []int     `default:"512" help:"Side of the pictures, px." placeholder:"PX"`
	Frames   int       `default:"100" help:"Frames of a field." placeholder:"N"`
	Lag      int       `default:"0" help:"Frames of delay for the decisions about identity." placeholder:"N"`
	Seeds    int       `default:"5" help:"Fields per kind, from seed 1 on; figures are their medians." placeholder:"N"`
	Path     bool      `help:"Measure the whole path, too: frames a second, latency and memory of a run in a process of its own, until a subscriber has the objects."`
	Model    string    `help:"Model of objects from pretrain --objects, which runs on every object of the whole path." placeholder:"LOOK.onnx"`
	Seconds  float64   `default:"6" help:"Seconds of the whole path, at full speed and at 50 frames/s." placeholder:"S"`
	Peer     bool      `help:"Compare with trackpy, if python3 has it, at the best of a grid of settings, chosen with the truth. Minutes per kind."`
	JSON     bool      `name:"json" help:"Print one JSON object instead of a table."`
	Alone    int       `hidden:"" help:"Track in this process, with the server on this port."`
	Pace     float64   `hidden:"" help:"Frames a second of that path; 0 for the maximum."`
}

// Help describes the figures, under the command's own help.
func (c *Command) Help() string {
	names := make([]string, len(field.Scenarios))
	for i, s := range field.Scenarios {
		names[i] = string(s)
	}
	return "Scenarios: " + strings.Join(names, ", ") + ". alpha, beta, JSC and JSCT are the scores of the ISBI particle tracking challenge: alpha counts misses, beta also false tracks. Identity is decided without look-ahead, or --lag frames later, with the defaults; " +
		"the template's width is found in the first frame. Perfect: the same tracker gets the true places, a tenth of a pixel off. RMSE belongs to spots with no other within 12 px, and is compared with the " +
		"Cramér-Rao bound. Times are for locating and for tracking alone, on one core. " +
		"An object below a tenth of its full light, such as a blinking one, counts neither as missed nor as falsely found, and is no perfect detection. " +
		"With --peer, trackpy links its own detections over a grid of least masses, search ranges and, for directed and receptor, its velocity predictor. Its figure is the best beta of each film, " +
		"judged like ours: an upper bound, because a user without the truth cannot choose so. Its times are means per frame with that setting, in the same run as ours. It has 5 minutes for a film of 100 frames of 512x512 with 500 objects, and proportionally more for larger films; " +
		"a kind that takes longer has no figures. Everything at once: --size 512,2048 --density 100,500,1000,2000 --snr 2,4,7 --path --peer."
}

// row is the result for one kind of field.
type row struct {
	Scenario string   `json:"scenario"`
	Density  int      `json:"density"`
	SNR      float64  `json:"snr"`
	Size     int      `json:"size"`
	Lag      int      `json:"lag"` // frames
	Measured measures `json:"measured"`
	Perfect  measures `json:"perfect"`

	Alpha float64 `json:"alpha"`
	Beta  float64 `json:"beta"`
	JSC   float64 `json:"jsc"`
	JSCT  float64 `json:"jsct"`

	Wrong    float64 `json:"links_wrong"`          // share of wrong steps of perfect detections
	Expected float64 `json:"links_wrong_expected"` // the same, by their probabilities

	RMSE   float64 `json:"rmse_px"` // isolated spots, per axis
	Bound  float64 `json:"crlb_px"`
	Width  float64 `json:"template_px"` // sd, as measured
	Locate float64 `json:"locate_ms"`   // median per frame
	Track  float64 `json:"track_ms"`
	Blur   float64 `json:"blur_ms"`    // OpenCV's blur per frame, the reference for locating
	Mean   float64 `json:"kernels_ms"` // mean of both together, as for the peer
	Both   float64 `json:"kernels_p99_ms"`

	Peer *peer `json:"peer"` // trackpy, with --peer

	// For the whole path; null if not measured.
	FPS  *float64 `json:"fps"` // with a subscriber, at full speed
	P50  *float64 `json:"p50_ms"`
	P99  *float64 `json:"p99_ms"` // from a frame's arrival until the subscriber has its objects, at 50 frames/s
	Peak *float64 `json:"peak_mib"`
}

// measures are medians over seeds.
type measures struct {
	Alpha float64 `json:"alpha"`
	Beta  float64 `json:"beta"`
	JSC   float64 `json:"jsc"`
	JSCT  float64 `json:"jsct"`
}

// findings is the result of bench objects.
type findings struct {
	Frames int   `json:"frames"`
	Seeds  int   `json:"seeds"`
	Fields []row `json:"fields"`

	Version string `json:"trackpy,omitempty"`      // its version
	Missing string `json:"peer_missing,omitempty"` // why the comparison with trackpy is missing
}

// Run measures and prints.
func (c *Command) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return console.Usage(err)
	}
	if c.Alone != 0 {
		return c.alone(ctx)
	}
	found := findings{Frames: c.Frames, Seeds: c.Seeds}
	for _, o := range c.kinds() {
		r, err := c.measure(ctx, o)
		if err != nil {
			return err
		}
		console.Say("%s, %d objects in %dx%d, SNR %g: beta %.3f, of perfect detections %.3f", o.Scenario, o.Density, o.Width, o.Height, o.SNR, r.Beta, r.Perfect.Beta)
		if r.Peer, err = c.measurePeer(ctx, &found, o); err != nil {
			return err
		}
		if r.Peer != nil {
			r.Peer.Times = (r.Peer.Locate + r.Peer.Link) / r.Mean
			console.Say("trackpy, its best: beta %.3f, in %.1f times as long", r.Peer.Beta, r.Peer.Times)
		}
		found.Fields = append(found.Fields, r)
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(found)
	}
	found.print(os.Stdout)
	return nil
}

// kinds returns the requested kinds of fields.
func (c *Command) kinds() (all []field.Options) {
	for _, scenario := range c.Scenario {
		for _, size := range c.Size {
			for _, density := range c.Density {
				for _, snr := range c.SNR {
					all = append(all, field.Options{Scenario: field.Scenario(scenario), Density: density, SNR: snr, Width: size, Height: size, Frames: c.Frames})
				}
			}
		}
	}
	return all
}

func (c *Command) check() error {
	for _, name := range c.Scenario {
		if !slices.Contains(field.Scenarios, field.Scenario(name)) {
			return fmt.Errorf("--scenario: found %q, expected one of %v", name, field.Scenarios)
		}
	}
	switch {
	case len(c.kinds()) == 0:
		return errors.New("--scenario, --size, --density and --snr: give one of each at least")
	case c.Seeds < 1 || c.Seeds > 1000:
		return fmt.Errorf("--seeds: found %d, expected 1 to 1000", c.Seeds)
	case !(c.Seconds >= 1 && c.Seconds <= 600):
		return fmt.Errorf("--seconds: found %g, expected 1 to 600", c.Seconds)
	case c.Lag < 0 || c.Lag > tracks.MostLag:
		return fmt.Errorf("--lag: found %d, expected 0 to %d", c.Lag, tracks.MostLag)
	case c.Frames < 2:
		return fmt.Errorf("--frames: found %d, expected 2 at least", c.Frames)
	}
	return nil
}

// measure returns the row of one kind of field.
func (c *Command) measure(ctx context.Context, o field.Options) (row, error) {
	r := row{Scenario: string(o.Scenario), Density: o.Density, SNR: o.SNR, Size: o.Width, Lag: c.Lag}
	var own, perfect []tracking.Score
	var steps links
	var errors_, widths, locate, track, both, blurs []float64
	for seed := range c.Seeds {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		o.Seed = uint64(seed + 1)
		run, err := follow(o, c.Lag)
		if err != nil {
			return r, err
		}
		own, perfect = append(own, run.own), append(perfect, run.perfect)
		errors_, widths = append(errors_, run.rmse), append(widths, run.width)
		locate, track, both = append(locate, run.locate...), append(track, run.track...), append(both, run.both...)
		blurs = append(blurs, run.blur...)
		r.Bound = run.bound
		steps.n, steps.expected, steps.wrong = steps.n+run.links.n, steps.expected+run.links.expected, steps.wrong+run.links.wrong
	}
	r.Measured, r.Perfect = medians(own), medians(perfect)
	r.Wrong, r.Expected = steps.wrong/max(steps.n, 1), steps.expected/max(steps.n, 1)
	r.Alpha, r.Beta, r.JSC, r.JSCT = r.Measured.Alpha, r.Measured.Beta, r.Measured.JSC, r.Measured.JSCT
	r.RMSE, r.Width, r.Locate, r.Track = bench.Median(errors_), bench.Median(widths), bench.Median(locate), bench.Median(track)
	r.Blur = bench.Median(blurs)
	for _, ms := range both {
		r.Mean += ms / float64(len(both))
	}
	slices.Sort(both)
	r.Both = both[len(both)*99/100]
	if !c.Path {
		return r, nil
	}
	p, err := c.measurePath(ctx, o)
	r.FPS, r.P50, r.P99, r.Peak = &p.FPS, &p.P50, &p.P99, &p.Peak
	return r, err
}

func medians(scores []tracking.Score) measures {
	of := func(value func(tracking.Score) float64) float64 {
		v := make([]float64, len(scores))
		for i, s := range scores {
			v[i] = value(s)
		}
		return bench.Median(v)
	}
	return measures{
		Alpha: of(func(s tracking.Score) float64 { return s.Alpha }), Beta: of(func(s tracking.Score) float64 { return s.Beta }),
		JSC: of(func(s tracking.Score) float64 { return s.JSC }), JSCT: of(func(s tracking.Score) float64 { return s.JSCT }),
	}
}

// print prints a Markdown table.
func (f *findings) print(w io.Writer) {
	fmt.Fprintf(w, "%d frames, medians of seeds 1 to %d\n\n", f.Frames, f.Seeds)
	fmt.Fprintln(w, "| scenario | size | objects | SNR | lag | alpha | beta | JSC | JSCT | perfect: alpha | beta | wrong steps | expected | RMSE, px | CRLB, px | locate, ms | track, ms | p99, ms | path, frames/s | p50, ms | p99, ms | MiB |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range f.Fields {
		fmt.Fprintf(w, "| %s | %d | %d | %g | %d | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.4f | %.4f | %.3f | %.3f | %.2f | %.2f | %.2f | %s | %s | %s | %s |\n", r.Scenario, r.Size, r.Density, r.SNR, r.Lag, r.Alpha, r.Beta, r.JSC, r.JSCT,
			r.Perfect.Alpha, r.Perfect.Beta, r.Wrong, r.Expected, r.RMSE, r.Bound, r.Locate, r.Track, r.Both, orNone(r.FPS, 0), orNone(r.P50, 1), orNone(r.P99, 1), orNone(r.Peak, 0))
	}
	f.printPeer(w)
}

// orNone formats a figure that may be missing.
func orNone(v *float64, digits int) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', digits, 64)
}
