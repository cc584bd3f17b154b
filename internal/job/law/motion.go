package law

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"driftscope/online/motion"
)

// Motion is by which kinds of law tracks move.
type Motion struct {
	Tracks    int                `json:"tracks"`        // judged
	Unused    int                `json:"tracks_unused"` // long enough, and beyond mostJudged
	Counts    map[string]int     `json:"counts"`        // tracks of which a kind is the most probable one
	Means     map[string]float64 `json:"mean_probabilities"`
	Alpha     float64            `json:"alpha"`           // median over the tracks of the exponent of E(x(t)-x(0))² ∝ t^α
	Quartiles [2]float64         `json:"alpha_quartiles"` // between which half of the tracks are
}

// verdict is what a track tells, by its place among those used.
type verdict struct {
	track int
	motion.Verdict
}

const (
	fewestJudged = 10      // places of a track: the exponent of fewer is not known
	mostJudged   = 20_000  // tracks
	leastRead    = 128     // places of a track that are read, its last ones, where there are many tracks
	mostRead     = 1000    // and where there are few
	placesRead   = 1 << 21 // places of all tracks together, where they are not more by leastRead
)

// motion judges the tracks that are long enough; nil where none is.
func (f *film) motion() (*Motion, []verdict) {
	var long []int
	for i := range f.used {
		if len(f.used[i].points) >= fewestJudged {
			long = append(long, i)
		}
	}
	judged := some(long, mostJudged)
	verdicts := f.judge(judged)
	if len(verdicts) == 0 {
		return nil, nil
	}
	m := &Motion{Tracks: len(verdicts), Unused: len(long) - len(judged), Counts: map[string]int{}, Means: map[string]float64{}}
	var alphas []float64
	for i := range verdicts {
		v := &verdicts[i]
		m.Counts[v.Class.String()]++
		for c, p := range v.Probabilities {
			m.Means[motion.Class(c).String()] += p / float64(len(verdicts))
		}
		alphas = append(alphas, v.Alpha.Value)
	}
	slices.Sort(alphas)
	at := func(share float64) float64 { return alphas[int(math.Round(share*float64(len(alphas)-1)))] }
	m.Alpha, m.Quartiles = at(0.5), [2]float64{at(0.25), at(0.75)}
	return m, verdicts
}

// judge judges tracks on all cores; each verdict hangs on its track alone.
func (f *film) judge(numbers []int) (out []verdict) {
	verdicts, told := make([]verdict, len(numbers)), make([]bool, len(numbers))
	most := min(max(placesRead/max(len(numbers), 1), leastRead), mostRead)
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(numbers)) {
		all.Go(func() {
			var judge motion.Judge
			var places []motion.Place
			for k := int(next.Add(1)) - 1; k < len(numbers); k = int(next.Add(1)) - 1 {
				places = places[:0]
				way := f.way(numbers[k], f.dt)
				for _, p := range way[max(len(way)-most, 0):] {
					places = append(places, motion.Place{X: p.X, Y: p.Y, T: p.T})
				}
				verdicts[k].track = numbers[k]
				verdicts[k].Verdict, told[k] = judge.Track(places, motion.Options{Exposure: f.exposure})
			}
		})
	}
	all.Wait()
	for k, ok := range told {
		if ok {
			out = append(out, verdicts[k])
		}
	}
	return out
}
