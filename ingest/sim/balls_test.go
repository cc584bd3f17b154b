package sim

import (
	"io"
	"math"
	"slices"
	"testing"
)

// alone draws one ball of the five.
func alone(b *balls, dst *Picture, z []float64, ball int) {
	clear(dst.F32)
	x, _ := b.plane.centre(0, z[2*ball])
	y, _ := b.plane.centre(1, z[2*ball+1])
	addDisc(dst, x, y, ballRadius, blue)
}

// A picture is the sum of its five balls, limited to 1. Each ball is at its own pair of coordinates, all with one scale, so no coordinate is lost.
func TestFiveBallsAreAllThere(t *testing.T) {
	s := mustNew(t, "multiple-balls-ou", Options{Frames: 1000, Seed: 3})
	b := s.draw.(*balls)
	var p, one Picture
	one.reset(s.Format())
	sum := make([]float32, s.Format().Values())
	for frame := 0; ; frame++ {
		truth, err := s.Next(&p)
		if err == io.EOF {
			break
		}
		if !truth.Inside {
			t.Fatalf("t = %g: outside the picture", truth.T)
		}
		if frame%50 != 0 {
			continue
		}
		clear(sum)
		for ball := range ballPlaces {
			alone(b, &one, truth.Z, ball)
			x, y := centroid(&one, 0)
			wantX, wantY := b.plane.scale*truth.Z[2*ball]+b.plane.shift[0], b.plane.scale*truth.Z[2*ball+1]+b.plane.shift[1]
			if math.Abs(x-wantX) > 0.02 || math.Abs(y-wantY) > 0.02 { // tolerance as in TestSubpixelCentroid
				t.Fatalf("frame %d: ball %d is at (%g, %g); want (%g, %g)", frame, ball+1, x, y, wantX, wantY)
			}
			for i, v := range one.F32 {
				sum[i] = min(sum[i]+v, 1)
			}
		}
		if !slices.Equal(p.F32, sum) {
			t.Fatalf("frame %d is not the sum of its balls", frame)
		}
	}
}

func TestFiveBallsAreBlue(t *testing.T) {
	s := mustNew(t, "multiple-balls-ou", Options{Frames: 10, Seed: 3})
	var p Picture
	p.reset(s.Format())
	s.draw.render(&p, []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0)
	x, y := centroid(&p, 0)
	middle := (int(y)*side + int(x)) * 3
	if got := p.F32[middle : middle+3]; !slices.Equal(got, []float32{1, 1, 0}) {
		t.Errorf("five balls in one place are %v; want blue and green at 1, no red", got)
	}
}

// Every ball settles around its own position with the law's spread. Over 10⁴ time units, or 2·10⁴ independent values, a mean has an error of at most
// 5·0.5/√(10⁴) = 0.025.
func TestFiveBallsGoHome(t *testing.T) {
	k, _ := find("multiple-balls-ou")
	p := newPath(&k.law, k.length, 1)
	const n = 1_000_000
	mean := make([]float64, k.law.Dim())
	for range n {
		p.next()
		for i, z := range p.z {
			mean[i] += z / n
		}
	}
	for ball, place := range ballPlaces {
		for axis, want := range place {
			if got := mean[2*ball+axis]; math.Abs(got-want) > 0.025 {
				t.Errorf("ball %d axis %d: mean %g; want %g", ball+1, axis+1, got, want)
			}
		}
	}
}

func TestFiveIntegerBalls(t *testing.T) {
	s := mustNew(t, "multiple-balls-ou", Options{Frames: 50, Seed: 1, Render: Integer})
	b := s.draw.(*balls)
	var p, one Picture
	one.reset(s.Format())
	for range 50 {
		truth, err := s.Next(&p)
		if err != nil {
			t.Fatal(err)
		}
		for ball := range ballPlaces {
			alone(b, &one, truth.Z, ball)
			x, y := centroid(&one, 0)
			if math.Abs(x-math.Round(x)) > 1e-4 || math.Abs(y-math.Round(y)) > 1e-4 { // tolerance as in TestIntegerCentres
				t.Fatalf("ball %d is at (%g, %g); want whole pixels", ball+1, x, y)
			}
		}
	}
}
