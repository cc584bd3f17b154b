package field

import (
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"driftscope/ingest/sim"
)

// Stream returns the pictures of a field in order, endlessly if Options.Frames is 0. Its tracks equal the tracks of a Field with the same options. Its noise
// differs, because background counts come from a table. Memory is proportional to the number of live objects. Not safe for concurrent use.
type Stream struct {
	o          Options
	motion     *motion
	optics     optics
	background *sim.NoiseTable
	bits       *rand.PCG
	noise      *rand.Rand // draws from bits
	wait       float64    // sum of pixel means left until the next photon arrives

	frame int       // next frame
	alive [][]Point // whole tracks of the live objects
	spare [][]Point // memory for further tracks
}

// noiseStream is the second word of the PCG seed of a stream's noise.
const noiseStream = 0x9015e

// NewStream returns a stream at its first frame.
func NewStream(o Options) (*Stream, error) {
	if err := o.complete(0, sim.MaxFrames); err != nil {
		return nil, err
	}
	bits := rand.NewPCG(o.Seed, noiseStream)
	noise := rand.New(bits)
	return &Stream{
		o: o, motion: newMotion(o, rand.New(rand.NewPCG(o.Seed, motionStream))), optics: newOptics(o),
		background: sim.PoissonTable(o.Background), bits: bits, noise: noise, wait: noise.ExpFloat64(),
	}, nil
}

// Next draws the next frame; io.EOF follows the last one. It adds the Poisson counts of each object to the background's counts, because a sum of Poisson counts
// is a Poisson count.
func (s *Stream) Next(dst *sim.Picture) (sim.Truth, error) {
	if s.o.Frames > 0 && s.frame >= s.o.Frames {
		return sim.Truth{}, io.EOF
	}
	s.advance()
	dst.Format = s.Format()
	dst.U16 = slices.Grow(dst.U16[:0], dst.Values())[:dst.Values()]
	s.background.Fill(dst.U16, s.bits)
	for _, life := range s.alive {
		s.optics.light(life[s.frame-life[0].Frame], func(pixel int, photons float64) {
			dst.U16[pixel] = uint16(min(int(dst.U16[pixel])+s.arrivals(photons), math.MaxUint16))
		})
	}
	s.frame++
	return sim.Truth{T: float64(s.frame-1) * DT, Inside: true}, nil
}

// arrivals returns a Poisson count of the given mean. It simulates photons that arrive at exponential intervals on a line on which the means of all pixels are
// laid end to end, so pixels with almost no light need no random number. Bright pixels are drawn as in a film.
func (s *Stream) arrivals(mean float64) int {
	if mean > bright {
		return poisson(s.noise, mean)
	}
	n := 0
	for ; s.wait < mean; n++ {
		s.wait += s.noise.ExpFloat64()
	}
	s.wait -= mean
	return n
}

// advance removes objects that died before the next frame, and adds those born in it.
func (s *Stream) advance() {
	going := s.alive[:0]
	for _, life := range s.alive {
		if life[len(life)-1].Frame >= s.frame {
			going = append(going, life)
		} else {
			s.spare = append(s.spare, life[:0])
		}
	}
	s.alive = going
	for range s.motion.births(s.frame) {
		var room []Point
		if n := len(s.spare); n > 0 {
			room, s.spare = s.spare[n-1], s.spare[:n-1]
		}
		if life := s.motion.live(room, s.frame); len(life) > 0 {
			s.alive = append(s.alive, life)
		} else if cap(life) > 0 {
			s.spare = append(s.spare, life)
		}
	}
}

// Name returns the scenario's name.
func (s *Stream) Name() string { return string(s.o.Scenario) }

// Frames returns the total number of frames; 0 is endless.
func (s *Stream) Frames() int { return s.o.Frames }

// DT returns the time between frames, s.
func (s *Stream) DT() float64 { return DT }

// Format returns the format of every picture.
func (s *Stream) Format() sim.Format { return format(s.o) }

// Paced reports that a field simulates a running camera. As a live source it returns a frame every DT.
func (s *Stream) Paced() bool { return true }

func format(o Options) sim.Format {
	return sim.Format{Width: o.Width, Height: o.Height, Channels: 1, Depth: sim.Counts}
}
