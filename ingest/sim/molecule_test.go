package sim

import (
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/internal/suite"
)

// The photon transfer curve is mean = offset + gain λ, variance = 2 gain² λ + read² + 1/12, for simulated arrivals and for tables. Tolerances are 5 standard
// errors. The standard error of the variance includes the kurtosis of the multiplied signal, 3 + 6/λ.
func TestPhotonTransfer(t *testing.T) {
	const n = 100_000
	camera := emccd{offset: 480, gain: 20, read: 6}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, electrons := range []float64{0, 0.5, 6, 10, 50} {
		draws := map[string]func() uint16{
			"walked": func() uint16 { return camera.sample(rng, electrons) },
		}
		if electrons <= backgroundHigh {
			table := camera.table(electrons)
			draws["tabled"] = func() uint16 { return table.draw(rng.Uint32()) }
		}
		for name, draw := range draws {
			var mean, square float64
			for range n {
				x := float64(draw()) - camera.offset
				mean += x / n
				square += x * x / n
			}
			variance := square - mean*mean
			wantMean, wantVariance := 20*electrons, 2*20*20*electrons+36+1.0/12
			if limit := 5 * math.Sqrt(wantVariance/n); math.Abs(mean-wantMean) > limit {
				t.Errorf("%s, λ = %g: mean %g; want %g ± %g", name, electrons, mean, wantMean, limit)
			}
			excess := 0.0
			if electrons > 0 {
				excess = 6 / electrons
			}
			if limit := 5 * math.Sqrt((2+excess)/n); math.Abs(variance/wantVariance-1) > limit {
				t.Errorf("%s, λ = %g: variance %g; want %g within %g of it", name, electrons, variance, wantVariance, limit)
			}
		}
	}
}

// A table has the same law as the simulated arrivals: the largest gap between their distribution functions stays below the Kolmogorov-Smirnov bound of two
// samples at 1e-4, 2.23 √(2/n).
func TestTableIsTheWalkedLaw(t *testing.T) {
	const n = 100_000
	camera := emccd{offset: 480, gain: 20, read: 6}
	rng := rand.New(rand.NewPCG(3, 4))
	table := camera.table(6)
	var difference [1 << 16]int
	for range n {
		difference[table.draw(rng.Uint32())]++
		difference[camera.sample(rng, 6)]--
	}
	gap, worst := 0, 0
	for _, d := range difference {
		gap += d
		worst = max(worst, gap, -gap)
	}
	if bound := 2.23 * math.Sqrt(2.0/n); float64(worst)/n > bound {
		t.Errorf("distribution functions differ by %g; want at most %g", float64(worst)/n, bound)
	}
}

// The cells of a table add up to the law from which it was built.
func TestNoiseTableIsExact(t *testing.T) {
	p := make([]float64, noiseValues)
	for i := range p {
		p[i] = math.Exp(-float64(i) / 50)
	}
	p[7], p[2047] = 0, 3
	total := 0.0
	for _, v := range p {
		total += v
	}
	table := newNoiseTable(100, p)
	got := make([]float64, noiseValues)
	for i, cell := range table.cells {
		cut := float64(cell>>cellBits) / (1 << cutBits)
		got[i] += cut / noiseValues
		got[cell&(noiseValues-1)] += (1 - cut) / noiseValues
	}
	for i := range p {
		// A cut has an error of 2⁻²¹ of a cell, and a value is the alias of at most noiseValues cells.
		if limit := math.Ldexp(1, -cutBits); math.Abs(got[i]-p[i]/total) > limit {
			t.Fatalf("value %d has probability %g; want %g", i, got[i], p[i]/total)
		}
	}
	if v := table.draw(0); v < 100 || v > 100+noiseValues-1 {
		t.Errorf("drew %d", v)
	}
}

func TestDigitiseSaturates(t *testing.T) {
	for _, c := range []struct {
		counts float64
		want   uint16
	}{{-3, 0}, {0.4, 0}, {479.6, 480}, {65534.4, 65534}, {65535.6, 65535}, {1e9, 65535}} {
		if got := digitise(c.counts); got != c.want {
			t.Errorf("digitise(%g) = %d; want %d", c.counts, got, c.want)
		}
	}
}

// light returns the picture's signal above the known background within 20 px of (x, y), in photoelectrons, and its centroid.
func light(m *backdrop, p *Picture, x, y float64) (sum, cx, cy float64) {
	for j := int(y) - 20; j <= int(y)+20; j++ {
		for i := int(x) - 20; i <= int(x)+20; i++ {
			pixel := j*cameraSide + i
			e := (float64(p.U16[pixel])-m.camera.offset)/m.camera.gain - m.rate[m.level[pixel]]
			sum += e
			cx += e * (float64(i) + 0.5)
			cy += e * (float64(j) + 0.5)
		}
	}
	return sum, cx / sum, cy / sum
}

