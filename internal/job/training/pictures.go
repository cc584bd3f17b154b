package training

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"driftscope/infer/field"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/job/recording"
)

// The pictures around objects that train a model of objects.
const (
	widest       = 32   // px per side before trimming; the largest input of an encoder of objects
	lightReach   = 4    // distance from an object to the edge of the widest picture, sds of its light; a Gaussian has 3 parts in 10,000 beyond
	mostPictures = 8000 // 300 steps of 50 pairs see each twice
	fewPictures  = 200  // fewer cannot be split for held-out pictures
	leastTrack   = 10   // least number of pictures of one object; shorter tracks hardly show changes
	held         = 0.98 // fraction of the square of an object's light, and of its changes, within the encoder's square; 200 pictures determine it to 0.014
	levels       = 1e-3 // share of the pixels that may lie outside the grey levels, on either side
)

// sides lists the possible input sizes of an encoder of objects, px. They are multiples of 8, because the decoder doubles its size three times.
var sides = []int{16, 24, widest}

// picture is one object in one frame, in grey levels above its surroundings.
type picture struct {
	object uint64 // number, unique over all recordings
	at     float64
	alone  float64 // radius without other light, px of the frame
	values []float32
}

// pictures holds the pictures of all objects, cut out at the widest side.
type pictures struct {
	light frame.Template // of an object
	scale float64        // px of the frame per px of a picture
	of    []picture
}

// collect follows the objects of all recordings, until there are enough pictures.
func (p *pictures) collect(ctx context.Context, data recording.Dataset) error {
	for i, r := range data {
		most := 4 * mostPictures * (i + 1) / len(data) // more than needed, because only isolated objects are used
		err := follow(ctx, r, p.light, field.NewSquare(widest, p.scale, p.light.Dark), func(f *frame.Frame, o *latent.Objects) bool {
			p.add(uint64(i)<<48, recording.Seconds(f), o)
			return len(p.of) < most
		})
		if err != nil {
			return fmt.Errorf("%s: %w", r.Arg, err)
		}
	}
	return nil
}

// add appends the pictures of a frame's objects that are detected and not merged.
func (p *pictures) add(first uint64, at float64, o *latent.Objects) {
	const unsure = latent.Predicted | latent.Merged | latent.Doubtful
	for i, id := range o.ID {
		if o.Marks[i]&unsure != 0 {
			continue
		}
		one := picture{object: first + id, at: at, alone: p.alone(o, i), values: make([]float32, o.Latents)}
		for k, v := range o.Z[i*o.Latents:][:o.Latents] {
			one.values[k] = float32(v)
		}
		p.of = append(p.of, one)
	}
}

// alone returns the distance of an object from the nearest other object's light, which is about two sds wide, or from the frame's edge if that is nearer.
func (p *pictures) alone(o *latent.Objects, i int) float64 {
	x, y := o.X[i], o.Y[i]
	nearest := math.Inf(1)
	for j := range o.ID {
		if j != i {
			nearest = min(nearest, math.Hypot(o.X[j]-x, o.Y[j]-y)-2*p.light.SD)
		}
	}
	return min(nearest, x, y, float64(o.Width-1)-x, float64(o.Height-1)-y)
}

// side returns the side of the smallest square that contains an isolated object and its changes, or the smallest side if too few objects are isolated.
func (p *pictures) side() int {
	n, size := 0, widest*widest
	square := make([]float64, size)
	for _, one := range p.of {
		if one.alone < widest/2*p.scale {
			continue
		}
		n++
		for k, v := range one.values {
			square[k] += float64(v) * float64(v)
		}
	}
	if n < fewPictures {
		return sides[0]
	}
	light := make([]float64, size) // mean square minus the noise, which the border shows
	for k := range light {
		light[k] = square[k] / float64(n)
	}
	noise := slices.Clone(light[:widest])
	slices.Sort(noise)
	for k := range light {
		light[k] -= noise[widest/2]
	}
	for _, side := range sides {
		if inside(light, side) >= held*inside(light, widest) {
			return side
		}
	}
	return widest
}

// inside returns the sum over a central square of a picture of the widest side.
func inside(v []float64, side int) (sum float64) {
	from := (widest - side) / 2
	for row := from; row < from+side; row++ {
		for _, x := range v[row*widest+from:][:side] {
			sum += x
		}
	}
	return sum
}

// keep selects the pictures of objects that are isolated within a distance and occur often enough, in the order of objects and times.
func (p *pictures) keep(distance float64) {
	p.of = slices.DeleteFunc(p.of, func(one picture) bool { return one.alone < distance })
	slices.SortStableFunc(p.of, func(a, b picture) int { return cmp.Or(cmp.Compare(a.object, b.object), cmp.Compare(a.at, b.at)) })
	often := map[uint64]int{}
	for _, one := range p.of {
		often[one.object]++
	}
	p.of = slices.DeleteFunc(p.of, func(one picture) bool { return often[one.object] < leastTrack })
	p.thin((len(p.of) + mostPictures - 1) / mostPictures)
}

// thin keeps every nth object, so that all parts of all films remain represented.
func (p *pictures) thin(n int) {
	if n < 2 {
		return
	}
	rank := map[uint64]int{}
	p.of = slices.DeleteFunc(p.of, func(one picture) bool {
		if _, known := rank[one.object]; !known {
			rank[one.object] = len(rank)
		}
		return rank[one.object]%n != 0
	})
}

// trim cuts the pictures to a side, and subtracts the border's median again, as for the encoder.
func (p *pictures) trim(side int) {
	from := (widest - side) / 2
	for i := range p.of {
		whole := p.of[i].values
		cut := make([]float32, 0, side*side)
		for row := from; row < from+side; row++ {
			cut = append(cut, whole[row*widest+from:][:side]...)
		}
		around := field.Around(cut, side, nil)
		for k := range cut {
			cut[k] -= around
		}
		p.of[i].values = cut
	}
}

// levels returns grey levels that contain nearly all pixels.
func (p *pictures) levels() (low, high float64) {
	var all []float32
	for _, one := range p.of {
		all = append(all, one.values...)
	}
	slices.Sort(all)
	beyond := int(levels * float64(len(all)))
	return float64(all[beyond]), float64(all[len(all)-1-beyond])
}

// clip returns the pictures as a clip, with grey levels scaled to [0, 1].
func (p *pictures) clip(side int, low, high float64) *video.Clip {
	c := &video.Clip{Channels: 1, Height: side, Width: side}
	number := uint64(0)
	for i, one := range p.of {
		if i > 0 && one.object != p.of[i-1].object {
			number++
		}
		for _, v := range one.values {
			c.Pixels = append(c.Pixels, float32(min(max((float64(v)-low)/(high-low), 0), 1)))
		}
		c.Times, c.Trajectory = append(c.Times, one.at), append(c.Trajectory, number)
	}
	return c
}

// follow tracks the objects of a recording with the given light. It lends every frame and its objects, with the values from look, to
// visit, which returns false to stop. follow closes look.
func follow(ctx context.Context, r *recording.Recording, light frame.Template, look field.Look, visit func(f *frame.Frame, o *latent.Objects) bool) error {
	locators, err := field.NewLocators(recording.MostFollowed)
	if err != nil {
		return err
	}
	encoder := field.NewEncoder(locators, look)
	defer encoder.Close()
	_, timed, err := r.Follow(ctx, field.NewTemplate(light), encoder.Encode, visit)
	if err == nil && !timed {
		return r.Untimed()
	}
	return err
}
