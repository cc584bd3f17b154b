package preprocess

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"driftscope/internal/kit/numbers"
)

// Point is a position in a picture, in pixels. The centre of the top left pixel is (0, 0).
type Point struct{ X, Y float64 }

// distinct is the number of standard deviations of the noise from which a departure counts. Noise alone reaches 4 at the edges.
const distinct = 6

// Centres finds the single object of a recording, bright or dark, by the two-pass centre search of Hasan et al. 2021 (supplement, "Fluorescent DNA Details").
// It returns the object's centre in each frame and the mean of the centres. Each frame has width*height values, row by row.
//
// First pass: subtract the per-pixel mean over the frames, smooth with a Gaussian of 3 pixels, take the largest magnitude. (The paper also scales by min and
// max and applies a 3x3 maximum filter. Both are left out, because they move no maximum.) The second pass searches around the median of these positions. Its
// window extends 12 pixels plus three robust standard deviations of the positions, per axis, and so covers the whole excursion.
//
// Subtracting the mean leaves only the flanks of an object that moves less than its own radius, and removes a resting object. So the second pass subtracts the
// mean only if the object leaves its mean picture, that is, if at the positions of the first pass the difference is typically twice as strong as the mean
// picture. Otherwise it searches the picture minus its median. If no difference exceeds the noise, the search is centred on the strongest point of the mean
// picture. All frames use one polarity, the one that is stronger in most frames.
//
// Positions are whole pixels; Centroid refines them. Centres keeps no reference to frames.
func Centres(frames [][]float32, width, height int) (centres []Point, mean Point, err error) {
	if err := checkPictures(frames, width, height); err != nil {
		return nil, Point{}, err
	}
	s := newSearch(frames, width, height)
	places, leaves := s.firstPass()
	centres = s.secondPass(s.window(places), leaves)
	for _, c := range centres {
		mean.X += c.X / float64(len(centres))
		mean.Y += c.Y / float64(len(centres))
	}
	return centres, mean, nil
}

// checkPictures bounds the input of Centres and Centroid.
func checkPictures(frames [][]float32, width, height int) error {
	if len(frames) == 0 {
		return errors.New("centre search: no frames: give at least one")
	}
	if width < 1 || height < 1 || width > MaxSide || height > MaxSide {
		return fmt.Errorf("centre search: found %dx%d pixels, expected 1 to %d per side", width, height, MaxSide)
	}
	for i, f := range frames {
		if len(f) != width*height {
			return fmt.Errorf("centre search: frame %d has %d pixels, expected %dx%d: give pictures of one size", i, len(f), width, height)
		}
		if slices.ContainsFunc(f, notFinite) {
			return fmt.Errorf("centre search: frame %d contains a number that is not finite: leave the frame out", i)
		}
	}
	return nil
}

func notFinite(v float32) bool { return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) }

// search holds a recording and the pictures that both passes need.
type search struct {
	frames        [][]float32
	width, height int
	mean          []float32 // smoothed per-pixel mean
	now           []float32 // smoothed current frame
	blur          *blur
}

func newSearch(frames [][]float32, width, height int) *search {
	n := width * height
	s := &search{
		frames: frames, width: width, height: height,
		mean: make([]float32, n), now: make([]float32, n), blur: newBlur(),
	}
	sum := make([]float64, n)
	for _, f := range frames {
		for i, v := range f {
			sum[i] += float64(v)
		}
	}
	for i := range sum {
		s.now[i] = float32(sum[i] / float64(len(frames)))
	}
	s.blur.apply(s.mean, s.now, s.width, s.height)
	return s
}

