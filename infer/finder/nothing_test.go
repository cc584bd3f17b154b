package finder

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"testing"
)

// empties are the kinds of films without objects.
var empties = []string{"white", "read", "lines", "fixed pattern", "codec"}

// empty renders a film of pure noise.
func empty(kind string, w, h, frames int, r *rand.Rand) []Picture {
	film := make([]Picture, frames)
	offset, sd := 100+400*r.Float64(), 2+18*r.Float64()
	fixed := NewPicture(w, h)
	for i := range fixed.P {
		fixed.P[i] = float32(r.NormFloat64() * sd)
	}
	columns := make([]float64, w)
	for x := range columns {
		columns[x] = r.NormFloat64() * sd
	}
	for k := range film {
		f := NewPicture(w, h)
		for y := range h {
			line := 0.
			if kind == "lines" {
				line = r.NormFloat64() * sd
			}
			for x := range w {
				v := offset + sd*r.NormFloat64() + line
				switch kind {
				case "read":
					v = offset + 2*r.NormFloat64() + math.Sqrt(offset*(1+.5*float64(x)/float64(w)))*r.NormFloat64()
				case "fixed pattern":
					v += float64(fixed.P[y*w+x]) + columns[x]
				}
				f.P[y*w+x] = float32(math.Round(v))
			}
		}
		if kind == "codec" {
			f = coded(f, 30+r.IntN(50))
		}
		film[k] = f
	}
	return film
}

// coded returns a picture after JPEG compression.
func coded(f Picture, quality int) Picture {
	lo, hi := f.P[0], f.P[0]
	for _, v := range f.P {
		lo, hi = min(lo, v), max(hi, v)
	}
	g := image.NewGray(image.Rect(0, 0, f.W, f.H))
	for i, v := range f.P {
		g.Pix[i] = uint8((v - lo) / (hi - lo) * 255)
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, g, &jpeg.Options{Quality: quality}); err != nil {
		panic(err)
	}
	back, err := jpeg.Decode(&b)
	if err != nil {
		panic(err)
	}
	for i := range f.P {
		f.P[i] = float32(back.(*image.Gray).GrayAt(i%f.W, i/f.W).Y)
	}
	return f
}

// texture renders a film of a random texture that stays or drifts as a whole.
func texture(w, h, frames int, r *rand.Rand) (film []Picture, about string) {
	scale, contrast, step := math.Exp2(3*r.Float64()), math.Exp2(1+4*r.Float64()), 0.
	if r.IntN(2) == 0 {
		step = 6 * r.Float64()
	}
	angle := 2 * math.Pi * r.Float64()
	dx, dy := step*math.Cos(angle), step*math.Sin(angle)
	margin := int(math.Ceil(step*float64(frames))) + 2
	wide := NewPicture(w+2*margin, h+2*margin)
	for i := range wide.P {
		wide.P[i] = float32(r.NormFloat64())
	}
	wide = blur(wide, scale)
	var v []float64
	for _, p := range wide.P {
		v = append(v, float64(p))
	}
	gain := float32(contrast * 5 / sd(v))
	for k := range frames {
		f := NewPicture(w, h)
		for y := range h {
			for x := range w {
				u := wide.at(float64(x+margin)+dx*float64(k), float64(y+margin)+dy*float64(k))
				f.P[y*w+x] = float32(math.Round(500 + float64(gain)*u + 5*r.NormFloat64()))
			}
		}
		film = append(film, f)
	}
	return film, fmt.Sprintf("texture of %.1f px, %.0f times the noise, %.1f px a frame", scale, contrast, step)
}

func learnt(t *testing.T, film []Picture) *Finder {
	t.Helper()
	in := Sample{At: Wanted(len(film))}
	for _, k := range in.At {
		in.Frames = append(in.Frames, film[k])
	}
	f, err := Learn(in)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestNothing: Learn finds objects in at most 2 of 250 films without objects, 200 of noise and 50 of texture.
func TestNothing(t *testing.T) {
	noises, textures := 200, 50
	if testing.Short() {
		noises, textures = 20, 10
	}
	wrong := 0
	tell := func(seed int, about string, f *Finder) {
		if f.Kind != Nothing {
			wrong++
			t.Logf("seed %d, %s: %v, %.0f of %.1f px, %.1f sd", seed, about, f.Kind, f.Count, f.Scale, f.Strength)
		}
	}
	for seed := range noises {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		w, h := 48+r.IntN(110), 48+r.IntN(110)
		kind := empties[seed%len(empties)]
		tell(seed, fmt.Sprintf("%s %dx%d", kind, w, h), learnt(t, empty(kind, w, h, 20, r)))
	}
	for seed := range textures {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		film, about := texture(64+r.IntN(100), 64+r.IntN(100), 20, r)
		tell(seed, about, learnt(t, film))
	}
	t.Logf("an object on %d of %d films", wrong, noises+textures)
	if wrong > max(1, (noises+textures)/125) {
		t.Errorf("an object on %d of %d films without one, at most %d are expected", wrong, noises+textures, max(1, (noises+textures)/125))
	}
}