// The molecule is at its true position. Shot noise on 9000 photoelectrons, and 1700 background pixels with a noise of 4.5 electrons, give a centroid a standard
// error near 0.25 px, and its mean over 60 frames 0.03 px.
func TestMoleculeIsWhereItIs(t *testing.T) {
	s := mustNew(t, "molecule", Options{Seed: 2})
	m := s.draw.(*molecule)
	var p Picture
	var bias, square float64
	const n = 60
	for range n {
		truth, err := s.Next(&p)
		if err != nil {
			t.Fatal(err)
		}
		x, y := 256+10*truth.Z[0], 256+10*truth.Z[1]
		_, cx, cy := light(m.backdrop, &p, x, y)
		bias += (cx - x + cy - y) / (2 * n)
		square += ((cx-x)*(cx-x) + (cy-y)*(cy-y)) / (2 * n)
	}
	t.Logf("centroid: mean error %.3f px, sd %.3f px", bias, math.Sqrt(square))
	if math.Abs(bias) > 0.12 || math.Sqrt(square) > 0.4 {
		t.Errorf("centroids are off by %.3f px on average with sd %.3f px; want 0.12 and 0.4 at most", bias, math.Sqrt(square))
	}
}

// The light falls as exp(-t/600 s). Its standard error is about 200 of 9000 photoelectrons per frame.
func TestBleaching(t *testing.T) {
	suite.Calculation(t)
	s := mustNew(t, "molecule", Options{Seed: 1})
	m := s.draw.(*molecule)
	p := Picture{}
	p.reset(s.Format())
	within := math.Pow(math.Erf(20.5/(coilSD*math.Sqrt2)), 2)
	for _, age := range []float64{0, 100, 300, 600, 659} {
		const n = 20
		sum := 0.0
		for range n {
			m.render(&p, []float64{0, 0}, age)
			one, _, _ := light(m.backdrop, &p, 256, 256)
			sum += one / n
		}
		want := coilPeak * 2 * math.Pi * coilSD * coilSD * within * math.Exp(-age/600)
		if math.Abs(sum-want) > 5*220/math.Sqrt(n) {
			t.Errorf("after %g s: %.0f photoelectrons; want %.0f", age, sum, want)
		}
	}
}

// At a third of its brightness a molecule is replaced by a fresh one at another position, on a new trajectory, while time continues.
func TestFreshMolecule(t *testing.T) {
	k, _ := find("molecule")
	if left := math.Exp(-float64(k.length-1) * k.law.DT / 600); left < 1.0/3 || left > 1.0/3+1e-4 {
		t.Fatalf("the last frame has %g of the light; want just above a third", left)
	}
	p := newPath(&k.law, k.length, 1)
	var before [2]float64
	for range 3*k.length + 1 {
		copy(before[:], p.z)
		p.next()
		jump := math.Hypot(p.z[0]-before[0], p.z[1]-before[1])
		if fresh := p.frame%k.length == 0; fresh != (p.age == 0) || p.trajectory != uint64(p.frame/k.length) {
			t.Fatalf("frame %d: trajectory %d, age %g", p.frame, p.trajectory, p.age)
		} else if !fresh && jump > 7*math.Sqrt(2*2*moleculeDT)*math.Sqrt2 {
			t.Fatalf("frame %d: a step of %g um", p.frame, jump)
		}
	}
	if p.trajectory != 3 || p.age != 0 {
		t.Errorf("after three lives: trajectory %d, age %g", p.trajectory, p.age)
	}
}

// The start is drawn from the stationary law. Over 400 seeds the second moment has a relative error of at most 5·√(2/800).
func TestMoleculeIsCaughtAnywhere(t *testing.T) {
	k, _ := find("molecule")
	square := 0.0
	for seed := range uint64(400) {
		p := newPath(&k.law, k.length, seed)
		p.next()
		square += (p.z[0]*p.z[0] + p.z[1]*p.z[1]) / 800
	}
	sd := k.law.Stationary.SD[0]
	if got := square / (sd * sd); math.Abs(got-1) > 5*math.Sqrt(2.0/800) {
		t.Errorf("the start's variance is %g of the stationary one; want 1", got)
	}
}

// A molecule far outside changes no pixel of the background, and its light does not wrap around the picture's edges.
func TestMoleculeOutside(t *testing.T) {
	s := mustNew(t, "molecule", Options{Seed: 1})
	p := Picture{}
	p.reset(s.Format())
	for _, z := range [][]float64{{25.5, 25.5}, {-25.7, 0}, {30, 0}, {1e12, -1e12}} {
		inside := math.Abs(z[0]) < 25.6 && math.Abs(z[1]) < 25.6
		if s.draw.render(&p, z, 0) != inside {
			t.Errorf("z = %v: inside is reported as %t", z, !inside)
		}
	}
}

func BenchmarkMolecule(b *testing.B) {
	s := mustNew(b, "molecule", Options{Seed: 1})
	var p Picture
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Next(&p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBall(b *testing.B) {
	s := mustNew(b, "balls-ou", Options{Seed: 1})
	var p Picture
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Next(&p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewMolecule(b *testing.B) {
	for b.Loop() {
		mustNew(b, "molecule", Options{Seed: 1})
	}
}
