package finder

import "fmt"

// mostPixels bounds the memory of a Sampler, which always keeps at least four frames.
const mostPixels = 40_000_000

// Sampler copies pairs of successive frames, evenly spaced over a film of unknown length. It keeps at most twice the number of pairs that Learn needs.
type Sampler struct {
	stride int
	next   int // number of the next frame
	film   Sample
	spare  []Picture
}

// Add counts the next frame of the film, and copies it if the sample needs it.
func (s *Sampler) Add(f Picture) error {
	if s.stride == 0 {
		s.stride = 1
	}
	if n := len(s.film.Frames); n > 0 && (s.film.Frames[0].W != f.W || s.film.Frames[0].H != f.H) {
		return fmt.Errorf("found a frame of %dx%d pixels, but the earlier frames have %dx%d: give a film whose frames have one size", f.W, f.H, s.film.Frames[0].W, s.film.Frames[0].H)
	}
	k := s.next
	s.next++
	if k%s.stride > 1 {
		return nil
	}
	p := Picture{f.W, f.H, nil}
	if n := len(s.spare); n > 0 && len(s.spare[n-1].P) == len(f.P) {
		p.P, s.spare = s.spare[n-1].P, s.spare[:n-1]
	}
	p.P = append(p.P[:0], f.P...)
	s.film.Frames, s.film.At = append(s.film.Frames, p), append(s.film.At, k)
	if len(s.film.At) >= min(max(mostPixels/(f.W*f.H), 4), 4*looks) {
		s.thin()
	}
	return nil
}

// thin doubles the stride and drops the frames between.
func (s *Sampler) thin() {
	s.stride *= 2
	n := 0
	for i, k := range s.film.At {
		if k%s.stride > 1 {
			s.spare = append(s.spare, s.film.Frames[i])
			continue
		}
		s.film.Frames[n], s.film.At[n] = s.film.Frames[i], k
		n++
	}
	s.film.Frames, s.film.At = s.film.Frames[:n], s.film.At[:n]
}

// Frames returns the number of frames so far.
func (s *Sampler) Frames() int { return s.next }

// Sample returns a sample for Learn from the pairs in memory.
func (s *Sampler) Sample() Sample {
	var first []int // index of the first frame of each pair
	for i, k := range s.film.At {
		if len(first) == 0 || s.stride > 1 && k%s.stride == 0 || s.stride == 1 {
			first = append(first, i)
		}
	}
	var out Sample
	last := -1
	for _, j := range spread(len(first), looks) {
		for i := first[j]; i <= first[j]+1 && i < len(s.film.At); i++ {
			if i > last && s.film.At[i] <= s.film.At[first[j]]+1 {
				out.Frames, out.At = append(out.Frames, s.film.Frames[i]), append(out.At, s.film.At[i])
				last = i
			}
		}
	}
	return out
}
