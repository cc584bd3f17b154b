package preprocess

import (
	"context"
	"image"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/kit/numbers"
)

// maxFollowSide bounds the sides of the picture for centroids. Larger pictures are averaged down to it.
const maxFollowSide = 64

// sparse is the step between the pixels sampled for the background median. With 7 the sample includes all columns of a picture of 64 columns.
const sparse = 7

// follow measures the object's intensity centroid in every frame, in the picture that the encoder receives, for example the region of a roi. It changes no
// pixel.
type follow struct {
	grey, small gocv.Mat // scratch
	blur        *blur
	smooth      []float32 // the blurred picture
	sample      []float32
	disc        disc // reads the pixels of the frame if possible, otherwise of small

	contrast   float64 // brightest minus darkest departure in magnitude, summed over frames
	begun      bool
	trajectory uint64
	radius     float64 // radius of the disc around the object, from the trajectory's first frame with an object; 0 before
}

// NewFollow makes the step that writes the object's centroid into each frame's Meta. Put it after the encoder's steps. Like Centres it takes the strongest
// point, bright or dark, after a Gaussian filter of 3 pixels. Centroid then refines the point within a disc whose radius comes from Extent. A frame without
// signal above the noise has no centroid.
func NewFollow() pipeline.Step {
	return &follow{grey: gocv.NewMat(), small: gocv.NewMat(), blur: newBlur(), smooth: make([]float32, maxFollowSide*maxFollowSide)}
}

// Can reports no abilities, because the disc's radius depends on earlier frames.
func (s *follow) Can() pipeline.Abilities { return pipeline.Abilities{} }

// Apply accepts uint8, uint16 and float32 pictures of 1 or 3 channels.
func (s *follow) Apply(_ context.Context, f *frame.Frame) error {
	if err := check("centroid", f, gocv.MatTypeCV8U, gocv.MatTypeCV16U, gocv.MatTypeCV32F); err != nil {
		return err
	}
	if !s.begun || f.Meta.Trajectory != s.trajectory {
		s.begun, s.trajectory, s.radius = true, f.Meta.Trajectory, 0
	}
	size, err := s.load(f)
	if err != nil {
		return complain("centroid", f, "%w", err)
	}
	if at, ok := s.find(size); ok { // a picture with non-finite values has no centroid; the encoder rejects it
		m := f.Mat()
		x := (at.X+0.5)*float64(m.Cols())/float64(size.X) - 0.5
		y := (at.Y+0.5)*float64(m.Rows())/float64(size.Y) - 0.5
		sx, sy := f.Source(x, y)
		f.Meta.Centroid = append(f.Meta.Centroid[:0], sx, sy)
	}
	return nil
}

// load sets the picture of s.disc to the frame as grey float32, reduced to at most maxFollowSide per side.
func (s *follow) load(f *frame.Frame) (size image.Point, err error) {
	m := f.Mat()
	whole := image.Pt(m.Cols(), m.Rows())
	size = shrink(whole, maxFollowSide)
	seen := m
	if size != whole || m.Type() != gocv.MatTypeCV32FC1 {
		seen = &s.small
		gocv.Resize(*m, &s.small, size, 0, 0, gocv.InterpolationArea)
		s.small.ConvertTo(&s.small, gocv.MatTypeCV32F)
		if m.Channels() == 3 {
			gocv.CvtColor(s.small, &s.grey, gocv.ColorBGRToGray)
			s.grey.CopyTo(&s.small)
		}
	}
	s.disc.width, s.disc.height = size.X, size.Y
	s.disc.picture, err = seen.DataPtrFloat32()
	return size, err
}

// find returns the object's centroid in the picture.
func (s *follow) find(size image.Point) (Point, bool) {
	smooth := s.smooth[:size.X*size.Y]
	s.blur.apply(smooth, s.disc.picture, size.X, size.Y)
	s.sample = spread(s.sample[:0], smooth, sparse)
	flat := numbers.Median(s.sample)
	darkest, brightest, ok := extremes(smooth)
	if !ok {
		return Point{}, false
	}
	s.contrast += float64((smooth[brightest] - flat) - (flat - smooth[darkest]))
	at := brightest
	if s.contrast < 0 {
		at = darkest
	}
	place := Point{float64(at % size.X), float64(at / size.X)}
	radius := s.radius
	if radius == 0 {
		radius = s.disc.extent(place, float64(flat))
	}
	found, ok := s.disc.refine(place, radius)
	if ok {
		s.radius = radius
	}
	return found, ok
}

// Close frees the scratch pictures.
func (s *follow) Close() error {
	for _, m := range []*gocv.Mat{&s.grey, &s.small} {
		if err := m.Close(); err != nil {
			return err
		}
	}
	return nil
}
