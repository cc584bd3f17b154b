package estimator

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"

	"gocv.io/x/gocv"

	"driftscope/internal/job/recording"
	"driftscope/preprocess"
)

// spot is one of several objects in a picture.
type spot struct {
	at   preprocess.Point
	mass float64 // Σ of the band-passed picture over the object
}

// spotFinder finds objects of similar size, bright or dark on an uneven ground, by the method of Crocker and Grier 1996.
type spotFinder struct {
	radius int     // of an object, pixels
	dark   bool    // darker than the ground
	share  float64 // of the highest peak in the picture; a spot's peak reaches at least this
}

// find lists the spots of a picture whose discs lie entirely in it, each at the centroid of the band-passed picture.
func (f *spotFinder) find(g recording.GreyFrame) ([]spot, error) {
	if g.Width < 4*f.radius || g.Height < 4*f.radius {
		return nil, fmt.Errorf("found %dx%d pixels, objects of radius %d need four times that: give larger pictures", g.Width, g.Height, f.radius)
	}
	band, err := f.bandPass(g)
	if err != nil {
		return nil, err
	}
	highest := float64(slices.Max(band.Pixels))
	var found []spot
	for y := f.radius; y < g.Height-f.radius; y++ {
		for x := f.radius; x < g.Width-f.radius; x++ {
			if v := band.Pixels[y*g.Width+x]; float64(v) < f.share*highest || v <= 0 || !peaks(&band, x, y, f.radius) {
				continue
			}
			if s, ok := f.refine(&band, preprocess.Point{X: float64(x), Y: float64(y)}); ok {
				found = append(found, s)
			}
		}
	}
	return found, nil
}

// bandPass keeps structures that are wider than a pixel and narrower than an object, of the wanted polarity.
func (f *spotFinder) bandPass(g recording.GreyFrame) (recording.GreyFrame, error) {
	m := gocv.NewMatWithSize(g.Height, g.Width, gocv.MatTypeCV32FC1)
	defer m.Close()
	pixels, err := m.DataPtrFloat32()
	if err != nil {
		return recording.GreyFrame{}, err
	}
	copy(pixels, g.Pixels)
	fine, wide := gocv.NewMat(), gocv.NewMat()
	defer fine.Close()
	defer wide.Close()
	gocv.GaussianBlur(m, &fine, image.Pt(7, 7), 1, 1, gocv.BorderReflect)
	gocv.Blur(m, &wide, image.Pt(2*f.radius+1, 2*f.radius+1))
	if f.dark {
		gocv.Subtract(wide, fine, &fine)
	} else {
		gocv.Subtract(fine, wide, &fine)
	}
	pixels, err = fine.DataPtrFloat32()
	return recording.GreyFrame{Pixels: slices.Clone(pixels), Width: g.Width, Height: g.Height}, err
}

// peaks reports that no pixel within reach is higher, and none before it in the picture is as high.
func peaks(g *recording.GreyFrame, x, y, reach int) bool {
	at := y*g.Width + x
	for v := y - reach; v <= y+reach; v++ {
		for u := x - reach; u <= x+reach; u++ {
			if i := v*g.Width + u; g.Pixels[i] > g.Pixels[at] || (g.Pixels[i] == g.Pixels[at] && i < at) {
				return false
			}
		}
	}
	return true
}

// refine moves a disc to the centroid of its contents until it rests, and returns false if the disc leaves the picture.
func (f *spotFinder) refine(band *recording.GreyFrame, at preprocess.Point) (spot, bool) {
	const rounds, still = 20, 1e-3 // as Centroid's
	reach := float64(f.radius)
	s := spot{at: at}
	for range rounds {
		x0, y0 := int(math.Ceil(s.at.X-reach)), int(math.Ceil(s.at.Y-reach))
		x1, y1 := int(math.Floor(s.at.X+reach)), int(math.Floor(s.at.Y+reach))
		if x0 < 0 || y0 < 0 || x1 >= band.Width || y1 >= band.Height {
			return spot{}, false
		}
		var sx, sy float64
		s.mass = 0
		for y := y0; y <= y1; y++ {
			for x := x0; x <= x1; x++ {
				dx, dy := float64(x)-s.at.X, float64(y)-s.at.Y
				if w := float64(band.Pixels[y*band.Width+x]); w > 0 && dx*dx+dy*dy <= reach*reach {
					s.mass, sx, sy = s.mass+w, sx+w*dx, sy+w*dy
				}
			}
		}
		if s.mass == 0 {
			return spot{}, false
		}
		s.at.X, s.at.Y = s.at.X+sx/s.mass, s.at.Y+sy/s.mass
		if math.Hypot(sx, sy) < still*s.mass {
			break
		}
	}
	return s, true
}

// spotTrack is one spot through consecutive pictures.
type spotTrack struct {
	from  int // picture of its first spot
	spots []spot
}

// linkSpots links spots from picture to picture. A spot continues in its nearest spot within reach, if it is also the nearest spot of that one. Otherwise its
// track ends, and a new track begins there.
func linkSpots(pictures [][]spot, reach float64) []*spotTrack {
	var all, open []*spotTrack
	for k, spots := range pictures {
		var ends []spot
		for _, t := range open {
			ends = append(ends, t.spots[len(t.spots)-1])
		}
		taken, still := make([]bool, len(spots)), []*spotTrack{}
		for i, t := range open {
			if next := nearest(spots, ends[i].at, reach); next >= 0 && nearest(ends, spots[next].at, reach) == i {
				taken[next] = true
				t.spots = append(t.spots, spots[next])
				still = append(still, t)
			}
		}
		for i, s := range spots {
			if !taken[i] {
				still = append(still, &spotTrack{from: k, spots: []spot{s}})
				all = append(all, still[len(still)-1])
			}
		}
		open = still
	}
	return all
}

// nearest returns the index of the spot nearest to at, within reach, or -1.
func nearest(spots []spot, at preprocess.Point, reach float64) int {
	best := -1
	for i, s := range spots {
		if d := math.Hypot(s.at.X-at.X, s.at.Y-at.Y); d <= reach {
			best, reach = i, d
		}
	}
	return best
}

// isolated returns the tracks through all n pictures that have no other spot within apart in the first picture, the heaviest first.
func isolated(tracks []*spotTrack, n int, apart float64) []*spotTrack {
	var firsts []spot
	for _, t := range tracks {
		if t.from == 0 {
			firsts = append(firsts, t.spots[0])
		}
	}
	var alone []*spotTrack
	for _, t := range tracks {
		at := t.spots[0].at
		near := slices.IndexFunc(firsts, func(s spot) bool {
			d := math.Hypot(s.at.X-at.X, s.at.Y-at.Y)
			return d > 0 && d < apart
		})
		if len(t.spots) == n && near < 0 {
			alone = append(alone, t)
		}
	}
	slices.SortStableFunc(alone, func(a, b *spotTrack) int { return cmp.Compare(b.spots[0].mass, a.spots[0].mass) })
	return alone
}
