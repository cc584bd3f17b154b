package verdict

import (
	"slices"

	"driftscope/infer/sdevae/video"
)

// Level is the reliability of a model.
type Level string

// The levels, the best first.
const (
	Good  Level = "good"
	Doubt Level = "doubt"
	Bad   Level = "bad"
)

// worse reports whether l is a worse level than other.
func (l Level) worse(other Level) bool {
	order := []Level{Good, Doubt, Bad}
	return slices.Index(order, l) > slices.Index(order, other)
}

// Finding is the result of one check.
type Finding struct {
	Level  Level
	Reason string // in words, with numbers
	Try    string // possible remedy; empty if the finding is good
}

// Verdict combines all findings.
type Verdict struct {
	Level    Level     // the worst level of the findings
	Nothing  bool      // the model tracks nothing: no latent, or no reconstruction, follows the persistent signal
	Findings []Finding // the worst first
	Latents  []Latent
}

// Case is a trained model and its clip.
type Case struct {
	Clip     *video.Clip
	Held     []video.Pair // held-out pairs
	Drawn    []float32    // reconstructions of the held-out pairs' frames, in the order of video.FramesOf
	Z, SD    []float32    // frames × d: latents, and the encoder's standard deviations
	Dim      int          // d
	Places   int          // number of first latents that are positions in the picture and therefore straight
	Padding  int          // number of last latents that are known to have no content
	Look     bool         // the latents describe the look of objects, so they are not positions and may be bent
	Measured []float64    // frames × 2, px: positions of the film's single object, measured without the model; nil without a measurement
}

// Judge makes all checks for which the case has data.
func (c *Case) Judge() *Verdict {
	v := &Verdict{Level: Good}
	left, nothing := c.evidence()
	latents, all := c.latents()
	v.Latents, v.Nothing = all, nothing || latents.Level == Bad && left.Level != Good
	v.Findings = append(v.Findings, left)
	if !c.Look {
		v.Findings = append(v.Findings, c.agreement())
	}
	v.Findings = append(v.Findings, latents)
	if f, judged := c.straight(all); judged && !c.Look {
		v.Findings = append(v.Findings, f)
	}
	slices.SortStableFunc(v.Findings, func(a, b Finding) int {
		switch {
		case a.Level.worse(b.Level):
			return -1
		case b.Level.worse(a.Level):
			return 1
		}
		return 0
	})
	v.Level = v.Findings[0].Level
	return v
}

// Reasons returns the reasons of the findings at the verdict's level, each with advice.
func (v *Verdict) Reasons() (lines []string) {
	for _, f := range v.Findings {
		if f.Level == v.Level {
			lines = append(lines, f.Line())
		}
	}
	return lines
}

// Line returns the reason, and the advice.
func (f Finding) Line() string {
	if f.Try == "" {
		return f.Reason
	}
	return f.Reason + ": " + f.Try
}

// try returns one of two texts of advice: for a model of a scene, or for a model of the look of objects, where crop and light cannot be chosen.
func (c *Case) try(scene, look string) string {
	if c.Look {
		return look
	}
	return scene
}

// axis returns latent i over the clip.
func (c *Case) axis(of []float32, i int) []float64 {
	out := make([]float64, len(of)/c.Dim)
	for k := range out {
		out[k] = float64(of[k*c.Dim+i])
	}
	return out
}

// all lists the clip's pairs.
func (c *Case) all() []video.Pair { return c.Clip.Pairs(c.Clip.MaxGap()) }
