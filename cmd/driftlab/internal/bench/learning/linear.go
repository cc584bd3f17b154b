package learning

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae"
	"driftscope/internal/kit/console"
)

// LinearCommand tests the paper's theorem: the likelihood finds the latent dimension if pictures are linear in the latents.
type LinearCommand struct {
	Runs int    `default:"100" help:"Films per kind." placeholder:"N"`
	Seed uint64 `default:"1" help:"Seed of every random draw." placeholder:"S"`
	JSON bool   `name:"json" help:"Print one JSON object instead of a table."`
}

// Help describes the rules, under the command's own help.
func (c *LinearCommand) Help() string {
	return "Films are linear in their latents, which spring back; a pair is the change of all pixels between two frames. Likelihood: at its maximum on all pairs. Without noise that " +
		"has no bound from the true number on, as the paper's theorem says; with noise every latent more makes it a little larger. Description length: it pays half the logarithm " +
		"of the number of pairs for every parameter. Held out: pretrain --latent auto's rule, on a fifth of the pairs."
}

// linearFilm is a kind of film: pixels x = Az + noise, A of independent standard normals, dz = -4z dt + dW, 0.01 s a frame.
type linearFilm struct {
	Pixels  int     `json:"pixels"`
	Latents int     `json:"latents"`
	Noise   float64 `json:"noise"` // sd of a pixel's noise over the sd of its change between frames by one latent
	Frames  int     `json:"frames"`
}

// linearFilms are the tested kinds: no noise as in the theorem, increasing noise, few frames, few pixels, many latents.
var linearFilms = []linearFilm{
	{64, 1, 0, 1000}, {64, 2, 0, 1000}, {64, 4, 0, 1000}, {64, 10, 0, 1000},
	{64, 1, 1, 1000}, {64, 2, 1, 1000}, {64, 4, 1, 1000}, {64, 10, 1, 1000},
	{64, 2, 4, 1000}, {64, 4, 4, 1000}, {64, 2, 8, 1000}, {64, 4, 8, 1000},
	{64, 2, 1, 100}, {64, 4, 1, 100}, {20, 4, 1, 1000}, {256, 4, 4, 1000},
}

const (
	linearSpring = 4.   // per second
	linearStep   = 0.01 // s
)

// linearRow is the fraction of films for which each rule finds the right number of latents.
type linearRow struct {
	linearFilm
	Likelihood float64 `json:"likelihood"`         // at its maximum, the fewest if equal
	Length     float64 `json:"description_length"` // likelihood minus ½ ln N per parameter
	HeldOut    float64 `json:"held_out"`           // the rule of pretrain --latent auto, on a fifth of the pairs
}

// linearFindings is the result of bench linear.
type linearFindings struct {
	Runs int         `json:"runs"`
	Seed uint64      `json:"seed"`
	Most int         `json:"most"` // most latents tried
	Rows []linearRow `json:"rows"`
}

// Run counts and prints.
func (c *LinearCommand) Run(ctx context.Context) error {
	const maxRuns = 100_000
	if c.Runs < 1 || c.Runs > maxRuns {
		return console.Usage(fmt.Errorf("--runs: found %d, expected 1 to %d", c.Runs, maxRuns))
	}
	found := &linearFindings{Runs: c.Runs, Seed: c.Seed, Most: sdevae.MaxGrown}
	for i, film := range linearFilms {
		row := linearRow{linearFilm: film}
		rng := rand.New(rand.NewPCG(c.Seed, uint64(i)))
		for range c.Runs {
			if err := ctx.Err(); err != nil {
				return err
			}
			pairs := film.draw(rng)
			likely, short, held := countLatents(pairs)
			for _, rule := range []struct {
				count int
				right *float64
			}{{likely, &row.Likelihood}, {short, &row.Length}, {held, &row.HeldOut}} {
				if rule.count == film.Latents {
					*rule.right += 1 / float64(c.Runs)
				}
			}
		}
		found.Rows = append(found.Rows, row)
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(found)
	}
	found.print(os.Stdout)
	return nil
}

// draw returns the changes of a film's pixels between two frames, one pair per row; pairs share no frame, so their noise is
// independent.
func (f *linearFilm) draw(rng *rand.Rand) *mat.Dense {
	normal := func(int, int, float64) float64 { return rng.NormFloat64() }
	a, moved := mat.NewDense(f.Latents, f.Pixels, nil), mat.NewDense(f.Frames/2, f.Latents, nil)
	a.Apply(normal, a)
	for c := range f.Latents {
		z := rng.NormFloat64() / math.Sqrt(2*linearSpring)
		for frame := range f.Frames {
			step := -linearSpring*z*linearStep + math.Sqrt(linearStep)*rng.NormFloat64()
			z += step
			if frame%2 == 0 {
				moved.Set(frame/2, c, step)
			}
		}
	}
	pairs, noise := new(mat.Dense), mat.NewDense(f.Frames/2, f.Pixels, nil)
	pairs.Mul(moved, a)
	noise.Apply(normal, noise)
	noise.Scale(f.Noise*math.Sqrt(2*linearStep), noise) // noise of two frames
	pairs.Add(pairs, noise)
	return pairs
}

