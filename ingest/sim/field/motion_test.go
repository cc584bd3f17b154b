package field

import (
	"math"
	"math/rand/v2"
	"testing"
)

// film makes a field of 1024x1024 px at SNR 4, which objects seldom leave.
func film(t *testing.T, s Scenario, density, frames int) *Field {
	t.Helper()
	f, err := New(Options{Scenario: s, Density: density, SNR: 4, Width: 1024, Height: 1024, Frames: frames, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestBleaching: light falls by the same factor in every frame until a tenth is left, and the first frame has the same statistics as later ones.
func TestBleaching(t *testing.T) {
	const density, frames = 2000, 400
	f := film(t, Bleaching, density, frames)
	for _, track := range f.Tracks {
		for i, p := range track {
			if p.Light < gone || p.Light > 1 || i > 0 && math.Abs(p.Light/track[i-1].Light-math.Exp(-1.0/60)) > 1e-12 {
				t.Fatalf("%+v after %+v", p, track[max(i-1, 0)])
			}
			if born := track[0].Frame > 0; born && i == 0 && p.Light != 1 {
				t.Fatalf("born with %g of its light", p.Light)
			}
		}
	}
	// for an age uniform over the life, light is gone^u with mean (1 - gone) / ln(1/gone) = 0.391 and sd 0.249
	const mean, sd = 0.391, 0.249
	for _, frame := range []int{0, 100, 399} {
		at := f.At(frame)
		sum := 0.0
		for _, p := range at {
			sum += p.Light
		}
		if got := sum / float64(len(at)); math.Abs(got-mean) > 5*sd/math.Sqrt(density) {
			t.Errorf("frame %d: a mean light of %.3f, expected %.3f", frame, got, mean)
		}
		// 5 sd of Poisson, and 5 % that leave the picture within the 138 frames of a life
		if n := float64(len(at)); n < 0.95*density-5*math.Sqrt(density) || n > density+5*math.Sqrt(density) {
			t.Errorf("frame %d: %g objects, expected %d", frame, n, density)
		}
	}
}

// TestBlinking: an object goes dark and bright with the probabilities of its chain, is dark as often as in the stationary law, and moves meanwhile.
func TestBlinking(t *testing.T) {
	f := film(t, Blinking, 500, 200)
	var points, dark, square float64
	var from, changed [2]float64 // counts of bright and of dark objects
	for _, track := range f.Tracks {
		for i, p := range track {
			if p.Light != 0 && p.Light != 1 {
				t.Fatalf("%+v", p)
			}
			points, dark = points+1, dark+1-p.Light
			if i == 0 {
				continue
			}
			was := track[i-1]
			state := int(1 - was.Light)
			from[state]++
			changed[state] += math.Abs(p.Light - was.Light)
			if state == 1 {
				square += math.Pow(p.X-was.X, 2) + math.Pow(p.Y-was.Y, 2)
			}
		}
	}
	for state, want := range []float64{toDark, toLight} {
		if got := changed[state] / from[state]; math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/from[state]) {
			t.Errorf("state %d is left with %.4f a frame, expected %.4f to 5 standard errors", state, got, want)
		}
	}
	// states are correlated over 1/(toDark + toLight) = 2.6 frames, so 5.2 points count as one
	want := toDark / (toDark + toLight)
	if got := dark / points; math.Abs(got-want) > 5*math.Sqrt(5.2*want*(1-want)/points) {
		t.Errorf("%.4f of the places are dark, expected %.4f to 5 standard errors", got, want)
	}
	// a step's square is 2 px² on average, with an sd of 2
	if got := square / from[1]; math.Abs(got-2) > 5*2/math.Sqrt(from[1]) {
		t.Errorf("a mean square step of %.3f px² in the dark, expected 2", got)
	}
}

// TestCrowded: 1 - exp(-2) of the objects born around hot spots are within two sd of them, an area of a tenth of the picture.
func TestCrowded(t *testing.T) {
	const objects = 5000
	near := func(s Scenario) float64 {
		f, err := New(Options{Scenario: s, Density: objects, SNR: 4, Width: 512, Height: 512, Frames: 2, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		o := f.o
		o.Scenario = Crowded
		hot := newMotion(o, rand.New(rand.NewPCG(o.Seed, motionStream))).hot
		if len(hot) != 16 {
			t.Fatalf("%d hot spots in 512x512 px, expected one for every 128x128", len(hot))
		}
		n := 0.0
		for _, p := range f.At(0) {
			for _, h := range hot {
				if math.Hypot(p.X-h[0], p.Y-h[1]) < 2*patch {
					n++
					break
				}
			}
		}
		return n / float64(len(f.At(0)))
	}
	error5 := 5 * math.Sqrt(0.25/objects) // at most 5 standard errors of a fraction
	if got, least := near(Crowded), crowd*(1-math.Exp(-2)); got < least-error5 {
		t.Errorf("%.3f of the objects are near a hot spot, expected %.3f at least", got, least)
	}
	if got, most := near(Vesicle), 16*math.Pi*4*patch*patch/(512*512); got > most+error5 {
		t.Errorf("%.3f of objects that are born anywhere are near one, expected %.3f at most", got, most)
	}
}

// TestFocus: z is uniform over the slab from the first frame on.
func TestFocus(t *testing.T) {
	const density = 2000
	f := film(t, Focus, density, 100)
	for _, frame := range []int{0, 99} {
		sum, square := 0.0, 0.0
		for _, p := range f.At(frame) {
			if math.Abs(p.Z) > slab || p.Light != 1 {
				t.Fatalf("%+v", p)
			}
			sum, square = sum+p.Z, square+p.Z*p.Z
		}
		// z has the variance slab²/3, z² the variance 4/45 slab⁴; the factor 0.9 allows for objects that have left
		n := float64(len(f.At(frame)))
		if mean := sum / n; math.Abs(mean) > 5*slab/math.Sqrt(3*0.9*density) {
			t.Errorf("frame %d: a mean z of %.2f px, expected 0", frame, mean)
		}
		if got, want := square/n, slab*slab/3.0; math.Abs(got-want) > 5*slab*slab*math.Sqrt(4.0/45/(0.9*density)) {
			t.Errorf("frame %d: a mean z² of %.2f px², expected %.2f", frame, got, want)
		}
	}
}
