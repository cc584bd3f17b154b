package motion

import (
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/internal/suite"
	"driftscope/online/motion/motiontest"
)

// judged returns the places of a track, with the variance of the noise if it is given.
func judged(t motiontest.Track, variance float64) []Place {
	places := make([]Place, len(t.X))
	for i := range places {
		places[i] = Place{t.X[i], t.Y[i], t.T[i], variance}
	}
	return places
}

// frame is the frame interval in these tests, s: D = 1 px²/s gives steps with a standard deviation of 0.45 px.
const frame = 0.1

var classOf = [motiontest.Kinds]Class{Stuck, Free, Confined, Directed, Anomalous, Anomalous}

// confusion counts how many tracks of each kind were judged as each class.
func confusion(j *Judge, noise, told float64, film motiontest.Film, tracks int) (count [motiontest.Kinds][Classes]int) {
	for k := range motiontest.Kinds {
		law := k.Law(frame, noise)
		rng := rand.New(rand.NewPCG(uint64(film.Places), uint64(k)))
		for range tracks {
			v, _ := j.Track(judged(motiontest.Simulate(rng, law, film), told), Options{Exposure: film.Exposure})
			count[k][v.Class]++
		}
	}
	return count
}

// TestClasses bounds the number of correct verdicts on 40 tracks of each kind: three binomial deviations below the rates measured on 300 tracks
// (docs/lab/2026-11-25-motion.md).
func TestClasses(t *testing.T) {
	suite.Long(t)
	j := new(Judge)
	for _, c := range []struct {
		name  string
		noise float64 // variance over DΔt
		told  bool
		film  motiontest.Film
		least [motiontest.Kinds]int
	}{
		{"100 places, little noise", 0.1, false, motiontest.Film{Places: 100, Step: frame}, [motiontest.Kinds]int{34, 28, 34, 34, 12, 34}},
		{"100 places, little noise that is known", 0.1, true, motiontest.Film{Places: 100, Step: frame}, [motiontest.Kinds]int{34, 28, 34, 34, 32, 34}},
		{"200 places, noise as large as the motion", 1, false, motiontest.Film{Places: 200, Step: frame}, [motiontest.Kinds]int{34, 28, 34, 34, 18, 27}},
		{"every fifth frame missing", 0.1, true, motiontest.Film{Places: 100, Step: frame, Missing: 0.2}, [motiontest.Kinds]int{34, 28, 34, 34, 32, 34}},
		{"exposed all the time", 0.1, true, motiontest.Film{Places: 100, Step: frame, Exposure: frame}, [motiontest.Kinds]int{34, 28, 34, 34, 32, 34}},
	} {
		told := 0.
		if c.told {
			told = c.noise * frame
		}
		const tracks = 40
		count := confusion(j, c.noise*frame, told, c.film, tracks)
		for k, row := range count {
			if row[classOf[k]] < c.least[k] {
				t.Errorf("%s, %+v: %v of the classes, expected at least %d %s", c.name, motiontest.Kind(k).Law(frame, c.noise*frame), row, c.least[k], classOf[k])
			}
		}
	}
}

// TestFigures verifies, over 60 tracks of 200 places, that the medians of the figures match the truth to 10 %, and that at least 85 % of the intervals
// hold it: four binomial deviations below 95 %.
func TestFigures(t *testing.T) {
	suite.Calculation(t)
	const tracks = 60
	for _, c := range []struct {
		name     string
		law      motiontest.Law
		exposure float64
		told     bool
	}{
		{"free", motiontest.Law{D: 2, Noise: 0.05}, 0, false},
		{"free, blurred, noise known", motiontest.Law{D: 2, Noise: 0.05}, frame, true},
		{"confined", motiontest.Law{D: 2, Stiffness: 1.5, Noise: 0.05}, 0, false},
		{"directed", motiontest.Law{D: 2, Speed: 8, Noise: 0.05}, 0, false},
		{"anomalous", motiontest.Law{D: 2, Alpha: 1.4, Noise: 0.05}, 0, true},
	} {
		rng := rand.New(rand.NewPCG(3, 3))
		j := new(Judge)
		want := c.law.D
		if c.law.Alpha > 0 {
			want *= math.Pow(frame, c.law.Alpha-1)
		}
		told := 0.
		if c.told {
			told = c.law.Noise
		}
		var d, stiff, speed []float64
		held, exponent := 0, 0
		for range tracks {
			track := motiontest.Simulate(rng, c.law, motiontest.Film{Places: 200, Step: frame, Exposure: c.exposure})
			v, _ := j.Track(judged(track, told), Options{Exposure: c.exposure})
			d = append(d, v.D.Value)
			if v.Class == Confined {
				stiff = append(stiff, v.Stiffness)
			}
			if v.Class == Directed {
				speed = append(speed, v.Speed)
			}
			if v.D.Low <= want && want <= v.D.High {
				held++
			}
			if v.Fractional.Low <= c.law.Alpha && c.law.Alpha <= v.Fractional.High {
				exponent++
			}
		}
		near(t, c.name+": D", median(d), want)
		if c.law.Stiffness > 0 {
			near(t, c.name+": stiffness", median(stiff), c.law.Stiffness)
		}
		if c.law.Speed > 0 {
			near(t, c.name+": speed", median(speed), c.law.Speed)
		}
		if held < 51 {
			t.Errorf("%s: %d of %d intervals hold D = %g", c.name, held, tracks, want)
		}
		if c.law.Alpha > 0 && exponent < 51 {
			t.Errorf("%s: %d of %d intervals hold the exponent", c.name, exponent, tracks)
		}
	}
}

