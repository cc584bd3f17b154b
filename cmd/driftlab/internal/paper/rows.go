package paper

import (
	"fmt"
	"slices"
	"strings"

	"driftscope/ingest/sim"
	"driftscope/internal/kit/console"
)

// paperRow is a row of the paper's table of results, with the settings of its training here.
type paperRow struct {
	scene  string // scene of ingest/sim; also the row's name
	latent int
	frames int
	steps  int    // 0 means pretrain's default
	clahe  string // pretrain's option
	crop   string // pretrain's option; auto if empty
	affine bool   // align by an affine map for each film, as in the paper; otherwise by an isometry
	clean  string // scene without pixel noise, with which reconstructions are compared
	apart  string // reason why the paper's figures are not comparable; empty if they are
	paper  published
	moved  displacements // the paper's errors, for its films of DNA
}

// published holds the paper's figures in a row: L_latent and L_mu, which its code averaged over coordinates, the mean squared error of reconstruction per
// pixel, and the Cramér-Rao bound, 0 if missing. gp is the drift error of a Gaussian process with the true latents (Duncker et al. 2019), zero if missing.
type published struct {
	latent, mu, recon spread
	crlb              float64
	gp                spread
}

// spread is a mean over runs ± its standard deviation.
type spread struct{ mean, sd float64 }

const filmed = "the paper's films are of real molecules, in units that it does not give"

// paperRows is the paper's table 1. The paper equalises only its real films. Scenes with several moving objects need more steps.
var paperRows = []paperRow{
	{scene: "balls-constant", latent: 2, frames: 1000, clahe: "off", paper: published{spread{1.08, 0.47}, spread{0.507, 0.299}, spread{1.71e-2, 1.85e-2}, 0.2, spread{0.237, 0.010}}},
	{scene: "balls-ou", latent: 2, frames: 1000, clahe: "off", paper: published{spread{1.41e-2, 1.20e-2}, spread{0.920, 0.223}, spread{3.23e-3, 12.0e-3}, 0.2, spread{0.217, 0.010}}},
	{scene: "balls-circle", latent: 2, frames: 1000, clahe: "off", paper: published{spread{4.65e-2, 2.56e-2}, spread{1.47, 0.62}, spread{5.10e-3, 3.55e-3}, 0.2, spread{4.43, 0.74}}},
	{scene: "multiple-balls-ou", latent: 10, frames: 1000, steps: 600, clahe: "off", paper: published{spread{0.290, 0.079}, spread{2.61, 0.51}, spread{1.69e-2, 1.05e-2}, 1, spread{2.74, 0.51}}},

	{scene: "digits-constant", latent: 4, frames: 1000, steps: 600, clahe: "off", paper: published{spread{0.436, 0.111}, spread{0.774, 0.465}, spread{4.58e-3, 1.13e-3}, 0.4, spread{0.192, 0.049}}},
	{scene: "digits-ou", latent: 4, frames: 1000, steps: 600, clahe: "off", paper: published{spread{0.199, 0.047}, spread{0.769, 0.491}, spread{2.57e-3, 0.96e-3}, 0.4, spread{0.566, 0.042}}},
	{scene: "digits-circle", latent: 4, frames: 1000, steps: 600, clahe: "off", paper: published{spread{0.238, 0.115}, spread{2.15, 0.48}, spread{3.02e-3, 0.88e-3}, 0.4, spread{2.96, 0.22}}},

	{scene: "wasserstein-ou", latent: 1, frames: 1000, clahe: "off", paper: published{spread{3.53e-2, 4.31e-2}, spread{0.879, 0.121}, spread{5.55e-4, 3.03e-4}, 0.1, spread{0.154, 0.048}}},
	{scene: "wasserstein-double-well", latent: 1, frames: 1000, clahe: "off", paper: published{spread{5.20e-2, 6.40e-2}, spread{1.45, 0.76}, spread{2.08e-3, 3.33e-3}, 0.1, spread{5.37, 2.45}}},
	{scene: "wasserstein-gbm", latent: 1, frames: 1000, clahe: "off", paper: published{spread{0.328, 0.232}, spread{0.123, 0.245}, spread{2.23e-3, 2.81e-3}, 0.1, spread{}}},

	{scene: "ball-wasserstein-ou", latent: 3, frames: 1000, clahe: "off", paper: published{spread{4.23e-2, 2.70e-2}, spread{0.708, 0.279}, spread{1.76e-2, 0.68e-2}, 0.3, spread{0.597, 0.307}}},
	{scene: "ball-wasserstein-cauchy", latent: 3, frames: 1000, clahe: "off", paper: published{spread{0.124, 0.090}, spread{0.882, 0.736}, spread{1.91e-2, 0.81e-2}, 0.3, spread{0.509, 0.004}}},
	{scene: "ball-wasserstein-anisotropic", latent: 3, frames: 1000, clahe: "off", paper: published{spread{1.03, 0.82}, spread{1.74, 0.50}, spread{1.90e-2, 0.43e-2}, 0.3, spread{}}},

	{scene: "balls-ou-normal", clean: "balls-ou", latent: 2, frames: 1000, clahe: "off", paper: published{latent: spread{1.16e-2, 0.51e-2}, mu: spread{1.22, 0.39}, recon: spread{8.99e-3, 5.28e-3}}},
	{scene: "balls-ou-student", clean: "balls-ou", latent: 2, frames: 1000, clahe: "off", paper: published{latent: spread{1.14e-2, 0.30e-2}, mu: spread{1.29, 0.17}, recon: spread{6.99e-3, 1.99e-3}}},
	{scene: "wasserstein-ou-normal", clean: "wasserstein-ou", latent: 1, frames: 1000, clahe: "off", paper: published{latent: spread{1.16e-2, 0.51e-2}, mu: spread{0.951, 0.563}, recon: spread{2.09e-3, 0.43e-3}}},
	{scene: "wasserstein-ou-student", clean: "wasserstein-ou", latent: 1, frames: 1000, clahe: "off", paper: published{latent: spread{3.83e-2, 0.55e-2}, mu: spread{0.995, 0.112}, recon: spread{1.61e-3, 0.43e-3}}},
	{scene: "ball-wasserstein-ou-normal", clean: "ball-wasserstein-ou", latent: 3, frames: 1000, clahe: "off", paper: published{latent: spread{8.57e-2, 4.33e-2}, mu: spread{1.34, 1.05}, recon: spread{2.23e-2, 0.24e-2}}},
	{scene: "ball-wasserstein-ou-student", clean: "ball-wasserstein-ou", latent: 3, frames: 1000, clahe: "off", paper: published{latent: spread{9.62e-2, 5.22e-2}, mu: spread{0.628, 0.139}, recon: spread{2.15e-2, 0.39e-2}}},

	{scene: "dna-0", latent: 2, frames: 400, clahe: "on", crop: "film", affine: true, apart: filmed, paper: published{latent: spread{7.93e-2, 0.01e-2}, mu: spread{1.49e-2, 1.89e-2}, recon: spread{1.05, 0.01}}, moved: displacements{7.93e-2, 2.58}},
	{scene: "dna-1", latent: 2, frames: 400, clahe: "on", crop: "film", affine: true, apart: filmed, paper: published{latent: spread{0.187, 0.005}, mu: spread{8.04e-2, 4.03e-2}, recon: spread{1, 0}}, moved: displacements{0.187, 4.27}},
	{scene: "dna-2", latent: 2, frames: 400, clahe: "on", crop: "film", affine: true, apart: filmed, paper: published{latent: spread{0.203, 0.015}, mu: spread{0.239, 0.209}, recon: spread{0.945, 0.002}}, moved: displacements{0.203, 8.28}},
}

