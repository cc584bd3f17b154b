package sim

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// MaxFrames bounds a finite scene: Record numbers its files with seven digits, and New walks the path once to fit the
// picture.
const MaxFrames = 10_000_000

// The second words of PCG seeds. Separate streams make the path independent of the pixels' random numbers and of the assets. A noisy scene is therefore its
// clean scene plus noise.
const (
	pathStream  = 1
	pixelStream = 2
	assetStream = 3
	noiseStream = 4
)

// Ways to position objects. The published balls and digits were drawn at centres truncated to whole pixels.
const (
	Subpixel = "subpixel"
	Integer  = "integer"
)

// Options selects a realisation of a scene.
type Options struct {
	Frames int    // 0 is endless
	Seed   uint64 // seed of the path, the pixel noise and the choice from Assets
	Render string // Subpixel (default) or Integer
	Assets string // a folder with MNIST or COIL-20 pictures, or with subfolders mnist and coil20; "" draws substitutes
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

// Truth is the true state of the scene in a picture. Z and Mu are valid until the next call of Next.
type Truth struct {
	T          float64   // s since the first frame
	Trajectory uint64    // number of the trajectory; increments of z must not cross trajectories
	Z          []float64 // latent point, in the SDE's own units, before any scaling to the picture
	Mu         []float64 // the drift μ(z), in units of Z per second
	Inside     bool      // false if z lies beyond the picture's range and was drawn at its edge
}

// renderer draws one point and owns its noise.
type renderer interface {
	format() Format
	// render draws the shown values of z, age seconds after the start of its trajectory, into dst, which has the renderer's format. It returns false if z lies
	// beyond the picture and was drawn at the edge.
	render(dst *Picture, z []float64, age float64) bool
}

// borrower is a renderer that uses existing pictures, or substitutes for them.
type borrower interface {
	// pictures returns a short name of the pictures.
	pictures() string
}

// Scene is one realisation: a path and its pictures. Not safe for concurrent use.
type Scene struct {
	kind   kind
	frames int
	path   *path
	draw   renderer
	from   string // name of the pictures that the scene draws; "" if it uses none

	still Picture   // used by Expect
	shown []float64 // shown values of the latents
}

// New makes the named scene. It returns an error if the name or an option is unknown, or if frames is 0 and the law has no
// stationary spread to scale the picture.
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
		return nil, fmt.Errorf("scene %s: assets is %q, but this scene draws no digits and no objects: leave assets out", name, o.Assets)
	}
	if k.noise != nil {
		s.draw = &noisy{clean: draw, noise: k.noise, rng: rand.New(rand.NewPCG(o.Seed, noiseStream))}
	}
	return s, nil
}

// shown returns the part of latent space that the picture must show: the extent of a finite path, or the stationary spread of an endless path.
func (k *kind) shown(o Options) (extent, error) {
	if o.Frames > 0 {
		return newPath(&k.law, k.length, o.Seed).extent(o.Frames), nil
	}
	if k.law.Stationary == nil {
		return extent{}, fmt.Errorf("an endless run leaves the picture, because its law has no normal stationary distribution: give frames (1 to %d)", MaxFrames)
	}
	return k.law.Stationary.extent(), nil
}

// Next draws the next frame into dst and returns its truth; io.EOF follows the last frame.
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

// Name returns the scene's name.
func (s *Scene) Name() string { return s.kind.name }

// Frames returns the total number of frames; 0 is endless.
func (s *Scene) Frames() int { return s.frames }

// Dim returns the number of latent coordinates.
func (s *Scene) Dim() int { return s.kind.law.Dim() }

// DT returns the time between frames, s.
func (s *Scene) DT() float64 { return s.kind.law.DT }

// Format returns the format of every picture.
func (s *Scene) Format() Format { return s.draw.format() }

// Pictures names the pictures that the scene draws, such as "digits from MNIST". For substitutes the text tells how to replace them. It is "" if the scene uses
// no pictures.
func (s *Scene) Pictures() string { return s.from }

// Paced reports that the scene simulates a running camera. As a live source it returns a frame every DT.
func (s *Scene) Paced() bool { return s.kind.paced }
