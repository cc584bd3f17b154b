package online

import (
	"bytes"
	"reflect"
	"testing"

	"driftscope/internal/flow/latent"
	"driftscope/online/onlinetest"
)

// Dimensions that do not move contribute nothing to the map.
func TestCalibrationByActiveDimensions(t *testing.T) {
	rng := onlinetest.Rand(4)
	seen, truth := onlinetest.Stream(onlinetest.Spring, 1000, 0, rng)
	onlinetest.Photograph(seen, truth, 0.1, rng)
	for k := range seen {
		seen[k].Mean = append(seen[k].Mean, 0.3*rng.NormFloat64(), 7)
	}
	u := feed(t, estimator(t, Config{Dim: 4}), seen).SDE.Units
	if u.Calibration != latent.Calibrated {
		t.Fatalf("%+v", u)
	}
	onlinetest.Within(t, "A, x", u.PixelsPerLatentX, []float64{6, 2, 0, 0}, 0.1)
	onlinetest.Within(t, "A, y", u.PixelsPerLatentY, []float64{3, -5, 0, 0}, 0.1)
	if u.PixelsPerLatentX[2] != 0 || u.PixelsPerLatentY[3] != 0 {
		t.Errorf("%+v", u)
	}
}

// A region that moves between two trajectories shifts the centroid but not the map.
func TestCalibrationAcrossTrajectories(t *testing.T) {
	rng := onlinetest.Rand(4)
	seen, truth := onlinetest.Stream(onlinetest.Spring, 1000, 0, rng)
	onlinetest.Photograph(seen, truth, 0.1, rng)
	for k := range seen {
		seen[k].Trajectory = uint64(k / 250)
		seen[k].Centroid[0] += 300 * float64(k/250)
	}
	u := feed(t, estimator(t, Config{Dim: 2}), seen).SDE.Units
	if u.Calibration != latent.Calibrated {
		t.Fatalf("%+v", u)
	}
	onlinetest.Within(t, "A, x", u.PixelsPerLatentX, []float64{6, 2}, 0.1)
}

// A restored estimator gives the same figures as the saved one, at once and later.
func TestCalibrationIsSaved(t *testing.T) {
	rng := onlinetest.Rand(4)
	seen, truth := onlinetest.Stream(onlinetest.Spring, 300, 0, rng)
	onlinetest.Photograph(seen, truth, 0.1, rng)
	c := Config{Dim: 2, Forget: 0.998, Deterministic: true}
	e, other := estimator(t, c), estimator(t, c)
	feed(t, e, seen[:205])
	var state bytes.Buffer
	if err := e.Save(&state); err != nil {
		t.Fatal(err)
	}
	if err := other.Restore(&state); err != nil {
		t.Fatal(err)
	}
	if e.law.sde.Units.Calibration != latent.Calibrated || !reflect.DeepEqual(e.law.sde.Units, other.law.sde.Units) {
		t.Errorf("%+v restored as %+v", e.law.sde.Units, other.law.sde.Units)
	}
	if a, b := feed(t, e, seen[205:]), feed(t, other, seen[205:]); !reflect.DeepEqual(a.SDE, b.SDE) {
		t.Errorf("found %+v, and after a restore %+v", a.SDE, b.SDE)
	}
}

func TestCalibrationAllocatesNothing(t *testing.T) {
	rng := onlinetest.Rand(4)
	seen, truth := onlinetest.Stream(onlinetest.Spring, 1200, 0, rng)
	onlinetest.Photograph(seen, truth, 0.1, rng)
	e, dst, k := estimator(t, Config{Dim: 2, PixelUM: 1, RefineLag: 1 << 16, Deterministic: true}), new(latent.Estimate), 0
	next := func() {
		if err := e.Update(dst, &seen[k]); err != nil {
			t.Fatal(err)
		}
		k++
	}
	for range 300 {
		next()
	}
	if a := testing.AllocsPerRun(500, next); a != 0 || dst.SDE.Units.Calibration != latent.Calibrated {
		t.Errorf("%g allocations per frame, calibration %q", a, dst.SDE.Units.Calibration)
	}
}
