package online

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"driftscope/online/onlinetest"
)

// TestExposureOfAnEstimator: with a jittering clock and an exposure longer than the frame interval, the figures are near the truth, and a restored estimator
// continues like the saved one.
func TestExposureOfAnEstimator(t *testing.T) {
	for _, exposure := range []time.Duration{time.Microsecond, 10 * time.Millisecond, 25 * time.Millisecond} {
		c := Config{Dim: 2, Seed: 1, Prior: springs(2, 4), Exposure: exposure}
		e, rng := informed(t, c), onlinetest.Rand(4)
		seen, _ := onlinetest.Stream(onlinetest.Spring, 600, 0.1, onlinetest.Rand(1))
		for k := range seen {
			seen[k].Time = seen[k].Time.Add(time.Duration(rng.IntN(5)-2) * time.Millisecond)
		}
		got := feed(t, e, seen[:500])
		for _, sigma := range got.SDE.Sigma { // 500 transitions give σ to 5 %; correcting for blur that these data lack makes it too large
			if !(sigma > 0.8 && sigma < 1.4) {
				t.Errorf("%v: σ = %v, noise %v", exposure, got.SDE.Sigma, got.SDE.Noise)
			}
		}
		var kept bytes.Buffer
		if err := e.Save(&kept); err != nil {
			t.Fatal(err)
		}
		again := informed(t, c)
		if err := again.Restore(&kept); err != nil {
			t.Fatal(err)
		}
		want, got := feed(t, e, seen[500:]), feed(t, again, seen[500:])
		onlinetest.Within(t, "sigma", got.SDE.Sigma, want.SDE.Sigma, 0)
		onlinetest.Within(t, "noise", got.SDE.Noise, want.SDE.Noise, 0)
	}
	other := informed(t, Config{Dim: 2, Exposure: time.Millisecond})
	var kept bytes.Buffer
	if err := informed(t, Config{Dim: 2}).Save(&kept); err != nil {
		t.Fatal(err)
	}
	if err := other.Restore(&kept); err == nil || !strings.Contains(err.Error(), "exposure") {
		t.Errorf("restored with a different exposure: %v", err)
	}
}
