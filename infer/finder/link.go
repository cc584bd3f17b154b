package finder

import (
	"math"

	"driftscope/internal/assignment"
)

// track is an object that is followed.
type track struct {
	x, y, vx, vy float64
	last         int
	id           int
}

// Linker joins places of successive frames to tracks of constant velocity. It belongs to one goroutine.
type Linker struct {
	reach  float64
	tracks []track
	next   int
	solver assignment.Solver
}

// memory is over how many frames a track waits for its object.
const memory = 3

// Link numbers the places of frame k.
func (l *Linker) Link(k int, at []Place) (id []int) {
	kept := l.tracks[:0]
	for _, t := range l.tracks {
		if k-t.last <= memory+1 {
			kept = append(kept, t)
		}
	}
	l.tracks = kept
	var pairs []assignment.Pair
	for i, t := range l.tracks {
		d := float64(k - t.last)
		limit := l.reach * math.Sqrt(d)
		for j := range at {
			if c := math.Hypot(t.x+t.vx*d-at[j].X, t.y+t.vy*d-at[j].Y); c <= limit {
				pairs = append(pairs, assignment.Pair{Row: i, Column: j, Cost: c - 1.01*limit})
			}
		}
	}
	id = make([]int, len(at))
	for j := range id {
		id[j] = -1
	}
	for i, j := range l.solver.Solve(len(l.tracks), len(at), pairs) {
		if j < 0 {
			continue
		}
		t := &l.tracks[i]
		d := float64(k - t.last)
		t.vx, t.vy = .5*t.vx+.3*(at[j].X-t.x)/d, .5*t.vy+.3*(at[j].Y-t.y)/d
		t.x, t.y, t.last = at[j].X, at[j].Y, k
		id[j] = t.id
	}
	for j := range at {
		if id[j] < 0 {
			id[j] = l.next
			l.tracks = append(l.tracks, track{at[j].X, at[j].Y, 0, 0, k, l.next})
			l.next++
		}
	}
	return id
}

// Follow links the places of a whole film and drops weak ones that no track wants. It numbers each place that it keeps.
func (f *Finder) Follow(all [][]Place) (kept [][]Place, id [][]int) {
	sure := all
	if f.low < 1 {
		sure = make([][]Place, len(all))
		for k, p := range all {
			for _, q := range p {
				if q.Z > f.z {
					sure[k] = append(sure[k], q)
				}
			}
		}
	}
	var steps []float64
	total := 0
	for k := 1; k < len(sure); k++ {
		total += len(sure[k-1])
		for _, a := range sure[k-1] {
			best := math.Inf(1)
			for _, b := range sure[k] {
				best = min(best, math.Hypot(a.X-b.X, a.Y-b.Y))
			}
			if !math.IsInf(best, 1) {
				steps = append(steps, best)
			}
		}
	}
	low := f.low
	f.reach = 5
	if len(steps) > 0 {
		if low < 1 {
			f.reach = f.correlated(sure, all)
			if f.Count/float64(f.w*f.h)*math.Pi*f.reach*f.reach > .09 { // too crowded for weak finds to be known by their tracks
				low, all = 1, sure
			}
		}
		if low == 1 {
			f.reach = 3.5*median(steps) + 1.5
		}
		f.reach = min(max(f.reach, 2), 8*f.Scale+4)
	}
	l := &Linker{reach: f.reach}
	id = make([][]int, len(all))
	for k := range all {
		id[k] = l.Link(k, all[k])
	}
	if low == 1 {
		return all, id
	}
	return f.wanted(all, id)
}

// correlated is the distance at which places of successive frames are no longer more frequent than by chance.
func (f *Finder) correlated(sure, all [][]Place) float64 {
	width := .5 + .2*f.Scale
	cells := int((12*f.Scale + 6) / width)
	g := make([]float64, cells)
	var number []float64
	from := 0.
	for k := range all {
		number = append(number, float64(len(all[k])))
		if k == 0 {
			continue
		}
		from += float64(len(sure[k-1]))
		for _, a := range sure[k-1] {
			for _, b := range all[k] {
				if i := int(math.Hypot(a.X-b.X, a.Y-b.Y) / width); i < cells {
					g[i]++
				}
			}
		}
	}
	density := median(number) / float64(f.w*f.h)
	for i := range g {
		a, b := float64(i)*width, float64(i+1)*width
		if g[i]/(max(1, from)*density*math.Pi*(b*b-a*a)+1e-9) < 1.6 {
			return a + .5
		}
	}
	return float64(cells)*width + .5
}

// wanted keeps a weak place if those of its track within three frames are sure together.
func (f *Finder) wanted(all [][]Place, id [][]int) (kept [][]Place, of [][]int) {
	type sight struct {
		frame, at int
	}
	tracks := map[int][]sight{}
	for k := range all {
		for j, i := range id[k] {
			tracks[i] = append(tracks[i], sight{k, j})
		}
	}
	kept, of = make([][]Place, len(all)), make([][]int, len(all))
	for k := range all {
		for j, p := range all[k] {
			ok := p.Z > f.z
			if !ok {
				n, sum := 0, 0.
				for _, s := range tracks[id[k][j]] {
					if s.frame-k <= 3 && k-s.frame <= 3 {
						n++
						sum += all[s.frame][s.at].Z
					}
				}
				need := .75
				switch n {
				case 4:
					need = .85
				case 5:
					need = .8
				}
				ok = n >= 4 && sum/float64(n) > need*f.z
			}
			if ok {
				kept[k], of[k] = append(kept[k], p), append(of[k], id[k][j])
			}
		}
	}
	return kept, of
}
