package sim

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// MaxFrames bounds a finite scene: Record numbers its files with seven digits, and New walks the path once to fit the picture.
const MaxFrames = 10_000_000

// The second word of a PCG seed, so that the path does not depend on how many random numbers the pixels take, nor on whose
// pictures are drawn; and a scene with noise shows what the one without it does, under the noise.
const (
	pathStream  = 1
	pixelStream = 2
	assetStream = 3
	noiseStream = 4
)

// How a renderer places what it draws. The published balls and digits were drawn at truncated centres.
const (
	Subpixel = "subpixel"
	Integer  = "integer"
)

// Options choose a realisation of a scene.
type Options struct {
	Frames int    // 0 is endless
	Seed   uint64 // of the path, of the pixel noise and of the choice among Assets
	Render string // Subpixel (also "") or Integer
	Assets string // a folder with MNIST or COIL-20 pictures, or with mnist and coil20 in it; "" draws stand-ins
}

func (o *Options) validate() error {
	if o.Frames < 0 || o.Frames > MaxFrames {
		return fmt.Errorf("frames is %d: give 1 to %d, or 0 for an endless run", o.Frames, MaxFrames)
	}
	switch o.Render {
	case "":
		o.Render = Subpixel
	case Subpixel, Integer:
	default:
		return fmt.Errorf("render is %q: give %s or %s", o.Render, Subpixel, Integer)
	}
	return nil
}

// Truth is what a picture shows. Z and Mu are lent until the next call of Next.
type Truth struct {
	T          float64   // s since the first frame
	Trajectory uint64    // increments are never formed across two of these
	Z          []float64 // the latent point, in the SDE's own units, before any scaling to the picture
	Mu         []float64 // the drift μ(z) there, the same units per second
	Inside     bool      // false: z lies beyond the picture's range and was drawn at its edge
}

// renderer draws one point. A renderer owns its noise.
type renderer interface {
	format() Format
	// render draws what the law shows of z, age seconds after its trajectory began, into dst, which has the renderer's format.
	// It reports false where z lies beyond the picture and was drawn at the edge.
	render(dst *Picture, z []float64, age float64) bool
}

// borrower is a renderer that draws pictures made by others, or stand-ins for them.
type borrower interface {
	// pictures says in a few words which ones.
	pictures() string
}

// Scene is one realisation of a scene: a path and its pictures. Not safe for concurrent use.
type Scene struct {
	kind   kind
	frames int
	path   *path
	draw   renderer
	from   string // whose pictures are drawn; "" for none

	still Picture   // Expect's
	shown []float64 // what its latents show
}

// New makes the named scene. It errors where the name or an option is not known, and where frames is 0 but the law has no
// stationary spread from which to choose the picture's scale.
func New(name string, o Options) (*Scene, error) {
	k, known := find(name)
	if !known {
		return nil, fmt.Errorf("scene %q is not known: give one of %s", name, strings.Join(Names(), ", "))
	}
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("scene %s: %w", name, err)
	}
	shown, err := k.shown(o)
	if err != nil {
		return nil, fmt.Errorf("scene %s: %w", name, err)
	}
	draw, err := k.renderer(o, shown, rand.NewPCG(o.Seed, pixelStream))
	if err != nil {
		return nil, fmt.Errorf("scene %s: %w", name, err)
	}
	s := &Scene{kind: k, frames: o.Frames, path: newPath(&k.law, k.length, o.Seed), draw: draw}
	if b, borrows := draw.(borrower); borrows {
		s.from = b.pictures()
	} else if o.Assets != "" {
		return nil, fmt.Errorf("scene %s: assets is %q: this scene draws no digits and no objects; leave assets out", name, o.Assets)
	}
	if k.noise != nil {
		s.draw = &noisy{clean: draw, noise: k.noise, rng: rand.New(rand.NewPCG(o.Seed, noiseStream))}
	}
	return s, nil
}

// shown is the part of latent space that the picture has to hold: all of a finite path, or the spread of an endless one.
func (k *kind) shown(o Options) (extent, error) {
	if o.Frames > 0 {
		return newPath(&k.law, k.length, o.Seed).extent(o.Frames), nil
	}
	if k.law.Stationary == nil {
		return extent{}, fmt.Errorf("an endless run leaves the picture, for its law settles to no normal one: give frames (1 to %d)", MaxFrames)
	}
	return k.law.Stationary.extent(), nil
}

// Next draws the next frame into dst and returns the truth about it; io.EOF after the last frame.
func (s *Scene) Next(dst *Picture) (Truth, error) {
	p := s.path
	if s.frames > 0 && p.frame+1 >= s.frames {
		return Truth{}, io.EOF
	}
	p.next()
	dst.reset(s.draw.format())
	inside := s.draw.render(dst, p.shown, p.age)
	return Truth{T: float64(p.frame) * s.DT(), Trajectory: p.trajectory, Z: p.z, Mu: p.mu, Inside: inside}, nil
}

// Name is the scene's name in the table.
func (s *Scene) Name() string { return s.kind.name }

// Frames is how many frames Next gives in all; 0 is endless.
func (s *Scene) Frames() int { return s.frames }

// Dim is the number of latent coordinates.
func (s *Scene) Dim() int { return s.kind.law.Dim() }

// DT is the time between frames, s.
func (s *Scene) DT() float64 { return s.kind.law.DT }

// Format is the format of every picture.
func (s *Scene) Format() Format { return s.draw.format() }

// Pictures says which pictures the scene draws, such as "digits from MNIST", and where stand-ins how to give others; "" where it
// draws none.
func (s *Scene) Pictures() string { return s.from }

// Paced says that the scene stands for a running camera: seen live, its frames come every DT.
func (s *Scene) Paced() bool { return s.kind.paced }
