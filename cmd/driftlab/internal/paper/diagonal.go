package paper

import (
	"cmp"
	"fmt"
	"image/color"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/plotter"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"driftscope/infer"
	"driftscope/internal/flow/latent"
	"driftscope/internal/job/evaluation"
)

// diagonal holds the latents' diffusion along the axes found by Separate. The axis that moves the picture most comes first.
type diagonal struct {
	Axes  []axis `json:"axes"`
	True  int    `json:"true_dimensions"`  // directions of the truth that the moving axes recover
	False int    `json:"false_dimensions"` // further moving axes
}

// axis is one of the latents' components.
type axis struct {
	Sigma  float64 `json:"sigma"`  // √(σ² mean|∂f/∂z|²), with f the decoder: grey levels, 0 to 1, of all pixels together, per √s
	Memory float64 `json:"memory"` // autocorrelation at a lag of two frames
	Ratio  float64 `json:"ratio"`  // likelihood ratio of motion to no motion
	Moves  bool    `json:"moves"`
}

// carried is the squared canonical correlation from which a direction of the truth counts as found.
const carried = 0.5

// diagonal separates the latents of the given rows.
func (m *measured) diagonal(rows []int) (diagonal, error) {
	parts, err := Separate(m.latents(rows), m.experiment.settings.Latent, 0)
	if err != nil {
		return diagonal{}, err
	}
	gains, err := m.gains(parts.Along, rows)
	if err != nil {
		return diagonal{}, err
	}
	motion := make([]float64, len(gains))
	for i, v := range parts.Diffusion {
		motion[i] = v * gains[i]
	}
	var d diagonal
	var moving []int
	for i, moves := range parts.Moving(motion) {
		d.Axes = append(d.Axes, axis{math.Sqrt(motion[i]), parts.Memory[i], parts.Ratio[i], moves})
		if moves {
			moving = append(moving, i)
		}
	}
	slices.SortStableFunc(d.Axes, func(a, b axis) int { return cmp.Compare(b.Sigma, a.Sigma) })
	if d.True, err = m.recovered(parts.Path, moving, rows); err != nil {
		return diagonal{}, err
	}
	d.False = len(moving) - d.True
	return d, nil
}

// latents returns the latents of the given rows for the estimator.
func (m *measured) latents(rows []int) []latent.Latent {
	out := make([]latent.Latent, len(rows))
	for k, i := range rows {
		out[k] = latent.Latent{Seq: m.seen.Seq[i], Time: time.Unix(0, int64(m.seen.Times[i]*1e9)), Trajectory: m.seen.Trajectory[i], Mean: m.seen.Z.RawRowView(i)}
	}
	return out
}

// The decoder's slopes are finite differences. slopeStep is their step as a fraction of a component's standard deviation, slopeFrames the number of frames
// averaged.
const (
	slopeStep   = 0.1
	slopeFrames = 100
)

// gains returns the mean over frames of |∂f/∂y|² for each component y. One unit of y moves the latents by a row of along.
func (m *measured) gains(along *mat.Dense, rows []int) ([]float64, error) {
	shown := make([]int, min(slopeFrames, len(rows)))
	for i := range shown {
		shown[i] = rows[i*len(rows)/len(shown)]
	}
	here, err := m.decode(shown)
	if err != nil {
		return nil, err
	}
	encoder, err := m.model.NewEncoder()
	if err != nil {
		return nil, err
	}
	defer encoder.Close()
	k, _ := along.Dims()
	gains := make([]float64, k)
	for i := range gains {
		if gains[i], err = m.gain(encoder, along.RawRowView(i), shown, here); err != nil {
			return nil, err
		}
	}
	return gains, nil
}

// gain returns the gain of one component. here has the frames decoded from their own latents.
func (m *measured) gain(encoder *infer.Encoder, along []float64, frames []int, here [][]float32) (gain float64, err error) {
	there, z := make([]float32, len(here[0])), make([]float64, m.experiment.settings.Latent)
	for i, k := range frames {
		for c, v := range m.seen.Z.RawRowView(k) {
			z[c] = v + slopeStep*along[c]
		}
		if err := encoder.Decode(there, z); err != nil {
			return 0, err
		}
		gain += evaluation.MeanSquare(there, here[i]) * float64(len(there)) / (slopeStep * slopeStep * float64(len(frames)))
	}
	return gain, nil
}

// recovered counts the directions of the truth, within films, that the moving components determine linearly.
func (m *measured) recovered(path *mat.Dense, moving, rows []int) (n int, err error) {
	if len(moving) == 0 {
		return 0, nil
	}
	y := mat.NewDense(len(rows), len(moving), nil)
	for j, c := range moving {
		y.SetCol(j, mat.Col(nil, c, path))
	}
	var shared stat.CC
	if err := shared.CanonicalCorrelations(y, withinFilms(evaluation.PickRows(m.truth.Z, rows), m.seen.Trajectory[rows[0]:]), nil); err != nil {
		return 0, fmt.Errorf("comparing the truth with the moving axes: %w", err)
	}
	for _, r := range shared.CorrsTo(nil) {
		if r*r > carried {
			n++
		}
	}
	return n, nil
}