// countLatents counts by the likelihood, by the description length of all pairs, and by the likelihood of held-out pairs.
func countLatents(pairs *mat.Dense) (likely, short, held int) {
	n, pixels := pairs.Dims()
	all := newComponents(pairs)
	own, most := all.along(pairs), min(sdevae.MaxGrown, pixels-1, n-1)
	var likelihoods, lengths []float64
	for j := range most + 1 {
		nats := float64(n) * all.nats(j, own)
		parameters := float64(pixels*j-j*(j-1)/2) + 1
		likelihoods, lengths = append(likelihoods, -nats), append(lengths, -nats-parameters/2*math.Log(float64(n)))
	}
	kept := newComponents(pairs.Slice(0, n*4/5, 0, pixels).(*mat.Dense))
	rest := kept.along(pairs.Slice(n*4/5, n, 0, pixels).(*mat.Dense))
	var costs []float64
	for j := range most {
		costs = append(costs, kept.nats(j+1, rest))
	}
	const tie = 1 // nats: without noise the likelihood is flat beyond the true number, up to rounding
	for top := floats.Max(likelihoods); likelihoods[likely] < top-tie; {
		likely++
	}
	return likely, floats.MaxIdx(lengths), sdevae.Fewest(kept.nats(0, rest), costs)
}

// components are principal components of pairs: variances l, along the columns of u, the largest first.
type components struct {
	l []float64
	u mat.Dense
}

// rounding is the fraction of the largest variance below which a variance counts as zero.
const rounding = 1e-12

func newComponents(pairs *mat.Dense) *components {
	n, pixels := pairs.Dims()
	var covariance mat.SymDense
	covariance.SymOuterK(1/float64(n), pairs.T())
	var eigen mat.EigenSym
	eigen.Factorize(&covariance, true)
	c := &components{l: eigen.Values(nil)}
	var ascending mat.Dense
	eigen.VectorsTo(&ascending)
	slices.Reverse(c.l)
	c.u.Apply(func(i, j int, _ float64) float64 { return ascending.At(i, pixels-1-j) }, &ascending)
	for i := range c.l {
		c.l[i] = max(c.l[i], rounding*c.l[0])
	}
	return c
}

// along returns the mean of (u'x)² over pairs x, for every u.
func (c *components) along(pairs *mat.Dense) []float64 {
	n, pixels := pairs.Dims()
	var turned mat.Dense
	turned.Mul(pairs, &c.u)
	squares := make([]float64, pixels)
	for i := range n {
		for k, v := range turned.RawRowView(i) {
			squares[k] += v * v / float64(n)
		}
	}
	return squares
}

// nats returns the mean of -ln N(x; 0, AA' + s²I) over pairs x with these mean squares from along. A and s² maximise the
// likelihood of j latents (Tipping and Bishop 1999):
//
//	½ [n ln 2π + Σ_{i≤j} (ln lᵢ + (uᵢ'x)²/lᵢ) + Σ_{i>j} (ln s² + (uᵢ'x)²/s²)],  s² the mean of the other l.
func (c *components) nats(j int, squares []float64) float64 {
	rest := floats.Sum(c.l[j:]) / float64(len(c.l)-j)
	total := float64(len(c.l)) * math.Log(2*math.Pi)
	for i, square := range squares {
		l := rest
		if i < j {
			l = c.l[i]
		}
		total += math.Log(l) + square/l
	}
	return total / 2
}

// print prints the findings.
func (f *linearFindings) print(w io.Writer) {
	fmt.Fprintf(w, "Share of %d films with the right number of latents, 0 to %d; seed %d. Noise is a pixel's, relative to its change by one latent from frame to frame.\n\n", f.Runs, f.Most, f.Seed)
	fmt.Fprintf(w, "%7s %8s %6s %7s  %11s  %19s  %9s\n", "pixels", "latents", "noise", "frames", "likelihood", "description length", "held out")
	for _, r := range f.Rows {
		fmt.Fprintf(w, "%7d %8d %6g %7d  %11.2f  %19.2f  %9.2f\n", r.Pixels, r.Latents, r.Noise, r.Frames, r.Likelihood, r.Length, r.HeldOut)
	}
}
