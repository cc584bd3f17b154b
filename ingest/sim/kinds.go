package sim

import (
	"math/rand/v2"
	"slices"
)

// kind is one row of the table of scenes.
type kind struct {
	name   string
	law    SDE
	length int  // frames per trajectory; 0: endless
	paced  bool // simulates a running camera
	noisy  bool // also available with pixel noise, as name-normal and name-student
	// renderer makes the renderer. shown is the part of latent space that the picture must show.
	renderer func(o Options, shown extent, pixels *rand.PCG) (renderer, error)
	noise    *pixelNoise // nil for none
}

// kinds is the only list of scenes. A new scene needs its renderer, its test and one line here. noises adds variants of the rows with noisy set.
var kinds = []kind{
	{name: "molecule", law: trappedMolecule(), length: moleculeLife(), paced: true, renderer: newMolecule},
	{name: "balls-constant", law: constantDrift(0.01, -0.25, 0.25), renderer: newBall},
	{name: "balls-ou", law: ornsteinUhlenbeck(2, 4, 1, 0.01), noisy: true, renderer: newBall},
	{name: "balls-circle", law: circle(1, 3, 0.01, 0, 0), renderer: newBall},
	{name: "multiple-balls-ou", law: reverting(0.01, slices.Repeat([]float64{2}, 2*len(ballPlaces)), slices.Concat(ballPlaces...), make([]float64, 2*len(ballPlaces))), renderer: newBalls},
	{name: "digits-constant", law: brownian(0.01, 1, 1, -1, -1), length: 100, renderer: newDigits},
	{name: "digits-ou", law: reverting(0.01, []float64{1, 1, 1, 1}, []float64{-1, -1, 1, 1}, []float64{1, 1, -1, -1}), length: 100, renderer: newDigits},
	{name: "digits-circle", law: circle(1, 2, 0.01, 1, 1, -1, -1), length: 100, renderer: newDigits},
	{name: "wasserstein-ou", law: reverting(0.01, []float64{2}, []float64{0}, []float64{1}), noisy: true, renderer: newWasserstein},
	{name: "wasserstein-double-well", law: doubleWell(0.01), renderer: newWasserstein},
	{name: "wasserstein-gbm", law: geometric(0.01), renderer: newWasserstein},
	{name: "ball-wasserstein-ou", law: reverting(0.01, []float64{1, 2, 3}, []float64{0, 0, 0}, []float64{1, 0, -1}), noisy: true, renderer: newBallWasserstein},
	{name: "ball-wasserstein-cauchy", law: cauchy(0.01, []float64{1, 2, 3}, []float64{1, 0, -1}), noisy: true, renderer: newBallWasserstein},
	{name: "ball-wasserstein-anisotropic", law: anisotropic(0.01), noisy: true, renderer: newBallWasserstein},
	{name: "dna-0", law: drivenDNA(0), length: dnaFrames, renderer: newDNA},
	{name: "dna-1", law: drivenDNA(1), length: dnaFrames, renderer: newDNA},
	{name: "dna-2", law: drivenDNA(2), length: dnaFrames, renderer: newDNA},
}

// scenes returns kinds, followed by each noisy scene with each noise.
func scenes() []kind {
	all := slices.Clone(kinds)
	for _, k := range kinds {
		for _, n := range noises {
			if k.noisy {
				with := k
				with.name, with.noise = k.name+"-"+n.name, &n
				all = append(all, with)
			}
		}
	}
	return all
}

// Names lists the scenes, the demo first.
func Names() []string {
	var names []string
	for _, k := range scenes() {
		names = append(names, k.name)
	}
	return names
}

func find(name string) (kind, bool) {
	for _, k := range scenes() {
		if k.name == name {
			return k, true
		}
	}
	return kind{}, false
}
