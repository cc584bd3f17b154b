package evaluation

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"driftscope/online/offline"
)

// Alignment maps latents to the truth.
type Alignment struct {
	how  string       // eval's --align
	To   *offline.Map // turns drifts; its offset is 0 where each film has its own
	Laid *mat.Dense   // every latent, in the truth's units
}

// Lay lays latents over the truth by the map, affine or an isometry, that suits the fitted rows.
func Lay(how string, z, truth *mat.Dense, fitted []int) (*Alignment, error) {
	find := offline.Isometry
	if how == "affine" {
		find = offline.Affine
	}
	to, err := find(PickRows(z, fitted), PickRows(truth, fitted))
	if err != nil {
		return nil, err
	}
	return &Alignment{how, to, to.Apply(z)}, nil
}

// places returns the positions of the truth's rows among the latents z: each latent moves by the least distance that aligns it with the truth. Under an
// isometry
// that is the paper's Qᵀ(x - b).
func (a *Alignment) places(z, truth *mat.Dense) (*mat.Dense, error) {
	var off, step, out mat.Dense
	off.Sub(truth, a.Laid)
	if err := step.Solve(a.To.Linear.T(), off.T()); err != nil {
		return nil, fmt.Errorf("the map to the truth cannot be inverted: %w", err)
	}
	out.Add(z, step.T())
	return &out, nil
}

// Films lists the rows of each film, which is one trajectory in one piece.
func Films(trajectory []uint64) (films [][]int) {
	for i, t := range trajectory {
		if i == 0 || t != trajectory[i-1] {
			films = append(films, nil)
		}
		films[len(films)-1] = append(films[len(films)-1], i)
	}
	return films
}
