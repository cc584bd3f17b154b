package report

import (
	"bytes"
	"fmt"
	"html/template"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"driftscope/infer/sdevae"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
	"driftscope/online/drift"
)

// chart is a plot with its caption.
type chart struct {
	caption string
	plot    *plot.Plot
	err     error
}

// drawing is a chart for the page.
type drawing struct {
	Caption string
	SVG     template.HTML
}

// draw renders charts as SVG, and sets err to the last error, if any.
func draw(charts []chart, err *error) []drawing {
	var out []drawing
	for _, c := range charts {
		canvas := vgsvg.New(14*vg.Centimeter, 9*vg.Centimeter)
		if c.err != nil {
			*err = fmt.Errorf("drawing %q: %w", c.caption, c.err)
			continue
		}
		c.plot.Draw(vgdraw.New(canvas))
		var b bytes.Buffer
		if _, werr := canvas.WriteTo(&b); werr != nil {
			*err = werr
			continue
		}
		_, svg, _ := bytes.Cut(b.Bytes(), []byte("<svg"))
		out = append(out, drawing{c.caption, template.HTML("<svg" + string(svg))})
	}
	return out
}

// lossChart shows both losses of the winning restart.
func lossChart(r *sdevae.Result) chart {
	var train, held plotter.XYs
	for _, l := range r.History {
		if l.Restart == r.Best.Restart {
			train = append(train, plotter.XY{X: float64(l.Step), Y: l.Loss})
			held = append(held, plotter.XY{X: float64(l.Step), Y: l.HeldOut})
		}
	}
	p := newPlot("step", "loss")
	return chart{fmt.Sprintf("Loss while training and on held-out frames; step %d was kept", r.Best.Step), p,
		plotutil.AddLinePoints(p, "training", train, "held out", held)}
}

// pathChart plots two latents against each other over the clip.
func pathChart(e *sdevae.Export, i, j int) chart {
	d := e.Card.Latent
	x, y := numeric.Column(e.Z, i, d), numeric.Column(e.Z, j, d)
	path := make(plotter.XYs, len(x))
	for k := range path {
		path[k] = plotter.XY{X: x[k], Y: y[k]}
	}
	p := newPlot(fmt.Sprintf("z%d", i+1), fmt.Sprintf("z%d", j+1))
	return chart{"The latents' path over the clip", p, plotutil.AddLines(p, path)}
}

// timeChart shows every latent over time.
func timeChart(clip *video.Clip, e *sdevae.Export) chart {
	d, times := e.Card.Latent, elapsed(clip)
	p := newPlot("time, s", "latent")
	var lines []any
	for i := range d {
		var line plotter.XYs
		for k, v := range numeric.Column(e.Z, i, d) {
			line = append(line, plotter.XY{X: times[k], Y: v})
		}
		lines = append(lines, fmt.Sprintf("z%d", i+1), line)
	}
	return chart{"Latents over time", p, plotutil.AddLines(p, lines...)}
}

// elapsed returns each frame's time since the first frame. It assumes that a trajectory begins one frame interval after the previous one, so recordings of
// different days are drawn one after another.
func elapsed(c *video.Clip) []float64 {
	out, dt := make([]float64, c.Len()), c.DT()
	for k := 1; k < c.Len(); k++ {
		step := c.Times[k] - c.Times[k-1]
		if c.Trajectory[k] != c.Trajectory[k-1] {
			step = dt
		}
		out[k] = out[k-1] + step
	}
	return out
}

// driftChart shows the model's drift: along a single latent, or as arrows over the first two, with the others at their means.
func driftChart(e *sdevae.Export) chart {
	c := &e.Card
	network := sdevae.DriftOf(c)
	mu, scratch := make([]float64, c.Latent), new(drift.Scratch)
	at := func(offsets ...float64) []float64 {
		z := append([]float64(nil), c.Mean...)
		for i, o := range offsets {
			z[i] += o * c.SD[i]
		}
		network.Drift(mu, z, scratch)
		return z
	}
	if c.Latent == 1 {
		var line plotter.XYs
		for o := -2.0; o <= 2; o += 0.1 {
			z := at(o)
			line = append(line, plotter.XY{X: z[0], Y: mu[0]})
		}
		p := newPlot("z1", "drift, latent/s")
		return chart{"The model's drift", p, plotutil.AddLines(p, line)}
	}
	p, err := arrows(at, mu, c.SD)
	return chart{"The model's drift over z1 and z2, from each dot along its line", p, err}
}

// arrows draws a vector field over ±2 sd of the first two latents. The longest arrow is half an sd long.
func arrows(at func(...float64) []float64, mu, sd []float64) (*plot.Plot, error) {
	p, longest := newPlot("z1", "z2"), 0.0
	grid := func(visit func(z []float64)) {
		for a := -2.0; a <= 2; a += 0.5 {
			for b := -2.0; b <= 2; b += 0.5 {
				visit(at(a, b))
			}
		}
	}
	grid(func([]float64) { longest = max(longest, math.Hypot(mu[0]/sd[0], mu[1]/sd[1])) })
	k := 0.5 / max(longest, 1e-12)
	var err error
	grid(func(z []float64) {
		line, start, lerr := plotter.NewLinePoints(plotter.XYs{{X: z[0], Y: z[1]}, {X: z[0] + k*mu[0], Y: z[1] + k*mu[1]}})
		if lerr != nil {
			err = lerr
			return
		}
		start.XYs = start.XYs[:1]
		p.Add(line, start)
	})
	return p, err
}

func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	return p
}
