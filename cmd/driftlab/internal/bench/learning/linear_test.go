package learning

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"driftscope/infer/sdevae"
	"driftscope/internal/kit/console"
	"driftscope/internal/suite"
)

// Motion far above the noise is counted rightly in every film; where noise hides it, or the likelihood is left alone, it is not.
func TestCountLatents(t *testing.T) {
	suite.Long(t)
	for _, test := range []struct {
		film                linearFilm
		likely, short, held int
	}{
		{linearFilm{64, 3, 0, 600}, 3, 3, 3},
		{linearFilm{64, 3, 1, 600}, sdevae.MaxGrown, 3, 3},
		{linearFilm{64, 3, 100, 600}, sdevae.MaxGrown, 0, 1},
	} {
		for seed := range uint64(5) {
			likely, short, held := countLatents(test.film.draw(rand.New(rand.NewPCG(seed, 0))))
			if likely != test.likely || short != test.short || held != test.held {
				t.Errorf("%+v, seed %d: found %d, %d and %d, expected %d, %d and %d", test.film, seed, likely, short, held, test.likely, test.short, test.held)
			}
		}
	}
}

// The sum over components is the normal law's density.
func TestComponents(t *testing.T) {
	suite.Long(t)
	film := linearFilm{Pixels: 6, Latents: 2, Noise: 1, Frames: 80}
	rng := rand.New(rand.NewPCG(1, 1))
	fitted, other := film.draw(rng), film.draw(rng)
	c := newComponents(fitted)
	squares := c.along(other)
	for j := range 5 {
		rest := 0.0
		for _, l := range c.l[j:] {
			rest += l / float64(film.Pixels-j)
		}
		covariance := mat.NewSymDense(film.Pixels, nil)
		for i := range film.Pixels {
			l := rest
			if i < j {
				l = c.l[i]
			}
			covariance.SymRankOne(covariance, l, c.u.ColView(i))
		}
		law, ok := distmv.NewNormal(make([]float64, film.Pixels), covariance, nil)
		if !ok {
			t.Fatal("no such normal law")
		}
		n, _ := other.Dims()
		want := 0.0
		for i := range n {
			want -= law.LogProb(other.RawRowView(i)) / float64(n)
		}
		if got := c.nats(j, squares); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d latents: %g nats, expected %g", j, got, want)
		}
	}
}

func TestBenchLinear(t *testing.T) {
	suite.Long(t)
	var found [2]linearFindings
	for i := range found {
		out, err := suite.Stdout(t, func() error { return (&LinearCommand{Runs: 1, Seed: 1, JSON: true}).Run(t.Context()) })
		if err == nil {
			err = json.Unmarshal(out, &found[i])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found[0].Rows) != len(linearFilms) || found[0].Runs != 1 {
		t.Errorf("found %+v", found[0])
	}
	for i, r := range found[0].Rows {
		if r != found[1].Rows[i] {
			t.Errorf("the same seed gave %+v and %+v", r, found[1].Rows[i])
		}
		if r.Noise == 0 && (r.Likelihood != 1 || r.Length != 1 || r.HeldOut != 1) {
			t.Errorf("without noise found %+v, expected every rule to be right", r)
		}
	}
	if err := (&LinearCommand{}).Run(t.Context()); err == nil || console.Status(err) != 2 || !strings.Contains(err.Error(), "--runs: found 0, expected 1 to 100000") {
		t.Errorf("found %v, a usage error expected", err)
	}
}
