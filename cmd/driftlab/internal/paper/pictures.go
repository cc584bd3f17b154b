package paper

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"driftscope/infer/sdevae"
	"driftscope/internal/flow/frame"
	"driftscope/internal/job/evaluation"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
)

// Endings of the file names of a row's pictures, which show its first run.
const (
	pathPicture   = "-path.svg"
	driftPicture  = "-drift.svg"
	framesPicture = "-frames.png"
)

var (
	truthInk  = color.RGBA{R: 0x1b, G: 0x1f, B: 0x24, A: 255}
	learntInk = color.RGBA{R: 0xd9, G: 0x48, B: 0x01, A: 255}
	oracleInk = color.RGBA{R: 0x21, G: 0x71, B: 0xb5, A: 255}
)

// draw writes the row's pictures: the path, the drift in one or two dimensions, and frames with their reconstructions.
func (m *measured) draw(ctx context.Context, path string) error {
	if err := writePlot(path+pathPicture, m.drawPath(m.alignment.Laid)); err != nil {
		return err
	}
	if _, d := m.truth.Z.Dims(); d <= 2 {
		if err := writePlot(path+driftPicture, m.drawDrift(m.alignment.Laid)); err != nil {
			return err
		}
	}
	return m.drawFrames(ctx, path+framesPicture)
}

// drawPath plots the latents over the truth. Two latents are plotted in the plane; otherwise the first three are plotted over time.
func (m *measured) drawPath(latents *mat.Dense) *plot.Plot {
	_, d := latents.Dims()
	p := newPlot("z1", "z2")
	if d != 2 {
		p = newPlot("time, s", "z")
	}
	for _, of := range []struct {
		name string
		z    *mat.Dense
		ink  color.Color
	}{{"truth", m.truth.Z, truthInk}, {"learnt", latents, learntInk}} {
		if d == 2 {
			m.addPath(p, of.name, mat.Col(nil, 0, of.z), mat.Col(nil, 1, of.z), of.ink)
			continue
		}
		for i := range min(d, 3) {
			m.addPath(p, of.name, m.seen.Times, mat.Col(nil, i, of.z), of.ink)
			of.name = ""
		}
	}
	return p
}

// addPath adds one line per trajectory.
func (m *measured) addPath(p *plot.Plot, name string, x, y []float64, ink color.Color) {
	for i, film := range evaluation.Films(m.seen.Trajectory) {
		from, to := film[0], film[0]+len(film)
		line := addLine(p, x[from:to], y[from:to], ink)
		if i == 0 && name != "" {
			p.Legend.Add(name, line)
		}
	}
}

// arrows is the largest number of visited points at which a drift is drawn in the plane.
const arrows = 80

// drawDrift plots the true, the learnt and the oracle's drift, in one dimension as curves, in two as lines from dots at some of the visited points.
func (m *measured) drawDrift(latents *mat.Dense) *plot.Plot {
	n, d := latents.Dims()
	learnt := m.alignment.To.Turn(evaluation.DriftAt(sdevae.DriftOf(&m.model.Card), m.seen.Z))
	oracle := evaluation.DriftAt(m.oracle, m.truth.Z)
	if d == 1 {
		p := newPlot("z", "drift, a second")
		p.Legend.Add("truth", addSorted(p, m.truth.Z, m.truth.Mu, truthInk))
		p.Legend.Add("learnt", addSorted(p, latents, learnt, learntInk))
		p.Legend.Add("oracle", addSorted(p, m.truth.Z, oracle, oracleInk))
		return p
	}
	longest := 0.0
	for _, mu := range []*mat.Dense{m.truth.Mu, learnt, oracle} {
		longest = max(longest, mat.Max(mu), -mat.Min(mu))
	}
	k := 0.2 * (mat.Max(m.truth.Z) - mat.Min(m.truth.Z)) / max(longest, 1e-12)
	p := newPlot("z1", "z2")
	for i := 0; i < n; i += max(n/arrows, 1) {
		addArrow(p, m.truth.Z.RawRowView(i), m.truth.Mu.RawRowView(i), k, truthInk)
		addArrow(p, latents.RawRowView(i), learnt.RawRowView(i), k, learntInk)
		addArrow(p, m.truth.Z.RawRowView(i), oracle.RawRowView(i), k, oracleInk)
	}
	return p
}