// everyRow is the value of --rows for the whole table.
const everyRow = "all"

// chooseRows returns the rows named by --rows, in the table's order. For "all" it returns the rows whose scenes this build can render.
func chooseRows(names []string) (rows []paperRow, err error) {
	all := slices.Contains(names, everyRow)
	for _, name := range names {
		if name != everyRow && !slices.ContainsFunc(paperRows, func(r paperRow) bool { return r.scene == name }) {
			return nil, fmt.Errorf("--rows: the paper has no row %q: give all, or some of %s", name, rowNames(paperRows))
		}
	}
	var unknown []paperRow
	for _, r := range paperRows {
		named, drawn := slices.Contains(names, r.scene), slices.Contains(sim.Names(), r.scene)
		switch {
		case named && !drawn:
			return nil, fmt.Errorf("--rows: %s: this build does not draw that scene: leave it out", r.scene)
		case all && !drawn:
			unknown = append(unknown, r)
		case all || named:
			rows = append(rows, r)
		}
	}
	if len(unknown) > 0 {
		console.Say("left out, because this build does not draw their scenes: %s", rowNames(unknown))
	}
	return rows, nil
}

func rowNames(rows []paperRow) string {
	var names []string
	for _, r := range rows {
		names = append(names, r.scene)
	}
	return strings.Join(names, ", ")
}

// RowNames lists the rows for help texts.
func RowNames() string { return rowNames(paperRows) }
