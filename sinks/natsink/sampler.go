package natsink

import (
	"time"

	"driftscope/internal/flow/latent"
)

// SampledToken ends the subject of sampled frames, PREFIX.SITE.STREAM.glance: records of kind latent, of those on .latent at most 30 a second, and of a field
// records of kind objects, the same. A page that shows numbers to people needs no more.
const SampledToken = "glance"

// sampleEvery is the mean time between two sampled latents, at least.
const sampleEvery = time.Second / 30

// sampler chooses the records of one kind that are published a second time as sampled: the newest one 30 times a second, and within a second the last
// one before a pause.
type sampler struct {
	kind    latent.Kind
	next    time.Time // when another is due
	skipped bool      // the last record was left out
}

// take says whether a record that is published at now gives a sampled one: one of the kind gives itself, a health record the last of the kind where that was
// left out. Of a camera of 30 frames a second whose frames come a little unevenly all are taken.
func (s *sampler) take(kind latent.Kind, now time.Time) bool {
	switch kind {
	case s.kind:
		if s.skipped = now.Before(s.next); s.skipped {
			return false
		}
		if late := now.Add(-sampleEvery); s.next.Before(late) {
			s.next = late
		}
		s.next = s.next.Add(sampleEvery)
		return true
	case latent.KindHealth:
		skipped := s.skipped
		s.skipped = false
		return skipped
	}
	return false
}
