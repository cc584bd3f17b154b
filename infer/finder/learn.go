package finder

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
)

// Kind classifies the objects of a film.
type Kind uint8

const (
	Nothing Kind = iota // no object is significant
	One                 // one object with a fixed look
	OneBody             // one object that bends or turns
	Few                 // two to five objects
	Many                // more than five objects
	Bodies              // objects with extent
)

// few is the largest count of the kind Few.
const few = 5

func (k Kind) String() string {
	return [...]string{"nothing", "one", "one body", "few", "many", "bodies"}[k]
}

// Sample is the input of Learn: frames of the whole film, in order, some of them successive.
type Sample struct {
	Frames []Picture
	At     []int // number of each frame in the film
	Force  Force // the user's description of the film
}

// Force is the user's description of a film.
type Force string

const (
	Free        Force = ""       // the finder decides
	ForceOne    Force = "one"    // one object
	ForceMany   Force = "many"   // objects without extent
	ForceBodies Force = "bodies" // objects with extent
)

// Wanted returns the frames of a good sample of a film with n frames: ten frames, evenly spaced, each followed by its next frame.
func Wanted(n int) (at []int) {
	for _, k := range spread(max(n-1, 1), looks) {
		at = append(at, k)
		if k+1 < n {
			at = append(at, k+1)
		}
	}
	return slices.Compact(at)
}

// Finder holds the result of Learn. Several goroutines may call Find.
type Finder struct {
	Kind     Kind
	Scale    float64 // scale of the objects, px: standard deviation of a spot of their size
	Dark     bool    // darker than the background
	Ringed   bool    // objects have both polarities
	Count    float64 // median number of objects per frame
	Lasting  float64 // share of frames with objects, 1 if chance explains the empty frames
	Strength float64 // median strength over the noise
	Share    float64 // share of the strong blobs that these objects explain
	Depth    float64 // depth of the valley between objects and weaker blobs, 0 to 1
	Area     float64 // usual area of a body, px²
	Alike    float64 // agreement between the looks of a single object, 0 to 1
	Lamp     float64 // swing of the lamp, as a fraction of the picture's range
	Shift    bool    // the whole field moves

	w, h     int
	lamp     *lamp
	scales   []float64
	sign     float64
	both     bool
	coarse   bool // one large body that consists of fine blobs
	noise    *noise
	first    int // the class's levels: scales[first:last]
	window   []float64
	with     filter
	z        float64 // significance of a position
	low      float64 // Find keeps blobs down to low times z, for tracks that need them
	least    float64 // smallest strength
	height   float64 // height of a body over its background
	extended bool
	template *template
}

// errSmall reports pictures too small for a search.
var errSmall = errors.New("the picture has less than 8 x 8 pixels, which is too small to find objects")

// Learn determines the kind and the properties of a film's objects.
func Learn(in Sample) (*Finder, error) {
	w, h := in.Frames[0].W, in.Frames[0].H
	if min(w, h) < 8 {
		return nil, errSmall
	}
	f := &Finder{w: w, h: h, lamp: newLamp(in.Frames), low: 1, z: tail(falseFinds / (float64(w*h) / .64))}
	f.Lamp = f.lamp.swing
	for s := smallest; s <= float64(min(w, h))/3; s *= math.Sqrt2 {
		f.scales = append(f.scales, s)
	}
	frames := make([]Picture, len(in.Frames))
	run(len(frames), func(k int) { frames[k], _ = f.lamp.correct(in.Frames[k]) })
	var pairs [][2]Picture
	var look []Picture
	for k := range frames {
		if k == 0 || in.At[k] > in.At[k-1]+1 || len(look) < k/2+1 {
			look = append(look, frames[k])
		}
		if k > 0 && in.At[k] == in.At[k-1]+1 {
			pairs = append(pairs, [2]Picture{frames[k-1], frames[k]})
		}
	}
	if len(pairs) == 0 { // a single picture
		pairs = [][2]Picture{{frames[0], again(frames[0])}}
	}
	var six [][2]Picture
	for _, k := range spread(len(pairs), 6) {
		six = append(six, pairs[k])
	}
	still, by, moving := six, make([][2]float64, len(six)), 0.
	if len(frames) > 1 {
		still, by, moving = registered(six)
	}
	f.Shift = moving > .5
	f.noise = newNoise(frames, still, f.scales, laplace)
	l := &learning{Finder: *f, frames: look, pairs: still, all: frames, raw: six, by: by, force: in.Force}
	l.decide()
	return &l.Finder, nil
}