// firstPass returns the position of each frame's strongest departure from the mean picture. leaves reports whether the object typically leaves its mean
// picture. If most departures are noise, firstPass returns only the strongest point of the mean picture.
func (s *search) firstPass() (places []Point, leaves bool) {
	all := box{0, 0, s.width, s.height}
	flat, _ := level(s.mean)
	departure, resting, clarity := s.list(), s.list(), s.list()
	for t, f := range s.frames {
		s.blur.apply(s.now, f, s.width, s.height)
		p := stronger(s.peaks(s.now, all, func(i int) float32 { return s.mean[i] }))
		for i := range s.now {
			s.now[i] -= s.mean[i]
		}
		_, noise := level(s.now)
		places = append(places, p.at)
		departure[t], clarity[t] = p.height, p.height-distinct*noise
		resting[t] = abs(s.mean[int(p.at.Y)*s.width+int(p.at.X)] - flat)
	}
	if numbers.Median(clarity) <= 0 {
		strongest := stronger(s.peaks(s.mean, all, func(int) float32 { return flat }))
		return []Point{strongest.at}, false
	}
	return places, numbers.Median(departure) > 2*numbers.Median(resting)
}

// list allocates one number per frame.
func (s *search) list() []float32 { return make([]float32, len(s.frames)) }

// window returns the part of the picture for the second pass.
func (s *search) window(at []Point) box {
	cx, rx := centreAndReach(at, func(p Point) float64 { return p.X })
	cy, ry := centreAndReach(at, func(p Point) float64 { return p.Y })
	return box{
		max(0, int(cx-rx)), max(0, int(cy-ry)),
		min(s.width, int(cx+rx)+1), min(s.height, int(cy+ry)+1),
	}
}

// centreAndReach returns the median of one coordinate and the range to search on each side of it.
func centreAndReach(at []Point, axis func(Point) float64) (centre, reach float64) {
	v := make([]float32, len(at))
	for i, p := range at {
		v[i] = float32(axis(p))
	}
	middle, sd := level(v)
	return float64(middle), 4*smoothing + 3*float64(sd)
}

// secondPass returns the centre in each frame, within win.
func (s *search) secondPass(win box, leaves bool) []Point {
	bright, dark := make([]Point, len(s.frames)), make([]Point, len(s.frames))
	above, below := s.list(), s.list()
	for t, f := range s.frames {
		s.blur.apply(s.now, f, s.width, s.height)
		flat, _ := level(s.now)
		b, d := s.peaks(s.now, win, func(i int) float32 {
			if leaves {
				return s.mean[i]
			}
			return flat
		})
		bright[t], dark[t] = b.at, d.at
		above[t], below[t] = b.height, d.height
	}
	if numbers.Median(above) >= numbers.Median(below) {
		return bright
	}
	return dark
}

// peak is a position and its departure from the background.
type peak struct {
	at     Point
	height float32
}

func stronger(a, b peak) peak {
	if b.height > a.height {
		return b
	}
	return a
}

// box is a part of a picture: columns x0 to x1 and rows y0 to y1, ends excluded.
type box struct{ x0, y0, x1, y1 int }

// peaks returns the points within win at which picture is farthest above and farthest below the background.
func (s *search) peaks(picture []float32, win box, background func(i int) float32) (bright, dark peak) {
	bright.height, dark.height = float32(math.Inf(-1)), float32(math.Inf(-1))
	for y := win.y0; y < win.y1; y++ {
		for x := win.x0; x < win.x1; x++ {
			i := y*s.width + x
			d := picture[i] - background(i)
			if d > bright.height {
				bright = peak{Point{float64(x), float64(y)}, d}
			}
			if -d > dark.height {
				dark = peak{Point{float64(x), float64(y)}, -d}
			}
		}
	}
	return bright, dark
}

// level returns the median of v, or of an evenly spread sample of v, and a robust standard deviation, computed from the median absolute deviation.
func level(v []float32) (middle, sd float32) {
	every := 1
	if len(v) > maxSamples {
		every = len(v)/maxSamples | 1
	}
	return levelOf(spread(nil, v, every))
}

// levelOf is like level, but uses all of v, and overwrites it.
func levelOf(v []float32) (middle, sd float32) {
	middle = numbers.Median(v)
	for i := range v {
		v[i] = abs(v[i] - middle)
	}
	return middle, 1.4826 * numbers.Median(v) // 1.4826: the ratio for a Gaussian
}

func abs(v float32) float32 { return max(v, -v) }
