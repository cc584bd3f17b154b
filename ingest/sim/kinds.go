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
	{name: "balls-circle", law: circle(1, 3, 0.01), renderer: newBall},
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
