package placement

import (
	"hash/fnv"
	"math"
)

// hash of a name.
func hash(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return mixed(h.Sum64())
}

// mixed is the finalizer of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// score is the weighted rendezvous hash of a worker for a stream, -cores/ln(u): the worker with the largest wins with a probability that is its share of the
// cores (Schindelhauer & Schomaker, SPAA 2005).
func score(w *worker, x *stream) float64 {
	u := (float64(mixed(w.seed^mixed(x.seed))>>11) + 0.5) / (1 << 53)
	return -float64(w.milli) / math.Log(u)
}

// before says that w comes before v in the rendezvous order of x.
func before(w, v *worker, x *stream) bool {
	a, b := score(w, x), score(v, x)
	return a > b || a == b && w.Name < v.Name
}