func addSorted(p *plot.Plot, x, y *mat.Dense, ink color.Color) *plotter.Line {
	xs, ys := mat.Col(nil, 0, x), mat.Col(nil, 0, y)
	order := make([]int, len(xs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(xs[a], xs[b]) })
	var sx, sy []float64
	for _, i := range order {
		sx, sy = append(sx, xs[i]), append(sy, ys[i])
	}
	return addLine(p, sx, sy, ink)
}

func addArrow(p *plot.Plot, at, mu []float64, k float64, ink color.Color) {
	addLine(p, []float64{at[0], at[0] + k*mu[0]}, []float64{at[1], at[1] + k*mu[1]}, ink)
	p.Add(&plotter.Scatter{XYs: plotter.XYs{{X: at[0], Y: at[1]}}, GlyphStyle: vgdraw.GlyphStyle{Color: ink, Radius: 1, Shape: vgdraw.CircleGlyph{}}})
}

func addLine(p *plot.Plot, x, y []float64, ink color.Color) *plotter.Line {
	line := &plotter.Line{LineStyle: vgdraw.LineStyle{Color: ink, Width: 0.7}}
	for i := range x {
		line.XYs = append(line.XYs, plotter.XY{X: x[i], Y: y[i]})
	}
	p.Add(line)
	return line
}

func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	return p
}

func writePlot(path string, p *plot.Plot) error {
	canvas := vgsvg.New(12*vg.Centimeter, 8*vg.Centimeter)
	p.Draw(vgdraw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	return console.WriteFile(path, b.Bytes())
}

// framesShown is the number of columns of frames in a picture.
const framesShown = 8

// drawFrames draws frames of the film in columns: without noise if the film has noise, as the model's input, and as its reconstruction.
func (m *measured) drawFrames(ctx context.Context, path string) error {
	shown := make([]int, min(framesShown, len(m.seen.Seq)))
	for i := range shown {
		shown[i] = i * len(m.seen.Seq) / len(shown)
	}
	made, err := m.decode(shown)
	if err != nil {
		return err
	}
	seen, err := m.pick(ctx, m.film, shown)
	if err != nil {
		return err
	}
	strips := [][][]float32{seen, made}
	low, high := 0.0, 1.0 // displayed range
	if m.experiment.row.clean != "" {
		clean, err := m.pick(ctx, m.clean(), shown)
		if err != nil {
			return err
		}
		strips = [][][]float32{clean, seen, made}
		from, to, err := window(m.model.Card.Preprocess)
		if err != nil {
			return err
		}
		low, high = -from/(to-from), (1-from)/(to-from)
	}
	in := m.model.Card.Input
	img := image.NewRGBA(image.Rect(0, 0, len(shown)*(in.Width+1), len(strips)*(in.Height+1)))
	for row, strip := range strips {
		for column, pixels := range strip {
			at := image.Pt(column*(in.Width+1), row*(in.Height+1))
			recording.Planar{Pixels: pixels, Channels: in.Channels, Width: in.Width}.Paint(img, at, func(v float32) uint8 {
				return uint8(math.Round(255 * min(max((float64(v)-low)/(high-low), 0), 1)))
			})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return err
	}
	return console.WriteFile(path, b.Bytes())
}

// decode computes frames from their latents.
func (m *measured) decode(frames []int) ([][]float32, error) {
	encoder, err := m.model.NewEncoder()
	if err != nil {
		return nil, err
	}
	defer encoder.Close()
	in := m.model.Card.Input
	out := make([][]float32, len(frames))
	for i, k := range frames {
		out[i] = make([]float32, in.Channels*in.Height*in.Width)
		if err := encoder.Decode(out[i], m.seen.Z.RawRowView(k)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// pick returns some frames of a film as the model's input.
func (m *measured) pick(ctx context.Context, film *recording.Recording, frames []int) ([][]float32, error) {
	var out [][]float32
	err := m.each(ctx, film, func(i int, pixels []float32) {
		if slices.Contains(frames, i) {
			out = append(out, pixels)
		}
	})
	return out, err
}

// each calls fn with every frame of a film as the model's input. fn may keep the pixels.
func (m *measured) each(ctx context.Context, film *recording.Recording, fn func(i int, pixels []float32)) error {
	i := 0
	_, err := film.Each(ctx, m.model.Card.Preprocess, func(f *frame.Frame) error {
		pixels, _, err := recording.Planes(f)
		if err == nil {
			fn(i, pixels)
		}
		i++
		return err
	})
	if err == nil && i != len(m.seen.Seq) {
		err = fmt.Errorf("%s gave %d frames, then %d: it changed while it was read", film.Arg, len(m.seen.Seq), i)
	}
	return err
}