// again adds a second, independent copy of a picture's noise, which it assumes white. It takes the sd from the median of second differences along both axes
// (Immerkær, Computer Vision and Image Understanding 64, 300, 1996), so a field full of spots does not count as noise.
func again(a Picture) Picture {
	var all []float64
	for y := 1; y < a.H-1; y += 1 + a.H/256 {
		up, at, down := a.row(y-1), a.row(y), a.row(y+1)
		for x := 1; x < a.W-1; x += 1 + a.W/256 {
			side := func(r []float32) float64 { return float64(r[x-1]) - 2*float64(r[x]) + float64(r[x+1]) }
			all = append(all, math.Abs(side(up)-2*side(at)+side(down))/6)
		}
	}
	sd, rng, b := 0., rand.New(rand.NewPCG(1, 1)), NewPicture(a.W, a.H)
	if len(all) > 0 {
		sd = 1.4826 * median(all)
	}
	for i, v := range a.P {
		b.P[i] = v + float32(math.Sqrt2*sd*rng.NormFloat64())
	}
	return b
}

// learning holds the data that only Learn needs.
type learning struct {
	Finder
	frames []Picture // frames of the sample that are searched
	pairs  [][2]Picture
	raw    [][2]Picture // the same pairs before the removal of the field's shift
	by     [][2]float64 // the shift of each pair, px
	force  Force
	all    []Picture // the whole sample
	every  [][]blob  // all extrema of the scale space, per frame
	apart  [][]blob  // extrema without stronger neighbours and without satellites, per frame
}

func (l *learning) decide() {
	n := len(l.frames)
	l.every, l.apart = make([][]blob, n), make([][]blob, n)
	run(n, func(k int) {
		levels := make([]level, len(l.scales))
		for i, s := range l.scales {
			levels[i] = look(l.frames[k], s, laplace)
		}
		plain := *l.noise // no scale counts as texture yet, because cells side by side would
		plain.kappa = slices.Repeat([]float64{1}, len(l.scales))
		l.every[k] = extrema(levels, blur(l.frames[k], 2), sieve{&plain, 0, l.z, []float64{1, -1}, true})
		l.apart[k] = l.lonely(alone(slices.DeleteFunc(slices.Clone(l.every[k]), func(b blob) bool { return b.z < l.z*l.noise.kappa[b.at] }), l.w, l.h, 1.8))
	})
	count := 0
	for _, b := range l.apart {
		count += len(b)
	}
	if float64(count) < max(1, .15*float64(n)) {
		return
	}
	l.class()
	if !l.cells() {
		l.composed()
	}
	l.window, l.first = nil, -1
	for i, s := range l.scales {
		if math.Abs(math.Log2(s/l.Scale)) < .55 && !l.coarse || l.coarse && s == l.Scale {
			if l.first < 0 {
				l.first = i
			}
			l.window = append(l.window, s)
		}
	}
	l.threshold()
}

// threshold determines the smallest strength of an object in the class, the number of objects, and their kind.
func (l *learning) threshold() {
	n := len(l.frames)
	found := make([][]blob, n)
	joints := make([][][2]float64, n)
	run(n, func(k int) { found[k], joints[k] = l.detect(l.frames[k], l.z, 0) })
	var r []float64
	for _, b := range found {
		for i := range b {
			r = append(r, b[i].r)
		}
	}
	if len(r) == 0 {
		l.Scale = 0
		return
	}
	l.least, l.Depth = valley(r, n, slices.Min(r)*.999)
	if l.coarse {
		l.least = 0
	}
	joined, sure := 0., 0.
	var z, dominance []float64
	for k, b := range found {
		for _, j := range joints[k] {
			if min(j[0], j[1]) > max(l.least, .4*max(j[0], j[1])) {
				joined++
			}
		}
		sum, top := 0., 0.
		for i := range b {
			e := b[i].r * b[i].s * b[i].r * b[i].s
			sum, top = sum+e, max(top, e)
			if b[i].r > l.least {
				sure++
				z = append(z, b[i].z)
			}
		}
		if sum > 0 {
			dominance = append(dominance, top/sum)
		}
	}
	l.Count, l.Lasting = l.count(found, l.least)
	joined /= max(1, sure)
	l.Strength = median(z)
	a75, a50 := l.areas(found)
	l.extended = joined > .3 || a75 > 9 || a50 > 22 && a75 > 5
	if l.Depth == 0 && l.Strength < 3*l.z {
		l.low = weakest
		found = l.sensitive(found)
	}
	if (l.force == Free || l.force == ForceMany) && !l.significant(found) || l.force == Free && l.texture(found) {
		return
	}
	switch {
	case l.force == ForceOne || l.force == Free && (l.coarse || l.Count <= 1.5 || median(dominance) > .85):
		l.Kind = One
		l.single(found)
	case l.force == ForceBodies || l.force == Free && l.extended:
		l.Kind = Bodies
		l.usual()
	default:
		if l.Kind = Many; l.Count <= few {
			l.Kind = Few
		}
		l.common(found, a50)
	}
}
