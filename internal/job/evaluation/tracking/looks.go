package tracking

import (
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
)

// Looks measures how well the latents of found objects predict the truth. It has R² of a quadratic in the latents, over all matched positions, for each
// column of the truth besides the position.
type Looks struct {
	Places int                `json:"places"`
	R2     map[string]float64 `json:"r2"`
}

// known maps a column of the truth to the value visible in a picture. An object looks the same above and below the focus, so only its distance counts.
var known = map[string]func(float64) float64{"z": math.Abs, "light": func(v float64) float64 { return v }}

var aLatent = regexp.MustCompile(`^z_\d+$`)

// mostLooks is the largest number of latents that are compared; their quadratic has 45 terms.
const mostLooks = 8

// detailed is a position with further columns of its row.
type detailed struct {
	Point
	values []float64
}

// ReadLooks compares two tables. It returns nil if the result has no latents z_0, z_1, ..., or the truth has no columns to compare.
func ReadLooks(truth, result string) (*Looks, error) {
	names, of, err := details(truth, func(name string) bool { return known[name] != nil })
	if err != nil {
		return nil, err
	}
	latents, found, err := details(result, aLatent.MatchString)
	if err != nil || len(names) == 0 || len(latents) == 0 {
		return nil, err
	}
	if len(latents) > mostLooks {
		return nil, errors.New("too many latents to compare: leave the columns z_8 and above out")
	}
	return compare(names, of, found), nil
}

// details returns the rows of a table by frame, each with the wanted columns. It skips a row if any of them has no number.
func details(path string, wanted func(string) bool) (names []string, at map[int][]detailed, err error) {
	at = map[int][]detailed{}
	var columns []int
	header := func(header []string) {
		for i, name := range header {
			if wanted(name) {
				names, columns = append(names, name), append(columns, i)
			}
		}
	}
	err = opened(path, func(r io.Reader) error {
		return rows(r, nil, header, func(_ int64, p Point, row []string) error {
			one := detailed{Point: p}
			for _, c := range columns {
				v, err := strconv.ParseFloat(row[c], 64)
				if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
					return nil
				}
				one.values = append(one.values, v)
			}
			if !p.Dark {
				at[p.Frame] = append(at[p.Frame], one)
			}
			return nil
		})
	})
	return names, at, err
}

// compare pairs positions with the nearest one in the other table, if the choice is mutual and within the gate.
func compare(names []string, truth, found map[int][]detailed) *Looks {
	var x, y [][]float64
	frames := make([]int, 0, len(found))
	for f := range found {
		frames = append(frames, f)
	}
	slices.Sort(frames)
	for _, f := range frames {
		for i := range found[f] {
			j := nearest(&found[f][i], truth[f])
			if j >= 0 && nearest(&truth[f][j], found[f]) == i {
				x, y = append(x, quadratic(found[f][i].values)), append(y, truth[f][j].values)
			}
		}
	}
	l := &Looks{Places: len(x), R2: map[string]float64{}}
	if len(x) == 0 || len(x) < 10*len(x[0]) {
		return l
	}
	design := mat.NewDense(len(x), len(x[0]), nil)
	for i := range x {
		design.SetRow(i, x[i])
	}
	for k, name := range names {
		of := mat.NewVecDense(len(y), nil)
		for i := range y {
			of.SetVec(i, known[name](y[i][k]))
		}
		if r2, ok := explained(design, of); ok {
			l.R2[name] = r2
		}
	}
	return l
}

// nearest returns the nearest entry of a list within the gate, or -1.
func nearest(to *detailed, of []detailed) int {
	best, at := Gate, -1
	for i := range of {
		if d := math.Hypot(of[i].X-to.X, of[i].Y-to.Y); d < best {
			best, at = d, i
		}
	}
	return at
}

// quadratic returns 1, the values, and their products.
func quadratic(v []float64) []float64 {
	terms := append([]float64{1}, v...)
	for i := range v {
		for _, w := range v[i:] {
			terms = append(terms, v[i]*w)
		}
	}
	return terms
}

// explained returns the share of y's variance that the columns of x explain linearly; ok is false if y is constant or the columns depend on each other.
func explained(x *mat.Dense, y *mat.VecDense) (r2 float64, ok bool) {
	var w, fit mat.VecDense
	var qr mat.QR
	qr.Factorize(x)
	if qr.SolveVecTo(&w, false, y) != nil {
		return 0, false
	}
	fit.MulVec(x, &w)
	mean := mat.Sum(y) / float64(y.Len())
	left, all := 0.0, 0.0
	for i := range y.Len() {
		v := y.AtVec(i)
		left, all = left+(v-fit.AtVec(i))*(v-fit.AtVec(i)), all+(v-mean)*(v-mean)
	}
	return 1 - left/all, all > 1e-12*float64(y.Len())
}
