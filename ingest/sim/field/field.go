// Package field simulates fields of many spots with known tracks, after the published description of the ISBI particle tracking challenge (Chenouard
// et al., Nature Methods 11, 281, 2014): spots of a Gaussian point spread function, integrated over pixels, on an even background, under Poisson noise.
//
// SNR is (peak - background)/√peak, the peak a pixel's that a spot's middle lies in. Places are pixels, whole numbers at pixels' middles. Objects are born
// and die at random, at rates that keep the density; those that leave the picture have died.
package field

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Scenario is how objects move.
type Scenario string

// The scenarios.
const (
	Vesicle  Scenario = "vesicle"  // Brownian, sd of a step 1 to 3 px an axis, uniform over objects
	Receptor Scenario = "receptor" // switches between Brownian, sd 1 px, and directed, 2 to 4 px a frame, 0.05 a frame each way
	Directed Scenario = "directed" // 2 to 5 px a frame, with angular noise of 0.1 rad
	Trapped  Scenario = "trapped"  // Ornstein-Uhlenbeck about where it was born, 0.1 a frame, sd of a step 1 px
)

// Scenarios lists them.
var Scenarios = []Scenario{Vesicle, Receptor, Directed, Trapped}

// Options describe a field.
type Options struct {
	Scenario      Scenario
	Density       int     // objects in a picture
	SNR           float64 // see the package
	Width, Height int     // px
	Frames        int
	Seed          uint64
	SD            float64 // of the point spread function, px; 1.4
	Background    float64 // photons a pixel; 10
	Life          float64 // mean, frames; 30
}

// Point is an object in a frame.
type Point struct {
	Frame int
	X, Y  float64 // px
}

// Field is a film that is drawn frame by frame.
type Field struct {
	Tracks [][]Point // the truth; those of one frame alone are none

	o    Options
	peak float64
	at   [][]Point // a frame
	rng  *rand.Rand
	mean []float64
}

// New moves all objects; Draw draws.
func New(o Options) (*Field, error) {
	for _, v := range []struct {
		field *float64
		value float64
	}{{&o.SD, 1.4}, {&o.Background, 10}, {&o.Life, 30}} {
		if *v.field == 0 {
			*v.field = v.value
		}
	}
	if o.Width < 16 || o.Height < 16 || o.Width > 1<<14 || o.Height > 1<<14 || o.Frames < 1 || o.Frames > 1<<20 || o.Density < 0 || o.Density > 1<<17 ||
		!(o.SNR > 0 && o.SNR < 1e4) || !(o.SD >= 0.3 && o.SD < 50) || !(o.Background > 0 && o.Background < 1e6) || !(o.Life >= 1) {
		return nil, fmt.Errorf("a field of %d objects in %dx%d px over %d frames at SNR %g, sd %g px, background %g and life %g frames: one of these is out of bounds",
			o.Density, o.Width, o.Height, o.Frames, o.SNR, o.SD, o.Background, o.Life)
	}
	f := &Field{o: o, rng: rand.New(rand.NewPCG(o.Seed, 0xf1e1d)), mean: make([]float64, o.Width*o.Height)}
	r := (o.SNR + math.Sqrt(o.SNR*o.SNR+4*o.Background)) / 2
	f.peak = r*r - o.Background
	for frame := range o.Frames {
		n := o.Density
		if frame > 0 {
			n = f.poisson(float64(o.Density) / o.Life)
		}
		for range n {
			if err := f.live(frame); err != nil {
				return nil, err
			}
		}
	}
	f.at = make([][]Point, o.Frames)
	for _, track := range f.Tracks {
		for _, p := range track {
			f.at[p.Frame] = append(f.at[p.Frame], p)
		}
	}
	return f, nil
}

// live moves one object from its birth to its death.
func (f *Field) live(born int) error {
	o, rng := f.o, f.rng
	end := born + 2
	for rng.Float64() >= 1/o.Life { // geometric
		end++
	}
	x, y := rng.Float64()*float64(o.Width), rng.Float64()*float64(o.Height)
	homeX, homeY := x, y
	sd, speed, angle, goes := 1+2*rng.Float64(), 2+3*rng.Float64(), 2*math.Pi*rng.Float64(), rng.Float64() < 0.5
	var track []Point
	for frame := born; frame < min(end, o.Frames); frame++ {
		if x < 0 || y < 0 || x >= float64(o.Width-1) || y >= float64(o.Height-1) {
			break
		}
		track = append(track, Point{frame, x, y})
		switch o.Scenario {
		case Vesicle:
			x, y = x+sd*rng.NormFloat64(), y+sd*rng.NormFloat64()
		case Trapped:
			x, y = x-0.1*(x-homeX)+rng.NormFloat64(), y-0.1*(y-homeY)+rng.NormFloat64()
		case Directed:
			angle += 0.1 * rng.NormFloat64()
			x, y = x+speed*math.Cos(angle), y+speed*math.Sin(angle)
		case Receptor:
			if rng.Float64() < 0.05 {
				goes, angle, speed = !goes, 2*math.Pi*rng.Float64(), 2+2*rng.Float64()
			}
			if goes {
				x, y = x+speed*math.Cos(angle), y+speed*math.Sin(angle)
			} else {
				x, y = x+rng.NormFloat64(), y+rng.NormFloat64()
			}
		default:
			return fmt.Errorf("no scenario %q: one of %v", o.Scenario, Scenarios)
		}
	}
	if len(track) >= 2 {
		f.Tracks = append(f.Tracks, track)
	}
	return nil
}

