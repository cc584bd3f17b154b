package paper

import (
	"errors"
	"slices"

	"gonum.org/v1/gonum/mat"

	"driftscope/internal/job/evaluation"
)

// layFilms aligns latents with the truth by an affine map if they are positions relative to a different centre in each film. All films share the linear part,
// and each film has its own offset. The fit is by least squares on the first halves of the films, and the means are also taken over these:
//
//	truth ≈ (z - mean z) Linear + mean truth.
func layFilms(z, truth *mat.Dense, films [][]int) (*evaluation.Alignment, error) {
	if slices.ContainsFunc(films, func(film []int) bool { return len(film) < 2 }) {
		return nil, errors.New("a film has one frame: expected 2 or more, the first half to be laid over the truth")
	}
	from, to := firstMeans(z, films), firstMeans(truth, films)
	from.Sub(z, from)
	var centred mat.Dense
	centred.Sub(truth, to)
	fitted, _ := halves(films)
	a, err := evaluation.Lay("affine", from, &centred, fitted)
	if err == nil {
		a.Laid.Add(a.Laid, to)
	}
	return a, err
}

// firstMeans returns, in each row, the mean over the first half of the row's film.
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

// halves returns the rows in the first half of each film, and the rows in the second half.
func halves(films [][]int) (first, second []int) {
	for _, film := range films {
		first = append(first, film[:len(film)/2]...)
		second = append(second, film[len(film)/2:]...)
	}
	return first, second
}
