package latent

import "time"

// Observation is what an encoder sees in one frame: the Latent of a scene, or the Sight of a field. The other one is nil, in all frames of a stream.
type Observation struct {
	Latent *Latent
	Sight  *Sight
}

// Sight is what is seen of a field in one frame.
type Sight struct {
	Head
	Spots Spots
}

// Copy makes s a deep copy of src, reusing s's memory.
func (s *Sight) Copy(src *Sight) {
	s.Head = src.Head
	s.Spots.copy(&src.Spots)
}

// Head says which frame it is that something was seen in.
type Head struct {
	Seq        uint64
	Time       time.Time
	Trajectory uint64
	Dropped    uint64
	Light      float64
	Arrived    time.Time
	Place      uint64
}

// Of says which frame o was seen in.
func (o Observation) Of(h Head) {
	if o.Sight != nil {
		o.Sight.Head = h
	} else {
		o.Latent.Of(h)
	}
}

// Of says which frame l was seen in.
func (l *Latent) Of(h Head) {
	l.Seq, l.Time, l.Trajectory, l.Dropped, l.Light, l.Arrived, l.Place = h.Seq, h.Time, h.Trajectory, h.Dropped, h.Light, h.Arrived, h.Place
}
