package evaluation

import (
	"errors"
	"fmt"
	"slices"

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

// LayFilms aligns latents with the truth affinely, if they are positions relative to each film's own centre. Linear holds for all films. Each film has its
// own offset, by least squares on the first halves, over which its means are taken:
//
//	truth ≈ (z - mean z) Linear + mean truth.
func LayFilms(z, truth *mat.Dense, films [][]int) (*Alignment, error) {
	if slices.ContainsFunc(films, func(film []int) bool { return len(film) < 2 }) {
		return nil, errors.New("a film has one frame: expected 2 or more, because the first half determines its map")
	}
	from, to := firstMeans(z, films), firstMeans(truth, films)
	from.Sub(z, from)
	var centred mat.Dense
	centred.Sub(truth, to)
	fitted, _ := Halves(films)
	a, err := Lay("affine", from, &centred, fitted)
	if err == nil {
		a.Laid.Add(a.Laid, to)
	}
	return a, err
}

// firstMeans has in each row the mean over the first half of the row's film.
func firstMeans(m *mat.Dense, films [][]int) *mat.Dense {
	out := mat.NewDense(m.RawMatrix().Rows, m.RawMatrix().Cols, nil)
	for _, film := range films {
		first := film[:len(film)/2]
		mean := out.RawRowView(film[0])
		for _, i := range first {
			for j, v := range m.RawRowView(i) {
				mean[j] += v / float64(len(first))
			}
		}
		for _, i := range film {
			out.SetRow(i, mean)
		}
	}
	return out
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

// Halves returns the rows in the first half of each film, and those in the second.
func Halves(films [][]int) (first, second []int) {
	for _, film := range films {
		first = append(first, film[:len(film)/2]...)
		second = append(second, film[len(film)/2:]...)
	}
	return first, second
}
