package online

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online/onlinetest"
)

// TestFilterAndForecastsAreHonest: for a simulated law that is learnt from the same measurements, the mean of NIS is 2, and filtered latents and forecasts
// have their stated errors. 5000 frames give about 200 independent errors of the longest forecast per dimension. So its coverage has a standard error of
// 0.011, and the mean of NIS one of 0.03.
func TestFilterAndForecastsAreHonest(t *testing.T) {
	const from, n = 1000, 6000
	horizons := []float64{0.01, 0.05, 0.2, 10} // the last is 1000 frames ahead: too far
	seen, truth := onlinetest.Stream(onlinetest.Spring, n+100, 0.5, onlinetest.Rand(6))
	e := informed(t, Config{Dim: 2, Seed: 1, Prior: springs(2, 4), Forecast: horizons})
	dst, nis, filtered, raw := new(latent.Estimate), 0.0, 0.0, 0.0
	inside, square := make([]float64, 4), 0.0
	count := func(k int, got, sd, want float64) {
		if math.Abs(got-want) < 1.96*sd {
			inside[k] += 1. / (2 * (n - from))
		}
	}
	for k := range n {
		if err := e.Update(dst, &seen[k]); err != nil {
			t.Fatal(err)
		}
		if k < from {
			continue
		}
		nis += dst.NIS / (n - from)
		for i := range 2 {
			off, sd := dst.Filtered[i]-truth[k][i], dst.FilteredSD[i]
			filtered += off * off
			raw += (seen[k].Mean[i] - truth[k][i]) * (seen[k].Mean[i] - truth[k][i])
			square += off * off / (sd * sd) / (2 * (n - from))
			count(3, dst.Filtered[i], sd, truth[k][i])
			for j, ahead := range []int{1, 5, 20} {
				count(j, dst.Forecast[2*j+i], dst.ForecastSD[2*j+i], truth[k+ahead][i])
			}
			if !math.IsNaN(dst.Forecast[6+i]) || !math.IsNaN(dst.ForecastSD[6+i]) {
				t.Fatalf("frame %d: a forecast of %g ± %g a thousand frames ahead", k, dst.Forecast[6+i], dst.ForecastSD[6+i])
			}
		}
	}
	t.Logf("NIS %.3f; error after filtering %.2f of the measurements' error, %.2f of the stated one; coverage one, five and twenty frames ahead and now %.3f", nis, filtered/raw, square, inside)
	if math.Abs(nis-2) > 0.12 {
		t.Errorf("the mean NIS is %.3f, expected 2", nis)
	}
	if filtered > 0.8*raw || math.Abs(square-1) > 0.12 {
		t.Errorf("the error after filtering is %.2f of the measurements' error, and %.2f of the stated one", filtered/raw, square)
	}
	for k, c := range inside {
		if math.Abs(c-0.95) > 0.033 {
			t.Errorf("95 %% interval %d covers %.3f", k, c)
		}
	}
}

func TestBeforeTheFirstFigures(t *testing.T) {
	e := estimator(t, Config{Dim: 1, Forecast: []float64{0.1}})
	dst := new(latent.Estimate)
	for k := range 5 {
		l := latent.Latent{Time: time.Unix(int64(k), 0), Mean: []float64{float64(k)}, SD: []float64{0.25}}
		if err := e.Update(dst, &l); err != nil {
			t.Fatal(err)
		}
		if dst.Filtered[0] != l.Mean[0] || dst.FilteredSD[0] != 0.25 || dst.NIS != 0 || !math.IsNaN(dst.Forecast[0]) {
			t.Fatalf("frame %d: found %+v, expected the measurement itself", k, dst)
		}
	}
}

// TestForecastWhereNothingForecast: while the law is frozen, and at the beginning of a trajectory, the forecast's sd uses the drift's slope at the frame
// itself.
func TestForecastWhereNothingForecast(t *testing.T) {
	e := informed(t, Config{Dim: 1, Prior: anyNetwork(1, 4), Forecast: []float64{onlinetest.Step}})
	seen, _ := onlinetest.Stream(onlinetest.Still, 300, 0.5, onlinetest.Rand(3))
	for k := range seen {
		seen[k].Mean = seen[k].Mean[:1]
	}
	feed(t, e, seen)
	l, mu, jac := seen[299], make([]float64, 1), make([]float64, 1)
	for k, z := range []float64{-3, 3, -3, 3} {
		e.Freeze(k < 2)
		l.Trajectory, l.Mean = uint64(k), []float64{z}
		dst := feed(t, e, []latent.Latent{l})
		e.law.field.Linearise(mu, jac, l.Mean)
		f := 1 + jac[0]*onlinetest.Step
		if want := math.Sqrt(f*f*e.law.banks.Found[0].FilterNoise + e.law.banks.Found[0].V*onlinetest.Step); math.Abs(dst.ForecastSD[0]/want-1) > 1e-9 { // rounding
			t.Errorf("at %g, with a slope of %.3g: found an sd of %g, expected %g", z, jac[0], dst.ForecastSD[0], want)
		}
	}
}

// TestLead: the triggers' forecast equals the forecast at a horizon of the same length, even if the lead changes per frame. At lead 0 it is the filtered
// latent. The lead changes nothing else.
func TestLead(t *testing.T) {
	seen, _ := onlinetest.Stream(onlinetest.Circle, 400, 0.5, onlinetest.Rand(8))
	leads := []float64{0.004, 0.02, 0}
	asked := -1
	with := informed(t, Config{Dim: 2, Seed: 1, Prior: springs(2, 4), Lead: func() float64 { asked++; return leads[asked%len(leads)] }})
	plain := informed(t, Config{Dim: 2, Seed: 1, Prior: springs(2, 4), Forecast: []float64{0.004, 0.02}})
	got, want := new(latent.Estimate), new(latent.Estimate)
	for k := range seen {
		if err := errors.Join(with.Update(got, &seen[k]), plain.Update(want, &seen[k])); err != nil {
			t.Fatal(err)
		}
		mean, sd := want.Filtered, want.FilteredSD
		if j := k % 3; j < 2 {
			mean, sd = want.Forecast[2*j:2*j+2], want.ForecastSD[2*j:2*j+2]
		}
		if k < 50 && math.IsNaN(mean[0]) {
			if !math.IsNaN(got.Ahead[0]) {
				t.Fatalf("frame %d: %g ahead before the first figures", k, got.Ahead)
			}
			continue
		}
		// the longer horizon was iterated from the shorter one, in a different number of steps; the limit is (4/s · 20 ms)² = 0.0064, rounded up
		onlinetest.Within(t, "mean", got.Ahead, mean, 0.01)
		onlinetest.Within(t, "sd", got.AheadSD, sd, 0.01)
		if got.Lead != leads[k%3] || !slices.Equal(got.Filtered, want.Filtered) || len(got.Forecast) != 0 {
			t.Fatalf("frame %d: found a lead of %g and %v filtered, expected %g and %v", k, got.Lead, got.Filtered, leads[k%3], want.Filtered)
		}
	}
	if len(want.Ahead) != 0 || asked != len(seen)-1 {
		t.Errorf("found the forecast %v without a lead; Lead was called %d times in %d frames", want.Ahead, asked+1, len(seen))
	}
}
