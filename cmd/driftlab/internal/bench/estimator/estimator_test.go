package estimator

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"driftscope/internal/kit/console"
	"driftscope/internal/suite"
)

// benchOnline runs one study of the command briefly and gives its rows.
func benchOnline(t *testing.T, study string, runs int) []map[string]any {
	t.Helper()
	out, err := suite.Stdout(t, func() error {
		return (&Command{Only: []string{study}, Runs: runs, Seed: 3, JSON: true}).Run(t.Context())
	})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(got) != 2 { // the seed and the study
		t.Errorf("found %d keys, expected seed and %s", len(got), study)
	}
	return rowsOf(t, got[study])
}

func rowsOf(t *testing.T, raw []byte) (rows []map[string]any) {
	t.Helper()
	if err := json.Unmarshal(raw, &rows); err != nil || len(rows) == 0 {
		t.Fatalf("%v, %s", err, raw)
	}
	return rows
}

// hold checks that a row has numbers under these keys.
func hold(t *testing.T, row map[string]any, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if v, ok := row[key].(float64); !ok || math.IsNaN(v) || v < 0 {
			t.Errorf("%s is %v, expected a number", key, row[key])
		}
	}
}

func TestBenchOnlineSigma(t *testing.T) {
	rows := benchOnline(t, "sigma", 2)
	if len(rows) != 90 {
		t.Errorf("%d cells, expected 90", len(rows))
	}
	for _, row := range rows {
		hold(t, row, "r", "n", "dropped", "coverage", "relative_error", "bound", "mean", "naive_mean")
	}
}

// TestDimensionRegimes: what moves is found at the first draw of a straight and of a mixed regime, which fails once in a thousand times or
// less. The paper's rule counts noise.
func TestDimensionRegimes(t *testing.T) {
	suite.Long(t)
	tried := 0
	for i, r := range dimensionRegimes {
		if r.name != "low SNR" && r.name != "leak of 5 %" && r.name != "mixed by any linear map" {
			continue
		}
		tried++
		seen := r.draw(3, (&simulations{seed: 3}).random(i, 0))
		exact, err := r.counts(seen, 3)
		if err != nil || !exact {
			t.Errorf("%s: exact is %t, %v", r.name, exact, err)
		}
		if bare := bareCount(seen); bare != dimensionLatents {
			t.Errorf("%s: the bare threshold finds %d, expected all", r.name, bare)
		}
	}
	if tried != 3 {
		t.Errorf("%d regimes were tried", tried)
	}
	raw, _ := json.Marshal([]dimensionRow{{Regime: "low SNR"}})
	row := rowsOf(t, raw)[0]
	if hold(t, row, "exact", "bare_threshold"); row["regime"] != "low SNR" {
		t.Errorf("%v", row)
	}
}

func TestBenchOnlineMistakes(t *testing.T) {
	for want, c := range map[string]*Command{
		`--only: there is no study "weather"`: {Only: []string{"sigma", "weather"}},
		"--runs: found -1":                    {Runs: -1},
	} {
		if err := c.Run(t.Context()); err == nil || console.Status(err) != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, a usage error with %q expected", err, want)
		}
	}
}

// A coverage of 0.95 is known to 0.011 from 400 runs, a standard deviation to 3.5 %: three of those, beside the 1.05 that the estimate's
// skewness costs at this N.
func TestSigmaRow(t *testing.T) {
	suite.Long(t)
	s := &simulations{ctx: t.Context(), seed: 5}
	row, runs := sigmaRow{R: 1, N: 300, Dropped: 0.1}, make([]sigmaRun, 400)
	for k := 0; k < len(runs); k += sigmaBatch {
		if err := row.simulate(runs[k:][:sigmaBatch], s.random(0, k)); err != nil {
			t.Fatal(err)
		}
	}
	row.sum(runs)
	row.bound(s.random(1, 0))
	if math.Abs(row.Coverage-0.95) > 0.034 || row.Error > 1.16*row.Bound || row.Error < 0.8*row.Bound {
		t.Errorf("%+v", row)
	}
	if want := 1 + 2*0.9; math.Abs(row.Naive-want) > 0.06 { // 2R over the mean step, 1/0.9 frames; 0.2/√400 its scatter
		t.Errorf("quadratic variation %.3f, expected %.3f", row.Naive, want)
	}
}

