// Package tracking compares tracks with the true ones, by the measures of the ISBI particle tracking challenge (Chenouard et al., Nature Methods 11, 281,
// 2014, supplementary note 3).
package tracking

import (
	"math"

	"driftscope/internal/kit/numbers"
)

// Point is an object in a frame.
type Point struct {
	Frame int
	X, Y  float64 // px
	Dark  bool    // a true but invisible position, which counts neither as missed nor as falsely found
}

// Gate is the distance, px, from which two positions belong to different objects.
const Gate = 5.0

// Score measures how well found tracks match the true ones.
type Score struct {
	Alpha float64 `json:"alpha"`   // 1 - d(true, found)/d(true, none): misses count, false tracks do not
	Beta  float64 `json:"beta"`    // like Alpha, but false tracks count too
	JSC   float64 `json:"jsc"`     // TP / (TP + FN + FP) over positions
	JSCT  float64 `json:"jsct"`    // like JSC, over tracks
	RMSE  float64 `json:"rmse_px"` // of positions that match
	True  int     `json:"true"`    // tracks
	Found int     `json:"found"`
}

// Judge pairs the tracks one to one so that d is least. d is the sum over frames of min(distance, Gate); a frame in only one of the two tracks adds Gate.
// Frames in which the true object is dark do not count, and true tracks that are always dark are left out.
func Judge(truth, found [][]Point) Score {
	type pairing struct {
		gain, squares float64
		hits, dark    int // dark: positions of the found track while the true one is dark
	}
	type place struct {
		track int
		x, y  float64
	}
	at := map[int][]place{} // by frame; there may be two frames, far apart
	for j, track := range found {
		for _, p := range track {
			at[p.Frame] = append(at[p.Frame], place{j, p.X, p.Y})
		}
	}
	pairings := map[[2]int]*pairing{}
	seen, places := 0, 0
	has := make([]map[int]Point, len(truth))
	for i, track := range truth {
		has[i] = map[int]Point{}
		lit := 0
		for _, p := range track {
			has[i][p.Frame] = p
			if p.Dark {
				continue
			}
			lit++
			for _, q := range at[p.Frame] {
				r := math.Hypot(p.X-q.x, p.Y-q.y)
				if r >= Gate {
					continue
				}
				k := pairings[[2]int{i, q.track}]
				if k == nil {
					k = &pairing{}
					pairings[[2]int{i, q.track}] = k
				}
				k.gain, k.squares, k.hits = k.gain+Gate-r, k.squares+r*r, k.hits+1
			}
		}
		if places += lit; lit > 0 {
			seen++
		}
	}
	total := Gate * float64(places)
	var pairs []numbers.Pair
	saving := map[[2]int]float64{}
	for key, k := range pairings {
		// compared with the truth alone, a pair gains its overlap, minus Gate for every frame that only the found track has
		s := k.gain
		for _, p := range found[key[1]] {
			switch q, ok := has[key[0]][p.Frame]; {
			case !ok:
				s -= Gate
			case q.Dark:
				k.dark++
			}
		}
		if s > 0 {
			saving[key] = s
			pairs = append(pairs, numbers.Pair{Row: key[0], Column: key[1], Cost: -s})
		}
	}
	d, squares, hits, tracks, dark := total, 0.0, 0, 0, 0
	used := make([]bool, len(found))
	for i, j := range new(numbers.Solver).Solve(len(truth), len(found), pairs) {
		if j < 0 {
			continue
		}
		key := [2]int{i, int(j)}
		d -= saving[key]
		k := pairings[key]
		squares, hits, tracks, dark = squares+k.squares, hits+k.hits, tracks+1, dark+k.dark
		used[j] = true
	}
	spurious, all := 0.0, -dark
	for j, track := range found {
		all += len(track)
		if !used[j] {
			spurious += Gate * float64(len(track))
		}
	}
	s := Score{True: seen, Found: len(found), Alpha: 1 - d/max(total, 1e-300), Beta: (total - d) / max(total+spurious, 1e-300),
		JSC: float64(hits) / float64(max(1, places+all-hits)), JSCT: float64(tracks) / float64(max(1, seen+len(found)-tracks))}
	s.RMSE = math.Sqrt(squares / float64(max(1, hits)))
	return s
}
