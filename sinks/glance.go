package sinks

import (
	"time"

	"driftscope/internal/latent"
)

// GlanceToken ends the subject of latents for the eye, PREFIX.SITE.STREAM.glance: records of kind latent, some of those on .latent.
const GlanceToken = "glance"

// glanceEvery is the mean time between two latents for the eye, at least.
const glanceEvery = time.Second / 30

// glance chooses which latents are for the eye: the newest, 30 a second, and within a second the last before a silence.
type glance struct {
	next time.Time // when another is due
	owed bool      // the last latent was left out
}

// take says whether a record that is published at now goes to the eye; a latent itself, health only as the occasion to make up for the
// latent that is owed. A camera of 30 frames a second that trembles a little loses none.
func (g *glance) take(kind latent.Kind, now time.Time) bool {
	switch kind {
	case latent.KindLatent:
		if g.owed = now.Before(g.next); g.owed {
			return false
		}
		if late := now.Add(-glanceEvery); g.next.Before(late) {
			g.next = late
		}
		g.next = g.next.Add(glanceEvery)
		return true
	case latent.KindHealth:
		owed := g.owed
		g.owed = false
		return owed
	}
	return false
}
