package sdevae

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"driftscope/infer/card"
	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/sprites"
	"driftscope/infer/sdevae/verdict"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/suite"
)

// TestLocate: two rigid objects are located, and the encoder reads positions that mostly do not occur in the clip. After a training of seconds, an affine map
// of its latents gives the positions to 1.2 px, twice the usual error; an untrained encoder is off by 2.5 px. The verdict confirms the first object's position,
// and reports that the decoder does not reconstruct it yet.
func TestLocate(t *testing.T) {
	suite.Calculation(t)
	clip, truth := sdevaetest.Drifting(260, 9, sdevaetest.Bar, sdevaetest.Ring)
	r := train(t, Training{}, clip, Config{Latent: 4, Seed: 1, Tau: TauOf(clip), Steps: 10, Pairs: 16, SpriteSteps: 150})
	if r.SpriteShare < 0.95 || r.Config.SpriteSteps != 150 || r.Config.Restarts != 1 || r.Config.ReinitSteps > 0 || r.Config.SyntheticSteps > 0 {
		t.Fatalf("%.3f is followed with %+v", r.SpriteShare, r.Config)
	}
	p, err := r.Model.Encode(clip.Pixels, nil, clip.Len())
	if err != nil {
		t.Fatal(err)
	}
	if worst := slices.Max(sdevaetest.AffineError(t, numeric.Float64s(p.Mean), truth)); worst > 1.2 {
		t.Errorf("an affine map of the latents is off by %.2g px", worst)
	}
	var bar []float64 // position of the first object
	for k := range clip.Len() {
		bar = append(bar, truth.At(k, 0), truth.At(k, 1))
	}
	e, err := r.Export(clip, card.Card{Preprocess: []card.Step{{Kind: "normalise"}}}, bar)
	if err != nil {
		t.Fatal(err)
	}
	if why := e.Verdict.Reasons(); e.Verdict.Level != verdict.Doubt || len(why) != 1 || !strings.Contains(why[0], "the reconstructions explain only") {
		t.Errorf("located positions with a decoder of ten steps: %+v", e.Verdict)
	}
}

// TestLocateNothing: if objects change their shape, cannot be distinguished or are parts of one object, or if the search is disabled, the training starts
// without located objects.
func TestLocateNothing(t *testing.T) {
	suite.Long(t)
	one, _ := sdevaetest.Drifting(200, 5, sdevaetest.Ring)
	under, _ := sdevaetest.Drifting(400, 5, sdevaetest.Disc)
	sdevaetest.AddNoise(under, 0.05, false)
	two, _ := sdevaetest.Drifting(1000, 5, sdevaetest.Ring, sdevaetest.Ring)
	brief, _ := sdevaetest.Drifting(100, 5, sdevaetest.Ring)
	grows := &video.Clip{Channels: 1, Height: 32, Width: 32}
	for k := range 200 {
		for p := range 32 * 32 {
			r := math.Hypot(float64(p%32)-16, float64(p/32)-16)
			grows.Pixels = append(grows.Pixels, float32(1/(1+math.Exp(r-8-5*math.Sin(float64(k)/7)))))
		}
		grows.Times, grows.Trajectory = append(grows.Times, 0.1*float64(k)), append(grows.Trajectory, 0)
	}
	murky := *grows
	murky.Pixels = slices.Clone(grows.Pixels)
	sdevaetest.AddNoise(&murky, 4, false)
	for name, c := range map[string]struct {
		clip   *video.Clip
		config Config
		want   bool

		explained []float64 // bounds of the explained share
	}{
		"a ring":             {one, Config{Latent: 2}, true, []float64{0.95, 1}},
		"a disc in noise":    {under, Config{Latent: 2}, true, []float64{minSpritesLowSNR, 1}},
		"padding latents":    {one, Config{Latent: 4}, true, nil},
		"not asked for":      {one, Config{Latent: 2, SpriteSteps: -1}, false, nil},
		"one to spare":       {one, Config{Latent: 3}, true, nil},
		"with a clock":       {one, Config{Latent: 2, Clock: true}, false, nil},
		"two rings all over": {two, Config{Latent: 4}, false, nil},
		"but 100 frames":     {brief, Config{Latent: 2}, true, nil},
		"a disc that grows":  {grows, Config{Latent: 2}, false, []float64{-100, 0.8 * numeric.Majority}},
		"and in noise":       {&murky, Config{Latent: 2}, true, []float64{-100, 0.8 * minSpritesLowSNR}}, // as a low-rank picture
	} {
		t.Run(name, func(t *testing.T) {
			c.config.Tau, c.config.Steps = TauOf(c.clip), 4
			j, err := newJob(context.Background(), Training{}, c.clip, c.config)
			if err != nil {
				t.Fatal(err)
			}
			if low := strings.Contains(name, "noise"); low != j.lowSNR() {
				t.Errorf("the share of motion is %.2g", j.moving)
			}
			if share := c.explained; share != nil {
				m := sprites.Find(t.Context(), c.clip, video.FramesOf(j.train), 1, rand.New(rand.NewPCG(1, 2)))
				if got, _ := j.explainedBy(m); got < share[0] || got > share[1] {
					t.Errorf("the explained share of the motion is %.2f, expected %v", got, share)
				}
			}
			if got := j.tracked != nil && j.tracked.count() == 0; got != (c.clip == &murky) {
				t.Errorf("a low-rank picture: %v", got)
			}
			if got := j.tracked != nil; got != c.want || got != (j.config.SpriteSteps > 0) {
				t.Errorf("followed: %v, for %d steps", got, j.config.SpriteSteps)
			}
		})
	}
}

