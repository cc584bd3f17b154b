package natsink

import (
	"time"

	"driftscope/internal/flow/latent"
)

// SampledToken is the last token of the subject of sampled frames, PREFIX.SITE.STREAM.glance. It carries at most 30 records per second of kind latent, or of
// kind objects for a field. A page that shows numbers needs no more.
const SampledToken = "glance"

// sampleEvery is the shortest mean interval of sampled latents.
const sampleEvery = time.Second / 30

// sampler chooses the records of one kind that are also published as samples: the newest record 30 times a second and, within a second, the last record before
// a pause.
type sampler struct {
	kind    latent.Kind
	next    time.Time // time of the next sample
	skipped bool      // the last record was not sampled
}

// take reports whether a sample is due when a record is published at now. The sample is the record itself, or, for a health record, the last record of the
// sampler's kind if that was not sampled. All frames of a camera with 30 frames per second are sampled, even with slight jitter.
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
