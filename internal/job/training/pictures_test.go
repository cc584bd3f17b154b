package training

import (
	"math"
	"strings"
	"testing"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/job/recording"
	"driftscope/internal/suite"
)

// gaussian returns a square of the widest side with an object's light in the middle, on noise that alternates between 0 and 1 by pixel and number.
func gaussian(sd, height float64, number int) []float32 {
	v := make([]float32, widest*widest)
	for i := range v {
		x, y := float64(i%widest)-(widest-1)/2., float64(i/widest)-(widest-1)/2.
		v[i] = float32(height*math.Exp(-(x*x+y*y)/(2*sd*sd))) + float32((i+i/widest+number)%2) - 0.5
	}
	return v
}

// TestSide: the smallest square that contains an object is chosen: 4 sds of 2 px are 8 px. Distant rings of light and a temporarily wide object need a larger
// one. Without isolated objects the smallest square has the fewest neighbours.
func TestSide(t *testing.T) {
	for name, c := range map[string]struct {
		widths []float64
		alone  float64
		want   int
	}{
		"small":               {[]float64{1.5}, 40, 16},
		"as large as 16 hold": {[]float64{2.8}, 40, 16},
		"larger":              {[]float64{5}, 40, 24},
		"out of focus a lot":  {[]float64{1.5, 6, 6, 6}, 40, 24},
		"fills the widest":    {[]float64{9}, 40, 32},
		"never alone":         {[]float64{9}, 5, 16},
	} {
		p := &pictures{scale: 1}
		for i := range 2 * fewPictures {
			p.of = append(p.of, picture{alone: c.alone, values: gaussian(c.widths[i%len(c.widths)], 20, i)})
		}
		if side := p.side(); side != c.want {
			t.Errorf("%s: found %d px a side, expected %d", name, side, c.want)
		}
	}
}

// TestPictures: objects that are detected, isolated, not merged and frequent enough are kept, each as a trajectory in order of time. A square is the centre
// of the widest one minus its surroundings, in [0, 1].
func TestPictures(t *testing.T) {
	const themselves, guessed = latent.Mark(0), latent.Predicted
	p := &pictures{scale: 1, light: frame.Template{SD: 1}}
	for f := range 20 {
		o := &latent.Objects{ID: []uint64{3, 4, 7, 9}, X: []float64{50, 58, 100, 200}, Y: []float64{50, 50, 50, 50}, Width: 400, Height: 400, Latents: widest * widest,
			Marks: []latent.Mark{themselves, themselves, guessed, themselves | latent.Directed}}
		if f < 5 { // too short a time
			o.ID, o.X, o.Y, o.Marks = append(o.ID, 11), append(o.X, 300), append(o.Y, 300), append(o.Marks, themselves)
		}
		for range o.ID {
			for _, v := range gaussian(2, 20, f) {
				o.Z = append(o.Z, 100+float64(v))
			}
		}
		p.add(1<<48, float64(f), o)
		p.add(2<<48, float64(f), o)
	}
	if p.of[0].alone != 6 || p.of[2].alone != 50 {
		t.Errorf("found %g and %g px to the nearest light and to the edge, expected 6 and 50", p.of[0].alone, p.of[2].alone)
	}
	p.keep(6.5)
	if n := len(p.of); n != 40 {
		t.Fatalf("%d pictures are kept, expected those of object 9 in 20 frames of two recordings", n)
	}
	p.trim(16)
	low, high := p.levels()
	c := p.clip(16, low, high)
	if err := c.Check(); err != nil && !strings.Contains(err.Error(), "static") {
		t.Error(err)
	}
	if c.Len() != 40 || c.Trajectory[0] != 0 || c.Trajectory[39] != 1 || c.Times[19] != 19 || c.Width != 16 {
		t.Errorf("%d frames of %d px, trajectories %v", c.Len(), c.Width, c.Trajectory)
	}
	if around, most := c.Frame(0)[0], c.Frame(0)[16*8+8]; math.Abs(low) > 1.01 || math.Abs(high-20) > 2 || around > 0.1 || most < 0.9 {
		t.Errorf("grey levels %g to %g; %g around, %g in the middle", low, high, around, most)
	}
}

// TestCheckObjects: flags without a meaning for --objects are refused.
func TestCheckObjects(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"leave --from out":             func(c *Options) { c.From = "m.onnx" },
		"leave --crop and --clahe out": func(c *Options) { c.CLAHE = "on" },
		"--crop":                       func(c *Options) { c.Crop = "0,0,16" },
		"leave --clock out":            func(c *Options) { c.Clock = true },
	} {
		c := Defaults()
		change(&c)
		if err := c.checkObjects(); err != nil {
			t.Errorf("without --objects: %v", err)
		}
		c.Objects = true
		if err := c.checkObjects(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}

// TestThin: if there are too many pictures, whole objects are left out, evenly.
func TestThin(t *testing.T) {
	p := &pictures{}
	for i := range 3 * mostPictures {
		p.of = append(p.of, picture{object: uint64(i / 10), at: float64(i), alone: 20})
	}
	p.keep(10)
	if n, last := len(p.of), p.of[len(p.of)-1].object; n != mostPictures || last != 3*mostPictures/10-3 || p.of[10].object != 3 || p.of[9].object != 0 {
		t.Errorf("%d pictures are left, up to object %d", n, last)
	}
}

// TestPrepareObjects: a film whose objects leave the focus gives a clip of small squares, with the parameters to cut them out again. A film with identical
// objects, without objects, or too short is refused before training.
func TestPrepareObjects(t *testing.T) {
	suite.Calculation(t)
	prepare := func(film string) (*choice, error) {
		t.Helper()
		data, err := recording.OpenDataset([]string{film}, 0, 0, "", recording.Whole)
		if err != nil {
			t.Fatal(err)
		}
		c := Defaults()
		c.Objects, c.Latent, c.Source = true, "1", []string{film}
		return c.prepareObjects(t.Context(), data, origin{left: &unfinished{}})
	}
	const small = "?density=12&snr=8&width=200&height=200&seed=2&frames="
	found, err := prepare("sim:focus" + small + "100")
	if err != nil {
		t.Fatal(err)
	}
	if err := found.clip.Check(); err != nil {
		t.Error(err)
	}
	if o := found.objects; found.clip.Width != 16 || found.latent != 1 || o.Scale != 1 || o.Dark || o.Template < 1.2 || o.Template > 2.5 || !(o.High > o.Low) || len(found.steps) != 0 {
		t.Errorf("squares of %d px, %d latents, %+v", found.clip.Width, found.latent, o)
	}
	for film, want := range map[string]string{
		"sim:trapped" + small + "100":                        "all objects look alike except for noise",
		"sim:focus" + small + "12":                           "expected at least 200",
		"sim:vesicle?density=0&width=64&height=64&frames=40": "no object is visible",
	} {
		if _, err := prepare(film); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "sim:") {
			t.Errorf("%s: found %v, expected %q", film, err, want)
		}
	}
}
