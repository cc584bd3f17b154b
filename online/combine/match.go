package combine

import (
	"math"
	"slices"
)

// member is a state of a camera.
type member struct{ camera, state int }

// kind is a state of the experiment: one or more states of cameras that count as the same.
type kind struct {
	members  []member
	readings []reading
	at       float64   // ln D, the sort key of kinds
	likely   []float64 // log likelihood for each τ
}

// neighbours is the largest distance in the list of kinds at which match searches for a partner. Kinds in between can only be states of the same camera.
const neighbours = MostStates

// pair holds two kinds.
type pair struct{ a, b *kind }

// newKind makes a kind of members and their readings.
func newKind(members []member, readings []reading, tau []float64) *kind {
	k := &kind{members: members, readings: readings, likely: make([]float64, len(tau))}
	for i, t := range tau {
		_, _, k.likely[i] = mean(readings, t)
	}
	if k.at, _, _ = mean(readings, 0); math.IsNaN(k.at) {
		k.at = math.Log(bounded(readings).High)
	}
	return k
}

// apart reports whether two kinds have states of the same camera.
func (k *kind) apart(o *kind) bool {
	for _, m := range k.members {
		for _, n := range o.members {
			if m.camera == n.camera {
				return true
			}
		}
	}
	return false
}

// presence returns the ln evidence of the given number of kinds, if the cameras see members states in total. Each camera sees each kind with an unknown
// probability, uniform on 0 to 1. So a kind that few cameras see costs evidence, and more with more cameras.
func presence(kinds, cameras, members int) float64 {
	missing := kinds*cameras - members
	a, _ := math.Lgamma(float64(members + 1))
	b, _ := math.Lgamma(float64(missing + 1))
	c, _ := math.Lgamma(float64(members + missing + 2))
	return a + b - c
}

// match finds which states of cameras are the same. It repeatedly merges the two kinds whose merger raises the evidence most, until no merger does.
func match(cameras []Camera) (kinds []*kind, b *between) {
	b = newBetween(differD)
	for i := range cameras {
		for j, s := range cameras[i].States {
			r := logarithm(s.D, float64(cameras[i].Steps)*s.Share.Value)
			k := newKind([]member{{i, j}}, []reading{r}, b.tau)
			kinds = append(kinds, k)
			b.learn(k.likely)
		}
	}
	known := map[pair]*kind{}
	for members := len(kinds); ; {
		rise(kinds)
		i, j, one := likeliest(kinds, b, known)
		if one == nil {
			return kinds, b
		}
		now := total(b.weight) + presence(len(kinds), len(cameras), members)
		if nats := joined(b, gain(kinds[i], kinds[j], one)) + presence(len(kinds)-1, len(cameras), members); !(nats > now) {
			return kinds, b
		}
		b.learn(gain(kinds[i], kinds[j], one))
		kinds[i] = one
		kinds = slices.Delete(kinds, j, j+1)
	}
}

func rise(kinds []*kind) {
	slices.SortStableFunc(kinds, func(a, b *kind) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
}

// gain returns, for each τ, the increase in ln likelihood from merging two kinds.
func gain(a, b, one *kind) []float64 {
	g := make([]float64, len(one.likely))
	for i := range g {
		g[i] = one.likely[i] - a.likely[i] - b.likely[i]
	}
	return g
}

// joined returns the ln evidence after an increase of the ln likelihood of each τ by by.
func joined(b *between, by []float64) float64 {
	after := make([]float64, len(by))
	for t, g := range by {
		after[t] = b.weight[t] + g
	}
	return total(after)
}

// likeliest returns the two kinds whose merger has the most evidence, and the merged kind, or nil if no two may merge. known caches merged kinds.
func likeliest(kinds []*kind, b *between, known map[pair]*kind) (first, second int, one *kind) {
	most := math.Inf(-1)
	for i, k := range kinds {
		for j := i + 1; j < min(i+1+neighbours, len(kinds)); j++ {
			o := kinds[j]
			if k.apart(o) {
				continue
			}
			both := known[pair{k, o}]
			if both == nil {
				both = newKind(slices.Concat(k.members, o.members), slices.Concat(k.readings, o.readings), b.tau)
				known[pair{k, o}] = both
			}
			if nats := joined(b, gain(k, o, both)); nats > most {
				first, second, one, most = i, j, both, nats
			}
		}
	}
	return first, second, one
}
