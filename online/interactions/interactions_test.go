package interactions

import (
	"cmp"
	"math"
	"sync/atomic"

	"testing"

	"driftscope/internal/suite"
	"driftscope/online/onlinetest"
)

const (
	side  = 256.0
	reach = 20.0
)

// frames passes n frames of a film to show. Objects closer to each other than merging count as merged.
func frames(film *onlinetest.Pairs, n int, merging float64, show func(*Frame)) {
	f := &Frame{}
	film.Run(n, 1, func(s *onlinetest.PairsShot) {
		f.T, f.ID, f.X, f.Y = s.T, s.ID, s.X, s.Y
		f.Variance, f.Weight = f.Variance[:0], f.Weight[:0]
		for range s.ID {
			f.Variance, f.Weight = append(f.Variance, film.Noise*film.Noise), append(f.Weight, 1)
		}
		for i := range s.ID {
			for j := range i {
				if math.Hypot(s.X[i]-s.X[j], s.Y[i]-s.Y[j]) < merging {
					f.Weight[i], f.Weight[j] = 0, 0
				}
			}
		}
		show(f)
	})
}

// study collects the results of many films with a known force.
type study struct {
	scenario
	z, n     float64        // Σ of squared errors in standard errors, and their number
	held     float64        // number of 95 % intervals that contain the truth
	against  int            // number of films whose evidence is against a force
	evidence float64        // mean
	errors   [Knots]float64 // mean
	ses      [Knots]float64 // mean
}

// scenario is a row of the test table.
type scenario struct {
	name                   string
	force                  func(float64) float64
	spread, noise, exposed float64
	parts                  int     // simulation steps per frame; 1 is exact without a force
	diameter               float64 // diameter of hard discs
	merging                float64 // distance below which two objects merge
	from                   float64 // px; knots at smaller distances are not tested
	films, objects, frames int
	least                  float64 // least root mean square; 0 means 0.8
}

func (s *study) run(t *testing.T) {
	for film := range s.films {
		f := &onlinetest.Pairs{Seed: uint64(film), Objects: s.objects, Side: side, D: 5, Spread: s.spread, Noise: s.noise, Frame: 0.02, Exposed: s.exposed,
			Parts: s.parts, Force: s.force, Cutoff: reach, Diameter: s.diameter}
		e, err := New(Config{Width: side, Height: side, Reach: reach, Resolution: s.merging})
		if err != nil {
			t.Fatal(err)
		}
		frames(f, s.frames, s.merging, func(f *Frame) {
			if err := e.Update(f); err != nil {
				t.Fatal(err)
			}
		})
		var c Curve
		e.Curve(&c)
		s.judge(&c)
	}
}

func (s *study) judge(c *Curve) {
	films := float64(s.films)
	s.evidence += c.Evidence / films
	if c.Evidence < 0 {
		s.against++
	}
	for k, r := range c.R {
		if c.Pairs[k] < 50 || r < s.from || k == 0 {
			continue
		}
		truth := 0.0
		if s.force != nil {
			truth = s.force(r)
		}
		z := (c.F[k] - truth) / c.SE[k]
		s.z, s.n = s.z+z*z, s.n+1
		s.errors[k], s.ses[k] = s.errors[k]+(c.F[k]-truth)/films, s.ses[k]+c.SE[k]/films
		if c.Low[k] <= truth && truth <= c.High[k] {
			s.held++
		}
	}
}

// morse is a Morse force with a minimum 1 kT deep at 6 px, and an attraction of at most 1.5 px/s.
func morse(r float64) float64 {
	q := math.Exp(-0.3 * (r - 6))
	return -2 * 0.3 * 5 * (1 - q) * q
}

// shell is a spring around a distance of 6 px.
func shell(r float64) float64 { return -4 * (r - 6) * math.Exp(-(r-6)*(r-6)/8) }

// TestFree: for objects without forces the curve is zero within its error, and at most one film in twenty is reported to have a force, with noise, blur,
// differences of D and merging. The root mean square of the error is 1 standard error; 40 films of about 4 independent positions each give it to 0.08. If D
// differs between objects, new objects start with the common variance, and the standard error is too large.
func TestFree(t *testing.T) {
	suite.Calculation(t)
	var against, films atomic.Int64
	t.Cleanup(func() {
		if a, n := against.Load(), films.Load(); a < n*95/100 { // 22 of 640 films had evidence for a force
			t.Errorf("%d of %d films are reported without a force", a, n)
		}
	})
	for _, c := range []scenario{
		{name: "no noise"},
		{name: "noise as large as DΔt", noise: 0.316},
		{name: "exposed all the time", noise: 0.1, exposed: 1, parts: 6},
		{name: "D differs by two", spread: 0.7, noise: 0.1, least: 0.7},
		{name: "merging with noise", merging: 4, noise: 0.316},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.films, c.objects, c.frames, c.parts = 40, 100, 150, max(c.parts, 1)
			c.least = cmp.Or(c.least, 0.8)
			s := study{scenario: c}
			s.run(t)
			rms := math.Sqrt(s.z / s.n)
			t.Logf("error %.2f standard errors, %d of %d films against a force, mean evidence %.1f", rms, s.against, s.films, s.evidence)
			if rms < c.least || rms > 1.2 {
				t.Errorf("the error is %.2f standard errors", rms)
			}
			against.Add(int64(s.against))
			films.Add(int64(s.films))
		})
	}
}

// TestForce: curves of known forces are right within their standard errors, at least 88 % of the intervals contain the truth, and the evidence is for a
// force.
func TestForce(t *testing.T) {
	suite.Calculation(t)
	for _, c := range []scenario{
		{name: "soft", force: onlinetest.SoftForce},
		{name: "soft, noise as large as DΔt", force: onlinetest.SoftForce, noise: 0.316},
		{name: "soft, exposed all the time", force: onlinetest.SoftForce, noise: 0.1, exposed: 1},
		{name: "soft, D differs", force: onlinetest.SoftForce, spread: 0.5, noise: 0.1},
		{name: "attraction", force: morse, noise: 0.1, from: 3},
		{name: "attraction, noise as large as DΔt", force: morse, noise: 0.316, from: 3},
		{name: "springs", force: shell, noise: 0.1},
		{name: "soft, merging", force: onlinetest.SoftForce, noise: 0.1, merging: 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.films, c.objects, c.frames, c.parts = 4, 200, 300, 4
			s := study{scenario: c}
			s.run(t)
			rms := math.Sqrt(s.z / s.n)
			t.Logf("error %.2f standard errors, %.2f of the intervals contain the truth, mean evidence %.1f", rms, s.held/s.n, s.evidence)
			for k := 4; k < Knots; k += 4 {
				t.Logf("%5.1f px: %6.2f, error %+.2f ± %.2f px/s", reach*float64(k)/Knots, c.force(reach*float64(k)/Knots), s.errors[k], s.ses[k])
			}
			if rms < 0.8 || rms > 1.2 { // 4 films of about 8 independent positions give it to 0.12
				t.Errorf("the error is %.2f standard errors", rms)
			}
			if s.held < 0.88*s.n {
				t.Errorf("%.2f of the intervals contain the truth", s.held/s.n)
			}
			if s.against > 0 || s.evidence < 10 {
				t.Errorf("%d films are reported without a force, mean evidence %.1f", s.against, s.evidence)
			}
		})
	}
}
