package paper

import (
	"fmt"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	vgdraw "gonum.org/v1/plot/vg/draw"
)

// sizesRow has the reconstruction error with one number of latents.
type sizesRow struct {
	studied
	ReconMSE float64   `json:"recon_mse"`
	MeanMSE  float64   `json:"mean_mse"` // error of the mean picture
	Each     []float64 `json:"each"`     // reconstruction error per seed
	SD       struct {
		ReconMSE float64 `json:"recon_mse"`
	} `json:"sd"`
}

func newSizesRow(of studied, figures []*withheld) sizesRow {
	r := sizesRow{studied: of}
	for _, f := range figures {
		r.Each = append(r.Each, f.ReconMSE)
		r.MeanMSE += f.MeanMSE / float64(len(figures))
	}
	r.ReconMSE = stat.Mean(r.Each, nil)
	if r.Seeds > 1 {
		r.SD.ReconMSE = stat.StdDev(r.Each, nil)
	}
	return r
}

// cells returns the row's cells in the section.
func (r *sizesRow) cells() []string {
	recon := short(r.ReconMSE)
	if r.Seeds > 1 {
		recon = spreadText(r.ReconMSE, r.SD.ReconMSE)
	}
	return []string{r.Row, fmt.Sprint(r.Latent), recipesText(r.Recipes), fmt.Sprint(r.Seeds), recon, short(r.MeanMSE), fmt.Sprintf("%.1f %%", 100*(1-r.ReconMSE/r.MeanMSE))}
}

// sizesPicture is the picture's file name.
const sizesPicture = "sizes.svg"

// drawSizes plots the mean over seeds as a line, and each seed as a dot.
func drawSizes(rows []sizesRow) *plot.Plot {
	p := newPlot("latents", "reconstruction, mean squared error a pixel")
	var latents, means []float64
	var dots plotter.XYs
	for _, r := range rows {
		latents, means = append(latents, float64(r.Latent)), append(means, r.ReconMSE)
		for _, v := range r.Each {
			dots = append(dots, plotter.XY{X: float64(r.Latent), Y: v})
		}
	}
	p.Title.Text = rows[0].Row
	addLine(p, latents, means, learntInk)
	p.Add(&plotter.Scatter{XYs: dots, GlyphStyle: vgdraw.GlyphStyle{Color: learntInk, Radius: 2, Shape: vgdraw.CircleGlyph{}}})
	return p
}

func sizesSection(rows []sizesRow) section {
	s := section{Title: "Reconstruction against the number of latents",
		Head:     []string{"row", "latents", "recipe", "seeds", "reconstruction", "mean picture", "explained"},
		Notes:    []string{"Mean squared error a pixel of the model's pictures, on the half of the film without training, and the same of their mean picture. The rest is the pixels' own noise."},
		Pictures: []string{sizesPicture}}
	for i := range rows {
		s.Cells = append(s.Cells, rows[i].cells())
	}
	return s
}
