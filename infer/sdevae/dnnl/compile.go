// Folding
//
// Convolution kernels fill their vector lanes with channels, so layers of 3 or 8 channels leave most lanes unused. With oneDNN such layers therefore run on
// folded maps: a map of C channels on H x W is read as 4C channels on H/2 x W/2,
//
//	folded[(2(y mod 2) + x mod 2) C + c, y/2, x/2] = map[c, y, x]
//
// and a k x k convolution of the map is exactly a convolution of the folded map with fewer taps, whose weights are the old weights at other positions. For
// nearest upsampling by two followed by a 5x5 convolution, only the output is folded: four 3x3 convolutions at the low resolution, one for each phase of the
// output, with 9 multiplications instead of 25. Zero padding maps to zero padding, also at the borders, so every form is exact.

package dnnl

import "fmt"

// stage is one block [Upsample] Conv [BatchNorm] [LeakyReLU | Sigmoid] [MaxPool], with the offsets of its tensors in theta.
type stage struct {
	in                                  Shape // shape before Upsample
	channels, kernel                    int   // Conv's output channels and kernel width
	upsample, norm, leaky, squash, pool bool
	weight, bias, gamma, beta           int // offsets in theta
	moments                             int // offset in Stack.moments
	conv, bn                            int // indices into the layers, for Segments
}

// wide returns the shape of Conv's input and, except for its channels, of its output.
func (s *stage) wide() Shape {
	if s.upsample {
		return Shape{s.in.C, 2 * s.in.H, 2 * s.in.W}
	}
	return s.in
}

// made returns the shape of Conv's output.
func (s *stage) made() Shape {
	w := s.wide()
	return Shape{s.channels, w.H, w.W}
}

func (s *stage) out() Shape {
	m := s.made()
	if s.pool {
		return Shape{m.C, m.H / 2, m.W / 2}
	}
	return m
}

func (s *stage) weights() int { return s.channels * s.in.C * s.kernel * s.kernel }

// compile groups layers into stages and checks every shape against the bounds.
func compile(in Shape, layers []Layer, batch int) ([]stage, error) {
	if in.C < 1 || in.H < 1 || in.W < 1 || in.C > maxChannels || in.H > maxSide || in.W > maxSide {
		return nil, fmt.Errorf("dnnl: input is %v, expected 1 to %d channels and sides of 1 to %d: crop or resize the pictures", in, maxChannels, maxSide)
	}
	var stages []stage
	for at := 0; at < len(layers); {
		s := stage{in: in}
		used, err := s.take(layers, at)
		if err != nil {
			return nil, err
		}
		if err := s.fits(batch, at); err != nil {
			return nil, err
		}
		stages = append(stages, s)
		in = s.out()
		at += used
	}
	if len(stages) == 0 {
		return nil, fmt.Errorf("dnnl: no layers: give at least one Conv")
	}
	return stages, nil
}

// take reads the block that starts at layers[at] and returns its number of layers.
func (s *stage) take(layers []Layer, at int) (int, error) {
	next := at
	is := func(k Kind) bool {
		if next < len(layers) && layers[next].Kind == k {
			next++
			return true
		}
		return false
	}
	s.upsample = is(Upsample)
	if !is(Conv) {
		found := "the end"
		if next < len(layers) {
			found = layers[next].Kind.String()
		}
		return 0, fmt.Errorf("dnnl: layer %d is %s, expected Conv: order the layers as [Upsample] Conv [BatchNorm] [LeakyReLU|Sigmoid] [MaxPool]", next, found)
	}
	s.conv = next - 1
	s.channels, s.kernel = layers[s.conv].Out, layers[s.conv].Kernel
	s.norm = is(BatchNorm)
	s.bn = next - 1
	s.leaky = is(LeakyReLU)
	s.squash = !s.leaky && is(Sigmoid)
	s.pool = is(MaxPool)
	return next - at, nil
}

func (s *stage) fits(batch, at int) error {
	m := s.made()
	switch {
	case s.channels < 1 || s.channels > maxChannels:
		return fmt.Errorf("dnnl: layer %d: Conv to %d channels, expected 1 to %d: change Out", s.conv, s.channels, maxChannels)
	case s.kernel < 1 || s.kernel > maxKernel || s.kernel%2 == 0:
		return fmt.Errorf("dnnl: layer %d: Conv of width %d, expected an odd width of 1 to %d: change Kernel", s.conv, s.kernel, maxKernel)
	case m.H > maxSide || m.W > maxSide:
		return fmt.Errorf("dnnl: layer %d: a map of %v, expected sides of at most %d: use smaller pictures", s.conv, m, maxSide)
	case s.pool && (m.H%2 != 0 || m.W%2 != 0):
		return fmt.Errorf("dnnl: block at layer %d: MaxPool of %v, expected even sides: use pictures whose sides halve evenly", at, m)
	case m.Size() > maxValues/batch || s.wide().Size() > maxValues/batch:
		return fmt.Errorf("dnnl: layer %d: %d maps of %v, expected at most %d values: use a smaller batch or smaller pictures", s.conv, batch, m, maxValues)
	}
	return nil
}