// The information of many equal steps is Whittle's integral over the increments' spectrum; the ends are worth one step in ten thousand.
func TestInformationIsWhittles(t *testing.T) {
	suite.Long(t)
	const n, grid = 20000, 20000
	for _, r := range []float64{0, 0.1, 9} {
		row := sigmaRow{R: r, N: n}
		row.bound(rand.New(rand.NewPCG(1, 1)))
		var vv, vr, rr float64 // Δt = 1
		for k := range grid {
			g := 2 - 2*math.Cos(math.Pi*(float64(k)+0.5)/grid)
			weight := 0.5 * n / grid / math.Pow(1+r*g, 2)
			vv, vr, rr = vv+weight, vr+weight*g, rr+weight*g*g
		}
		if want := math.Sqrt(rr / (vv*rr - vr*vr)); math.Abs(row.Bound/want-1) > 1e-3 {
			t.Errorf("r = %g: %.6f, expected %.6f", r, row.Bound, want)
		}
	}
}

func TestSimulationsOnAnyNumberOfCores(t *testing.T) {
	draw := func(cores int) []sigmaRun {
		before := runtime.GOMAXPROCS(cores)
		defer runtime.GOMAXPROCS(before)
		s := &simulations{ctx: t.Context(), name: "sigma", seed: 1}
		runs := make([]sigmaRun, 4*5)
		err := s.each(4, 5, func(cell, run int) error {
			row := sigmaRow{R: float64(cell), N: 100, Dropped: 0.5}
			return row.simulate(runs[cell*5+run:][:1], s.random(cell, run))
		})
		if err != nil {
			t.Fatal(err)
		}
		return runs
	}
	one, many := draw(1), draw(4)
	if !slices.Equal(one, many) {
		t.Error("four cores gave other figures than one")
	}
	if one[0] == one[1] || one[0] == one[5] {
		t.Error("two runs are the same")
	}
}

// TestLearnDrift: the recording's own fit is nearer to the law than no drift is, by several times the scatter of either.
func TestLearnDrift(t *testing.T) {
	suite.Long(t)
	row, err := learnDrift("balls-ou", 4)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal([]driftRow{row})
	hold(t, rowsOf(t, raw)[0], "l_mu", "teacher_l_mu", "zero_l_mu", "crlb")
	if math.Abs(row.CRLB-2/9.99) > 1e-9 || row.Teacher > row.Zero/2 || row.LMu > row.Zero {
		t.Errorf("%+v", row)
	}
}

// TestFollowChange: right after the circle reverses, the drift that was learnt is worse than before by more than the scatter.
func TestFollowChange(t *testing.T) {
	suite.Long(t)
	row, err := lawChanges[1].follow(changeFrames[:3], rand.New(rand.NewPCG(2, 2)))
	if err != nil {
		t.Fatal(err)
	}
	if len(row.LMu) != 3 || row.LMu[1] > row.Zero[1]/2 || row.LMu[2] < 2*row.LMu[1] {
		t.Errorf("%+v", row)
	}
}

func TestOnlineFindingsInWords(t *testing.T) {
	f := &onlineFindings{
		Sigma:     []sigmaRow{{R: 9, N: 300, Dropped: 0.5, Coverage: 0.948, Error: 0.3, Bound: 0.25}},
		Dimension: []dimensionRow{{Regime: "low SNR", Exact: 0.97, By: []float64{1, 0.96, 0.97, 0.95}}},
		Hidden:    []hiddenRow{{Law: "free", Hidden: true, Frames: hiddenAfter, Told: []float64{0.25, 0.75, 0.83}}, {Law: "double well", Frames: hiddenAfter, Told: make([]float64, 3)}},
		Drift:     []driftRow{{SDE: "balls-ou", LMu: 0.5, Teacher: 0.25, Zero: 4}},
		Change:    []changeRow{{SDE: "circle reverses", Frames: changeFrames, LMu: make([]float64, 7), Fresh: make([]float64, 7), Zero: make([]float64, 7)}},
	}
	var out strings.Builder
	for _, s := range onlineStudies {
		s.show(f, &out)
	}
	for _, want := range []string{"50 % of the frames lost", "0.948", "(1.200)", "low SNR", "0.970", "0.83", "double well", "balls-ou", "2.00", "circle reverses"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
}

// TestHiddenIsTold: latents that something fast and strong drives are said to be too few, as 12 of 12 were within 3300 frames.
func TestHiddenIsTold(t *testing.T) {
	for _, s := range partialObservations {
		if s.name != "sprung, driven fast" {
			continue
		}
		if at, err := s.told(rand.New(rand.NewPCG(3, 1))); err != nil || at >= hiddenFrames {
			t.Errorf("told at frame %d, %v", at, err)
		}
		return
	}
	t.Error("the law is gone")
}
