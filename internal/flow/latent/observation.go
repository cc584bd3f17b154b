package latent

import "time"

// Observation is an encoder's result for one frame: the Latent of a scene, or the Sight of a field. The other one is nil in all frames of a stream.
type Observation struct {
	Latent *Latent
	Sight  *Sight
}

// Sight is the set of spots that the encoder found in one frame of a field.
type Sight struct {
	Head
	Spots Spots
}

// Copy makes s a deep copy of src, and reuses s's memory.
func (s *Sight) Copy(src *Sight) {
	s.Head = src.Head
	s.Spots.copy(&src.Spots)
}

// Head identifies the frame of an observation.
type Head struct {
	Seq        uint64
	Time       time.Time
	Trajectory uint64
	Dropped    uint64
	Light      float64
	Arrived    time.Time
	Place      uint64
}

// Of sets the frame of o.
func (o Observation) Of(h Head) {
	if o.Sight != nil {
		o.Sight.Head = h
	} else {
		o.Latent.Of(h)
	}
}

// Of sets the frame of l.
func (l *Latent) Of(h Head) {
	l.Seq, l.Time, l.Trajectory, l.Dropped, l.Light, l.Arrived, l.Place = h.Seq, h.Time, h.Trajectory, h.Dropped, h.Light, h.Arrived, h.Place
}