func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if math.Abs(got/want-1) > 0.1 {
		t.Errorf("%s is %.4g in the median, expected %.4g", name, got, want)
	}
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	s := append([]float64(nil), list...)
	for i := range s {
		for k := i; k > 0 && s[k] < s[k-1]; k-- {
			s[k], s[k-1] = s[k-1], s[k]
		}
	}
	return s[len(s)/2]
}

// TestUnits verifies that the verdict does not depend on units, to rounding: 10⁻⁶ of probabilities and, because the net counts in float32, 10⁻³ of
// exponents.
func TestUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	places := judged(motiontest.Simulate(rng, motiontest.Law{D: 1, Alpha: 0.7, Noise: 0.05}, motiontest.Film{Places: 80, Step: frame, Missing: 0.1}), 0.05)
	other := make([]Place, len(places))
	const length, time = 130, 0.02
	for i, p := range places {
		other[i] = Place{5 + length*p.X, -7 + length*p.Y, 100 + time*p.T, length * length * p.Var}
	}
	j := new(Judge)
	a, _ := j.Track(places, Options{})
	b, _ := j.Track(other, Options{})
	for c := range Classes {
		if math.Abs(a.Probabilities[c]-b.Probabilities[c]) > 1e-6 {
			t.Errorf("%s: probability %g, in other units %g", c, a.Probabilities[c], b.Probabilities[c])
		}
	}
	if math.Abs(a.Alpha.Value-b.Alpha.Value) > 1e-3 || math.Abs(b.D.Value/a.D.Value*time/length/length-1) > 1e-6 {
		t.Errorf("α %g and D %g, in other units %g and %g", a.Alpha.Value, a.D.Value, b.Alpha.Value, b.D.Value)
	}
}

// TestTooLittle verifies that tracks without information get no verdict.
func TestTooLittle(t *testing.T) {
	for _, c := range []struct {
		name   string
		places []Place
		want   bool
	}{
		{"none", nil, false},
		{"three", []Place{{0, 0, 0, 0}, {1, 0, 1, 0}, {1, 2, 2, 0}}, false},
		{"four", []Place{{0, 0, 0, 0}, {1, 0, 1, 0}, {1, 2, 2, 0}, {1, 3, 3, 0}}, true},
		{"one that is no number is left out", []Place{{0, 0, 0, 0}, {1, 0, 1, 0}, {math.NaN(), 2, 2, 0}, {1, 3, 3, 0}}, false},
		{"one at a time that was is left out", []Place{{0, 0, 0, 0}, {1, 0, 1, 0}, {1, 2, 1, 0}, {1, 3, 3, 0}}, false},
		{"all at one place", []Place{{3, 3, 0, 0}, {3, 3, 1, 0}, {3, 3, 2, 0}, {3, 3, 3, 0}, {3, 3, 4, 0}}, false},
	} {
		v, ok := new(Judge).Track(c.places, Options{})
		if ok != c.want {
			t.Errorf("%s: a verdict is %v, expected %v", c.name, ok, c.want)
		}
		if ok && math.IsNaN(v.Alpha.Value+v.D.Value+v.D.Low+v.D.High+v.Probabilities[Free]) {
			t.Errorf("%s: %+v holds what is no number", c.name, v)
		}
	}
}

// TestBounded verifies that a long track is judged by its last 1000 places, and that a used judge gives the same verdicts as a new one.
func TestBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	long := judged(motiontest.Simulate(rng, motiontest.Law{D: 1, Noise: 0.05}, motiontest.Film{Places: 3000, Step: frame}), 0)
	j := new(Judge)
	all, _ := j.Track(long, Options{})
	j.Track(long[:50], Options{})
	last, _ := j.Track(long[2000:], Options{})
	fresh, _ := new(Judge).Track(long[2000:], Options{})
	if all != last || last != fresh {
		t.Errorf("3000 places: %+v\nlast 1000: %+v\nby a new judge: %+v", all, last, fresh)
	}
}

// TestAllocations verifies that a judge allocates nothing for a track no longer than an earlier one.
func TestAllocations(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, missing := range []float64{0, 0.2} {
		places := judged(motiontest.Simulate(rng, motiontest.Law{D: 1, Noise: 0.05}, motiontest.Film{Places: 100, Step: frame, Missing: missing}), 0.05)
		j := new(Judge)
		if n := testing.AllocsPerRun(5, func() { j.Track(places, Options{Exposure: frame}) }); n > 0 {
			t.Errorf("%g missing: %g allocations a track", missing, n)
		}
	}
}

func BenchmarkTrack(b *testing.B) {
	for _, c := range []struct {
		name string
		film motiontest.Film
		told float64
	}{
		{"20", motiontest.Film{Places: 20, Step: frame}, 0},
		{"100", motiontest.Film{Places: 100, Step: frame}, 0},
		{"100 with variances", motiontest.Film{Places: 100, Step: frame}, 0.05},
		{"100 with gaps", motiontest.Film{Places: 100, Step: frame, Missing: 0.1}, 0},
		{"1000", motiontest.Film{Places: 1000, Step: frame}, 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 4))
			places := judged(motiontest.Simulate(rng, motiontest.Law{D: 1, Noise: 0.05}, c.film), c.told)
			j := new(Judge)
			for b.Loop() {
				j.Track(places, Options{})
			}
		})
	}
}
