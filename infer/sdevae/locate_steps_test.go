package sdevae

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"driftscope/infer/card"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/suite"
)

// dusty returns a clip of a faint drifting bar over a speck of dust. At frame `at` the speck moves from one corner to another.
func dusty(n, at int) *video.Clip {
	clip, _ := sdevaetest.Drifting(n, 1, sdevaetest.Bar)
	for f := range n {
		x, y := 2.0, 2.0
		if f >= at {
			x, y = 21, 21
		}
		for p := range clip.Frame(f) {
			dx, dy := float64(p%clip.Width)-x, float64(p/clip.Width)-y
			clip.Frame(f)[p] = float32(min(0.45*float64(clip.Frame(f)[p])+0.7*math.Exp(-(dx*dx+dy*dy)/8), 1))
		}
	}
	return clip
}

// TestLocateWithoutSteps: if dust moves once, the repeated search finds the object, or explains more than the first search. Otherwise nothing changes.
func TestLocateWithoutSteps(t *testing.T) {
	suite.Calculation(t)
	const n, at = 120, 60
	clip := dusty(n, at)
	config := Config{Latent: 2, Tau: TauOf(clip), Steps: 4, Seed: 1}
	for name, c := range map[string]struct {
		before *tracked
		want   bool
	}{
		"nothing was located":         {nil, true},
		"what was located left more":  {&tracked{left: 1e6, explained: 0.2}, true},
		"what was located left less":  {&tracked{left: 0, explained: 0.2}, false},
		"what was located is all":     {&tracked{left: 1e6, explained: 0.95}, false},
		"nothing else would be found": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			j := &job{clip: clip}
			if name == "nothing else would be found" {
				j.clip, _ = sdevaetest.Drifting(n, 1, sdevaetest.Bar)
			}
			given := j.clip
			j.survey(t.Context(), config)
			j.tracked = c.before
			if err := j.locateWithoutSteps(t.Context(), config); err != nil {
				t.Fatal(err)
			}
			if found := j.tracked != c.before; found != c.want || (j.clip != given) != c.want || slices.Equal(j.steps, []int{at}) != c.want {
				t.Errorf("new result: %t, in another clip: %t, steps %v; expected %t", found, j.clip != given, j.steps, c.want)
			}
		})
	}
}

// TestVerdictOverSteps: the verdict does not require dust in the reconstructions if it was left out of the search, and auto counts only the object's latents.
func TestVerdictOverSteps(t *testing.T) {
	suite.Long(t)
	clip := dusty(120, 60)
	r, err := Train(t.Context(), clip, Config{Latent: 2, Tau: TauOf(clip), Steps: 4, SpriteSteps: 4, Seed: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Model.Close()
	said := map[string]bool{}
	for _, r.Steps = range [][]int{nil, {60}} {
		e, err := r.Export(clip, card.Card{Preprocess: []card.Step{{Kind: "normalise"}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		said[fmt.Sprint(e.Verdict.Findings)] = true
	}
	if len(said) != 2 {
		t.Error("the verdicts with and without dust in the clip are equal")
	}
	g := NewGrowth(clip, Config{Tau: TauOf(clip), Seed: 1})
	if _, err := g.Locate(context.Background(), nil); err != nil || g.Latent() != 2 {
		t.Errorf("auto finds %d latents (%v), expected 2", g.Latent(), err)
	}
}
