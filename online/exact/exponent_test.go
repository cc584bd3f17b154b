package exact

import (
	"fmt"
	"math"
	"testing"

	"driftscope/internal/suite"
)

// meanSquare returns the exponent from a straight line through the logarithms of the mean square displacement, as most programs fit it.
func meanSquare(t Track) float64 {
	n := len(t)
	most := max(2, min(n-1, max(n/3, 2)))
	var sx, sy, sxx, sxy, m float64
	for lag := 1; lag <= most; lag++ {
		sum := 0.0
		for i := lag; i < n; i++ {
			sum += math.Pow(t[i].X-t[i-lag].X, 2) + math.Pow(t[i].Y-t[i-lag].Y, 2)
		}
		x, y := math.Log(float64(lag)), math.Log(max(sum/float64(n-lag), 1e-12))
		sx, sy, sxx, sxy, m = sx+x, sy+y, sxx+x*x, sxy+x*y, m+1
	}
	return min(max((m*sxy-sx*sy)/(m*sxx-sx*sx), 0), 2)
}

// TestFractionalTracks verifies, on external tracks with a median of four places, the exponent of the population to 0.05, and to 0.12 with noise of a
// third of a step: one file is 0.113 off, and its interval begins at 1.016. The mean error of single tracks is at least a fifth
// below the error of a straight line.
func TestFractionalTracks(t *testing.T) {
	suite.Long(t)
	for _, noise := range []float64{0, 0.1, 0.5} {
		for _, hurst := range []float64{0.25, 0.5, 0.75} {
			name := fmt.Sprintf("1000_%.1f_%g", noise, hurst)
			tracks, _ := places(t, "fbm-tracks/"+name+".csv.gz", "frame", "traj_idx", "x", "y")
			var all []series
			var used []Track
			for _, tr := range tracks {
				if len(tr) > 1 {
					all, used = append(all, newSeries(tr, [2]bool{true, true})), append(used, tr)
				}
			}
			e := fitExponent((&asked{all, look{0, 2, crew{most: 2}}, 0, ratios}).anomalous(tabulated), square(all, 2), crew{most: 2})
			var own, fit float64
			for i, tr := range used {
				own, fit = own+math.Abs(e.tracks[i].Value-2*hurst)/float64(len(used)), fit+math.Abs(meanSquare(tr)-2*hurst)/float64(len(used))
			}
			t.Logf("%s: %.3f (%.3f to %.3f), spread %.3f, noise %.3f; MAE %.3f, from lines %.3f", name, e.mean.Value, e.mean.Low, e.mean.High, e.spread, math.Sqrt(e.noise), own, fit)
			most := 0.05
			if noise == 0.5 {
				most = 0.12
			}
			if math.Abs(e.mean.Value-2*hurst) > most || own > 0.8*fit {
				t.Errorf("%s: %+v, MAE %.3f, from lines %.3f", name, e.mean, own, fit)
			}
		}
	}
}
