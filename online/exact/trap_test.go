package exact

import (
	"compress/gzip"
	"encoding/csv"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// places reads a compressed table of tracks by its column names.
func places(t *testing.T, name string, columns ...string) (tracks []Track, extra [][][]float64) {
	t.Helper()
	data := os.Getenv("DRIFTSCOPE_DATA")
	if data == "" {
		t.Skip("DRIFTSCOPE_DATA is not set: it names the folder of real recordings")
	}
	file, err := os.Open(filepath.Join(data, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(plain)
	header, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	at := make([]int, len(columns))
	for i, c := range columns {
		at[i] = -1
		for k, h := range header {
			if h == c {
				at[i] = k
			}
		}
	}
	number := map[string]int{}
	for {
		row, err := r.Read()
		if err == io.EOF {
			return tracks, extra
		}
		if err != nil {
			t.Fatal(err)
		}
		k, ok := number[row[at[1]]]
		if !ok {
			k = len(tracks)
			number[row[at[1]]] = k
			tracks, extra = append(tracks, nil), append(extra, nil)
		}
		var v []float64
		for i, c := range at {
			if i != 1 {
				x, err := strconv.ParseFloat(row[c], 64)
				if err != nil {
					t.Fatal(err)
				}
				v = append(v, x)
			}
		}
		tracks[k] = append(tracks[k], Place{int(v[0]), v[1], v[2]})
		extra[k] = append(extra[k], v[3:])
	}
}

// every returns every n-th place.
func every(t Track, n int) (out Track) {
	for i := 0; i < len(t); i += n {
		out = append(out, Place{i / n, t[i].X, t[i].Y})
	}
	return out
}

// TestForma verifies that the intervals of D, mean rate, rotation and the ratio of the springs contain the truth of an externally simulated bead at every
// stride.
func TestForma(t *testing.T) {
	tracks, _ := places(t, "forma-trap/forma2d.csv.gz", "frame", "particle", "x", "y")
	for _, n := range []int{10, 25} {
		s := newSeries(every(tracks[0], n), [2]bool{true, true})
		got := fitTrap([]series{s}, look{0, 2, crew{most: 2}}, true)
		dt, px := float64(n)/5000, 0.01
		for name, c := range map[string]struct {
			of         Interval
			unit, want float64
		}{"D": {got.D, px * px / dt, 0.416}, "rate": {got.Rate, 1 / dt, 100.5}, "ratio": {got.Ratio, 1, 3}, "rotation": {got.Rotation, 1 / dt, 100}} {
			if !(c.of.Low*c.unit < c.want && c.want < c.of.High*c.unit) || c.of.High-c.of.Low > 0.5*math.Abs(c.of.Value) {
				t.Errorf("stride %d: %s is %.4g (%.4g to %.4g), expected %g", n, name, c.of.Value*c.unit, c.of.Low*c.unit, c.of.High*c.unit, c.want)
			}
		}
	}
}

// TestBlur compares the two-dimensional filter with exposure to the one-dimensional filter for a field without rotation, and to a numeric mean over the
// exposure for a field with rotation.
func TestBlur(t *testing.T) {
	s := series{gap: []int{0, 1, 1, 3, 1, 1, 2, 1}, at: [][2]float64{{0.3, 1}, {0.1, 0.2}, {-0.5, 0.7}, {1, -1}, {0.4, -0.2}, {0.9, 0.1}, {-0.3, 0.5}, {0.2, -0.6}}}
	for _, e := range []float64{0, 0.005, 0.4, 1} {
		for _, k := range []float64{0.01, 0.3, 2} {
			d, noise := 0.4, 0.3
			flat := isotropic([]series{s}, d, k, noise, look{e, 2, crew{most: 1}})
			full := newLinear(matrix{k, 0, 0, k}, d, noise, e).nats([]series{s})
			if math.Abs(flat-full) > 1e-6*math.Abs(flat) {
				t.Errorf("exposure %g, rate %g: %.9g along each axis, %.9g in the plane", e, k, flat, full)
			}
		}
	}
	// cov(x, m) at the end of an exposure and var m, by sums over the exposure
	a, d, e, n := matrix{0.9, -0.8, 0.5, 0.4}, 0.7, 0.8, 2000
	l := newLinear(a, d, 0, e)
	var cross, shown matrix
	for i := range n {
		u := (float64(i) + 0.5) / float64(n) * e
		cross = cross.plus(a.decay(u).times(l.still), 1/float64(n))
		half := a.decay(u).times(l.still)
		shown = shown.plus(half.plus(half.turned(), 1), (1-u/e)/float64(n))
	}
	gotCross := l.cross.plus(l.move.times(l.still).times(l.show.turned()), 1)
	gotShown := l.shown.plus(l.show.inside(l.still), 1)
	for i := range cross {
		if math.Abs(cross[i]-gotCross[i]) > 1e-5 || math.Abs(shown[i]-gotShown[i]) > 1e-5 { // the error of the midpoint rule is e²/24n²
			t.Fatalf("cov(x, m) %v and var m %v, by sums %v and %v", gotCross, gotShown, cross, shown)
		}
	}
}

// TestCentre verifies that the density with an unknown centre equals the density of the steps. The Ornstein-Uhlenbeck filter agrees with predictions from the
// process's mean square displacement, with gaps and noise.
func TestCentre(t *testing.T) {
	const k, noise = 0.3, 0.2
	square := func(l int) float64 { return 1 / k * (1 - math.Exp(-k*float64(l))) } // for K = 1
	s := series{gap: []int{0, 1, 1, 1, 1, 1}, at: [][2]float64{{0.3, 1}, {0.1, 0.2}, {-0.5, 0.7}, {1, -1}, {0.4, -0.2}, {0.9, 0.1}}}
	for _, gap := range []int{1, 3} {
		s.gap[4] = gap
		variance, white := blurred(0.5, k, 0, noise)
		squares, logs := s.centred(variance, white, k)
		got, log := make([]float64, 1), make([]float64, 1)
		newSteps([]series{s}).explain(square, noise, got, log)
		tolerance := 1e-9
		if gap > 1 {
			tolerance = 0.01 // a prediction after a gap ignores all but the last four steps
		}
		if math.Abs(squares-got[0]) > tolerance*squares || math.Abs(logs-log[0]) > tolerance {
			t.Errorf("gap %d: %.9g, %.9g by the filter, %.9g, %.9g by the steps", gap, squares, logs, got[0], log[0])
		}
	}
}