// withinFilms subtracts from z, in place, the mean of each trajectory, and returns z.
func withinFilms(z *mat.Dense, trajectory []uint64) *mat.Dense {
	n, d := z.Dims()
	for from, to := 0, 0; from < n; from = to {
		for to < n && trajectory[to] == trajectory[from] {
			to++
		}
		for c := range d {
			film := z.Slice(from, to, c, c+1).(*mat.Dense)
			mean := mat.Sum(film) / float64(to-from)
			film.Apply(func(_, _ int, v float64) float64 { return v - mean }, film)
		}
	}
	return z
}

// diagonalRow is the study's line for a row of the paper. Lists have one entry per seed.
type diagonalRow struct {
	studied
	True    []int `json:"true_dimensions"`
	False   []int `json:"false_dimensions"`
	Falsely int   `json:"seeds_with_false"`

	Sigma [][]float64 `json:"sigma"` // per seed, largest first, relative to the largest
	Moves [][]bool    `json:"moves"` // the same axes
}

func newDiagonalRow(of studied, figures []*withheld) diagonalRow {
	r := diagonalRow{studied: of}
	for _, f := range figures {
		r.True, r.False = append(r.True, f.True), append(r.False, f.False)
		if f.False > 0 {
			r.Falsely++
		}
		var sigma []float64
		var moves []bool
		for _, a := range f.Axes {
			sigma, moves = append(sigma, a.Sigma/max(f.Axes[0].Sigma, math.SmallestNonzeroFloat64)), append(moves, a.Moves)
		}
		r.Sigma, r.Moves = append(r.Sigma, sigma), append(r.Moves, moves)
	}
	return r
}

// shownSigma is the number of entries of the diagonal in the table.
const shownSigma = 5

// cells returns the row's cells in the section. For the diagonal they have means over seeds.
func (r *diagonalRow) cells() []string {
	var sigma []string
	for i := range min(shownSigma, r.Latent) {
		mean := 0.0
		for _, one := range r.Sigma {
			if i < len(one) {
				mean += one[i] / float64(len(r.Sigma))
			}
		}
		sigma = append(sigma, short(mean))
	}
	return []string{r.Row, fmt.Sprint(r.Latent), recipesText(r.Recipes), seedsText(r.True), seedsText(r.False), fmt.Sprintf("%d of %d", r.Falsely, r.Seeds), strings.Join(sigma, " ")}
}

// seedsText returns each number once, from the largest, with the number of seeds that have it: "2 ×19, 1 ×1".
func seedsText(numbers []int) string {
	seeds := map[int]int{}
	for _, n := range numbers {
		seeds[n]++
	}
	var parts []string
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(seeds))) {
		parts = append(parts, fmt.Sprintf("%d ×%d", n, seeds[n]))
	}
	return strings.Join(parts, ", ")
}

// diagonalPicture is the ending of the file name of a row's picture.
const diagonalPicture = "-diagonal.svg"

// draw plots the sorted diagonal with one line per seed. Filled dots mark moving axes. The extra line is at a tenth of the largest σ, below which no axis
// counts.
func (r *diagonalRow) draw(folder string) error {
	p := newPlot("axis, sorted", "σ of the picture, share of the largest")
	p.Title.Text, p.Y.Min = r.Row, 0
	for s, sigma := range r.Sigma {
		index := make([]float64, len(sigma))
		for i := range index {
			index[i] = float64(i + 1)
		}
		addLine(p, index, sigma, color.Gray{Y: 0xb0})
		for i, v := range sigma {
			dot := vgdraw.GlyphStyle{Color: oracleInk, Radius: 2, Shape: vgdraw.RingGlyph{}}
			if r.Moves[s][i] {
				dot = vgdraw.GlyphStyle{Color: learntInk, Radius: 2.5, Shape: vgdraw.CircleGlyph{}}
			}
			p.Add(&plotter.Scatter{XYs: plotter.XYs{{X: index[i], Y: v}}, GlyphStyle: dot})
		}
	}
	addLine(p, []float64{1, float64(r.Latent)}, []float64{0.1, 0.1}, truthInk)
	return writePlot(filepath.Join(folder, r.Row+diagonalPicture), p)
}

func diagonalSection(rows []diagonalRow) section {
	s := section{Title: "The diffusion diagonal",
		Head: []string{"row", "latents", "recipe", "true dimensions", "false ones", "seeds with a false one", "σ, sorted"},
		Notes: []string{"Judged on the half of the film without training; 2 ×19 means two on 19 seeds. Latents are separated along the axes that last longest. σ, without noise, is in the picture's motion relative to " +
			"the largest: the first entries, means over seeds. An axis moves if its likelihood ratio against noise exceeds 16 and its σ a tenth of the largest. True dimensions: directions of the truth " +
			"whose squared canonical correlation with the moving axes exceeds a half. Pictures have a line per seed; filled dots move."}}
	for i := range rows {
		s.Cells = append(s.Cells, rows[i].cells())
		s.Pictures = append(s.Pictures, rows[i].Row+diagonalPicture)
	}
	return s
}