// At lends the true places of a frame.
func (f *Field) At(frame int) []Point { return f.at[frame] }

// Draw draws a frame, in photons. Frames are drawn once each, from the first on: the noise is one stream.
func (f *Field) Draw(frame int, dst []uint16) {
	for i := range f.mean {
		f.mean[i] = f.o.Background
	}
	reach := int(math.Ceil(4.3 * f.o.SD))
	edge := 1 / (math.Sqrt2 * f.o.SD)
	norm := math.Erf(0.5 * edge)
	line := func(out []float64, centre float64, from int) {
		for i := range out {
			out[i] = 0.5 * (math.Erf((float64(from+i)+0.5-centre)*edge) - math.Erf((float64(from+i)-0.5-centre)*edge)) / norm
		}
	}
	tx, ty := make([]float64, 2*reach+1), make([]float64, 2*reach+1)
	for _, p := range f.at[frame] {
		x0, y0 := int(math.RoundToEven(p.X))-reach, int(math.RoundToEven(p.Y))-reach
		line(tx, p.X, x0)
		line(ty, p.Y, y0)
		for j, v := range ty {
			y := y0 + j
			if y < 0 || y >= f.o.Height {
				continue
			}
			for i, u := range tx {
				if x := x0 + i; x >= 0 && x < f.o.Width {
					f.mean[y*f.o.Width+x] += f.peak * u * v
				}
			}
		}
	}
	for i, m := range f.mean {
		dst[i] = uint16(min(f.poisson(m), math.MaxUint16))
	}
}

// poisson draws by inversion below a mean of 60, and above by a rounded normal law, whose error there is below what a film shows.
func (f *Field) poisson(mean float64) int {
	if mean > 60 {
		return max(0, int(math.Round(mean+math.Sqrt(mean)*f.rng.NormFloat64())))
	}
	p := math.Exp(-mean)
	u, n := f.rng.Float64(), 0
	for sum := p; u > sum && n < 400; sum += p {
		n++
		p *= mean / float64(n)
	}
	return n
}

// Bound is the Cramér-Rao lower bound of the place of a single spot, px an axis: by the Fisher information of Poisson counts about place, amplitude
// and a background that is known, the root of the mean over places in a pixel.
func (f *Field) Bound() float64 {
	const parts = 5
	sum := 0.0
	for i := range parts * parts {
		dx, dy := (float64(i%parts)+0.5)/parts-0.5, (float64(i/parts)+0.5)/parts-0.5
		sum += f.boundAt(dx, dy) / (parts * parts)
	}
	return math.Sqrt(sum)
}

// boundAt is the bound's square for a spot so far from a pixel's middle, the mean of both axes.
func (f *Field) boundAt(dx, dy float64) float64 {
	reach := int(math.Ceil(5 * f.o.SD))
	edge := 1 / (math.Sqrt2 * f.o.SD)
	norm := math.Erf(0.5 * edge)
	pdf := func(u float64) float64 { return math.Exp(-u*u/(2*f.o.SD*f.o.SD)) / (f.o.SD * math.Sqrt(2*math.Pi)) }
	// the share of an axis' light in pixel k, and its derivative by the place
	share := func(k int, at float64) (s, d float64) {
		a, b := float64(k)-0.5-at, float64(k)+0.5-at
		return 0.5 * (math.Erf(b*edge) - math.Erf(a*edge)) / norm, (pdf(a) - pdf(b)) / norm
	}
	var info [3][3]float64
	for y := -reach; y <= reach; y++ {
		sy, gy := share(y, dy)
		for x := -reach; x <= reach; x++ {
			sx, gx := share(x, dx)
			g := [3]float64{sx * sy, f.peak * gx * sy, f.peak * sx * gy}
			mean := f.o.Background + f.peak*sx*sy
			for i := range g {
				for j := range g {
					info[i][j] += g[i] * g[j] / mean
				}
			}
		}
	}
	// the inverse's lower two diagonal entries, the amplitude eliminated
	xx, xy, yy := info[1][1]-info[0][1]*info[0][1]/info[0][0], info[1][2]-info[0][1]*info[0][2]/info[0][0], info[2][2]-info[0][2]*info[0][2]/info[0][0]
	return (xx + yy) / (xx*yy - xy*xy) / 2
}
