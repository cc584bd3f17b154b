package sim

import (
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/internal/suite"
)

// Within a film the steps have no drift and the variance 2D dt across the field and 2D (1 + 1.2 V²) dt along it, uncorrelated.
// Tolerances are 5 standard errors.
func TestDNADiffuses(t *testing.T) {
	const films = 200
	for volts, name := range []string{"dna-0", "dna-1", "dna-2"} {
		k, _ := find(name)
		p := newPath(&k.law, k.length, 1)
		var before, mean, square [2]float64
		mixed := 0.0
		const n = films * (dnaFrames - 1)
		for range films * dnaFrames {
			copy(before[:], p.z)
			p.next()
			if p.age == 0 {
				if p.z[0] != 0 || p.z[1] != 0 {
					t.Fatalf("%s: film %d starts at %v; want the centre", name, p.trajectory, p.z)
				}
				continue
			}
			for i := range mean {
				step := p.z[i] - before[i]
				mean[i] += step / n
				square[i] += step * step / n
			}
			mixed += (p.z[0] - before[0]) * (p.z[1] - before[1]) / n
		}
		if p.trajectory != films-1 {
			t.Errorf("%s: %d films; want %d", name, p.trajectory+1, films)
		}
		want := [2]float64{2 * 0.06 * 0.5, 2 * 0.06 * 0.5 * (1 + 1.2*float64(volts*volts))}
		for i := range want {
			if math.Abs(square[i]/want[i]-1) > 5*math.Sqrt(2.0/n) {
				t.Errorf("%s axis %d: steps have variance %g um²; want %g", name, i+1, square[i], want[i])
			}
			if math.Abs(mean[i]) > 5*math.Sqrt(want[i]/n) {
				t.Errorf("%s axis %d: steps have mean %g um; want 0", name, i+1, mean[i])
			}
		}
		if math.Abs(mixed) > 5*math.Sqrt(want[0]*want[1]/n) {
			t.Errorf("%s: the axes' covariance is %g um²; want 0", name, mixed)
		}
	}
}

// The chain's centre of mass is its origin, up to rounding. Its radius of gyration in the plane is √(2/3) of the one in space, except for the modes left out.
// Its slowest mode decays with τ₁ = 2 R_g²/(π² D).
func TestRouseChain(t *testing.T) {
	const (
		gyration, diffusion, dt = 0.5, 0.2, 0.05
		steps                   = 40_000
	)
	c := newRouse(gyration, diffusion, dt, rand.New(rand.NewPCG(1, 2)))
	c.relax()
	square, now, next := 0.0, 0.0, 0.0
	for range steps {
		before := c.mode[0]
		c.step()
		for k := range before {
			now += before[k] * before[k]
			next += before[k] * c.mode[0][k]
		}
		var x, y float64
		for _, r := range c.places(&c.mode) {
			x += r[0]
			y += r[1]
			square += (r[0]*r[0] + r[1]*r[1]) / (segments * steps)
		}
		if math.Hypot(x, y) > 1e-12 {
			t.Fatalf("the segments' sum is (%g, %g); want 0", x, y)
		}
	}
	held := 0.0
	for p := 1; p <= modes; p++ {
		held += 6 / (math.Pi * math.Pi * float64(p*p))
	}
	// The slowest mode has 0.6 of the squared radius and is independent every τ₁ = 5 dt or so, so 5 standard errors are 5 %.
	if want := gyration * gyration * held * 2 / 3; math.Abs(square/want-1) > 0.05 {
		t.Errorf("squared radius of gyration %g um²; want %g", square, want)
	}
	// A correlation a over n pairs has the standard error √((1-a²)/n).
	a := math.Exp(-dt * math.Pi * math.Pi * diffusion / (2 * gyration * gyration))
	if got := next / now; math.Abs(got-a) > 5*math.Sqrt((1-a*a)/(2*steps)) {
		t.Errorf("the slowest mode keeps %g of itself in a step; want %g", got, a)
	}
}

// The light's centroid is the centre of mass, and no light is missing. Sampling a spot of 2 px at the pixels' centres has a relative error below 1e-30, and
// 2e-6 of the light lies beyond its reach.
func TestDNAShinesAroundItsCentre(t *testing.T) {
	s := mustNew(t, "dna-1", Options{Frames: 20, Seed: 5})
	d := s.draw.(*dna)
	for k := range 50 {
		d.chain.relax()
		wantX, wantY := 31.5+float64(k)/50, 32.4-float64(k)/50
		d.expose(wantX, wantY, &d.chain.mode)
		var sum, x, y float64
		for i, v := range d.glow {
			sum += v
			x += v * (float64(i%patchSide) + 0.5)
			y += v * (float64(i/patchSide) + 0.5)
		}
		if math.Abs(sum/dnaPhotons-1) > 1e-5 || math.Abs(x/sum-wantX) > 1e-5 || math.Abs(y/sum-wantY) > 1e-5 {
			t.Fatalf("%g photoelectrons around (%g, %g); want %g around (%g, %g)", sum, x/sum, y/sum, dnaPhotons, wantX, wantY)
		}
	}
}

// In the picture the molecule is at its true position. With 3000 photoelectrons on 1700 pixels with a noise of 4.5 electrons, 12 px from the middle on average,
// a centroid has an sd of 0.75 px, and its mean over two axes of 200 frames 0.04 px.
func TestDNAIsWhereItIs(t *testing.T) {
	suite.Calculation(t)
	s := mustNew(t, "dna-0", Options{Frames: 200, Seed: 2})
	d := s.draw.(*dna)
	var p Picture
	bias, square, n := 0.0, 0.0, 0.0
	for {
		truth, err := s.Next(&p)
		if err == io.EOF {
			break
		}
		if !truth.Inside {
			t.Fatalf("t = %g: outside the picture", truth.T)
		}
		x, y := 256+10*truth.Z[0], 256+10*truth.Z[1]
		_, cx, cy := light(d.backdrop, &p, x, y)
		bias += cx - x + cy - y
		square += (cx-x)*(cx-x) + (cy-y)*(cy-y)
		n += 2
	}
	t.Logf("centroid: mean error %.3f px, sd %.3f px", bias/n, math.Sqrt(square/n))
	if math.Abs(bias/n) > 0.2 || math.Sqrt(square/n) > 1 {
		t.Errorf("centroids are off by %.3f px on average with sd %.3f px; want 0.2 and 1 at most", bias/n, math.Sqrt(square/n))
	}
}

// At an edge only the molecule's part inside the picture is drawn, and far beyond the edge nothing.
func TestDNAOutside(t *testing.T) {
	s := mustNew(t, "dna-2", Options{Frames: 2, Seed: 1})
	p := Picture{}
	p.reset(s.Format())
	for _, z := range [][]float64{{25.5, 25.5}, {-25.5, -25.5}, {-25.7, 0}, {0, 25.7}, {1e12, -1e12}} {
		inside := math.Abs(z[0]) < 25.6 && math.Abs(z[1]) < 25.6
		if s.draw.render(&p, z, 0) != inside {
			t.Errorf("z = %v: inside is reported as %t", z, !inside)
		}
	}
}

func BenchmarkDNA(b *testing.B) {
	s := mustNew(b, "dna-2", Options{Frames: MaxFrames / 100, Seed: 1})
	var p Picture
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Next(&p); err != nil {
			b.Fatal(err)
		}
	}
}
