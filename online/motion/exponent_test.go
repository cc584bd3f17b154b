package motion

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"driftscope/internal/suite"
	"driftscope/online/motion/motiontest"
)

// tested is the seed of the test tracks of the net; training uses another.
const tested = 4

// score holds the errors of the exponents of some tracks.
type score struct{ miss, held, exact, named, tracks float64 }

func (s *score) add(p *posterior, e *example, gaussian, weight float64) {
	s.tracks += weight
	s.miss += weight * math.Abs(p.quantile(0.5)-e.alpha)
	s.exact += weight * math.Abs(gaussian-e.alpha)
	if p.quantile(0.025) <= e.alpha && e.alpha <= p.quantile(0.975) {
		s.held += weight
	}
	best := 0
	for m, v := range p.model {
		if v > p.model[best] {
			best = m
		}
	}
	if best == int(e.model) {
		s.named += weight
	}
}

func (s score) String() string {
	n := max(s.tracks, 1)
	return fmt.Sprintf("%.3f (%.3f) %.0f %% %.0f %%", s.miss/n, s.exact/n, 100*s.held/n, 100*s.named/n)
}

// cut returns the weight of a track if the data is cut as in challenge_theory_dataset. For each exponent up to 1 that keeps the first 1.1/40 of all
// tracks in the order of models: all ATTM, 58 %, some CTRW, 42 %, no FBM and no SBM. Above 1 nearly all tracks stay.
func cut(e *example) float64 {
	const share = (1. / 20) / (2./20 + 1./39 + 1./40) // of ATTM and of CTRW in the mixture to 1
	switch {
	case e.alpha > 1:
		return 1
	case e.model == motiontest.ATTM:
		return 0.58 / share
	case e.model == motiontest.CTRW:
		return 0.42 / share
	}
	return 0
}

// measureExponents scores tracks of the challenge's mixture, by model with all and the cut last, and by noise. A length of 0 is uniform from 10 to 999.
func measureExponents(length, tracks int) (model [motiontest.Models + 2]score, noise [len(motiontest.Noises)]score) {
	w := new(worker)
	for k := range tracks {
		n := length
		if n == 0 {
			n = 10 + rand.New(rand.NewPCG(tested+1, uint64(k))).IntN(990)
		}
		e := w.simulated(tested, uint64(k), n, true)
		w.posterior.ask(trained(), &e.value)
		_, at, _ := integral(w.fractional.alpha[:])
		gaussian := firstAlpha + stepAlpha*at
		model[e.model].add(&w.posterior, &e, gaussian, 1)
		model[motiontest.Models].add(&w.posterior, &e, gaussian, 1)
		model[motiontest.Models+1].add(&w.posterior, &e, gaussian, cut(&e))
		for i, v := range motiontest.Noises {
			if v == e.noise {
				noise[i].add(&w.posterior, &e, gaussian, 1)
			}
		}
	}
	return model, noise
}

// TestExponent verifies that the mean error of α over the challenge mixture of models, exponents and noises is at most the value measured on 4000 tracks
// (docs/lab/2026-11-25-motion.md) plus three standard errors of these 300, 0.03 to 0.06. The intervals hold the truth in 91 to 99 %.
func TestExponent(t *testing.T) {
	suite.Calculation(t)
	for _, c := range []struct {
		places int
		most   float64
	}{{10, 0.44}, {20, 0.37}, {50, 0.28}, {100, 0.22}, {200, 0.17}} {
		const tracks = 300
		model, _ := measureExponents(c.places, tracks)
		all := model[motiontest.Models]
		if all.miss/tracks > c.most || all.held < 0.91*tracks || all.held > 0.99*tracks {
			t.Errorf("%d places: mean error %.3f, expected at most %g; %.0f of %d intervals hold α", c.places, all.miss/tracks, c.most, all.held, tracks)
		}
	}
}

// TestExponentWithGaps compares fractional tracks of 110 places, without every tenth, with whole ones of 100: the errors agree to a fifth plus three
// standard errors of 200.
func TestExponentWithGaps(t *testing.T) {
	suite.Calculation(t)
	const tracks = 200
	var miss [2]float64
	for side, missing := range []float64{0, 0.1} {
		rng := rand.New(rand.NewPCG(8, 8))
		j := new(Judge)
		for range tracks {
			law := motiontest.Law{D: 1, Alpha: 0.3 + 1.4*rng.Float64(), Noise: 0.3}
			v, _ := j.Track(judged(motiontest.Simulate(rng, law, motiontest.Film{Places: 100, Step: 1, Missing: missing}), 0), Options{})
			miss[side] += math.Abs(v.Alpha.Value-law.Alpha) / tracks
		}
	}
	if miss[1] > 1.2*miss[0]+0.03 {
		t.Errorf("mean error of α %.3f with gaps, %.3f without", miss[1], miss[0])
	}
}

// TestReport prints the tables of docs/lab: MOTION_REPORT=yes go test ./online/motion -run TestReport -v -timeout 1h.
func TestReport(t *testing.T) {
	if os.Getenv("MOTION_REPORT") == "" {
		t.Skip("MOTION_REPORT=yes measures")
	}
	t.Log("α: mean error (of fractional Brownian motion alone), intervals that hold it, models named; ATTM CTRW FBM LW SBM all cut")
	for _, n := range []int{10, 20, 50, 100, 200, 500, 999, 0} {
		model, noise := measureExponents(n, 4000)
		t.Logf("| %d | %v | %v | %v | %v | %v | %v | %v |", n, model[0], model[1], model[2], model[3], model[4], model[5], model[6])
		t.Logf("| %d by noise 0.1, 0.5, 1 | %v | %v | %v |", n, noise[0], noise[1], noise[2])
	}
	j := new(Judge)
	for _, told := range []float64{0, 1} {
		for _, noise := range []float64{0.1, 1} {
			for _, n := range []int{20, 50, 100, 200} {
				start := time.Now()
				const tracks = 300
				count := confusion(j, noise*frame, told*noise*frame, motiontest.Film{Places: n, Step: frame}, tracks)
				t.Logf("| told %v | r %g | %d | %v | %v a track", told == 1, noise, n, count, time.Since(start)/tracks/6)
			}
		}
	}
}