// TestIndependent: sprites that jump at random, and parts of one object, are not independent objects. Two objects that drift in the same direction with
// different steps are.
func TestIndependent(t *testing.T) {
	const n = 400
	rng := rand.New(rand.NewPCG(1, 2))
	walk := func(shared []float64, own float64) (z, steps []float64) {
		at := 0.0
		for k := range n {
			step := own * rng.NormFloat64()
			if shared != nil {
				step += shared[k]
			}
			at += step
			z, steps = append(z, at), append(steps, step)
		}
		return z, steps
	}
	ramp, jumps := make([]float64, n), make([]float64, n)
	for k := range n {
		ramp[k], jumps[k] = 0.1, rng.NormFloat64()
	}
	x, steps := walk(nil, 1)
	y, _ := walk(nil, 1)
	part, _ := walk(steps, 0.5)
	east, _ := walk(ramp, 1)
	west, _ := walk(ramp, 1)
	var pairs []video.Pair
	for k := range n - 1 {
		pairs = append(pairs, video.Pair{First: k, DT: 1})
	}
	for name, c := range map[string]struct {
		axes [][]float64
		want bool
	}{
		"one":         {[][]float64{x, y}, true},
		"x is y":      {[][]float64{x, x}, true}, // one object that moves diagonally
		"two":         {[][]float64{x, y, east, west}, true},
		"drift alike": {[][]float64{east, x, west, y}, true},
		"parts":       {[][]float64{x, y, part, west}, false},
		"jumps":       {[][]float64{x, jumps}, false},
	} {
		d := len(c.axes)
		tr := &tracked{sprites: &sprites.Set{Templates: make([][][]complex128, d/2)}, mean: make([]float64, d), z: make([]float32, n*d)}
		for i, axis := range c.axes {
			mean, sd := stat.MeanStdDev(axis, nil)
			for k, v := range axis {
				tr.z[k*d+i] = float32((v - mean) / sd)
			}
		}
		if got := tr.independent(pairs); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestLocateResumed: a training that was interrupted during and after the steps on sprites ends with the same model.
func TestLocateResumed(t *testing.T) {
	suite.Long(t)
	clip, _ := sdevaetest.Drifting(180, 9, sdevaetest.Ring)
	c := Config{Latent: 2, Seed: 1, Tau: TauOf(clip), Posterior: network.Cholesky, Steps: 12, Pairs: 8, SpriteSteps: 12, Every: 4}
	want := file(t, train(t, Training{}, clip, c), clip)
	for _, step := range []int{6, 17} {
		checkpoint, err := ReadCheckpoint(interrupted(t, Training{}, clip, c, step))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(file(t, train(t, Training{Resume: checkpoint}, clip, c), clip), want) {
			t.Errorf("interrupted at step %d: a different model", step)
		}
	}
}

// lasting is a context that is done after a number of calls of Err.
type lasting struct {
	context.Context
	asked, lasts int
}

func (l *lasting) Err() error {
	if l.asked++; l.asked > l.lasts {
		return context.Canceled
	}
	return nil
}

// TestSearchInterrupted: a cancelled search ends between two rounds, before any training step.
func TestSearchInterrupted(t *testing.T) {
	clip, _ := sdevaetest.Drifting(260, 9, sdevaetest.Bar, sdevaetest.Ring)
	ctx := &lasting{Context: t.Context(), lasts: 20}
	var told []Progress
	_, err := Training{Watch: func(p Progress) { told = append(told, p) }}.Train(ctx, clip, Config{Latent: 4, Seed: 1, Tau: TauOf(clip)})
	if !errors.Is(err, context.Canceled) || len(told) != 1 || told[0].Seeking != 2 {
		t.Errorf("%v after the reports %+v, expected an interrupted search for two objects", err, told)
	}
}

// TestLocateShared: three equal discs, indistinguishable in a few frames, are found to 0.4 px in nine of ten frames, and each keeps its identity except where
// discs meet.
func TestLocateShared(t *testing.T) {
	suite.Long(t)
	clip, truth := sdevaetest.AroundMeans(400, 5, sdevaetest.Bright, 7, 8, 17, 9, 11, 17)
	j, err := newJob(context.Background(), Training{}, clip, Config{Latent: 6, Tau: TauOf(clip), Steps: 4})
	if err != nil {
		t.Fatal(err)
	}
	if j.tracked == nil {
		t.Fatal("not followed")
	}
	places := j.tracked.places
	for i := range places { // relative to the origin of the true positions, not to the means
		places[i] = math.Mod(places[i]+48, 24)
	}
	var misses []float64
	whose := make([]map[int]int, 3) // for each column, how often it is nearest to each object
	for k := range whose {
		whose[k] = map[int]int{}
	}
	for f := range clip.Len() {
		worst := 0.0
		for k := range whose {
			of, miss := sdevaetest.Nearest([2]float64(places[6*f+2*k:]), truth[6*f:6*f+6])
			whose[k][of]++
			worst = max(worst, miss)
		}
		misses = append(misses, worst)
	}
	slices.Sort(misses)
	if got := misses[len(misses)*9/10]; got > 0.4 { // 0.31 measured: on the brighter background the values saturate, and less of a disc is visible
		t.Errorf("one frame in ten is off by %.2f px and more", got)
	}
	sdevaetest.CheckIdentities(t, whose, 0.99) // where two objects meet, a position may be nearer to the other one
}

// TestFilmsApart: a difference between films is not a dynamic background. Only the ring moves, and the other latents are padding.
func TestFilmsApart(t *testing.T) {
	suite.Long(t)
	for _, latents := range []int{2, 4} {
		clip := sdevaetest.Films(50)
		j, err := newJob(t.Context(), Training{}, clip, Config{Latent: latents, Seed: 1, Tau: TauOf(clip)})
		if err != nil {
			t.Fatal(err)
		}
		if j.tracked == nil || j.tracked.background != nil || j.tracked.explained < 0.95 || len(j.tracked.mean) != latents {
			t.Errorf("%d latents: no sprite that explains the motion", latents)
		}
		if j.clip != clip {
			t.Error("the training does not use the original clip")
		}
	}
}

// TestOverBackgroundNothing: a broad swaying light alone is not an object. A disc that moves over it is one.
func TestOverBackgroundNothing(t *testing.T) {
	suite.Calculation(t)
	for name, object := range map[string]sdevaetest.Shape{"a disc": sdevaetest.Disc, "nothing": func(_, _ float64) float64 { return 0 }} {
		t.Run(name, func(t *testing.T) {
			clip, _ := sdevaetest.Overlit(100, 5, object)
			j := &job{clip: clip, moving: 1}
			j.train, j.held = video.Split(clip.Pairs(clip.MaxGap()))
			if found := j.locateOverBackground(t.Context(), 1); (found != nil) != (name == "a disc") {
				t.Errorf("followed: %v", found != nil)
			}
		})
	}
}

// TestLowSNRTooLarge: a sprite that covers much of the picture is not an object, even if it explains the motion.
func TestLowSNRTooLarge(t *testing.T) {
	clip, _ := sdevaetest.Drifting(200, 5, sdevaetest.Disc)
	j := &job{clip: clip, moving: 1}
	j.train, j.held = video.Split(clip.Pairs(clip.MaxGap()))
	m := sprites.New(clip)
	m.LowSNR, m.Background, m.Templates = 2, m.Spectra(clip.Median(clip.Frames())), make([][][]complex128, 1)
	for width, want := range map[float64]bool{1: true, 6: false} { // the disc itself has 3 px
		m.Templates[0] = m.Gaussian(width)
		if tr := j.trackSprites(t.Context(), m, math.Inf(-1)); (tr != nil) != want {
			t.Errorf("a spot of %g px covers %.2f of the picture, followed: %v", width, m.Area(), tr != nil)
		}
	}
}
