package sim

import "math/rand/v2"

// kind is one line of the table of scenes.
type kind struct {
	name   string
	law    SDE
	length int  // frames in a trajectory; 0: one without end
	paced  bool // stands for a running camera
	// renderer makes what draws the law; shown is the part of latent space that the picture has to hold.
	renderer func(o Options, shown extent, pixels *rand.PCG) (renderer, error)
}

// kinds is the only list of scenes: a new one is its renderer, its test and one line here.
var kinds = []kind{
	{name: "molecule", law: trappedMolecule(), length: moleculeLife(), paced: true, renderer: newMolecule},
	{name: "balls-constant", law: constantDrift(0.01, -0.25, 0.25), renderer: newBall},
	{name: "balls-ou", law: ornsteinUhlenbeck(2, 4, 1, 0.01), renderer: newBall},
	{name: "balls-circle", law: circle(1, 3, 0.01, 0, 0), renderer: newBall},
	{name: "digits-constant", law: brownian(0.01, 1, 1, -1, -1), length: 100, renderer: newDigits},
	{name: "digits-ou", law: reverting(0.01, []float64{1, 1, 1, 1}, []float64{-1, -1, 1, 1}, []float64{1, 1, -1, -1}), length: 100, renderer: newDigits},
	{name: "digits-circle", law: circle(1, 2, 0.01, 1, 1, -1, -1), length: 100, renderer: newDigits},
	{name: "wasserstein-ou", law: reverting(0.01, []float64{2}, []float64{0}, []float64{1}), renderer: newWasserstein},
	{name: "wasserstein-double-well", law: doubleWell(0.01), renderer: newWasserstein},
	{name: "wasserstein-gbm", law: geometric(0.01), renderer: newWasserstein},
	{name: "ball-wasserstein-ou", law: reverting(0.01, []float64{1, 2, 3}, []float64{0, 0, 0}, []float64{1, 0, -1}), renderer: newBallWasserstein},
	{name: "ball-wasserstein-cauchy", law: cauchy(0.01, []float64{1, 2, 3}, []float64{1, 0, -1}), renderer: newBallWasserstein},
	{name: "ball-wasserstein-anisotropic", law: anisotropic(0.01), renderer: newBallWasserstein},
}

// Names lists the scenes, the demo first.
func Names() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

func find(name string) (kind, bool) {
	for _, k := range kinds {
		if k.name == name {
			return k, true
		}
	}
	return kind{}, false
}
